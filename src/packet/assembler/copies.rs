//! Recognizes a packet that is seen again on another interface.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::net::SocketAddr;

use foldhash::quality::RandomState;

use super::link::Place;
use crate::packet::hash_ends;

/// What one packet keeps from interface to interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Print {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    /// Of IPv4.
    pub(super) ip_id: Option<u16>,
    /// The beginning of what is inside: the id and flags of a message, the
    /// sequence number of a segment.
    pub(super) inside: u32,
    /// Its length.
    pub(super) length: usize,
    /// TCP's flags; 0: UDP.
    pub(super) flags: u8,
}

/// Packets that were seen a moment ago; a newer one takes the place of one that
/// falls on it.
#[derive(Debug)]
pub(super) struct Copies {
    hasher: RandomState,
    seen: Vec<Option<Sighting>>,
}

#[derive(Clone, Copy, Debug)]
struct Sighting {
    /// The hash of its [`Print`].
    hash: u64,
    place: Place,
    time: i64,
}

/// A power of two. At a million packets a second so many are 1 ms.
const ROOM: usize = 1024;

/// A packet goes from one interface of a machine to the next in microseconds;
/// where it waits for a processor, in some milliseconds. A resolver that asks
/// again waits longer, and its packet has another identification.
const WINDOW: i64 = 50_000_000;

/// The same where all interfaces look alike.
const VAGUE_WINDOW: i64 = 1_000_000;

impl Copies {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::default(),
            seen: vec![None; ROOM],
        }
    }

    /// Whether the packet was seen on another interface. Two that are alike on
    /// the same one are two packets.
    pub(super) fn is_copy(&mut self, print: Print, place: Place, time: i64) -> bool {
        let mut hasher = self.hasher.build_hasher();
        hash_ends(print.from, print.to, &mut hasher);
        hasher.write_u32(print.inside);
        hasher.write_usize(print.length << 8 | usize::from(print.flags));
        print.ip_id.hash(&mut hasher);
        let hash = hasher.finish();
        let slot = usize::try_from(hash >> 48).unwrap_or_default() % ROOM;
        let Some(known) = self.seen.get_mut(slot) else {
            return false;
        };
        if let Some(before) = known
            && before.hash == hash
        {
            let age = (time - before.time).abs();
            let is_elsewhere = before.place != place && age <= WINDOW;
            // With an identification of its own it is one packet; there is none in 0.
            let has_id = print.ip_id.is_some_and(|it| it != 0);
            let is_alike = place.is_vague && has_id && age <= VAGUE_WINDOW;
            if is_elsewhere || is_alike {
                return true;
            }
        }
        *known = Some(Sighting { hash, place, time });
        false
    }
}
