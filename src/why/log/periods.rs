//! Counts over time, in equal periods that grow with what they span, so that they
//! stay few and no count is lost.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Lengths of a period in minutes, each a multiple of the one before; after a week
/// they double.
const LENGTHS: [i64; 8] = [1, 5, 15, 60, 180, 720, 1440, WEEK];
const WEEK: i64 = 7 * 1440;

/// So many periods are kept while a log is read.
const MOST: usize = 1440;

/// Counts by periods of so many minutes, which begin at multiples of that since 1970.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Periods<T> {
    length: i64,
    /// By the first minute of the period; empty periods are left out.
    counts: BTreeMap<i64, T>,
}

impl<T> Default for Periods<T> {
    fn default() -> Self {
        Self {
            length: 1,
            counts: BTreeMap::new(),
        }
    }
}

impl<T: AddAssign + Clone + Default> Periods<T> {
    /// How many minutes a period has.
    pub fn length(&self) -> i64 {
        self.length
    }

    /// The periods that have counts, in order, by their first minute since 1970.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        self.counts.iter().map(|(&start, count)| (start, count))
    }

    /// How many periods have counts.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds to the count of the period that has this minute since 1970.
    #[inline]
    pub fn add(&mut self, minute: i64, count: T) {
        let start = start(minute, self.length);
        if let Some(own) = self.counts.get_mut(&start) {
            *own += count;
            return;
        }
        self.counts.insert(start, count);
        self.fit(MOST);
    }

    /// Adds all that another one has counted.
    pub fn merge(&mut self, other: Self) {
        if self.length < other.length {
            self.lengthen(other.length);
        }
        for (start, count) in other.counts {
            self.add(start, count);
        }
    }

    /// Lengthens the periods until at most so many have counts.
    pub(super) fn fit(&mut self, most: usize) {
        while self.counts.len() > most.max(1) {
            let longer = LENGTHS.into_iter().find(|it| *it > self.length);
            let Some(length) = longer.or(self.length.checked_mul(2)) else {
                return;
            };
            self.lengthen(length);
        }
    }

    fn lengthen(&mut self, length: i64) {
        self.length = length;
        for (minute, count) in std::mem::take(&mut self.counts) {
            *self.counts.entry(start(minute, length)).or_default() += count;
        }
    }
}

/// The first minute of the period of `length` minutes that has this one.
fn start(minute: i64, length: i64) -> i64 {
    minute.saturating_sub(minute.rem_euclid(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(periods: &Periods<u64>) -> u64 {
        periods.iter().map(|it| it.1).sum()
    }

    #[test]
    fn periods_grow_and_lose_nothing() {
        let mut periods = Periods::default();
        for minute in 0..1440i64 {
            periods.add(minute, 1u64);
        }
        assert_eq!((periods.length(), periods.len()), (1, 1440));
        periods.add(1440, 2);
        assert_eq!((periods.length(), periods.len()), (5, 289));
        assert_eq!(total(&periods), 1442);
        assert_eq!(periods.iter().next(), Some((0, &5)));
        periods.fit(30);
        assert_eq!((periods.length(), total(&periods)), (60, 1442));
    }

    #[test]
    fn those_of_two_logs_add_up() {
        let (mut one, mut other) = (Periods::default(), Periods::default());
        for minute in 0..100 {
            one.add(minute, 1u64);
            other.add(minute * 60, 1u64);
        }
        other.fit(50);
        let mut both = one.clone();
        both.merge(other.clone());
        other.merge(one);
        assert_eq!(both, other);
        assert_eq!((both.length(), total(&both)), (180, 200));
    }

    #[test]
    fn any_year_has_its_place() {
        let mut periods = Periods::default();
        for year in -9999..9999i64 {
            periods.add(year * 525_600, 1u64);
        }
        periods.add(i64::MIN, 1);
        periods.add(i64::MAX, 1);
        assert!(periods.len() <= MOST);
        assert_eq!(total(&periods), 20_000);
    }
}
