//! What dig does next: a machine without sockets.
//!
//! It says what to open, send and wait for, is told what came of it, and says
//! what to print. One conversation runs at a time, as in dig: a socket of its
//! own for every try over UDP, a connection for every lookup over TCP.

mod reply;
mod step;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use self::step::{Certificate, Event, Exchange, Failure, Printed, Settings, Step, Total};
use crate::dig::lookup::{Lookup, Server};
use crate::dig::request;
use crate::name::Name;
use crate::resolver::bind::name::{TextName, fromtext};

/// So many lookups may follow from one.
/// Source: BIND bin/dig/dighost.h: `LOOKUP_LIMIT`, `UDP_TIMEOUT`,
/// `TCP_TIMEOUT` (9.18)
const LOOKUP_LIMIT: u32 = 64;
const UDP_TIMEOUT: u32 = 5;
const TCP_TIMEOUT: u32 = 10;

/// A lookup with its place in the search, as it waits for its turn.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are dig's own")]
struct Pending {
    lookup: Lookup,
    /// The entry of the search list that is tried.
    origin: Option<usize>,
    need_search: bool,
    done_as_is: bool,
    new_search: bool,
    seen_badcookie: bool,
}

/// The lookup that runs.
#[derive(Debug)]
struct Current {
    pending: Pending,
    name: Name,
    id: u16,
    query: Vec<u8>,
    servers: Vec<Server>,
    at: usize,

    transfer: Option<reply::Transfer>,
    opened: bool,
}

/// The machine.
#[derive(Debug)]
pub struct Machine {
    settings: Settings,
    waiting: VecDeque<Pending>,
    current: Option<Current>,
    steps: VecDeque<Step>,
    /// The ids of the next queries.
    ids: fn() -> u16,
    counter: u32,
    status: u8,
    ended: bool,
}

impl Machine {
    /// A machine for a run; `ids` gives the id of each query.
    pub fn new(settings: Settings, ids: fn() -> u16) -> Self {
        Self {
            settings,
            waiting: VecDeque::new(),
            current: None,
            steps: VecDeque::new(),
            ids,
            counter: 0,
            status: 0,
            ended: false,
        }
    }

    /// The client's cookie.
    pub fn cookie(&self) -> [u8; 8] {
        self.settings.cookie
    }

    /// Takes other settings for the lookups to come: a line of a batch file
    /// can change them.
    pub fn configure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Appends lookups to those that wait.
    pub fn add(&mut self, lookups: impl IntoIterator<Item = Lookup>) {
        self.waiting
            .extend(lookups.into_iter().map(|lookup| Pending {
                lookup,
                origin: None,
                need_search: false,
                done_as_is: false,
                new_search: true,
                seen_badcookie: false,
            }));
    }

    /// Whether dig has given up for good, so that no further line of a batch
    /// file is read.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The next step. [`Step::Open`], [`Step::Receive`] and [`Step::ReceiveOn`] want an event
    /// before it is called again.
    pub fn step(&mut self) -> Step {
        loop {
            if let Some(step) = self.steps.pop_front() {
                return step;
            }
            if self.ended || self.current.is_some() {
                return Step::Done(self.status);
            }
            let Some(pending) = self.waiting.pop_front() else {
                return Step::Done(self.status);
            };
            self.start_lookup(pending);
        }
    }

    /// Takes what came of the last step.
    pub fn report(&mut self, event: Event) {
        let Some(current) = self.current.take() else {
            return;
        };
        match event {
            Event::Opened => self.opened(current),
            Event::Arrived(wire) => self.arrived(current, &wire),
            Event::Failed(failure) if current.is_open() => self.lost(current, failure),
            Event::Failed(failure) => self.not_opened(current, failure),
        }
    }

