//! Counters for people.

use crate::render::why::numbers::{grouped, percent};

/// A counter, which is a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counters are not negative, and larger ones are not told apart"
)]
pub(super) fn whole(count: f64) -> u64 {
    count.max(0.0) as u64
}

pub(super) fn count(number: f64) -> String {
    grouped(whole(number))
}

/// `12 % (30 of 250)`.
pub(super) fn share(part: f64, all: f64) -> String {
    let share = percent(whole(part), whole(all));
    format!("{share} ({} of {})", count(part), count(all))
}

/// `1,024`, `0.4`.
pub(super) fn rate(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        count(rate.round())
    }
}

/// `145 MiB`.
pub(super) fn bytes(bytes: f64) -> String {
    format!("{} MiB", count((bytes / 1_048_576.0).round()))
}
