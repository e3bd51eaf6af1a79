//! A resolver's machine on the wire, instead of in a simulation.
//!
//! [`run`] lets the machine of a model ([`crate::resolver::Resolver::machine`])
//! go on until it waits, opens the sockets and sends the queries that it
//! wants, and hands it what comes back, one arrival at a time, in real time.
//! Sockets are made by the calling thread, so they are in the network
//! namespace that it has entered ([`crate::netns::Namespace::move_in`],
//! [`crate::netns::Namespace::within`]; a machine is not `Send`: make it there).
//!
//! Every query has a random id. A reply counts if it comes from the server
//! that was asked, to the socket that asked, with the id and the question of
//! a query that has none yet; everything else is an [`Event::Stray`], which
//! the machine never sees: what real resolvers do with such messages differs,
//! and is not modelled.

mod event;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use super::errors::{connect_error, is_lack};
use super::query_id;
use super::sockets::{Got, Sockets, is_readable};
use crate::address::Server;
use crate::dig::message::{Read, read};
use crate::dig::translation::{mismatch, reply};
use crate::engine::io::{Arrival, Came, ConnectError, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::host::io_reason;
use crate::simulation::MAX_QUERIES;

pub use self::event::Event;

/// How a machine is played.
pub struct Options<'o> {
    /// Where a server's queries really go; `None`: nowhere.
    pub destination: &'o dyn Fn(&Server) -> Option<SocketAddr>,
    /// The message of a query with this id:
    /// [`crate::dig::translation::message`].
    pub message: &'o dyn Fn(&Query, u16) -> Vec<u8>,
    /// A lookup that takes longer is cut, whatever the resolver would do.
    pub limit: Duration,
    /// Something to read here ends the lookup (`signalfd(2)`); `None`: nothing does.
    pub interrupt: Option<BorrowedFd<'o>>,
}

/// How it ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finished {
    /// As the resolver's caller sees it; `HANG` if the lookup was cut.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
    /// What the model had to say beside it.
    pub notes: Vec<String>,
    /// What ended it before the resolver did; `None`: nothing.
    pub cut: Option<Cut>,
}

/// What ends a lookup that the resolver would not end yet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// [`Options::limit`].
    Time,
    /// [`MAX_QUERIES`].
    Queries,
    /// It waits for ever, and no socket is left on which anything could come.
    Stuck,
    /// [`Options::interrupt`].
    Interrupt,
}

/// A query that has left.
struct Asked {
    id: QueryId,
    query: Query,
    message_id: u16,
    at: Duration,
    is_answered: bool,
    /// Whether ICMP has said something that its socket does not hear.
    is_unheard: bool,
}

struct Player<'p> {
    options: &'p Options<'p>,
    watch: &'p mut dyn FnMut(Event),
    start: Instant,
    sockets: Sockets,
    /// What is being connected.
    connecting: BTreeMap<u32, (Server, Transport)>,
    asked: Vec<Asked>,
    /// Sockets that the machine has closed, and that are still open.
    left: BTreeSet<u32>,
}

/// Plays `machine` to its end; `watch` is told what happens.
pub fn run(
    mut machine: Machine<'_>,
    options: &Options<'_>,
    watch: &mut dyn FnMut(Event),
) -> Finished {
    let mut player = Player {
        options,
        watch,
        start: Instant::now(),
        sockets: Sockets::default(),
        connecting: BTreeMap::new(),
        asked: Vec::new(),
        left: BTreeSet::new(),
    };
    let (outcome, cut) = loop {
        let step = machine.step(player.start.elapsed());
        let requests = machine.requests();
        let was_idle = requests.is_empty();
        for request in requests {
            player.carry_out(request, &machine);
        }
        let until = match step {
            Step::Done(outcome) => break (outcome, None),
            Step::Waiting(_) if !was_idle => continue,
            Step::Waiting(until) => until,
        };
        let now = player.start.elapsed();
        let is_stuck = until.is_none() && player.sockets.is_silent();
        let cut = match () {
            () if now >= options.limit => Some(Cut::Time),
            () if is_stuck => Some(Cut::Stuck),
            () if player.asked.len() >= MAX_QUERIES => Some(Cut::Queries),
            () if is_readable(options.interrupt) => Some(Cut::Interrupt),
            () => None,
        };
        if cut.is_some() {
            break (Outcome::Failed("HANG"), cut);
        }
        let until = until.map_or(options.limit, |it| it.min(options.limit));
        let left = until.saturating_sub(now);
        if let Some(got) = player.sockets.wait(left, options.interrupt) {
            let socket = got.socket();
            player.take(got, &machine);
            if let Some(socket) = socket {
                player.close_if_over(SocketId(socket));
            }
        }
    };
    Finished {
        outcome,
        elapsed: player.start.elapsed(),
        notes: machine.notes(),
        cut,
    }
}

