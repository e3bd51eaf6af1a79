//! `kdns watch` on captures of real resolvers, in namespaces, whose packets the
//! kernel loses, refuses and changes.
//!
//! - `healthy`: lookups of every resolver have no finding, whether the resolver
//!   and its file are given or not, and the model that fits best is the
//!   resolver's own or sends the same.
//! - `daemons`: nginx, HAProxy and systemd-resolved do what they do, and that is no fault.
//! - `scenes`: each fault has its finding, and nothing else has one.
//! - `race`: what a node's connection table loses is seen, and what it does not is
//!   no finding.
//!
//! The laboratory of `tests/resolvers` makes the sandbox and serves; the pod
//! has a network namespace of its own, behind a veth pair.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod daemons;
mod healthy;
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
mod race;
mod run;
mod scenes;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    if let Some(code) = run::run_hidden()
        .or_else(race::run_hidden)
        .or_else(lab::run_hidden)
    {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most trials wait for time-outs.
    arguments.test_threads.get_or_insert(4);
    let mut trials = healthy::trials();
    trials.extend(daemons::trials());
    trials.extend(scenes::trials());
    trials.extend(race::trials());
    needs::run(&arguments, trials)
}

/// A trial that needs these resolvers, and programs that capture and filter.
fn trial(
    name: &str,
    resolvers: &[lab::ResolverId],
    run: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let program = |(path, package): &(&str, &str)| {
        (!Path::new(path).is_file()).then(|| format!("needs {package}: run .ci/install-real"))
    };
    let programs = [
        ("/usr/bin/tcpdump", "tcpdump"),
        ("/usr/sbin/nft", "nftables"),
    ];
    let missing = resolvers.iter().find_map(|it| lab::real::missing(*it));
    needs::trial(
        name,
        missing.or_else(|| programs.iter().find_map(program)),
        run,
    )
}
