//! A message as far as joining looks at it.

use std::net::SocketAddr;

use crate::packet::SeenMessage;
use crate::packet::dns::Header;
use crate::watch::keys::{Key, Keys, Question};
use crate::watch::reply::Reply;

/// A message, taken apart as far as joining needs it.
pub(super) struct Message<'a> {
    pub(super) seen: &'a SeenMessage<'a>,
    pub(super) header: &'a Header<'a>,
    /// The labels of the name; of one that is cut those that there are.
    pub(super) name: &'a [u8],
    pub(super) question: Question,
    pub(super) length: usize,
}

impl Message<'_> {
    /// The key of this query, or of the one that it answers, of a client to a
    /// server.
    pub(super) fn key(&self, keys: &Keys, ends: (SocketAddr, SocketAddr)) -> Key {
        keys.key(ends, self.seen.transport, self.header.id, self.question)
    }

    pub(super) fn reply(&self) -> Reply {
        Reply {
            time: self.seen.time,
            is_time_known: self.seen.is_time_known,
            packet: self.seen.number,
            ..Reply::parse(self.header, self.seen.bytes, self.length)
        }
    }
}
