//! Names of messages: cheap to compare, to take apart and to keep.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;

use crate::name::{MAX_WIRE_BYTES, Name, labels};
use crate::watch::map::Map;

/// So many ends of labels are told apart; a name of an IPv6 address has 34. The
/// labels of a longer name count as one from there on.
const MAX_LABELS: usize = 40;

/// So many names are kept at once; then all that nobody holds are forgotten.
const MAX_NAMES: usize = 16_384;

/// Where labels of a name end, and the hash of all before: names whose
/// beginnings are the same have the same hashes.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    /// The labels with their lengths, without the root's zero.
    pub(super) wire: &'a [u8],
    marks: [(u8, u64); MAX_LABELS],
    count: usize,
}

impl<'a> Shape<'a> {
    /// Takes a name apart: labels with their lengths, with or without the
    /// root's zero. What is no label ends it.
    pub(super) fn parse(wire: &'a [u8]) -> Self {
        // No length of a label is a letter, so all bytes can be put in lower case.
        let mut lower = [0; MAX_WIRE_BYTES + 1];
        let length = wire.len().min(MAX_WIRE_BYTES);
        let (used, _) = lower.split_at_mut(length);
        used.copy_from_slice(wire.get(..length).unwrap_or_default());
        let (words, _) = lower.as_chunks_mut();
        for word in words.iter_mut().take(length.div_ceil(8)) {
            *word = lower_case(u64::from_ne_bytes(*word)).to_ne_bytes();
        }
        let mut marks = [(0, 0); MAX_LABELS];
        let (mut at, mut count, mut hasher) = (0_usize, 0, FixedState::default().build_hasher());
        while let Some(&length) = lower.get(at).filter(|it| (1..64).contains(*it)) {
            let end = at + 1 + usize::from(length);
            let place = count.min(MAX_LABELS - 1);
            let (Some(label), Some(mark), Ok(short)) =
                (lower.get(at..end), marks.get_mut(place), u8::try_from(end))
            else {
                break;
            };
            hasher.write(label);
            *mark = (short, hasher.finish());
            (at, count) = (end, place + 1);
        }
        Self {
            wire: wire.get(..at).unwrap_or_default(),
            marks,
            count,
        }
    }

    /// How many labels it has.
    pub(super) fn labels(&self) -> usize {
        self.count
    }

    /// The hash of the first so many labels, whatever their case.
    pub(super) fn hash_of(&self, labels: usize) -> u64 {
        let mark = labels.checked_sub(1).and_then(|it| self.marks.get(it));
        mark.map_or(0, |it| it.1)
    }

    /// The hash of all of it.
    pub(super) fn hash(&self) -> u64 {
        self.hash_of(self.count)
    }

    /// The bytes of the first so many labels.
    pub(super) fn prefix(&self, labels: usize) -> &'a [u8] {
        let mark = labels.checked_sub(1).and_then(|it| self.marks.get(it));
        let end = mark.map_or(0, |it| usize::from(it.0));
        self.wire.get(..end).unwrap_or_default()
    }

    /// How many labels stand before `suffix`, if it ends with that; not if
    /// there is nothing else, and not for the root: with it a name is as it is.
    pub(super) fn before(&self, suffix: &Name) -> Option<usize> {
        let tail = suffix.as_wire();
        let start = self
            .wire
            .len()
            .checked_sub(tail.len())
            .filter(|it| *it > 0 && !tail.is_empty())?;
        let marks = self.marks.get(..self.count)?;
        let is_start = |it: &(u8, u64)| usize::from(it.0) == start;
        let labels = marks.iter().position(is_start)? + 1;
        same(self.wire.get(start..)?, tail).then_some(labels)
    }
}

/// Eight bytes with their letters A to Z in lower case, all at once: a loop over
/// bytes takes longer than all else that is done with a name.
fn lower_case(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const TOP: u64 = EACH * 0x80;
    // Without its top bit a byte is below 128, and so no sum goes over into the next.
    let low = bytes & !TOP;
    let from_a = low + EACH * u64::from(0x80 - b'A');
    let after_z = low + EACH * u64::from(0x80 - (b'Z' + 1));
    let is_upper = from_a & !after_z & !bytes & TOP;
    bytes | is_upper >> 2
}

/// Names that were seen, each once as long as there is room.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By their hash, whatever their case.
    known: Map<u64, Name>,
}

impl Names {
    /// The name of the first so many labels of `shape`.
    pub(super) fn get(&mut self, shape: &Shape<'_>, labels: usize) -> Name {
        let (hash, wire) = (shape.hash_of(labels), shape.prefix(labels));
        if let Some(known) = self.known.get(&hash)
            && known.as_wire() == wire
        {
            return known.clone();
        }
        if self.known.len() >= MAX_NAMES {
            self.known.clear();
        }
        let name = of_wire(wire);
        self.known.insert(hash, name.clone());
        name
    }
}

/// Whether both are the same labels, whatever their case.
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    // Nearly always they are the same bytes, which is seen faster.
    one == other || one.eq_ignore_ascii_case(other)
}

/// The name with these labels and lengths; the root if it is none.
pub(super) fn of_wire(wire: &[u8]) -> Name {
    Name::from_labels(labels(wire)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_have_hashes() {
        let name = |text: &str| Name::from_plain(text.as_bytes()).unwrap();
        let long = name("db.Prod.svc.cluster.local");
        let shape = Shape::parse(long.as_wire());
        let short = name("DB.prod");
        assert_eq!(shape.labels(), 5);
        assert_eq!(shape.hash_of(2), Shape::parse(short.as_wire()).hash());
        assert_eq!(shape.prefix(2), b"\x02db\x04Prod");
        assert_eq!(shape.before(&name("svc.CLUSTER.local")), Some(2));
        assert_eq!(shape.before(&name("c.cluster.local")), None);
        assert_eq!(shape.before(&name("luster.local")), None);
        assert_eq!(shape.before(&long), None);
        assert_eq!(shape.before(&Name::root()), None);
    }

    #[test]
    fn letters_in_lower_case() {
        for byte in 0..=255_u8 {
            for bytes in [[byte; 8], [b'A', byte, b'Z', byte, 0xff, byte, 0, byte]] {
                let lower = lower_case(u64::from_ne_bytes(bytes)).to_ne_bytes();
                assert_eq!(lower, bytes.map(|it| it.to_ascii_lowercase()), "{byte}");
            }
        }
    }

    #[test]
    fn odd_bytes_end_a_name() {
        for wire in [
            &b""[..],
            b"\0",
            b"\x05ab",
            b"\xc0\x0c",
            &[1; 300],
            &[63; 255],
        ] {
            let shape = Shape::parse(wire);
            assert!(shape.wire.len() <= 255 && shape.labels() <= 128, "{wire:?}");
            of_wire(shape.wire);
        }
    }
}
