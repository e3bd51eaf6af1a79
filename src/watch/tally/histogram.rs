//! Times, counted.

/// Steps of one doubling.
const STEPS: u64 = 8;

/// Times from a microsecond to an hour, each an eighth of its size exact.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// By the number of the step.
    counts: Vec<u32>,
    total: u64,
}

impl Histogram {
    /// Counts a time, in nanoseconds.
    pub fn add(&mut self, nanoseconds: i64) {
        let microseconds = u64::try_from(nanoseconds / 1000).unwrap_or_default();
        let step = step(microseconds);
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(step) {
            *count = count.saturating_add(1);
        }
        self.total += 1;
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The time, in nanoseconds, that so many of a thousand do not exceed; 0: none
    /// was counted.
    pub fn at(&self, thousandths: u64) -> i64 {
        let wanted = (self.total * thousandths).div_ceil(1000).max(1);
        let mut seen = 0;
        for (step, count) in self.counts.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return i64::try_from(middle(step) * 1000).unwrap_or(i64::MAX);
            }
        }
        0
    }

    /// The median, in nanoseconds.
    pub fn median(&self) -> i64 {
        self.at(500)
    }

    /// How many took longer than this, in nanoseconds.
    pub fn above(&self, nanoseconds: i64) -> u64 {
        let microseconds = u64::try_from(nanoseconds / 1000).unwrap_or_default();
        let above = self.counts.iter().skip(step(microseconds));
        above.map(|it| u64::from(*it)).sum()
    }

    /// How many are in each of so many parts of the logarithmic scale from 10 µs
    /// to 10 s.
    pub fn bars(&self, parts: usize) -> Vec<u64> {
        let (from, to) = (step(10), step(10_000_000));
        let mut bars = vec![0; parts];
        for (at, count) in self.counts.iter().enumerate() {
            let inside = at.clamp(from, to) - from;
            let part = (inside * parts / (to - from + 1)).min(parts.saturating_sub(1));
            if let Some(bar) = bars.get_mut(part) {
                *bar += u64::from(*count);
            }
        }
        bars
    }
}

fn step(microseconds: u64) -> usize {
    let value = microseconds.clamp(1, 3_600_000_000);
    let doubling = u64::from(value.ilog2());
    let within = if doubling >= 3 {
        (value >> (doubling - 3)) - STEPS
    } else {
        (value << (3 - doubling)) - STEPS
    };
    usize::try_from(doubling * STEPS + within).unwrap_or_default()
}

fn middle(step: usize) -> u64 {
    let step = step as u64;
    let (doubling, within) = (step / STEPS, step % STEPS);
    let low = ((STEPS + within) << doubling) / STEPS;
    let high = ((STEPS + within + 1) << doubling) / STEPS;
    u64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_nearly_exact() {
        for exact in [
            1_000,
            17_000,
            999_000,
            1_000_000,
            5_003_000_000,
            59_000_000_000,
        ] {
            let mut histogram = Histogram::default();
            histogram.add(exact);
            let found = histogram.median();
            assert!(
                found.abs_diff(exact) <= exact.unsigned_abs() / 6 + 1000,
                "{exact} {found}"
            );
        }
    }

    #[test]
    fn parts_of_a_thousand() {
        let mut histogram = Histogram::default();
        for number in 0..100 {
            histogram.add(if number < 97 {
                1_000_000
            } else {
                5_000_000_000
            });
        }
        assert!(histogram.median() < 1_200_000, "{}", histogram.median());
        assert!(histogram.at(990) > 4_500_000_000);
        assert_eq!(histogram.above(1_000_000_000), 3);
        assert_eq!(histogram.bars(12).iter().sum::<u64>(), 100);
        assert_eq!(Histogram::default().median(), 0);
    }
}
