//! Machines on the wire, instead of in a simulation.
//!
//! [`Live`] lets a machine go on until it waits, opens the sockets and sends
//! the queries that it wants, and hands it what comes back, one arrival at a
//! time, in real time; many machines can be under way at once. [`run`] plays
//! the machine of a resolver's model ([`crate::resolver::Resolver::machine`])
//! to its end.
//! Sockets are made by the calling thread, so they are in the network
//! namespace that it has entered ([`crate::netns::Namespace::move_in`],
//! [`crate::netns::Namespace::within`]; a machine is not `Send`: make it there).
//!
//! Every query of a model has a random id. A reply counts if it comes from the
//! server that was asked, to the socket that asked, with the id and the
//! question of a query that has none yet; everything else is an
//! [`Event::Stray`], which the machine never sees: what real resolvers do with
//! such messages differs, and is not modelled. A machine that writes its own
//! messages ([`Request::Write`](crate::engine::io::Request::Write): dig) gets
//! whatever comes on the socket.

mod event;
mod player;
mod replies;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use super::kind::Got;
use super::roots::Roots;
use super::sockets::{Sockets, is_readable};
use super::{client_cookie, socket_address};
use crate::address::Server;
use crate::dig::lookup::Lookup;
use crate::dig::translation;
use crate::engine::machine::{Machine, Outcome};
use crate::engine::message::{Query, SocketId, Transport};
use crate::engine::secure::Secure;
use crate::explain::live::Cut;
use crate::simulation::MAX_QUERIES;

pub use self::event::Event;
pub use self::player::Player;

/// Nothing to wait for but sockets.
const LONG: Duration = Duration::from_secs(3600);

/// What ends a lookup, whatever the resolver would do.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'l> {
    /// It takes longer.
    pub time: Duration,
    /// Something to read here (`signalfd(2)`); `None`: nothing does.
    pub interrupt: Option<BorrowedFd<'l>>,
}

/// How it ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finished {
    /// As the resolver's caller sees it; [`Outcome::Hung`] if the lookup was cut.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
    /// What the model had to say beside it.
    pub notes: Vec<String>,
    /// What ended it before the resolver did; `None`: nothing.
    pub cut: Option<Cut>,
}

/// Machines under way, and their sockets.
#[derive(Debug, Default)]
pub struct Live {
    sockets: Sockets,
    /// Whose a socket is, and what it is for.
    owners: BTreeMap<u32, Owner>,
    deadlines: BTreeSet<(Instant, u32)>,
    next_socket: u32,
    next_player: u32,
}

/// Whose a socket is.
#[derive(Debug)]
struct Owner {
    player: u32,
    socket: SocketId,
    /// To whom and how it is being connected.
    connecting: Option<(Server, Transport, Option<Box<Secure>>)>,
    /// Whether the machine writes its own messages.
    is_raw: bool,
}

/// What a machine's requests are carried out with.
#[derive(Clone, Copy)]
pub struct Means<'m> {
    /// Where a server's queries really go; `None`: nowhere.
    pub destination: &'m dyn Fn(&Server) -> Option<SocketAddr>,
    /// The message of a query with this id.
    pub message: &'m dyn Fn(&Query, u16) -> Vec<u8>,
    /// Where queries are sent from; `None`: as the kernel chooses.
    pub source: Option<SocketAddr>,
    /// Whether the machine wants to know where it sends from.
    pub tells_local: bool,
    /// Whose certificates count; `None`: those that count anywhere.
    pub roots: Option<&'m Roots>,
    /// Is told what happens.
    pub watch: &'m dyn Fn(Event),
}

/// Nothing is sent anywhere.
impl Default for Means<'_> {
    fn default() -> Self {
        Self {
            destination: &|_| None,
            message: &|_, _| Vec::new(),
            source: None,
            tells_local: false,
            roots: None,
            watch: &|_| {},
        }
    }
}

/// What has happened.
#[derive(Debug)]
pub enum Woken {
    /// Something about a socket of this machine.
    Socket(u32, Told),
    /// This machine has waited long enough.
    Late(u32),
    /// The other descriptor can be read, or nothing is known.
    Other,
}

