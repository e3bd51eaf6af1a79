//! How long things took, in buckets that differ by an eighth, so that those of several
//! logs add up exactly.

/// Buckets of each power of two.
const PARTS: u64 = 8;

/// From a nanosecond to 146 minutes.
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
const BUCKETS: usize = 40 * PARTS as usize;

/// Counts of times.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    /// All of them.
    total: u64,
    /// The longest, in nanoseconds.
    max: u64,
}

impl Histogram {
    /// Counts a time in nanoseconds.
    #[inline]
    pub fn add(&mut self, nanoseconds: u64) {
        self.add_many(nanoseconds, 1);
    }

    /// Counts a time so many times.
    pub fn add_many(&mut self, nanoseconds: u64, times: u64) {
        let bucket = bucket(nanoseconds);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += times;
        }
        self.total += times;
        self.max = self.max.max(nanoseconds);
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The time in nanoseconds that `share` of all, from 0 to 1, do not exceed:
    /// at most an eighth too high. `None`: nothing was counted.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let mut left = rank(self.total, share)?;
        for (index, &count) in self.counts.iter().enumerate() {
            if count >= left {
                return Some(upper(index).min(self.max));
            }
            left -= count;
        }
        Some(self.max)
    }

    /// How many took longer than this for certain, in nanoseconds: those that took at
    /// most an eighth longer can be missing.
    pub fn above(&self, nanoseconds: u64) -> u64 {
        self.counts.iter().skip(bucket(nanoseconds) + 1).sum()
    }

    /// How many are in each of so many parts of the logarithmic scale from 10 µs to 10 s.
    pub fn bars(&self, parts: usize) -> Vec<u64> {
        let (from, to) = (bucket(10_000), bucket(10_000_000_000));
        let mut bars = vec![0; parts];
        for (at, count) in self.counts.iter().enumerate() {
            let part = (at.clamp(from, to) - from) * parts / (to - from + 1);
            if let Some(bar) = bars.get_mut(part) {
                *bar += count;
            }
        }
        bars
    }

    /// Upper bounds in nanoseconds, and counts, of the buckets that have any.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, count)| **count > 0)
            .map(|(index, &count)| (upper(index), count))
    }

    /// Adds what another one has counted.
    pub fn merge(&mut self, other: &Self) {
        for (bound, count) in other.buckets() {
            self.add_many(bound.min(other.max), count);
        }
    }
}

/// Which one, from 1, is at that share.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a rank within a count"
)]
fn rank(total: u64, share: f64) -> Option<u64> {
    (total > 0).then(|| ((total as f64 * share).ceil() as u64).clamp(1, total))
}

fn bucket(nanoseconds: u64) -> usize {
    let value = nanoseconds.max(PARTS);
    let power = u64::from(value.ilog2());
    let part = (value >> (power - 3)) - PARTS;
    let index = (power - 3) * PARTS + part;
    usize::try_from(index).unwrap_or(BUCKETS).min(BUCKETS - 1)
}

/// The highest time that falls into a bucket.
fn upper(index: usize) -> u64 {
    let index = index as u64;
    let (power, part) = (index / PARTS, index % PARTS);
    ((PARTS + part + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_at_most_an_eighth_too_high() {
        let mut times = Histogram::default();
        assert_eq!(times.percentile(0.5), None);
        for micro in 1..=1000u64 {
            times.add(micro * 1000);
        }
        for (share, exact) in [
            (0.5, 500_000),
            (0.9, 900_000),
            (0.99, 990_000),
            (1.0, 1_000_000),
        ] {
            let found = times.percentile(share).unwrap();
            assert!(
                found >= exact && found <= exact + exact / 8,
                "{share}: {found}"
            );
        }
        assert_eq!(times.above(900_000), 83);
        assert_eq!(times.bars(12).iter().sum::<u64>(), 1000);
        let mut both = times.clone();
        both.merge(&times);
        assert_eq!(both.total(), 2000);
        assert_eq!(both.percentile(0.5), times.percentile(0.5));
    }
}
