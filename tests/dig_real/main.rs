//! BIND's dig and `kdns dig` side by side: same sections, same status.
//!
//! `testdata/dig/commands.txt` has command lines as people write them, which
//! are put to BIND's server, unbound and dnsmasq; `bad` has a server that does
//! what those never would. Ids, times and cookies differ, as they must;
//! nothing else may. All of it runs in a network of its own, so that servers
//! have the addresses that people write. Without root or the programs the
//! trials are ignored, with `KDNS_REQUIRE_REAL=1` that is a failure.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod bad;
mod batch;
mod compare;
mod corpus;
mod idn;
mod json;
mod lab;
#[path = "../needs/mod.rs"]
mod needs;
mod secure;
mod when;

use std::process::{Command, ExitCode};

use libtest_mimic::Arguments;

/// Set in the process that runs alone.
const ALONE: &str = "KDNS_DIG_REAL_ALONE";
/// Most trials wait for silence, so many run at a time.
const THREADS: usize = 24;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let mut trials = corpus::coverage();
    let missing = lab::missing();
    if missing.is_some() {
        trials.push(needs::trial("dig_real", missing, || Ok(())));
        return needs::run(&arguments, trials);
    }
    if std::env::var_os(ALONE).is_none() && !arguments.list {
        return alone();
    }
    arguments.test_threads = arguments.test_threads.or(Some(THREADS));
    let folder = tempfile::tempdir().unwrap();
    if !arguments.list {
        lab::start(folder.path());
    }
    // The long waits first.
    trials.extend(bad::trials());
    trials.extend(corpus::trials(folder.path()));
    trials.extend(json::trials());
    trials.extend(idn::trials());
    trials.extend(when::trials());
    trials.extend(batch::trials(folder.path()));
    trials.extend(secure::trials(folder.path(), arguments.list));
    needs::run(&arguments, trials)
}

/// Runs this program again in a mount, process and network namespace of its
/// own, in which all is gone at the end.
fn alone() -> ExitCode {
    let status = Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "--kill-child"])
        .arg("--mount-proc")
        .arg(std::env::current_exe().unwrap())
        .args(std::env::args_os().skip(1))
        .env(ALONE, "1")
        .status()
        .unwrap();
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}
