//! What dig, host and nslookup share: one query at a time, over the search
//! list, the tries and the servers.
//!
//! It asks over [`Io`] as every model does: real servers with real messages
//! ([`Settings::wire`]), or those of a scenario, and prints on a [`Screen`].
//! What dig adds to the other two costs them nothing.

mod cookie;
mod failed;
mod query;
mod reply;
mod rounds;
mod search;
#[cfg(test)]
mod tests;
mod transfer;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use self::transfer::Transfer;
use crate::address;
use crate::dig::lookup::{Lookup, Server};
use crate::dig::printed::{Exchange, Printed, Screen, Times, Unprintable};
use crate::dig::request;
use crate::dig::settings::Settings;
use crate::engine::io::Io;
use crate::engine::message::{Because, SocketId};
use crate::name::Name;

/// Source: BIND bin/dig/dighost.h: `UDP_TIMEOUT`, `TCP_TIMEOUT` (9.18)
pub(crate) const UDP_TIMEOUT: u32 = 5;
const TCP_TIMEOUT: u32 = 10;

/// A run of one of the programs.
pub struct Dighost {
    io: Rc<Io>,
    settings: Settings,
    screen: Rc<dyn Screen>,
    standing: Rc<Standing>,
    waiting: VecDeque<Pending>,
    counter: u32,
}

/// What a run has come to; it outlives a line of a batch file.
#[derive(Debug, Default)]
pub struct Standing {
    status: Cell<u8>,
    has_ended: Cell<bool>,
    /// What is open, and to whom if it may be used again.
    open: RefCell<Option<(SocketId, Option<address::Server>)>>,
}

/// A lookup with its place in the search, as it waits for its turn.
///
/// Source: BIND bin/dig/dighost.h: `struct dig_lookup` (9.18)
#[derive(Clone, Debug)]
struct Pending {
    lookup: Rc<Lookup>,
    /// The entry of the search list that is tried.
    origin: Option<usize>,
    need_search: bool,
    done_as_is: bool,
    new_search: bool,
    seen_badcookie: bool,
    seen_end: bool,
    /// Why the name is asked when no entry is behind it.
    because: Because,
}

/// The lookup that runs.
#[derive(Debug)]
struct Current {
    pending: Pending,
    name: Name,
    id: u16,
    /// The message; empty in a prediction.
    query: Vec<u8>,
    servers: Rc<[Server]>,
    at: usize,
    transfer: Option<Transfer>,
    times: Times,
    /// When the query was sent, since the run began.
    sent: Duration,
}

/// The program ends at once, with this status (`fatal`, `digexit`).
struct Exit(u8);

/// What is to be done after a server had its chance.
enum Then {
    /// The lookup is over; the next one begins.
    Over,
    /// The same server is asked again.
    Again,
    /// The next server is asked.
    NextServer,
    /// More is waited for, as long as before, or anew.
    Wait { anew: bool },
}

impl Standing {
    /// The status that the program would end with.
    pub fn status(&self) -> u8 {
        self.status.get()
    }

    /// Whether it has ended for good, so that no further line of a batch file
    /// is read.
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    fn end(&self, status: u8) {
        self.status.set(status);
        self.has_ended.set(true);
    }

    /// The status of an error that ends the program: what it has been, or 1.
    ///
    /// Source: BIND bin/dig/dighost.c: `fatal`, `digexit` (9.18)
    fn fatal(&self) -> u8 {
        self.status().max(u8::from(self.status() == 0))
    }
}

impl Dighost {
    /// A run that asks `lookups`, one after the other.
    pub fn new(
        io: Rc<Io>,
        settings: Settings,
        screen: Rc<dyn Screen>,
        standing: Rc<Standing>,
    ) -> Self {
        Self {
            io,
            settings,
            screen,
            standing,
            waiting: VecDeque::new(),
            counter: 0,
        }
    }

    /// Works on the list of lookups until it is empty.
    ///
    /// Source: BIND bin/dig/dighost.c: `start_lookup` (9.18)
    pub async fn run(mut self, lookups: impl IntoIterator<Item = (Lookup, Because)>) {
        let pending = |(lookup, because)| Pending {
            lookup: Rc::new(lookup),
            origin: None,
            need_search: false,
            done_as_is: false,
            new_search: true,
            seen_badcookie: false,
            seen_end: false,
            because,
        };
        self.waiting.extend(lookups.into_iter().map(pending));
        while let Some(pending) = self.waiting.pop_front() {
            if let Err(Exit(status)) = self.start_lookup(pending).await {
                return self.standing.end(status);
            }
        }
    }

    async fn start_lookup(&mut self, mut pending: Pending) -> Result<(), Exit> {
        let Some(name) = self.setup(&mut pending)? else {
            if !self.next_origin(&pending)? {
                self.hang().await;
            }
            return Ok(());
        };
        let (id, query) = self.message(&mut pending, &name)?;
        let lookup = &pending.lookup;
        let mut servers = lookup.asked(&self.settings.servers);
        let transfers = matches!(lookup.rdtype, transfer::AXFR | transfer::IXFR);
        if transfers {
            servers = servers.iter().cloned().map(Server::of_transfer).collect();
        }
        let is_real = self.settings.wire.is_some();
        let transfer = (is_real && transfers && lookup.tcp).then(Transfer::default);
        let current = Current {
            pending,
            name,
            id,
            query,
            servers,
            at: 0,
            transfer,
            times: Times::default(),
            sent: Duration::ZERO,
        };
        if self.settings.rounds {
            return self.ask_in_rounds(current).await;
        }
        self.do_lookup(current).await
    }

