//! What `nft monitor trace` prints of a packet, beside kdns's steps.

use std::io::Read as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kdns::path::{Direction, Outcome, Step, Tree};

use crate::ask::{self, Asker};
use crate::dialect::Dialect;
use crate::namespaces::feed;
use crate::network::Server;

/// So long the monitor takes to begin, and then to print; on a busy machine longer.
const WHILES: [Duration; 3] = [
    Duration::from_millis(60),
    Duration::from_millis(400),
    Duration::from_millis(2500),
];

/// A random verdict within the firewall: ways that differ in it and in nothing
/// behind it are one for kdns, and have the steps of one.
const DRAWN: &str = "0 : drop";

/// Rules that pass a verdict; others, which set marks or count, are not compared.
const VERDICTS: [&str; 12] = [
    "accept",
    "drop",
    "return",
    "jump",
    "goto",
    "vmap",
    "dnat",
    "snat",
    "masquerade",
    "redirect",
    "reject",
    "policy",
];

/// Sends packets, of which the kernel traces one: it goes a way that kdns has
/// said, rule by rule.
pub(crate) fn compare(
    tree: &Tree,
    rules: &str,
    servers: &[Server],
    (askers, dialect): ([Asker; 3], Dialect),
) -> Result<(), String> {
    if rules.contains(DRAWN) {
        return Ok(());
    }
    let said: Vec<Vec<String>> = tree.outcomes.iter().map(verdicts).collect();
    let mut way = Vec::new();
    for (asker, patience) in askers.into_iter().zip(WHILES) {
        way = traced(tree, servers, (asker, dialect), patience);
        if said.contains(&way) {
            return Ok(());
        }
    }
    Err(format!("the kernel traces {way:?}, kdns says {said:?}"))
}

/// The chains of an outcome in which a rule, or the policy, has passed a verdict.
fn verdicts(outcome: &Outcome) -> Vec<String> {
    let is_verdict = |it: &&Step| {
        // A rule can look at what another one has done.
        let rule = it.rule().replace("ct status dnat", "");
        let has = |word: &&str| rule.split_whitespace().any(|other| other == *word);
        it.direction == Direction::Request && !it.chain.is_empty() && VERDICTS.iter().any(has)
    };
    let steps = outcome.steps.iter().filter(is_verdict);
    steps
        .map(|it| format!("{} {}", it.stage, it.chain))
        .collect()
}

/// The same of the packet that the kernel has traced.
fn traced(
    tree: &Tree,
    servers: &[Server],
    (asker, dialect): (Asker, Dialect),
    patience: Duration,
) -> Vec<String> {
    let mut monitor = Command::new("nft")
        .args(["monitor", "trace"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    feed(&["nft", "-f", "-"], &tracer(asker, dialect));
    sleep(patience);
    let to = SocketAddr::new(tree.packet.destination, tree.packet.port);
    if dialect.is_tcp {
        ask::tcp(servers, asker, to);
    } else {
        ask::udp(servers, asker, to);
    }
    sleep(patience);
    monitor.kill().unwrap();
    let mut text = String::new();
    monitor
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    monitor.wait().unwrap();
    feed(&["nft", "-f", "-"], "delete table inet tracer\n");
    text.lines().filter_map(verdict).collect()
}

/// Traces the packet of one port, of a connection the first one.
fn tracer(asker: Asker, dialect: Dialect) -> String {
    let port = asker.first_port;
    let which = if dialect.is_tcp {
        format!("tcp flags & (syn | ack) == syn tcp sport {port}")
    } else {
        format!("udp sport {port}")
    };
    let chain = |hook: &str| {
        format!(
            " chain {hook} {{ type filter hook {hook} priority -400; {which} meta nftrace set 1;\n }}\n"
        )
    };
    format!(
        "table inet tracer {{\n{}{}}}\n",
        chain("prerouting"),
        chain("output")
    )
}

/// `trace id 57e7fb5a ip kube-proxy services rule … (verdict goto service-0)`.
fn verdict(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let ["trace", "id", _, family, table, chain, what, rest @ ..] = words.as_slice() else {
        return None;
    };
    let is_verdict = match *what {
        "rule" => !line.contains("(verdict continue)"),
        "policy" => rest.first() == Some(&"drop"),
        _ => false,
    };
    (is_verdict && *table != "tracer").then(|| format!("{family} {table} {chain}"))
}
