//! `kdns doctor` on nodes whose fault is known: the first cause is the fault that
//! was made, and on a healthy node nothing is wrong.
//!
//! What needs root is ignored, with the reason in its name; with
//! `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod agree;
mod asked;
mod faults;
mod lab;
mod missing;
#[path = "../needs/mod.rs"]
mod needs;
#[path = "../needs/root.rs"]
mod root;
mod ways;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = asked::run_hidden() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most trials wait for a server that does not answer.
    arguments.test_threads.get_or_insert(8);
    let mut trials = faults::trials();
    trials.extend(ways::trials());
    trials.extend(missing::trials());
    trials.extend(asked::trials());
    trials.extend(agree::trials());
    needs::run(&arguments, trials)
}
