//! Figures, their bounds, and whether one was missed.

use std::env;
use std::process::ExitCode;

/// What was measured so far.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    missed: usize,
}

/// What a figure may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Figures {
    /// Prints `figure`, its bound, and what it is compared with.
    pub(crate) fn check(&mut self, what: &str, figure: f64, bound: Bound, beside: &str) {
        let (holds, words) = match bound {
            Bound::AtMost(most) => (figure <= most, format!("at most {}", shown(most))),
            Bound::AtLeast(least) => (figure >= least, format!("at least {}", shown(least))),
        };
        let verdict = if holds { "ok" } else { "MISSED" };
        println!(
            "{verdict:<7} {what}: {} (bound: {words}); {beside}",
            shown(figure)
        );
        self.missed += usize::from(!holds);
    }

    /// Says that `peer` is not here.
    pub(crate) fn missing(&mut self, peer: &str) {
        let required = env::var("KDNS_REQUIRE_REAL").is_ok_and(|value| value == "1");
        let verdict = if required { "MISSED" } else { "skipped" };
        println!("{verdict:<7} {peer} is not here to be compared with");
        self.missed += usize::from(required);
    }

    /// The exit status.
    pub(crate) fn end(self) -> ExitCode {
        if self.missed == 0 {
            return ExitCode::SUCCESS;
        }
        eprintln!("{} bounds were missed", self.missed);
        ExitCode::FAILURE
    }
}

fn shown(number: f64) -> String {
    if number >= 1000.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

/// The one in the middle; of an even number, the upper of the two.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap()
}
