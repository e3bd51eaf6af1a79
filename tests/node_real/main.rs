//! Real nodes: real DNS servers and containers in namespaces of their own.
//!
//! Each case runs in a child with its own network, mounts, processes and host
//! name; nothing outside changes. What needs root or a program that is not
//! here is ignored, with the reason in its name; with `KDNS_REQUIRE_REAL=1`
//! that is a failure. `.ci/install-real` brings the programs.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, and says what it was"
)]

mod bus;
mod configurations;
mod lab;
mod loops;
#[path = "../needs/mod.rs"]
mod needs;
mod pods;
mod probe;
mod resolved;
mod servers;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut cases = probe::cases();
    cases.extend(loops::cases());
    cases.extend(resolved::cases());
    cases.extend(bus::cases());
    cases.extend(servers::cases());
    let hidden = lab::run_hidden(&cases).or_else(pods::run_hidden);
    if let Some(code) = hidden {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most cases wait.
    arguments.test_threads.get_or_insert(12);
    let mut trials: Vec<_> = cases.into_iter().map(lab::trial).collect();
    trials.extend(pods::trials());
    needs::run(&arguments, trials)
}
