//! Exact shares of packets.

use std::fmt;

use num_rational::Ratio;
use num_traits::{CheckedAdd as _, CheckedSub as _};

/// A share of packets: a fraction from 0 to 1.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Share(Ratio<u128>);

/// Of a product whose fraction no longer fits so many parts are kept.
const PARTS: u128 = 1 << 62;

/// iptables keeps a probability in so many parts (`xt_statistic.c`: a random
/// number of 31 bits is less than it).
const PROBABILITY_PARTS: u128 = Share::STATISTIC_PARTS as u128;

/// kube-proxy writes 1/N for so many endpoints at most as a probability that
/// is taken for 1/N; beyond, neighbours are no longer apart.
const MOST_ENDPOINTS: u128 = 30_000;

impl Share {
    /// In so many parts `xt_statistic` keeps a probability.
    pub(super) const STATISTIC_PARTS: u64 = 1 << 31;
    /// Every packet.
    pub const ALL: Self = Self(Ratio::new_raw(1, 1));
    /// No packet.
    pub const NONE: Self = Self(Ratio::new_raw(0, 1));

    /// `part` of `parts`, at most all of them; all of none is none.
    pub fn new(part: u64, parts: u64) -> Self {
        if parts == 0 {
            return Self::NONE;
        }
        Self(Ratio::new(u128::from(part.min(parts)), u128::from(parts)))
    }

    /// What `-m statistic --probability` means: the kernel keeps 31 bits of it.
    /// What kube-proxy writes for 1/N (with ten digits, older ones with five) is
    /// taken for 1/N.
    pub fn of_probability(text: &str) -> Option<Self> {
        let probability: f64 = text.parse().ok()?;
        if !(0.0..=1.0).contains(&probability) {
            return None;
        }
        Some(Self::of_statistic(in_parts(probability)))
    }

    /// The same of the parts that the kernel keeps.
    pub(super) fn of_parts(parts: u64) -> Self {
        Self::of_statistic(u128::from(parts.min(Self::STATISTIC_PARTS)))
    }

    #[expect(clippy::manual_checked_ops, reason = "the case is of its own")]
    fn of_statistic(parts: u128) -> Self {
        if parts > 0 {
            let n = (PROBABILITY_PARTS + parts / 2) / parts;
            let n_f = f64::from(u32::try_from(n).unwrap_or(u32::MAX));
            let spellings = [
                1.0 / n_f,
                (1e10 / n_f).round() / 1e10,
                (1e5 / n_f).round() / 1e5,
            ];
            if n <= MOST_ENDPOINTS && spellings.iter().any(|it| in_parts(*it) == parts) {
                return Self(Ratio::new(1, n));
            }
        }
        Self(Ratio::new(parts, PROBABILITY_PARTS))
    }

    /// The share of a share.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        // Across first, so that the products stay small.
        let one = Ratio::new(*a.numer(), *b.denom());
        let two = Ratio::new(*b.numer(), *a.denom());
        let top = one.numer().checked_mul(*two.numer());
        let bottom = one.denom().checked_mul(*two.denom());
        match (top, bottom) {
            (Some(top), Some(bottom)) if bottom < PARTS * PARTS => Self(Ratio::new(top, bottom)),
            _ => Self(Ratio::new(rounded(a) * rounded(b) / PARTS, PARTS)),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self.0.checked_add(&other.0) {
            Some(sum) => Self(sum),
            None => Self(Ratio::new(rounded(self.0) + rounded(other.0), PARTS)),
        }
    }

    /// What is left of all packets without these.
    #[must_use]
    pub fn rest(self) -> Self {
        let (part, parts) = (*self.0.numer(), *self.0.denom());
        Self(Ratio::new(parts.saturating_sub(part), parts))
    }

    /// This share without the packets of the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        if other >= self {
            return Self::NONE;
        }
        match self.0.checked_sub(&other.0) {
            Some(rest) => Self(rest),
            None => Self(Ratio::new(rounded(self.0) - rounded(other.0), PARTS)),
        }
    }

    /// Whether it is no packet at all.
    pub fn is_none(self) -> bool {
        *self.0.numer() == 0
    }

    /// Whether it is every packet.
    pub fn is_all(self) -> bool {
        self.0.numer() == self.0.denom()
    }

    /// It as a number from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "more than 52 bits do not show")]
    pub fn as_f64(self) -> f64 {
        *self.0.numer() as f64 / *self.0.denom() as f64
    }
}

/// A probability as the kernel keeps it.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 0 to 1"
)]
fn in_parts(probability: f64) -> u128 {
    (probability * PROBABILITY_PARTS as f64).round() as u128
}

/// A fraction in [`PARTS`].
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is from 0 to 1"
)]
fn rounded(ratio: Ratio<u128>) -> u128 {
    (*ratio.numer() as f64 / *ratio.denom() as f64 * PARTS as f64) as u128
}

/// `1`, `1/3`; a fraction that nobody reads, as a decimal number.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() || self.is_none() {
            return write!(f, "{}", self.0.numer());
        }
        if *self.0.denom() > 1_000_000 {
            let text = format!("{:.6}", self.as_f64().clamp(0.000_001, 0.999_999));
            return f.write_str(text.trim_end_matches('0'));
        }
        write!(f, "{}/{}", self.0.numer(), self.0.denom())
    }
}
