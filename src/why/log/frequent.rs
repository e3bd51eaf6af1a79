//! What is seen most often, in bounded memory and with a bound on the error.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// So much of a key's text is kept, in bytes: all of any name, also as `\DDD`.
const MAX_TEXT: usize = 1020;

/// What is kept of a text.
pub(super) fn kept(text: &[u8]) -> &[u8] {
    text.get(..MAX_TEXT).unwrap_or(text)
}

/// Takes the hash that a key is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identity(u64);

pub(super) type ByHash<V> = HashMap<u64, V, BuildHasherDefault<Identity>>;

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        // The table looks at the highest bits and at the lowest.
        self.0 ^ (self.0 << 40)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Counts by key. Where there are more keys than room, the rarest are forgotten:
/// what was seen of one that is kept is then at most [`Frequent::error`] more
/// than its count.
#[derive(Clone, Debug)]
pub(super) struct Frequent<V> {
    slots: ByHash<Slot<V>>,
    room: usize,
    error: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Slot<V> {
    /// The key's text, as it was seen first, or its beginning.
    pub(super) text: Box<[u8]>,
    pub(super) count: u64,
    pub(super) value: V,
}

impl<V: Default> Frequent<V> {
    /// Keeps at least the `room` most frequent keys.
    pub(super) fn new(room: usize) -> Self {
        Self {
            slots: ByHash::default(),
            room,
            error: 0,
        }
    }

    /// Counts a key; its value.
    #[inline]
    pub(super) fn add(&mut self, hash: u64, text: &[u8], count: u64) -> &mut V {
        if self.slots.len() >= 2 * self.room && !self.slots.contains_key(&hash) {
            self.forget();
        }
        let slot = self.slots.entry(hash).or_insert_with(|| Slot {
            text: kept(text).into(),
            count: 0,
            value: V::default(),
        });
        slot.count += count;
        &mut slot.value
    }

    /// Forgets the rarer half.
    fn forget(&mut self) {
        let mut counts: Vec<u64> = self.slots.values().map(|it| it.count).collect();
        let (_, &mut threshold, _) = counts.select_nth_unstable(self.room);
        self.slots.retain(|_, slot| slot.count > threshold);
        self.error += threshold;
    }

    pub(super) fn get(&self, hash: u64) -> Option<&Slot<V>> {
        self.slots.get(&hash)
    }

    pub(super) fn get_mut(&mut self, hash: u64) -> Option<&mut Slot<V>> {
        self.slots.get_mut(&hash)
    }

    /// At most so much is missing from a count, or from a key that is not there.
    pub(super) fn error(&self) -> u64 {
        self.error
    }

    /// How many keys are kept.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The keys with the highest counts, those with the same in the order of the
    /// alphabet.
    pub(super) fn sorted(&self) -> Vec<&Slot<V>> {
        let mut slots: Vec<&Slot<V>> = self.slots.values().collect();
        slots.sort_unstable_by(|a, b| (b.count, &a.text).cmp(&(a.count, &b.text)));
        slots
    }

    /// Adds what another one has counted; `join` puts values together.
    pub(super) fn merge(&mut self, other: Self, join: impl Fn(&mut V, V)) {
        let mut slots: Vec<(u64, Slot<V>)> = other.slots.into_iter().collect();
        slots.sort_unstable_by_key(|(hash, slot)| Reverse((slot.count, *hash)));
        for (hash, slot) in slots {
            join(self.add(hash, &slot.text, slot.count), slot.value);
        }
        self.error += other.error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_as_stated() {
        let mut counts = Frequent::<()>::new(16);
        let mut truth = std::collections::BTreeMap::new();
        let mut state = 7u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let random = state >> 33;
            // Half are of four keys, the others are nearly all different.
            let key = if random.is_multiple_of(2) {
                random / 2 % 4
            } else {
                random
            };
            counts.add(key, &key.to_le_bytes(), 1);
            *truth.entry(key).or_insert(0u64) += 1;
        }
        assert!(counts.len() <= 32);
        for (key, count) in truth {
            let kept = counts.get(key).map_or(0, |it| it.count);
            assert!(kept <= count && count <= kept + counts.error(), "{key}");
        }
        let first = counts.sorted();
        assert!(first.iter().take(4).all(|it| it.count > 2000));
        assert!(counts.error() < 2000, "{}", counts.error());
    }
}