/// What a socket has told, for [`Live::take`].
#[derive(Debug)]
pub struct Told(u32, Got);

impl Live {
    /// A machine that begins now; machines are numbered from 0.
    pub fn start<'m>(&mut self, machine: Machine<'m>) -> Player<'m> {
        let number = self.next_player;
        self.next_player = number.wrapping_add(1);
        Player::new(number, machine)
    }

    /// Waits until something happens, but not beyond `limit`. `other` is a
    /// further descriptor that is waited for.
    pub fn wait(&mut self, limit: Option<Instant>, other: Option<BorrowedFd<'_>>) -> Woken {
        if let Some(late) = self.late() {
            return late;
        }
        let now = Instant::now();
        let first = self.deadlines.first().map(|(at, _)| *at);
        let until = [first, limit].into_iter().flatten().min();
        let left = until.map_or(LONG, |at| at.saturating_duration_since(now));
        match self.sockets.wait(left, other) {
            Some(got) => self.woken(got),
            None => self.late().unwrap_or(Woken::Other),
        }
    }

    /// What else has happened already.
    pub fn told(&mut self) -> Option<Woken> {
        let got = self.sockets.told()?;
        Some(self.woken(got))
    }

    /// Who has waited long enough.
    pub fn late(&self) -> Option<Woken> {
        let (at, number) = self.deadlines.first()?;
        (*at <= Instant::now()).then_some(Woken::Late(*number))
    }

    /// Stops waiting for the other descriptor.
    pub fn forget(&mut self, other: BorrowedFd<'_>) {
        self.sockets.forget(other);
    }

    fn woken(&self, (number, got): (u32, Got)) -> Woken {
        let told = Told(number, got);
        let owner = self.owners.get(&number);
        owner.map_or(Woken::Other, |it| Woken::Socket(it.player, told))
    }
}

/// Plays a resolver's machine to its end, as [`run`] does: its queries go where it
/// sends them.
pub fn run_resolver(
    machine: Machine<'_>,
    limits: Limits<'_>,
    watch: &mut dyn FnMut(Event),
) -> Finished {
    let cookie = client_cookie();
    let plain = Lookup::default();
    let means = Means {
        destination: &|server| socket_address(&server.address, server.port),
        message: &|query, id| translation::message(query, &plain, id, &cookie),
        ..Means::default()
    };
    run(machine, &means, limits, watch)
}

/// Plays `machine` to its end; `watch` is told what happens.
pub fn run(
    machine: Machine<'_>,
    means: &Means<'_>,
    limits: Limits<'_>,
    watch: &mut dyn FnMut(Event),
) -> Finished {
    let watch = RefCell::new(watch);
    let means = &Means {
        watch: &|event| (watch.borrow_mut())(event),
        ..*means
    };
    let mut live = Live::default();
    let mut player = live.start(machine);
    let limit = player.start + limits.time;
    let cut = loop {
        live.advance(&mut player, means);
        if player.outcome.is_some() {
            break None;
        }
        let is_stuck = player.deadline.is_none() && live.sockets.is_silent();
        let cut = match () {
            () if Instant::now() >= limit => Some(Cut::Time(limits.time)),
            () if is_stuck => Some(Cut::Hangs),
            () if player.asked.len() >= MAX_QUERIES => Some(Cut::Queries),
            () if is_readable(limits.interrupt) => Some(Cut::Interrupt),
            () => None,
        };
        if cut.is_some() {
            break cut;
        }
        if let Woken::Socket(_, told) = live.wait(Some(limit), limits.interrupt) {
            live.take(&mut player, told, means);
        }
    };
    Finished {
        elapsed: player.start.elapsed(),
        notes: player.machine.notes(),
        outcome: player.outcome.unwrap_or(Outcome::Hung),
        cut,
    }
}

/// The same address and port, whatever the zone.
fn same(one: SocketAddr, other: SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical() && one.port() == other.port()
}

impl std::fmt::Debug for Means<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Means")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