impl Player<'_> {
    fn carry_out(&mut self, request: Request, machine: &Machine<'_>) {
        match request {
            Request::Connect(socket, server, transport) => {
                let peer = (self.options.destination)(&server);
                self.connecting.insert(socket.0, (server, transport));
                if let Some(got) = self.sockets.connect(socket.0, peer, None, transport) {
                    self.take(got, machine);
                }
            }
            Request::Send(id, query) => {
                let message_id = query_id();
                let wire = (self.options.message)(&query, message_id);
                let peer = (self.options.destination)(&query.server);
                let at = self.start.elapsed();
                let socket = query.socket.0;
                let failed = self.sockets.send(socket, peer, query.transport, &wire);
                (self.watch)(Event::Sent {
                    at,
                    id,
                    query: query.clone(),
                    wire,
                });
                match failed {
                    Some(Got::NotSent(_, error)) => {
                        (self.watch)(Event::NotSent {
                            id,
                            why: io_reason(&error),
                            no_socket: is_lack(&error),
                        });
                    }
                    Some(got) => self.take(got, machine),
                    None => {}
                }
                self.asked.push(Asked {
                    id,
                    query,
                    message_id,
                    at,
                    is_answered: false,
                    is_unheard: false,
                });
            }
            Request::Close(socket) => {
                self.left.insert(socket.0);
                self.close_if_over(socket);
            }
        }
    }

    /// Closes a socket that the machine has left, unless an answer can still
    /// come: people are told of late ones.
    fn close_if_over(&mut self, socket: SocketId) {
        let waits = |it: &Asked| it.query.socket == socket && !it.is_answered;
        if self.left.contains(&socket.0) && !self.asked.iter().any(waits) {
            self.left.remove(&socket.0);
            self.connecting.remove(&socket.0);
            self.sockets.close(socket.0);
        }
    }

    fn take(&mut self, got: Got, machine: &Machine<'_>) {
        match got {
            Got::Connected(id) => {
                self.connecting.remove(&id);
                machine.connected(SocketId(id), Ok(()));
            }
            Got::Failed(id, error) => match self.connecting.remove(&id) {
                Some((server, transport)) => {
                    let kind = connect_error(&error);
                    machine.connected(SocketId(id), Err(kind));
                    (self.watch)(Event::NotConnected {
                        at: self.start.elapsed(),
                        server,
                        transport,
                        why: io_reason(&error),
                        no_socket: is_lack(&error),
                        is_refused: kind == ConnectError::Refused,
                    });
                }
                None => self.ended(SocketId(id), &error, machine),
            },
            Got::Unheard(id, peer, error) => self.unheard(SocketId(id), peer, &io_reason(&error)),
            Got::Message(id, from, wire) => self.message(SocketId(id), from, &wire, machine),
            // A query was being sent, and is told of there.
            Got::NotSent(..) | Got::Other => {}
        }
    }

    /// The oldest query of a datagram socket, or all of a connection, will
    /// not be answered.
    fn ended(&mut self, socket: SocketId, error: &io::Error, machine: &Machine<'_>) {
        let now = self.start.elapsed();
        let (what, why) = match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => (Came::Closed, None),
            ErrorKind::ConnectionReset => (Came::Reset, Some(io_reason(error))),
            _ => (Came::Refused, Some(io_reason(error))),
        };
        for asked in &mut self.asked {
            if asked.query.socket != socket || asked.is_answered {
                continue;
            }
            asked.is_answered = true;
            machine.arrived(arrival(asked, what.clone()));
            (self.watch)(Event::Came {
                at: now,
                id: asked.id,
                elapsed: now.saturating_sub(asked.at),
                what: what.clone(),
                why: why.clone(),
                message: None,
            });
            if asked.query.transport == Transport::Udp {
                return;
            }
        }
    }

    /// Tells people, and not the machine, whose socket is not told either. A
    /// reply may still come.
    fn unheard(&mut self, socket: SocketId, peer: SocketAddr, why: &str) {
        let now = self.start.elapsed();
        let destination = self.options.destination;
        let is_its = |it: &&mut Asked| {
            let to = destination(&it.query.server);
            it.query.socket == socket && !it.is_unheard && to.is_some_and(|to| same(to, peer))
        };
        if let Some(asked) = self.asked.iter_mut().find(is_its) {
            asked.is_unheard = true;
            (self.watch)(Event::Came {
                at: now,
                id: asked.id,
                elapsed: now.saturating_sub(asked.at),
                what: Came::Refused,
                why: Some(why.to_owned()),
                message: None,
            });
        }
    }

    fn message(&mut self, socket: SocketId, from: SocketAddr, wire: &[u8], machine: &Machine<'_>) {
        let at = self.start.elapsed();
        let message = match read(wire, true) {
            Read::Whole(message) | Read::Part(message) => message,
            Read::Nothing(why) => {
                let why = format!("it is no DNS message that can be read: {why}");
                return (self.watch)(Event::Stray { at, from, why });
            }
        };
        let is_from = |server: &Server| {
            let peer = (self.options.destination)(server);
            peer.is_some_and(|it| same(it, from))
        };
        let mut why = "nothing was asked there";
        for asked in &mut self.asked {
            if asked.query.socket != socket || !is_from(&asked.query.server) {
                continue;
            }
            match mismatch(&message, &asked.query, asked.message_id) {
                Some(reason) => why = reason,
                None if asked.is_answered => why = "it is a second reply to one query",
                None => {
                    asked.is_answered = true;
                    let what = Came::Reply(reply(&message));
                    machine.arrived(arrival(asked, what.clone()));
                    return (self.watch)(Event::Came {
                        at,
                        id: asked.id,
                        elapsed: at.saturating_sub(asked.at),
                        what,
                        why: None,
                        message: Some(Box::new(message)),
                    });
                }
            }
        }
        let why = why.to_owned();
        (self.watch)(Event::Stray { at, from, why });
    }
}

fn arrival(asked: &Asked, what: Came) -> Arrival {
    Arrival {
        query: asked.id,
        socket: asked.query.socket,
        server: asked.query.server.clone(),
        what,
    }
}

/// The same address and port, whatever the zone.
fn same(one: SocketAddr, other: SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical() && one.port() == other.port()
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
