//! What queries, connections and names are found by.

use std::hash::{BuildHasher as _, Hasher};
use std::net::{IpAddr, SocketAddr};

use foldhash::quality::RandomState;

use crate::packet::{StreamId, Transport, hash_ends, hash_ip};
use crate::watch::lookup::Exchange;

/// The types of addresses.
pub(super) const A: u16 = 1;
pub(super) const AAAA: u16 = 28;

/// So many questions are known by their ids; a power of two.
pub(super) const QUESTIONS: usize = 4096;

/// A query as the wire tells it from others, in 64 bits: the addresses and
/// ports of both sides, the connection, the id and the question, hashed with a
/// seed of this run.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Key(u64);

impl Key {
    /// Where it would be among so many, a power of two.
    pub(super) fn slot(self, room: usize) -> usize {
        usize::try_from(self.0).unwrap_or_default() & (room - 1)
    }
}

/// Makes keys, all with one seed.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(RandomState);

/// A name, whatever its case, and a type.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Question {
    pub(super) name: u64,
    pub(super) qtype: u16,
}

impl Question {
    /// Where the newest exchange with this id and question would be. One that falls
    /// on the place of another takes it.
    pub(super) fn slot(self, id: u16) -> usize {
        let mixed = self.name ^ u64::from(self.qtype) << 5 ^ u64::from(id);
        usize::try_from(mixed).unwrap_or_default() & (QUESTIONS - 1)
    }
}

impl Keys {
    /// The key of a query of a client to a server.
    pub(super) fn key(
        &self,
        ends: (SocketAddr, SocketAddr),
        transport: Transport,
        id: u16,
        question: Question,
    ) -> Key {
        let mut hasher = self.of_connection(ends, transport);
        hasher.write_u32(u32::from(id) << 16 | u32::from(question.qtype));
        hasher.write_u64(question.name);
        Key(hasher.finish())
    }

    fn of_connection(
        &self,
        (client, server): (SocketAddr, SocketAddr),
        transport: Transport,
    ) -> impl Hasher {
        let mut hasher = self.0.build_hasher();
        hash_ends(client, server, &mut hasher);
        if let Transport::Tcp(StreamId(stream)) = transport {
            hasher.write_u64(stream);
        }
        hasher
    }

    /// The key of all queries of a client's port to a server, or of those with an id.
    pub(super) fn of_id(
        &self,
        ends: (SocketAddr, SocketAddr),
        transport: Transport,
        id: Option<u16>,
    ) -> Key {
        let mut hasher = self.of_connection(ends, transport);
        hasher.write_u32(id.map_or(u32::MAX, u32::from));
        Key(hasher.finish())
    }

    /// The keys under which an exchange is listed.
    pub(super) fn of_exchange(&self, it: &Exchange) -> [Key; 2] {
        [None, Some(it.id)].map(|id| self.of_id((it.client, it.server), it.transport, id))
    }

    /// The key of a name that a client can have asked for, by its hash.
    pub(super) fn of_base(&self, client: IpAddr, base: u64) -> Key {
        let mut hasher = self.0.build_hasher();
        hash_ip(client, &mut hasher);
        hasher.write_u64(base);
        Key(hasher.finish())
    }
}
