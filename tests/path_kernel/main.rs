//! Random rule sets in the real kernel: packets go through them in namespaces,
//! and must end where kdns says, by the shares it says, over UDP and TCP, IPv4
//! and IPv6; the counters of the rules that it names must rise, and what `nft
//! monitor trace` prints of single packets must be what it says, step by step.
//! What `iptables -S` and `-L` print of the same rules, and nft without `-j`, must
//! say the same.
//!
//! `KDNS_SEED` and `KDNS_SCENARIOS` choose the rule sets; the seed of a
//! disagreement is printed, and the same seed makes the same rules. Needs root,
//! iptables of both kinds, nft, ipset and iproute2; without them the trials are
//! ignored, with the reason in their names, and with `KDNS_REQUIRE_REAL=1` that
//! is a failure.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "numbers are small"
)]

mod ask;
mod conditions;
mod dialect;
mod iptables;
mod judge;
mod lab;
mod listed;
mod loader;
mod lots;
#[path = "../needs/namespaces.rs"]
mod namespaces;
#[path = "../needs/mod.rs"]
mod needs;
mod network;
mod nftables;
mod policies;
#[path = "../needs/root.rs"]
mod root;
#[path = "../needs/seed.rs"]
mod seed;
mod trace;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::loader::Loader;
use crate::namespaces::in_namespaces;

const TOOLS: &[&str] = &[
    "unshare",
    "ip",
    "bash",
    "iptables-legacy-restore",
    "ip6tables-legacy-restore",
    "iptables-nft-restore",
    "ip6tables-nft-restore",
    "nft",
    "ipset",
];

/// So many rule sets a run, a third with each loader.
const SCENARIOS: u64 = 210;

const HIDDEN: &str = "--alone";
const RECORDED: &str = "--recorded";

fn main() -> ExitCode {
    let mut hidden = std::env::args().skip_while(|it| it != HIDDEN).skip(1);
    if std::env::args().any(|it| it == RECORDED) {
        listed::recorded();
        return ExitCode::SUCCESS;
    }
    if let (Some(loader), Some(seed), Some(count)) = (hidden.next(), hidden.next(), hidden.next()) {
        return lab::run(
            Loader::named(&loader),
            seed.parse().unwrap(),
            count.parse().unwrap(),
        );
    }
    let arguments = Arguments::from_args();
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let seed = seed::seed();
    let count = number("KDNS_SCENARIOS").unwrap_or(SCENARIOS).div_ceil(3);
    let trial = |loader: Loader| {
        let name = format!("{} seed {seed}", loader.name());
        root::trial(&name, TOOLS, move || alone(loader, seed, count))
    };
    let mut trials: Vec<Trial> = Loader::ALL.into_iter().map(trial).collect();
    trials.push(root::trial("recorded rules, listed", TOOLS, || {
        in_namespaces(&[RECORDED]);
    }));
    needs::run(&arguments, trials)
}

fn alone(loader: Loader, seed: u64, count: u64) {
    in_namespaces(&[HIDDEN, loader.name(), &seed.to_string(), &count.to_string()]);
}
