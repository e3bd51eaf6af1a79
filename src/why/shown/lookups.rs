//! Lookups by nslookup, dig or host with what they print: which servers replied, and
//! which did not.

use std::net::IpAddr;
use std::time::Duration;

use crate::explain::cluster::is_of_the_world;
use crate::why::asked::{self, Kind};
use crate::why::command::Command;

/// A lookup that takes longer has waited for a reply that was lost, in milliseconds.
const SLOW: u64 = 1000;

/// The lookups of a text, in its order.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    found: Vec<Lookup>,
    /// The longest `Query time`, in milliseconds.
    longest: u64,
    /// Names that a server of the cluster or of Docker gave an address for.
    answered: Vec<String>,
    /// The name of an answer, where its address is to follow.
    named: Option<String>,
    /// Lines in which a program says that it got none, in small letters.
    failed: Vec<String>,
    /// Whether nslookup was set to ask over TCP.
    is_vc: bool,
}

/// More are not compared.
const MOST: usize = 64;

/// What programs say that got no address; tools begin such lines with their own name.
const FAILED: [&str; 8] = [
    "could not resolve host",
    "bad address",
    "no such host",
    "enotfound",
    "eai_again",
    "unknownhostexception",
    "name or service not known",
    "temporary failure in name resolution",
];

#[derive(Debug, Default)]
struct Lookup {
    name: Option<String>,
    /// `None`: the first of resolv.conf.
    server: Option<IpAddr>,
    is_tcp: bool,
    /// Whether the server replied; `None`: what it printed does not stand there.
    has_reply: Option<bool>,
}

impl Lookups {
    /// Looks at a line, which stays in the text.
    pub(super) fn see(&mut self, line: &str) {
        let small = line.trim().to_ascii_lowercase();
        if let Some(command) = Command::find(line) {
            self.is_vc = false;
            self.push(Lookup {
                name: command.name.map(str::to_ascii_lowercase),
                server: command.server.map(|it| it.ip()),
                is_tcp: small.contains("+tcp") || small.contains("+vc"),
                has_reply: None,
            });
        }
        match small.trim_start_matches(['>', ' ']) {
            "set vc" => self.is_vc = true,
            "set novc" => self.is_vc = false,
            _ => {}
        }
        if let Some(server) = small.strip_prefix("server:").and_then(server_of) {
            let is_begun = |it: &&mut Lookup| it.has_reply.is_none();
            match self.found.last_mut().filter(is_begun) {
                Some(it) => it.server = Some(server),
                None => self.push(Lookup {
                    server: Some(server),
                    is_tcp: self.is_vc,
                    ..Lookup::default()
                }),
            }
        }
        self.note_time(&small);
        self.note(&small);
        let Some(last) = self.found.last_mut() else {
            return;
        };
        if let Some(address) = small.strip_prefix(";; server: ").and_then(server_of) {
            last.server = last.server.or(Some(address));
        }
        let has = |words: &[&str]| words.iter().any(|it| small.contains(it));
        let name = small.strip_prefix("name:").map(str::trim);
        let is_reply = name.is_some_and(|it| last.is_for(it))
            || small.parse::<IpAddr>().is_ok()
            || has(&[
                "status: ",
                " has address ",
                "nxdomain",
                "servfail",
                "can't find",
            ]);
        if has(&["timed out", "no servers could be reached"]) {
            last.has_reply.get_or_insert(false);
        } else if is_reply {
            last.has_reply.get_or_insert(true);
        }
    }

    /// How long dig or curl says that a lookup took.
    fn note_time(&mut self, small: &str) {
        if let Some(time) = small.strip_prefix(";; query time: ") {
            let time = time.split(' ').next().and_then(|it| it.parse().ok());
            self.longest = self.longest.max(time.unwrap_or_default());
        }
        if let Some((_, time)) = small.split_once("time_namelookup:")
            && let Some(time) = time.split_whitespace().next()
            && let Ok(seconds) = time.trim_end_matches('s').parse::<f64>()
        {
            let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            let time = u64::try_from(time.as_millis()).unwrap_or_default();
            self.longest = self.longest.max(time);
        }
    }

    /// Keeps a lookup, and of many the last ones.
    fn push(&mut self, it: Lookup) {
        if self.found.len() == MOST {
            self.found.remove(0);
        }
        self.found.push(it);
    }

