//! Real nodes: real containers in namespaces of their own.
//!
//! What needs root or a program that is not here is ignored, with the reason
//! in its name; with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod pods;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = pods::run_hidden() {
        return code;
    }
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, pods::trials()).exit_code()
}
