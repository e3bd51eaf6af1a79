//! `kdns path` on nodes that are made for it: network namespaces, veth pairs,
//! bridges and rules of the real kernel, each fault made for real.
//!
//! Needs root, iptables, nft, ipset and iproute2; without them the trials are
//! ignored, with the reason in their names, and with `KDNS_REQUIRE_REAL=1` that
//! is a failure.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod answerer;
mod faults;
mod healthy;
mod lab;
#[path = "../needs/namespaces.rs"]
mod namespaces;
#[path = "../needs/mod.rs"]
mod needs;
mod probes;
#[path = "../needs/root.rs"]
mod root;
mod services;
mod silent;
mod situations;
mod table;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// What every scene needs.
const TOOLS: &[&str] = &[
    "unshare",
    "ip",
    "iptables-legacy",
    "iptables-nft",
    "nft",
    "ipset",
];

/// A name, and what is made and looked at inside of namespaces of its own.
type Scene = (&'static str, fn());

fn scenes() -> Vec<Scene> {
    [
        healthy::SCENES,
        faults::SCENES,
        probes::SCENES,
        services::SCENES,
        silent::SCENES,
        situations::SCENES,
        table::SCENES,
    ]
    .concat()
}

fn main() -> ExitCode {
    if let Some(code) = lab::run_hidden(&scenes()) {
        return code;
    }
    let mut arguments = Arguments::from_args();
    // Most trials wait for an answer that does not come.
    arguments.test_threads.get_or_insert(8);
    let trial = |(name, _): Scene| root::trial(name, TOOLS, move || lab::alone(name));
    let trials: Vec<Trial> = scenes().into_iter().map(trial).collect();
    needs::run(&arguments, trials)
}