    /// Source: BIND bin/dig/dighost.c: `start_lookup` (9.18)
    fn start_lookup(&mut self, mut pending: Pending) {
        let name = match self.setup(&mut pending) {
            Ok(Some(name)) => name,
            Ok(None) => {
                self.next_origin(&pending);
                return;
            }
            Err(status) => return self.end(status),
        };
        let cookie = match &pending.lookup.edns.cookie {
            None => self.settings.cookie.to_vec(),
            Some(digits) => {
                if let Some(cookie) = decode_hex(digits) {
                    cookie
                } else {
                    let why = "isc_hex_decodestring: bad hex encoding";
                    self.print(Printed::Stderr(why.to_owned()));
                    let status = self.fatal_status();
                    return self.end(status);
                }
            }
        };
        let id = pending.lookup.qid.unwrap_or_else(self.ids);
        let parts = request::Parts {
            name: &name,
            id,
            cookie: &cookie,
        };
        let query = request::message(&pending.lookup, &parts);
        let is_axfr = pending.lookup.rdtype == reply::AXFR;
        if query.len() > request::MAX_UDP_QUERY || is_axfr {
            pending.lookup.tcp = true;
        }
        let mut servers = pending.lookup.asked(&self.settings.servers);
        let transfers = matches!(pending.lookup.rdtype, reply::AXFR | reply::IXFR);
        if transfers {
            servers = servers.into_iter().map(Server::of_transfer).collect();
        }
        let transfer = (transfers && pending.lookup.tcp).then(reply::Transfer::default);
        let current = Current {
            pending,
            name,
            id,
            query,
            servers,
            at: 0,

            transfer,
            opened: false,
        };
        self.start_query(current);
    }

    /// The name to ask for; `None` if it is too long with its origin.
    ///
    /// Source: BIND bin/dig/dighost.c: `setup_lookup` (9.18)
    fn setup(&mut self, pending: &mut Pending) -> Result<Option<Name>, u8> {
        let text = match converted(&pending.lookup) {
            Ok(text) => text,
            Err(why) => {
                self.print(Printed::Stderr(why));
                return Err(self.fatal_status());
            }
        };
        if pending.new_search {
            self.counter = 0;
            let dots = text.iter().filter(|&&byte| byte == b'.').count();
            let ndots = usize::try_from(self.settings.ndots).unwrap_or(usize::MAX);
            if dots >= ndots || !self.settings.use_search {
                pending.origin = None;
                pending.done_as_is = true;
                pending.need_search = self.settings.use_search;
            } else if pending.origin.is_none() {
                pending.origin = self.entry(0);
                pending.need_search = false;
            }
        }
        let shown = || String::from_utf8_lossy(&pending.lookup.text).into_owned();
        let name = fromtext(&text);
        let Some(origin) = pending.origin.and_then(|at| self.settings.search.get(at)) else {
            let whole = name
                .ok()
                .and_then(|name| name.concatenate(&Name::root()).ok());
            if whole.is_none() {
                let why = format!("'{}' is not a legal name ({})", shown(), bad_name(&text));
                self.print(Printed::Stderr(why));
                return Err(10);
            }
            return Ok(whole);
        };
        let Ok(TextName { labels, .. }) = fromtext(origin) else {
            let origin_text = String::from_utf8_lossy(origin).into_owned();
            let why = bad_name(origin);
            let why = format!("'{origin_text}' is not in legal name syntax ({why})");
            self.print(Printed::Stderr(why));
            return Err(self.fatal_status());
        };
        if let Ok(name) = name {
            Ok(name.concatenate(&labels).ok())
        } else {
            let why = bad_name(&text);
            let why = format!("'{}' is not in legal name syntax ({why})", shown());
            self.print(Printed::Stderr(why));
            Err(self.fatal_status())
        }
    }

    fn entry(&self, at: usize) -> Option<usize> {
        (at < self.settings.search.len()).then_some(at)
    }

