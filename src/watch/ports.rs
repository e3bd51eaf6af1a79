//! Which exchanges use a client's port.

use std::collections::hash_map::Entry;

use smallvec::SmallVec;

use crate::watch::keys::Key;
use crate::watch::map::Map;
use crate::watch::open::Place;

/// So many exchanges of one connection are known.
const MAX_OF_CONNECTION: usize = 1024;

/// So many are known that nothing but their questions tells apart.
const MAX_ALIKE: usize = 8;

/// The lookups of each port, whoever the client is, and where that does not tell
/// enough, the exchanges of each client and server.
#[derive(Debug)]
pub(super) struct Ports {
    /// The newest lookup of a port; it can have ended.
    newest: Vec<u32>,
    /// The exchanges under way of lookups that are listed, the newest last.
    listed: Map<Key, SmallVec<[Place; 2]>>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            newest: vec![u32::MAX; 1 << 16],
            listed: Map::default(),
        }
    }
}

impl Ports {
    /// The newest lookup of a port.
    pub(super) fn newest(&self, port: u16) -> u32 {
        let newest = self.newest.get(usize::from(port));
        newest.copied().unwrap_or(u32::MAX)
    }

    /// A lookup uses a port now; the one that did so before, if it is another one.
    pub(super) fn take(&mut self, port: u16, lookup: u32) -> Option<u32> {
        let newest = self.newest.get_mut(usize::from(port))?;
        let before = std::mem::replace(newest, lookup);
        (before != lookup).then_some(before)
    }

    /// The exchanges that are listed under a key, the newest first.
    pub(super) fn listed(&self, key: Key) -> impl Iterator<Item = Place> {
        self.listed.get(&key).into_iter().flatten().rev().copied()
    }

    /// Lists an exchange under the keys of its connection and of its id there.
    pub(super) fn list(&mut self, keys: [Key; 2], place: Place) {
        for (key, most) in keys.into_iter().zip([MAX_OF_CONNECTION, MAX_ALIKE]) {
            let listed = self.listed.entry(key).or_default();
            if listed.len() >= most {
                listed.remove(0);
            }
            listed.push(place);
        }
    }

    /// It has ended.
    pub(super) fn leave(&mut self, keys: [Key; 2], place: Place) {
        for key in keys {
            let Entry::Occupied(mut entry) = self.listed.entry(key) else {
                continue;
            };
            let listed = entry.get_mut();
            if let Some(at) = listed.iter().position(|it| *it == place) {
                listed.remove(at);
            }
            if listed.is_empty() {
                entry.remove();
            }
        }
    }
}
