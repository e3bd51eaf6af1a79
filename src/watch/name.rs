//! Names of messages: cheap to compare, to take apart and to keep.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;

use crate::name::{Name, labels};
use crate::packet::dns::whole_labels;
use crate::watch::map::Map;

/// So many names are kept at once; then all that nobody holds are forgotten.
const MAX_NAMES: usize = 16_384;

/// The hash of labels with their lengths, whatever the case of their letters.
pub(super) fn hash(wire: &[u8]) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    // The last eight bytes can be some of those before.
    hasher.write_usize(wire.len());
    for word in wire.as_chunks().0 {
        hasher.write_u64(lower_case(u64::from_le_bytes(*word)));
    }
    let last = match wire.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => wire
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    hasher.write_u64(lower_case(last));
    hasher.finish()
}

/// What stands before `suffix`, if the labels end with that; not if there is nothing
/// else, and not for the root: with it a name is as it is.
pub(super) fn before<'n>(wire: &'n [u8], suffix: &Name) -> Option<&'n [u8]> {
    let tail = suffix.as_wire();
    let (before, end) = wire.split_at_checked(wire.len().checked_sub(tail.len())?)?;
    let is_end = !before.is_empty() && !tail.is_empty() && same(end, tail);
    // What looks like the suffix can begin within a label.
    (is_end && whole_labels(before) == before).then_some(before)
}

/// Eight bytes with their ASCII letters in lower case, and no other byte changed.
fn lower_case(bytes: u64) -> u64 {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    // The highest bit of each byte says whether it is one of them.
    let low = bytes & each(0x7f);
    let from_a = low + each(0x80 - b'A');
    let after_z = low + each(0x7f - b'Z');
    let is_upper = from_a & !after_z & !bytes & each(0x80);
    bytes | is_upper >> 2
}

/// Names that were seen, each once as long as there is room.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// By their hash, whatever their case.
    known: Map<u64, Name>,
}

impl Names {
    /// The name with these labels, of which this is the hash.
    pub(super) fn get(&mut self, hash: u64, wire: &[u8]) -> Name {
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
    // Nearly always they are the same bytes, or begin with labels of other lengths.
    one == other || one.first() == other.first() && one.eq_ignore_ascii_case(other)
}

/// The name with these labels and lengths; the root if it is none.
pub(super) fn of_wire(wire: &[u8]) -> Name {
    Name::from_labels(labels(wire)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let name = |text: &str| Name::from_plain(text.as_bytes()).unwrap();
        let long = name("db.Prod.svc.cluster.local");
        let before = |suffix: &Name| before(long.as_wire(), suffix);
        assert_eq!(
            before(&name("svc.CLUSTER.local")),
            Some(&b"\x02db\x04Prod"[..])
        );
        for other in [
            "c.cluster.local",
            "luster.local",
            "db.prod.svc.cluster.local",
            ".",
        ] {
            assert_eq!(before(&name(other)), None, "{other}");
        }
        let hash = |text: &str| hash(name(text).as_wire());
        assert_eq!(
            hash("db.Prod.svc.cluster.local"),
            hash("DB.prod.svc.Cluster.local")
        );
        let all = [
            "",
            "a",
            "b",
            "ab",
            "a.b",
            "aaaaaaa",
            "aaaaaaaa",
            "aaaaaa.a",
            "aaaaaaaa.a",
            "foo.foo",
            "foo.foo.foo",
            "db.db.db",
            "db.db.db.db",
            "a.a.a.a",
            "a.a.a.a.a",
        ];
        let all: BTreeSet<u64> = all.map(hash).into();
        assert_eq!(all.len(), 15);
        for byte in 0..=u8::MAX {
            let lower = u64::from(byte.to_ascii_lowercase());
            let all = u64::from_ne_bytes([byte; 8]);
            assert_eq!(lower_case(all), lower * 0x0101_0101_0101_0101, "{byte}");
        }
    }
}
