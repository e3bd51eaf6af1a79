//! How fast kdns is, beside other programs and crates on the same machine.
//!
//! Every figure has a bound, and a missed one ends the run with status 1.
//! What is compared is measured in turns, many times, and the median of the
//! ratios counts, so that a busy machine changes little. A peer that is not
//! here is said and left out; with `KDNS_REQUIRE_REAL=1` it is a failure.

#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what a bench is for"
)]

mod bulk;
mod explain;
mod figures;
mod hostile;
mod lab;
mod lint;
mod log;
mod measure;
mod nodes;
mod nsenter;
mod parsing;
mod path;
mod scenarios;
mod server;
mod watch;

use std::process::ExitCode;

use figures::Figures;

fn main() -> ExitCode {
    if measure::run_hidden() {
        return ExitCode::SUCCESS;
    }
    let mut figures = Figures::default();
    explain::run(&mut figures);
    scenarios::run(&mut figures);
    parsing::run(&mut figures);
    path::run(&mut figures);
    hostile::run(&mut figures);
    nodes::run(&mut figures);
    lint::run(&mut figures);
    log::run(&mut figures);
    nsenter::run(&mut figures);
    bulk::run(&mut figures);
    watch::run(&mut figures);
    figures.end()
}
