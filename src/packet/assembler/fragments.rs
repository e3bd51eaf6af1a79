//! Puts datagrams together from their fragments.
//!
//! Source: RFC 791, section 3.2; RFC 8200, section 4.5; RFC 5722 (what overlaps is
//! thrown away).

use std::net::IpAddr;

use super::generations::Generations;
use super::link::Place;
use crate::order::Order as _;
use crate::packet::{Counters, Limits};

/// What all fragments of a datagram have in common. On another interface they are
/// those of a copy.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Key {
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) id: u32,
    pub(super) protocol: u8,
    pub(super) place: Place,
}

/// A fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment<'a> {
    /// Where it belongs in the datagram, in bytes.
    pub(super) offset: usize,
    /// Whether another one follows.
    pub(super) has_more: bool,
    pub(super) bytes: &'a [u8],
}

/// The beginning of a datagram whose other fragments were not seen.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) key: Key,
    /// The frame of its first fragment.
    pub(super) number: u64,
    pub(super) time: i64,
    pub(super) interface: u32,
    pub(super) bytes: Vec<u8>,
}

/// A datagram that is not complete.
#[derive(Debug, Default)]
struct Partial {
    /// By offset; they do not overlap.
    parts: Vec<(usize, Vec<u8>)>,
    /// How long it is, once the last one was seen.
    length: Option<usize>,
    bytes: usize,
    /// Number, time and interface of the frame of the first fragment.
    first: Option<(u64, i64, u32)>,
}

/// The longest datagram.
const MAX_LENGTH: usize = 65_535;

/// Every network takes packets of 576 bytes: fragments of more than so many are
/// an attack.
const MAX_PARTS: usize = 128;

/// What is being put together.
#[derive(Debug)]
pub(super) struct Fragments {
    partial: Generations<Key, Partial>,
    bytes: usize,
    most: usize,
}

impl Fragments {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            partial: Generations::new(limits.fragmented, limits.fragment_age),
            bytes: 0,
            // The other half is for streams.
            most: limits.bytes / 2,
        }
    }

    /// Takes a fragment; the datagram, if that was the last one that was missing.
    pub(super) fn push(
        &mut self,
        key: &Key,
        fragment: Fragment<'_>,
        frame: (u64, i64, u32),
        counters: &mut Counters,
    ) -> Option<Vec<u8>> {
        if self.partial.get(key).is_none() {
            self.partial.put(key.clone(), Partial::default());
        }
        let partial = self.partial.get(key)?;
        let has_room = self.bytes + fragment.bytes.len() <= self.most;
        match partial.add(fragment, has_room) {
            Added::Again => {}
            Added::Refused => {
                counters.fragments_refused += 1;
                return None;
            }
            Added::Taken => {
                self.bytes += fragment.bytes.len();
                if fragment.offset == 0 {
                    partial.first = Some(frame);
                }
            }
        }
        if !partial.is_complete() {
            return None;
        }
        let whole = self.partial.remove(key)?;
        self.bytes -= whole.bytes;
        counters.assembled += 1;
        Some(whole.parts.into_iter().flat_map(|it| it.1).collect())
    }

    /// Bytes that are kept.
    pub(super) fn kept(&self) -> usize {
        self.bytes
    }

    /// Whether it is time to forget some.
    pub(super) fn is_due(&self, now: i64) -> bool {
        self.partial.is_due(now) || self.bytes > self.most / 2
    }

    /// Forgets what is old; the beginnings of datagrams among it.
    pub(super) fn forget(&mut self, now: i64, counters: &mut Counters) -> Vec<Beginning> {
        let mut beginnings = Vec::new();
        for (key, partial) in self.partial.forget(now) {
            self.bytes -= partial.bytes;
            counters.incomplete += 1;
            let Some((number, time, interface)) = partial.first else {
                continue;
            };
            beginnings.extend(partial.parts.into_iter().next().map(|it| Beginning {
                key,
                number,
                time,
                interface,
                bytes: it.1,
            }));
        }
        // A map has no order.
        beginnings.order_by_key(|it| it.number);
        beginnings
    }
}

/// What became of a fragment.
enum Added {
    Taken,
    /// It was there already.
    Again,
    Refused,
}

impl Partial {
    fn add(&mut self, fragment: Fragment<'_>, has_room: bool) -> Added {
        let Fragment {
            offset,
            has_more,
            bytes,
        } = fragment;
        let end = offset + bytes.len();
        let at = self.parts.partition_point(|it| it.0 < offset);
        let next = self.parts.get(at);
        if next.is_some_and(|it| it.0 == offset && it.1 == bytes) {
            return Added::Again;
        }
        let before = at.checked_sub(1).and_then(|it| self.parts.get(it));
        let is_over = before.is_some_and(|it| it.0 + it.1.len() > offset)
            || next.is_some_and(|it| it.0 < end)
            || !has_more && (next.is_some() || self.length.is_some_and(|it| it != end))
            || self.length.is_some_and(|it| end > it);
        // All but the last one fill units of eight bytes.
        let is_odd = bytes.is_empty() || has_more && bytes.len() % 8 != 0 || end > MAX_LENGTH;
        if is_over || is_odd || !has_room || self.parts.len() >= MAX_PARTS {
            return Added::Refused;
        }
        if !has_more {
            self.length = Some(end);
        }
        self.bytes += bytes.len();
        self.parts.insert(at, (offset, bytes.to_owned()));
        Added::Taken
    }

    fn is_complete(&self) -> bool {
        self.length == Some(self.bytes)
    }
}
