//! The report of `kdns check-loop`, one file for each format.

pub mod concise;
mod findings;
pub mod github;
pub mod json;
pub mod junit;
pub mod npd;
pub mod probe;
pub mod prometheus;
pub mod sarif;
#[cfg(test)]
mod tests;
pub mod text;

use crate::check_loop::{State, Verdict};

/// The word for a verdict in every format.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Loop => "loop",
        Verdict::WillLoop => "will loop",
        Verdict::Refused => "refused",
        Verdict::Mixed => "mixed",
        Verdict::NoLoop => "no loop",
        Verdict::Unknown => "unknown",
    }
}

/// The word for a state in every format.
pub(super) fn state_word(state: State) -> &'static str {
    match state {
        State::Loop => "loop",
        State::Mixed => "mixed",
        State::Refused => "refused",
        State::NoLoop => "no loop",
        State::Unknown => "unknown",
    }
}

/// Every verdict, the worst first.
const VERDICTS: [Verdict; 6] = [
    Verdict::Loop,
    Verdict::Mixed,
    Verdict::Refused,
    Verdict::WillLoop,
    Verdict::Unknown,
    Verdict::NoLoop,
];

/// Every state, the worst first.
const STATES: [State; 5] = [
    State::Loop,
    State::Mixed,
    State::Refused,
    State::Unknown,
    State::NoLoop,
];
