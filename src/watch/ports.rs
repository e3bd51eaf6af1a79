//! Which lookups use a client's port.

use smallvec::SmallVec;

use crate::watch::map::Map;

/// So many lookups are known by a port that newer ones use, too.
const MAX_OTHERS: usize = 1024;

/// The lookups of each port, whoever the client is.
#[derive(Debug)]
pub(super) struct Ports {
    /// The newest one; it can have ended.
    newest: Vec<u32>,
    /// Those before it that are under way, the newest last.
    others: Map<u16, SmallVec<[u32; 4]>>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            newest: vec![u32::MAX; 1 << 16],
            others: Map::default(),
        }
    }
}

impl Ports {
    /// The lookups of a port, the newest first.
    pub(super) fn of(&self, port: u16) -> impl Iterator<Item = u32> {
        let newest = self.newest.get(usize::from(port));
        let others = self.others.get(&port).into_iter().flatten().rev();
        newest.into_iter().chain(others).copied()
    }

    /// A lookup uses a port now; the one that did so before, if it is another one.
    pub(super) fn take(&mut self, port: u16, lookup: u32) -> Option<u32> {
        let newest = self.newest.get_mut(usize::from(port))?;
        let before = std::mem::replace(newest, lookup);
        (before != lookup).then_some(before)
    }

    /// A lookup that is not the newest one any more is under way.
    pub(super) fn keep(&mut self, port: u16, lookup: u32) {
        let others = self.others.entry(port).or_default();
        if !others.contains(&lookup) {
            others.push(lookup);
        }
        if others.len() > MAX_OTHERS {
            others.remove(0);
        }
    }

    /// It has ended.
    pub(super) fn leave(&mut self, port: u16, lookup: u32) {
        if let Some(others) = self.others.get_mut(&port) {
            others.retain(|it| *it != lookup);
            if others.is_empty() {
                self.others.remove(&port);
            }
        }
    }
}
