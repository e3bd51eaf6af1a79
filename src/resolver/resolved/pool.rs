//! Things that are called by a number, as C calls them by a pointer.

use std::ops::{Index, IndexMut};

/// Things by the number that [`Pool::push`] gave out. Nothing is ever taken out.
#[derive(Clone, Debug)]
pub(super) struct Pool<T> {
    items: Vec<T>,
    /// Stands for a number that was never given out, so that access cannot fail.
    spare: T,
}

impl<T> Pool<T> {
    /// An empty pool.
    pub(super) fn new(spare: T) -> Self {
        Self {
            items: Vec::new(),
            spare,
        }
    }

    /// Adds `item` and gives it a number.
    pub(super) fn push(&mut self, item: T) -> usize {
        self.items.push(item);
        self.items.len() - 1
    }

    /// How many values are in the pool.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// All of them, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The number of the oldest one for which `wanted` is true.
    pub(super) fn find(&self, wanted: impl FnMut(&T) -> bool) -> Option<usize> {
        self.items.iter().position(wanted)
    }

    /// All that are as wanted, the oldest first.
    pub(super) fn find_all(&self, wanted: impl Fn(&T) -> bool) -> Vec<usize> {
        let items = self.items.iter().enumerate();
        let found = items.filter(|(_, item)| wanted(item));
        found.map(|(number, _)| number).collect()
    }
}

impl<T> Index<usize> for Pool<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        self.items.get(number).unwrap_or(&self.spare)
    }
}

impl<T> IndexMut<usize> for Pool<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        self.items.get_mut(number).unwrap_or(&mut self.spare)
    }
}
