//! Real nodes: real DNS servers and containers in namespaces of their own.
//!
//! Each case runs in a child with its own network, mounts, processes and host
//! name; nothing outside changes. What needs root or a program that is not
//! here is ignored, with the reason in its name; with `KDNS_REQUIRE_REAL=1`
//! that is a failure. `.ci/install-real` brings the programs.

mod configurations;
mod lab;
mod probe;
mod servers;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut cases = probe::cases();
    cases.extend(servers::cases());
    if let Some(code) = lab::run_hidden(&cases) {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most cases wait.
    arguments.test_threads.get_or_insert(4);
    let trials = cases.into_iter().map(lab::trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
