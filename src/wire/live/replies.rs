//! Which query of a model something answers.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use super::{Event, Means, Player, same};
use crate::address::Server;
use crate::dig::message::{Message, Read, read_message};
use crate::dig::translation::{mismatch, reply};
use crate::engine::io::{Arrival, Came};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::host::io_reason;

/// A query that has left.
#[derive(Debug)]
pub(super) struct Asked {
    id: QueryId,
    pub(super) query: Query,
    message_id: u16,
    at: Duration,
    pub(super) is_answered: bool,
    /// Whether ICMP has said something that its socket does not hear.
    is_unheard: bool,
}

impl Asked {
    pub(super) fn new(id: QueryId, query: Query, message_id: u16, at: Duration) -> Self {
        Self {
            id,
            query,
            message_id,
            at,
            is_answered: false,
            is_unheard: false,
        }
    }

    fn came(
        &self,
        at: Duration,
        what: Came,
        why: Option<String>,
        message: Option<Box<Message>>,
    ) -> Event {
        Event::Came {
            at,
            id: self.id,
            elapsed: at.saturating_sub(self.at),
            what,
            why,
            message,
        }
    }
}

/// What is said of a reply of which only a part makes sense.
const DAMAGED: &str = "the message is damaged: not all of it can be read";

impl Player<'_> {
    /// The oldest query of a datagram socket, or all of a connection, will
    /// not be answered.
    pub(super) fn ended(&mut self, socket: SocketId, error: &io::Error, means: &Means<'_>) {
        let now = self.now();
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
            self.machine.arrived(arrival(asked, what.clone()));
            (means.watch)(asked.came(now, what.clone(), why.clone(), None));
            if asked.query.transport == Transport::Udp {
                return;
            }
        }
    }

    /// Tells people, and not the machine, whose socket is not told either. A
    /// reply may still come.
    pub(super) fn unheard(
        &mut self,
        socket: SocketId,
        peer: SocketAddr,
        why: &str,
        means: &Means<'_>,
    ) {
        let now = self.now();
        let destination = means.destination;
        let is_its = |it: &&mut Asked| {
            let to = destination(&it.query.server);
            it.query.socket == socket && !it.is_unheard && to.is_some_and(|to| same(to, peer))
        };
        if let Some(asked) = self.asked.iter_mut().find(is_its) {
            asked.is_unheard = true;
            (means.watch)(asked.came(now, Came::Refused, Some(why.to_owned()), None));
        }
    }

    pub(super) fn message(
        &mut self,
        socket: SocketId,
        from: SocketAddr,
        wire: &[u8],
        means: &Means<'_>,
    ) {
        let at = self.now();
        let (message, damage) = match read_message(wire, true) {
            Read::Whole(message) => (message, None),
            Read::Part(message) => (message, Some(DAMAGED.to_owned())),
            Read::Nothing(why) => {
                let why = format!("it is no DNS message that can be read: {why}");
                return (means.watch)(Event::Stray { at, from, why });
            }
        };
        let is_from = |server: &Server| {
            let peer = (means.destination)(server);
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
                    self.machine.arrived(arrival(asked, what.clone()));
                    return (means.watch)(asked.came(at, what, damage, Some(Box::new(message))));
                }
            }
        }
        let why = why.to_owned();
        (means.watch)(Event::Stray { at, from, why });
    }
}

fn arrival(asked: &Asked, what: Came) -> Arrival {
    Arrival {
        query: asked.id,
        socket: asked.query.socket,
        server: asked.query.server.clone(),
        what,
        wrong: None,
    }
}
