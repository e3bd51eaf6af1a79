//! One question: `kdns explain NAME` beside `getent` and `dig`.

use std::fs;

use crate::figures::{Bound, Figures, median};
use crate::measure::{Cost, cost};

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

/// What the kubelet writes for a pod.
pub(crate) const POD: &str = "\
search default.svc.cluster.local svc.cluster.local cluster.local
nameserver 10.96.0.10
options ndots:5
";

/// A service, and a name for which kdns has advice to give, which takes most work.
const NAMES: [&str; 2] = ["kubernetes.default", "api.example.com"];
const ROUNDS: usize = 15;
/// Runs of each program in a round.
const RUNS: u32 = 20;

/// The peers: the command, the bound of the ratio to it.
const PEERS: [(&[&str], f64); 2] = [
    (&["getent", "hosts", "127.0.0.1"], 1.5),
    (&["dig", "-v"], 0.25),
];

pub(crate) fn run(figures: &mut Figures) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("resolv.conf");
    fs::write(&file, POD).unwrap();
    let file = file.to_str().unwrap();
    // A copy, as an installed program is one: the kernel maps a file that was
    // copied or read from the disk with fewer page faults than one whose pages
    // a linker wrote just now.
    let installed = directory.path().join("kdns");
    fs::copy(KDNS, &installed).unwrap();
    let kdns = installed.to_str().unwrap();
    for name in NAMES {
        one(name, &[kdns, "explain", name, "--file", file], figures);
    }
}

fn one(name: &str, command: &[&str], figures: &mut Figures) {
    let mut own = Vec::new();
    let mut peers: [Vec<Cost>; 2] = Default::default();
    for _ in 0..ROUNDS {
        own.extend(cost(RUNS, command));
        for ((peer, _), costs) in PEERS.iter().zip(&mut peers) {
            costs.extend(cost(RUNS, peer));
        }
    }
    let micros = |costs: &[Cost]| median(costs.iter().map(|it| it.seconds * 1e6).collect());
    for ((peer, most), costs) in PEERS.iter().zip(&peers) {
        let peer = peer.join(" ");
        if costs.is_empty() {
            figures.missing(&peer);
            continue;
        }
        let ratios = own.iter().zip(costs);
        let ratio = median(
            ratios
                .map(|(own, peer)| own.seconds / peer.seconds)
                .collect(),
        );
        let what = format!("explain {name}, processor time / {peer}");
        let beside = format!(
            "{:.0} µs and {:.0} µs, medians of {ROUNDS} rounds",
            micros(&own),
            micros(costs)
        );
        figures.check(&what, ratio, Bound::AtMost(*most), &beside);
    }
    let peak = own.iter().map(|it| it.peak_kib).max().unwrap();
    let what = format!("explain {name}, peak memory in MiB");
    figures.check(
        &what,
        f64::from(peak) / 1024.0,
        Bound::AtMost(8.0),
        "no peer",
    );
}
