//! The models against the real resolvers: recorded and live.
//!
//! - `vectors`: every observation in `testdata/vectors` is predicted.
//! - `differential`: random scenarios, run through the real resolvers of this
//!   machine in namespaces of their own, are predicted.
//! - `lab`: the laboratory that runs them sees what the vectors say.
//! - `sets`: what is left to chance, seen often (`KDNS_SETS=200`).
//!
//! What needs root or a program that is not here is ignored, with the reason
//! in its name; with `KDNS_REQUIRE_REAL=1` that is a failure. `.ci/install-real`
//! installs it all, but for what `testdata/vectors/README.md` says is made by hand.
//! This program is also the lab's command line, see
//! [`lab::run_hidden`].

mod differential;
mod follow;
mod lab;
#[path = "../needs/mod.rs"]
mod needs;
#[path = "../needs/seed.rs"]
mod seed;
mod selftest;
mod sets;
mod vectors;

use std::process::ExitCode;

use lab::{ResolverId, real};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(code) = lab::run_hidden() {
        return code;
    }
    if let Some(code) = vectors::run_hidden() {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most trials wait for a time-out.
    arguments.test_threads.get_or_insert(28);
    let mut trials = vectors::trials();
    trials.extend(ResolverId::all().filter_map(missing));
    trials.extend(selftest::trials());
    trials.extend(sets::trials());
    match differential::trials() {
        Ok(those) => trials.extend(those),
        Err(error) => trials.push(Trial::test("differential", move || Err(error.into()))),
    }
    needs::run(&arguments, trials)
}

/// A trial that says what is missing to run `resolver` here.
fn missing(resolver: ResolverId) -> Option<Trial> {
    let reason = real::missing(resolver)?;
    let name = format!("real::{resolver}");
    if resolver.is_made_by_hand() {
        let name = format!("{name} (made by hand: testdata/vectors/README.md)");
        return Some(Trial::test(name, || Ok(())).with_ignored_flag(true));
    }
    Some(needs::trial(&name, Some(reason), || Ok(())))
}
