//! What is kept of what is over: answers that a program may ask for again, and
//! connections.

use std::net::{IpAddr, SocketAddr};

use crate::packet::SeenMessage;
use crate::watch::keys::Key;
use crate::watch::lookup::{Exchange, Sent};
use crate::watch::map::Map;

/// So many answers are remembered; a power of two.
const MAX_ANSWERED: usize = 16_384;

/// So many pairs of client and server are remembered.
const MAX_PAIRS: usize = 4096;

/// Answers to queries of lookups that are over; a newer one takes the place of one
/// that falls on it.
#[derive(Debug)]
pub(super) struct Answered {
    /// The query, the packet that answered it, and when.
    all: Vec<Option<(Key, u64, i64)>>,
}

impl Default for Answered {
    fn default() -> Self {
        Self {
            all: vec![None; MAX_ANSWERED],
        }
    }
}

impl Answered {
    /// Remembers that a query was answered, by which packet and when.
    pub(super) fn insert(&mut self, key: Key, packet: u64, time: i64) {
        if let Some(place) = self.all.get_mut(key.slot(MAX_ANSWERED)) {
            *place = Some((key, packet, time));
        }
    }

    /// The packet that has answered this very query since: programs use ports and numbers
    /// again.
    pub(super) fn get(&self, key: Key, since: i64) -> Option<u64> {
        let known = self.all.get(key.slot(MAX_ANSWERED)).copied().flatten();
        known
            .filter(|it| it.0 == key && it.2 >= since)
            .map(|it| it.1)
    }
}

/// What is known of a client's connections to a server.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Attempt {
    /// The last time that it wanted one.
    pub(super) wanted: Option<Sent>,
    /// The last time that it got one.
    pub(super) got: Option<Sent>,
    /// The last time that it was refused one.
    pub(super) refused: Option<Sent>,
}

/// Connections over TCP.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pairs: Map<(IpAddr, IpAddr), Attempt>,
}

impl Connections {
    fn entry(&mut self, client: SocketAddr, server: SocketAddr) -> &mut Attempt {
        let pair = (client.ip(), server.ip());
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&pair) {
            self.pairs.clear();
        }
        self.pairs.entry(pair).or_default()
    }

    /// A client asks for a connection.
    pub(super) fn connect(&mut self, seen: &SeenMessage<'_>) {
        self.entry(seen.from, seen.to).wanted = Some(Sent::from(seen));
    }

    /// A server accepts one.
    pub(super) fn connected(&mut self, seen: &SeenMessage<'_>) {
        self.entry(seen.to, seen.from).got = Some(Sent::from(seen));
    }

    /// A side breaks one off.
    pub(super) fn reset(&mut self, seen: &SeenMessage<'_>) {
        let attempt = self.entry(seen.to, seen.from);
        let is_open = attempt.got.is_some_and(|got| {
            let wanted = attempt.wanted.map_or(i64::MIN, |it| it.time);
            got.time >= wanted
        });
        if attempt.wanted.is_some() && !is_open {
            attempt.refused = Some(Sent::from(seen));
        }
    }

    /// An ICMP error says that it cannot be.
    pub(super) fn unreachable(&mut self, client: SocketAddr, server: SocketAddr, sent: Sent) {
        self.entry(client, server).refused = Some(sent);
    }

    /// A query came over one: it was there, also if its beginning was not seen.
    pub(super) fn asked(&mut self, exchange: &Exchange) {
        self.entry(exchange.client, exchange.server).got = Some(exchange.first);
    }

    /// What is known of a client's connections to a server.
    pub(super) fn attempt(&self, client: IpAddr, server: IpAddr) -> Attempt {
        let known = self.pairs.get(&(client, server));
        known.copied().unwrap_or_default()
    }
}

/// Whether packets are numbered at all: what their IP headers say is one number for
/// each where the kernel made them.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The last query's id, and the number of its packet.
    last: Option<(u16, Option<u16>)>,
    /// The same of the last query before it with another id.
    other: Option<(u16, Option<u16>)>,
}

impl Numbers {
    /// Takes the next query.
    pub(super) fn take(&mut self, id: u16, number: Option<u16>) {
        if self.last.is_some_and(|it| it.0 != id) {
            self.other = self.last;
        }
        self.last = Some((id, number));
    }

    /// Whether another query had this number, too.
    pub(super) fn are_all(&self, number: Option<u16>) -> bool {
        self.other.is_some_and(|it| it.1 == number)
    }
}
