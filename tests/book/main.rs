//! The README and the book: what they show is run and compared, links lead
//! somewhere, and mdBook builds the book without a warning.
//!
//! `KDNS_BLESS=1 cargo test --test book` writes the output into the pages, and
//! `docs/resolvers.md`. What needs root or a program that is not here is
//! ignored, with the reason in its name; with `KDNS_REQUIRE_REAL=1` that is a
//! failure.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod cases;
mod counts;
mod examples;
mod formats;
mod links;
#[path = "../needs/mod.rs"]
mod needs;
mod pages;
mod probes;
mod recipes;
mod resolvers;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if pages::is_blessed() {
        // Two trials may fix one page.
        arguments.test_threads = Some(1);
    }
    let mut trials = examples::trials();
    trials.extend(formats::trials());
    trials.extend(resolvers::trials());
    trials.extend(links::trials());
    trials.extend(cases::trials());
    trials.extend(recipes::trials());
    needs::run(&arguments, trials)
}
