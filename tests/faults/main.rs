//! kdns where things go wrong, and what it never does. `docs/reliability.md`
//! and `docs/security.md` name these trials.
//!
//! What needs root or a program that is not here is ignored, with the reason
//! in its name; with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod clocks;
mod kernel;
mod lab;
mod limits;
#[path = "../needs/mod.rs"]
mod needs;
mod outputs;
mod races;
#[path = "../needs/root.rs"]
mod root;
mod signals;
mod silent;
mod writer;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Most trials wait for a file system or a server that does not answer.
    arguments.test_threads.get_or_insert(8);
    let mut trials = clocks::trials();
    trials.extend(kernel::trials());
    trials.extend(limits::trials());
    trials.extend(outputs::trials());
    trials.extend(races::trials());
    trials.extend(signals::trials());
    trials.extend(silent::trials());
    trials.extend(writer::trials());
    needs::run(&arguments, trials)
}
