//! Real targets: processes and namespaces that kdns holds, enters and reads.
//!
//! What needs root or a program that is not here is ignored, with the reason
//! in its name; with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod answers;
mod capture;
mod containers;
mod daemons;
mod dig;
mod fuse;
mod hostile;
mod lab;
#[path = "../needs/mod.rs"]
mod needs;
mod node;
mod places;
mod pods;
mod privileges;
mod programs;
mod races;
#[path = "../needs/root.rs"]
mod root;
mod scenes;
mod stalls;
mod words;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = answers::run_hidden().or_else(lab::run_hidden) {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials = places::trials();
    trials.extend(scenes::trials());
    trials.extend(programs::trials());
    trials.extend(daemons::trials());
    needs::run(&arguments, trials)
}
