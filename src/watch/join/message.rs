//! A message as far as joining looks at it.

use crate::packet::Seen;
use crate::packet::dns::Header;
use crate::watch::lookup::Sent;
use crate::watch::name::Shape;
use crate::watch::open::Question;
use crate::watch::reply::Reply;

/// A message, taken apart as far as joining needs it.
pub(super) struct Message<'a> {
    pub(super) seen: &'a Seen<'a>,
    pub(super) header: &'a Header<'a>,
    pub(super) shape: &'a Shape<'a>,
    pub(super) question: Question,
    pub(super) bytes: &'a [u8],
    pub(super) length: usize,
}

impl Message<'_> {
    pub(super) fn sent(&self) -> Sent {
        Sent {
            time: self.seen.time,
            packet: self.seen.number,
        }
    }

    pub(super) fn reply(&self) -> Reply {
        Reply {
            time: self.seen.time,
            packet: self.seen.number,
            ..Reply::of(self.header, self.bytes, self.length)
        }
    }

    pub(super) fn exact_hash(&self) -> u64 {
        exact_hash(self.shape.wire)
    }
}

/// A hash of bytes, case and all.
pub(super) fn exact_hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
