//! A bounded memory of what is not complete: the young and the old.

use std::collections::HashMap;
use std::hash::Hash;

/// Things by key, of which those are forgotten that were not touched for long, or
/// for which there is no room. Both cost nothing per thing: what was not touched
/// between two changes of generation goes at the second one.
#[derive(Debug)]
pub(super) struct Generations<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    /// When the young ones were born, in nanoseconds.
    since: i64,
    /// At most so many of both.
    room: usize,
    /// So long something is remembered at least, if there is room.
    age: i64,
}

impl<K: Eq + Hash + Clone, V> Generations<K, V> {
    pub(super) fn new(room: usize, age: i64) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            since: i64::MIN,
            room,
            age,
        }
    }

    /// Whether it is time, or a thing more would be too many, so that
    /// [`forget`](Self::forget) is to be called.
    pub(super) fn is_due(&self, now: i64) -> bool {
        let is_full = self.young.len() >= (self.room / 2).max(1);
        // A clock that was set back begins anew.
        is_full || now.saturating_sub(self.since) >= self.age || now < self.since
    }

    /// Begins a new generation: the things that are forgotten.
    pub(super) fn forget(&mut self, now: i64) -> impl Iterator<Item = (K, V)> + use<K, V> {
        let young = std::mem::take(&mut self.young);
        let old = std::mem::replace(&mut self.old, young);
        self.since = now;
        old.into_iter()
    }

    /// The thing of this key, which is young again.
    pub(super) fn get(&mut self, key: &K) -> Option<&mut V> {
        if !self.old.is_empty()
            && let Some(value) = self.old.remove(key)
        {
            self.young.insert(key.clone(), value);
        }
        self.young.get_mut(key)
    }

    /// Puts a thing in the place of one with its key, and gives that one back.
    pub(super) fn put(&mut self, key: K, value: V) -> Option<V> {
        let before = self.old.remove(&key);
        self.young.insert(key, value).or(before)
    }

    /// Takes a thing out.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        self.young.remove(key).or_else(|| self.old.remove(key))
    }
}
