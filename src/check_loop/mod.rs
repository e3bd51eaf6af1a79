//! Whether the DNS of a node loops: the verdict, its proof, and what mends it.

mod assumptions;
mod chains;
mod deliver;
mod drift;
mod evidence;
mod graph;
mod headline;
pub mod log;
mod mend;
mod outcome;
mod probed;
mod quote;
mod report;
pub mod seen;
mod servers;
mod setup;
mod verdict;
mod view;
mod walk;
mod ways;

#[cfg(test)]
mod tests;

use crate::node::Node;
use crate::topology::DnsServer;

use graph::Graph;
use outcome::Outcome;

pub use probed::with_probe;
pub use report::{
    Chain, Edit, End, Hop, Mend, Proof, Report, Setup, Sighting, State, Verdict, When,
};

/// Whether the DNS of `node` loops.
pub fn judge(node: &Node) -> Report {
    let graph = Graph::of(node);
    let now = outcome::outcomes(&graph, When::Now);
    let next = outcome::outcomes(&graph, When::NextStart);
    let mut state_now = verdict::state(&graph, &now);
    let mut state_next = verdict::state(&graph, &next);
    if state_next == State::NoLoop && !assumptions::has_kubelet_file(node) {
        state_next = State::Unknown;
    }
    let mut verdict = verdict::verdict(state_now, state_next);
    let contradiction = evidence::contradiction(node).filter(|_| verdict == Verdict::NoLoop);
    if contradiction.is_some() {
        verdict = Verdict::Unknown;
        state_now = State::Unknown;
    }
    let is_about_now = verdict::is_bad(state_now);
    let (first, second) = if is_about_now {
        (&now, &next)
    } else {
        (&next, &now)
    };
    let all: Vec<&Outcome> = first.iter().chain(second).collect();
    let missing = match (verdict, contradiction) {
        (_, Some(sentence)) => vec![sentence],
        (Verdict::Unknown, None) => assumptions::missing(&graph, &next),
        (_, None) if state_next == State::Unknown => assumptions::missing(&graph, &next),
        _ => Vec::new(),
    };
    let evidence = evidence::of(node);
    let mut remarks = ways::remarks(&graph, &all);
    remarks.extend(assumptions::supposed(&graph, state_now, &all));
    if !is_about_now && missing.is_empty() {
        remarks.extend(evidence::unexplained(&evidence));
    }
    remarks.extend(drift::of(&graph));
    remarks.retain(|it| !is_said(it, &missing));
    let of_kubelet = node.kubelet.iter().flat_map(|it| &it.remarks);
    remarks.extend(of_kubelet.cloned());
    let mut report = Report {
        node: node.name.clone(),
        setup: setup::of(&graph),
        verdict,
        now: state_now,
        next_start: state_next,
        headline: String::new(),
        chains: chains::of(&graph, &all),
        mend: mend::of(&graph, state_now, state_next, &all),
        evidence,
        missing,
        remarks,
        skipped: node.skipped.clone(),
        probe: None,
    };
    report.headline = headline::of(&graph, &report, &all);
    report
}

/// Whether one of the sentences says what the remark ends with.
fn is_said(remark: &str, sentences: &[String]) -> bool {
    // Their first letter is a capital one.
    let mut ends = sentences.iter().map(|it| it.get(1..).unwrap_or(it));
    ends.any(|it| remark.ends_with(it))
}

/// The servers that a probe of `node` asks.
pub fn probe_targets(node: &Node) -> Vec<seen::Target> {
    let graph = Graph::of(node);
    let servers: Vec<DnsServer> = graph.servers.into_iter().map(|it| it.dns).collect();
    seen::targets_of(&servers, node)
}