    /// Keeps the names that a program failed to get, and those that a server answered.
    fn note(&mut self, small: &str) {
        let named = self.named.take();
        let is_address = small.starts_with("address") && self.answered.len() < MOST;
        self.answered.extend(named.filter(|_| is_address));
        let is_tool = small.starts_with(['*', ';']) || small.starts_with("nslookup:");
        match small.strip_prefix("name:").map(str::trim) {
            Some(name) => {
                let last = self.found.last();
                let is_its = last.is_some_and(|it| it.is_own() && it.is_for(name));
                self.named = is_its.then(|| name.to_owned());
            }
            None if !is_tool && self.failed.len() < MOST => {
                let has_failed = FAILED.iter().any(|it| small.contains(it));
                self.failed.extend(has_failed.then(|| small.to_owned()));
            }
            _ => {}
        }
    }

    /// Whether one was for a name whose first label this is.
    pub(super) fn are_for(&self, label: &str) -> bool {
        let names = self.found.iter().filter_map(|it| it.name.as_deref());
        let words = self.failed.iter().flat_map(|it| names_of(it));
        let first = |it: &str| it.split_once('.').is_some_and(|it| it.0 == label);
        names.chain(words).any(first)
    }

    /// What they show together; `None`: one lookup is what its message says.
    pub(super) fn sentence(&self) -> Option<String> {
        let with = |has: bool| {
            self.found
                .iter()
                .filter(move |it| it.has_reply == Some(has))
        };
        let mut pairs = with(false).flat_map(|silent| with(true).map(move |it| (silent, it)));
        let told = pairs.find_map(|(silent, other)| compared(silent, other));
        let slow = || {
            let is_slow = self.longest >= SLOW;
            is_slow.then(|| format!("a slow dns lookup took {} ms", self.longest))
        };
        let told = told.or_else(|| self.contradicted()).or_else(slow);
        told.map(|it| it + "\n")
    }

    /// That a tool got an address for a name, and a program did not.
    fn contradicted(&self) -> Option<String> {
        let has = |line: &String, name: &str| names_of(line).any(|it| it == name);
        let mut names = self.answered.iter().map(String::as_str);
        let name = names.find(|name| self.failed.iter().any(|it| has(it, name)))?;
        Some(format!("a tool resolves {name}, and a program does not"))
    }
}

impl Lookup {
    /// Whether a server of the cluster or of Docker was asked.
    fn is_own(&self) -> bool {
        let kind = self
            .server
            .map(|it| asked::asked((it, 53).into(), None).kind);
        matches!(kind, Some(Kind::Service | Kind::NodeLocal | Kind::Docker))
    }

    /// Whether a name can be of its answer: the one that was asked, or with a search domain.
    fn is_for(&self, name: &str) -> bool {
        let asked = self.name.as_deref().map(|it| it.trim_end_matches('.'));
        let rest = asked.map(|it| name.strip_prefix(it));
        rest.is_none_or(|it| it.is_some_and(|it| it.is_empty() || it.starts_with('.')))
    }
}

/// The words of a line that can be names.
fn names_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || ".-_".contains(c)))
}

/// What follows from one lookup without a reply and one with.
fn compared(silent: &Lookup, other: &Lookup) -> Option<String> {
    if silent.server.is_some() && silent.server == other.server {
        let server = silent.server?;
        if other.is_tcp && !silent.is_tcp {
            return Some(format!("{server} replies over TCP and not over UDP"));
        }
        let is_outside = |it: &Lookup| it.name.as_deref().map(is_of_the_world);
        return match (is_outside(silent)?, is_outside(other)?) {
            (true, false) => Some(format!(
                "{server} replies for names of the cluster and not for names outside"
            )),
            _ => None,
        };
    }
    let kind = |it: IpAddr| asked::asked((it, 53).into(), None).kind;
    let silent_one = silent.server.map(kind);
    let server = silent
        .server
        .map_or("the first server".to_owned(), |it| it.to_string());
    let other = other.server?;
    match (silent_one, kind(other)) {
        (Some(Kind::Pod), Kind::Pod) => Some(format!(
            "the DNS pod {server} does not reply, while another, {other}, does"
        )),
        (None | Some(Kind::Service), Kind::Pod | Kind::Private) => Some(format!(
            "the DNS Service {server} does not reply, while the DNS pod {other} does"
        )),
        (None | Some(Kind::Service | Kind::Pod), Kind::Public) => Some(format!(
            "{server} does not reply, while {other} outside does"
        )),
        _ => None,
    }
}

/// The address that a text begins with: `10.96.0.10#53(10.96.0.10)`.
pub(super) fn server_of(text: &str) -> Option<IpAddr> {
    let word = text.split_whitespace().next()?;
    let word = word.split('(').next().unwrap_or_default();
    asked::parsed(word).map(|it| it.0.ip())
}
