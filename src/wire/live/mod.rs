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

mod errors;
mod sockets;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use self::sockets::{Got, Sockets, is_readable};
use super::query_id;
use crate::address::Server;
use crate::dig::message::{Message, Read, read};
use crate::dig::translation::{mismatch, reply};
use crate::engine::io::{Arrival, Came, ConnectError, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::simulation::MAX_QUERIES;

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

/// What happens, when it happens. `at` counts from the start of the lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A query has left, or was lost on this machine.
    Sent {
        /// When.
        at: Duration,
        /// Which: others refer to it.
        id: QueryId,
        /// What the model wants sent.
        query: Query,
        /// The bytes of the message.
        wire: Vec<u8>,
    },
    /// Something came back for a query.
    Came {
        /// When.
        at: Duration,
        /// For which.
        id: QueryId,
        /// How long after that was sent.
        elapsed: Duration,
        /// What the model is told; [`Came::Refused`] on a socket that is not
        /// connected is only for people, and a reply may follow.
        what: Came,
        /// What the kernel says, if it is an error.
        why: Option<String>,
        /// The message, if it is one.
        message: Option<Box<Message>>,
    },
    /// A socket could not be connected: why, as the kernel says.
    NotConnected {
        /// When.
        at: Duration,
        /// To whom.
        server: Server,
        /// How.
        transport: Transport,
        /// As a sentence part.
        why: String,
        /// Whether there was no socket to connect.
        no_socket: bool,
        /// Whether the port is closed.
        is_refused: bool,
    },
    /// A query could not be sent, after its [`Event::Sent`].
    NotSent {
        /// Which.
        id: QueryId,
        /// As a sentence part.
        why: String,
        /// Whether there was no socket to send it from.
        no_socket: bool,
    },
    /// A message came that answers nothing: why, as a sentence.
    Stray {
        /// When.
        at: Duration,
        /// From whom.
        from: SocketAddr,
        /// What is wrong with it.
        why: &'static str,
    },
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
    asked: Vec<Asked>,
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
        asked: Vec::new(),
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
        let is_stuck = until.is_none() && player.sockets.is_empty();
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
            player.take(got, &machine);
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
                if let Some(got) = self.sockets.connect(socket, server, peer, transport) {
                    self.take(got, machine);
                }
            }
            Request::Send(id, query) => {
                let message_id = query_id();
                let wire = (self.options.message)(&query, message_id);
                let peer = (self.options.destination)(&query.server);
                let at = self.start.elapsed();
                let refused = self
                    .sockets
                    .send(query.socket, peer, query.transport, &wire);
                (self.watch)(Event::Sent {
                    at,
                    id,
                    query: query.clone(),
                    wire,
                });
                match refused {
                    Some(Got::NotSent(why, no_socket)) => {
                        (self.watch)(Event::NotSent { id, why, no_socket });
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
        }
    }

    fn take(&mut self, got: Got, machine: &Machine<'_>) {
        match got {
            Got::Connected(socket) => machine.connected(socket, Ok(())),
            Got::NotConnected(socket, server, transport, error, (why, no_socket)) => {
                machine.connected(socket, Err(error));
                let is_refused = error == ConnectError::Refused;
                let at = self.start.elapsed();
                (self.watch)(Event::NotConnected {
                    at,
                    server,
                    transport,
                    why,
                    no_socket,
                    is_refused,
                });
            }
            // A query was being sent, and is told of there.
            Got::NotSent(..) => {}
            Got::Refused(socket, why) => self.ended(socket, &Came::Refused, Some(&why), machine),
            Got::Unheard(socket, peer, why) => self.unheard(socket, peer, &why),
            Got::Closed(socket) => self.ended(socket, &Came::Closed, None, machine),
            Got::Message(socket, from, wire) => self.message(socket, from, &wire, machine),
        }
    }

    /// The oldest query of a datagram socket, or all of a connection, will
    /// not be answered.
    fn ended(&mut self, socket: SocketId, what: &Came, why: Option<&str>, machine: &Machine<'_>) {
        let now = self.start.elapsed();
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
                why: why.map(str::to_owned),
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
            Read::Nothing(why) => return (self.watch)(Event::Stray { at, from, why }),
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
