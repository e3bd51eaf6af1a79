//! Short lists: one sort for all types, and what is equal once.
//!
//! The standard library's stable sort is 5 KB for each type and way to compare:
//! a program that sorts a hundred short lists was half a MiB larger by it. This
//! one sorts positions, in one copy. Where much is sorted often (packets, logs,
//! predictions, directories) the standard one is faster.

use std::cmp::Ordering;

/// Sorts a slice as [`slice::sort_by`] and its relatives do: what is equal stays as it was.
pub trait Order<T> {
    /// As [`slice::sort_by`].
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// As [`slice::sort_by_key`].
    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }

    /// As [`slice::sort`].
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }
}

impl<T> Order<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut by_position = |a: usize, b: usize| match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        };
        let sources = sorted_positions(self.len(), &mut by_position);
        move_all(sources, &mut |a, b| self.swap(a, b));
    }
}

/// Which element comes to each position.
fn sorted_positions(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|&a, &b| compare(a, b));
    positions
}

/// Brings to each position the element that `sources` names for it, around each circle
/// of places once.
fn move_all(mut sources: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..sources.len() {
        let mut position = start;
        while let Some(place) = sources.get_mut(position) {
            let source = std::mem::replace(place, position);
            if source == start {
                break;
            }
            swap(position, source);
            position = source;
        }
    }
}

/// Each of them once, in their order: for few.
pub fn once<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

/// Each key once with all its values, in their order: for few keys.
pub fn together<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut all: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match all.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => all.push((key, vec![value])),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_comes_once() {
        assert_eq!(once([3, 1, 3, 2, 1]), [3, 1, 2]);
        let pairs = [("b", 1), ("a", 2), ("b", 3)];
        assert_eq!(together(pairs), [("b", vec![1, 3]), ("a", vec![2])]);
    }

    /// A stranger chooses the order of what is sorted: names of directories.
    #[test]
    fn each_is_moved_once() {
        let count = 1000;
        for step in [1, 7, 999] {
            let rotated: Vec<usize> = (0..count).map(|it| (it + step) % count).collect();
            let (mut all, mut swaps) = (rotated.clone(), 0);
            let sources = sorted_positions(count, &mut |a, b| rotated[a].cmp(&rotated[b]));
            move_all(sources, &mut |a, b| {
                swaps += 1;
                all.swap(a, b);
            });
            assert!(all.is_sorted() && swaps < count, "{swaps}");
        }
    }

    #[test]
    fn it_is_the_sort_of_the_standard_library() {
        let mut seed = 1_u32;
        for length in 0..200 {
            let numbers = (0..length).map(|at| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 29, at)
            });
            let mut ours: Vec<(u32, u32)> = numbers.collect();
            let mut theirs = ours.clone();
            ours.order_by_key(|it| it.0);
            theirs.sort_by_key(|it| it.0);
            assert_eq!(ours, theirs);
            ours.order();
            theirs.sort_unstable();
            assert_eq!(ours, theirs);
        }
    }
}
