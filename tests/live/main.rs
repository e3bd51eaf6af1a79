//! `kdns explain --live` against real sockets, in namespaces of its own.
//!
//! - `vectors`: what a server gets from kdns is what it got from the real
//!   resolver: recorded vectors, sampled for each resolver; and the scenario
//!   that was saved replays the lookup.
//! - `scenes`: what is shown, and the exit status.
//! - `picture`: the same, drawn.
//! - `terminal`: what moves on one.
//!
//! The laboratory of `tests/resolvers` makes the namespaces and serves.
//! `KDNS_LIVE_CASES` is the number of vectors for each resolver.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

#[expect(
    clippy::allow_attributes,
    reason = "what is expected to be dead counts as alive"
)]
#[allow(
    dead_code,
    unused_imports,
    reason = "the laboratory of tests/resolvers can do more"
)]
#[path = "../resolvers/lab/mod.rs"]
mod lab;
#[path = "../needs/mod.rs"]
mod needs;
mod picture;
mod run;
mod scenes;
mod shown;
mod terminal;
mod vectors;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    // The laboratory starts itself to see whether it can.
    if let Some(code) = run::run_hidden().or_else(lab::run_hidden) {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most trials wait for a time-out.
    arguments.test_threads.get_or_insert(8);
    let mut trials = vectors::trials();
    trials.extend(scenes::trials());
    trials.extend(picture::trials());
    trials.extend(terminal::trials());
    needs::run(&arguments, trials)
}

/// A trial that needs root and namespaces.
fn trial(name: &str, run: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    needs::trial(name, lab::real::no_namespaces(), run)
}