    /// The id and the message; a large one goes over TCP.
    ///
    /// Source: BIND bin/dig/dighost.c: `setup_lookup` (9.18)
    fn message(&self, pending: &mut Pending, name: &Name) -> Result<(u16, Vec<u8>), Exit> {
        let lookup = &pending.lookup;
        let is_axfr = lookup.rdtype == transfer::AXFR;
        let mut made = (0, Vec::new());
        if let Some(wire) = &self.settings.wire {
            let Some(cookie) = cookie::sent(lookup, &self.settings) else {
                let why = "isc_hex_decodestring: bad hex encoding";
                return Err(self.fatal(Printed::Stderr(why.to_owned()))?);
            };
            let id = lookup.qid.unwrap_or_else(wire.ids);
            let parts = request::Parts {
                name,
                id,
                cookie: &cookie,
            };
            made = (id, request::message(lookup, &parts));
        }
        if (made.1.len() > request::MAX_UDP_QUERY || is_axfr) && !lookup.tcp {
            Rc::make_mut(&mut pending.lookup).tcp = true;
        }
        Ok(made)
    }

    /// Asks the servers, one after the other.
    ///
    /// Source: BIND bin/dig/dighost.c: `do_lookup`, `start_udp`, `start_tcp`
    /// (9.18)
    async fn do_lookup(&mut self, mut current: Current) -> Result<(), Exit> {
        let mut is_after_setup = false;
        while let Some(server) = current.server() {
            if server.is_mapped() {
                let text = format!("Skipping mapped address '{}'", server.address);
                self.warn(Printed::Warning(text))?;
                current.at += 1;
                if current.server().is_none() {
                    self.warn(Printed::NoAcceptable)?;
                    if is_after_setup {
                        // "still have a worker", but it is finished.
                        self.hang().await;
                    }
                }
                continue;
            }
            let connected = self.connect(&current).await;
            is_after_setup = connected.is_err();
            let then = match connected {
                Ok(socket) => self.ask(&mut current, socket).await?,
                Err(failure) => self.not_opened(&mut current, failure)?,
            };
            match then {
                Then::NextServer => current.at += 1,
                Then::Again => {}
                Then::Over | Then::Wait { .. } => return Ok(()),
            }
        }
        Ok(())
    }

    /// Closes what is open, unless it may be used again and still works.
    fn close(&self, works: bool) {
        let mut open = self.standing.open.borrow_mut();
        if let Some((socket, _)) = open.take_if(|(_, kept)| !works || kept.is_none()) {
            self.io.close(socket);
        }
    }

    fn print(&self, printed: Printed) -> Result<(), Exit> {
        let shown = self.screen.print(printed);
        shown.map_err(|Unprintable| Exit(self.standing.fatal()))
    }

    /// Prints why the program ends.
    fn fatal(&self, printed: Printed) -> Result<Exit, Exit> {
        self.print(printed)?;
        Ok(Exit(self.standing.fatal()))
    }

    /// Prints a warning, unless it would stand amid YAML.
    fn warn(&self, printed: Printed) -> Result<(), Exit> {
        if self.settings.keeps_warnings {
            return Ok(());
        }
        self.print(printed)
    }

    fn timeout(&self, lookup: &Lookup) -> Duration {
        let default = if lookup.tcp { TCP_TIMEOUT } else { UDP_TIMEOUT };
        Duration::from_secs(self.settings.timeout.unwrap_or(default).into())
    }

    /// The real program waits for ever; who asks has nothing to wait for.
    async fn hang(&self) {
        if self.settings.wire.is_none() {
            self.io
                .note("the program does not end: nothing is left that could end it");
            self.io.receive(&[], None).await;
        }
    }
}

impl Current {
    fn server(&self) -> Option<&Server> {
        self.servers.get(self.at)
    }

    fn has_server_after(&self) -> bool {
        self.at + 1 < self.servers.len()
    }

    /// `10.0.0.1#53`
    fn peer(&self) -> String {
        let server = self.server();
        server.map_or_else(String::new, |it| format!("{}#{}", it.address, it.port()))
    }

    fn exchange(&self, cookie_ok: Option<bool>) -> Option<Rc<Exchange>> {
        Some(Rc::new(Exchange {
            lookup: Rc::clone(&self.pending.lookup),
            server: self.server()?.clone(),
            tcp: self.pending.lookup.tcp,
            cookie_ok,
            query_size: self.query.len(),
            times: self.times,
        }))
    }

    /// The greeting is printed once.
    fn greeted(&mut self) {
        if !self.pending.lookup.greeting.is_empty() {
            Rc::make_mut(&mut self.pending.lookup).greeting.clear();
        }
    }
}

impl std::fmt::Debug for Dighost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Dighost");
        shown.field("settings", &self.settings);
        shown.field("standing", &self.standing);
        shown.finish_non_exhaustive()
    }
}