    /// Puts the lookup with the next entry of the search list in front;
    /// whether there was one.
    ///
    /// Source: BIND bin/dig/dighost.c: `next_origin` (9.18)
    fn next_origin(&mut self, old: &Pending) -> bool {
        if !self.settings.use_search {
            return false;
        }
        if let Ok(name) = fromtext(&old.lookup.text) {
            let labels = name.labels.labels().count();
            let ndots = usize::try_from(self.settings.ndots).unwrap_or(usize::MAX);
            if name.absolute || labels > ndots {
                return false;
            }
        }
        let mut new = old.clone();
        match old.origin {
            None if !old.need_search => return false,
            None => {
                new.origin = self.entry(0);
                new.need_search = false;
            }
            Some(at) => {
                new.origin = self.entry(at + 1);
                if new.origin.is_none() && old.done_as_is {
                    return false;
                }
            }
        }
        self.requeue(new);
        true
    }

    /// Puts a lookup in front of those that wait.
    ///
    /// Source: BIND bin/dig/dighost.c: `requeue_lookup` (9.18)
    fn requeue(&mut self, pending: Pending) {
        self.counter += 1;
        if self.counter > LOOKUP_LIMIT {
            self.print(Printed::Stderr("too many lookups".to_owned()));
            let status = self.fatal_status();
            self.end(status);
            return;
        }
        self.waiting.push_front(Pending {
            new_search: false,
            ..pending
        });
    }

    fn print(&mut self, printed: Printed) {
        self.steps.push_back(Step::Print(printed));
    }

    /// Ends the program, as dig does where it cannot print a message.
    pub fn give_up(&mut self) {
        self.steps.clear();
        self.end(self.fatal_status());
    }

    fn end(&mut self, status: u8) {
        self.status = status;
        self.ended = true;
    }

    /// The status of an error that ends the program: what it has been, or 1.
    ///
    /// Source: BIND bin/dig/dighost.c: `fatal`, `digexit` (9.18)
    fn fatal_status(&self) -> u8 {
        if self.status == 0 { 1 } else { self.status }
    }

    fn no_reply(&mut self) {
        self.status = self.status.max(9);
    }

    fn seconds(&self, tcp: bool) -> u32 {
        let default = if tcp { TCP_TIMEOUT } else { UDP_TIMEOUT };
        self.settings.timeout.unwrap_or(default)
    }
}

/// The name as it is asked for: with `+idnin`, in ASCII (RFC 5891).
fn converted(lookup: &Lookup) -> Result<Vec<u8>, String> {
    let is_encoded = |label: &[u8]| {
        let start = label.get(..4);
        start.is_some_and(|start| start.eq_ignore_ascii_case(b"xn--"))
    };
    let has_encoded = lookup.text.split(|&byte| byte == b'.').any(is_encoded);
    if !lookup.idn_in || lookup.text.is_ascii() && !has_encoded {
        return Ok(lookup.text.clone());
    }
    let shown = String::from_utf8_lossy(&lookup.text).into_owned();
    let ascii = std::str::from_utf8(&lookup.text)
        .ok()
        .and_then(|text| idna::domain_to_ascii(text).ok());
    // What differs in its case only stays as it is.
    let own = |ascii: String| {
        let same = ascii.as_bytes().eq_ignore_ascii_case(&lookup.text);
        if same {
            lookup.text.clone()
        } else {
            ascii.into_bytes()
        }
    };
    ascii
        .map(own)
        .ok_or_else(|| format!("'{shown}' is not a legal IDNA2008 name, use +noidnin"))
}

/// Why a text is no name, in BIND's words.
fn bad_name(text: &[u8]) -> &'static str {
    let mut labels = text
        .strip_suffix(b".")
        .unwrap_or(text)
        .split(|&byte| byte == b'.');
    let slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if text.is_empty() || slashes % 2 == 1 {
        "unexpected end of input"
    } else if labels.clone().any(<[u8]>::is_empty) {
        "empty label"
    } else if text.windows(2).any(|pair| pair == b"\\[") {
        "bad label type"
    } else if text.contains(&b'\\') {
        "bad escape"
    } else if labels.any(|label| label.len() > 63) {
        "label too long"
    } else {
        "name too long"
    }
}

fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: &u8| char::from(*digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pair = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(value(high)? * 16 + value(low)?).ok(),
        _ => None,
    };
    digits.chunks_exact(2).map(pair).collect()
}
