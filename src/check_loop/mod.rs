//! Whether the DNS of a node loops: the verdict, its proof, and what fixes it.

mod asked;
mod assumptions;
mod chains;
mod deliver;
mod drift;
mod evidence;
mod fix;
mod graph;
mod headline;
pub mod log;
mod others;
mod outcome;
mod probed;
mod quote;
mod report;
mod running;
pub mod seen;
mod servers;
mod setup;
mod unlike;
mod verdict;
mod view;
mod walk;
mod ways;

#[cfg(test)]
mod tests;

use crate::kubelet::Found;
use crate::node::{Node, Presence};
use crate::topology::{DnsServer, Network};

use graph::Graph;
use outcome::Outcome;

pub use asked::goes_round;
pub use probed::with_probe;
pub use report::{
    Chain, Edit, End, Fix, Hop, Proof, Report, Setup, Sighting, State, Verdict, When,
};
pub use running::as_running;

/// Whether the DNS of `node` loops.
pub fn judge(node: &Node) -> Report {
    let files = node;
    let running = as_running(files);
    let node = running.as_ref().unwrap_or(files);
    let graph = Graph::of(node);
    let now = outcome::outcomes(&graph, When::Now);
    let next = outcome::outcomes(&graph, When::NextStart);
    let mut state_now = verdict::state(&graph, &now);
    let mut state_next = verdict::state(&graph, &next);
    if state_next == State::NoLoop && !assumptions::has_kubelet_file(node) {
        state_next = State::Unknown;
    }
    let mut verdict = verdict::verdict(state_now, state_next, can_have_kubelet(node));
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
    remarks.extend(beside(&graph));
    remarks.extend(running.as_ref().and_then(|_| restarted(files, state_next)));
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
        fix: fix::of(&graph, files, (state_now, state_next), &all),
        evidence,
        missing,
        remarks,
        skipped: node.skipped.clone(),
        probe: None,
    };
    report.headline = headline::of(&graph, &report, &all);
    report
}

/// What is worth knowing beside the ways of queries.
fn beside(graph: &Graph<'_>) -> Vec<String> {
    let mut remarks = unlike::of(graph);
    remarks.extend(others::of(graph));
    remarks.extend(drift::of(graph));
    remarks.extend(left_over(graph.node));
    remarks
}

/// Whether a kubelet runs here, or none was seen that can run.
fn can_have_kubelet(node: &Node) -> bool {
    node.kubelet.is_some() || node.unseen.is_some()
}

/// What comes with the kubelet's restart, where that is not what comes before.
fn restarted(files: &Node, next: State) -> Option<String> {
    let graph = Graph::of(files);
    let state = verdict::state(&graph, &outcome::outcomes(&graph, When::NextStart));
    (state != next).then(|| {
        format!(
            "From the kubelet's restart on, with the settings that its files have by now, the next \
             start of the DNS pods is another one: {}",
            state.word()
        )
    })
}

/// What was not taken for a pod.
fn left_over(node: &Node) -> Option<String> {
    let unseen = node.pods.iter().any(|it| it.presence == Presence::NotSeen);
    if unseen
        && node
            .kubelet
            .as_ref()
            .is_some_and(|it| it.found != Found::Named)
    {
        return Some(
            "Which pods run could not be seen, as the processes of the node were not: those of \
             which there are files are taken to run"
                .to_owned(),
        );
    }
    let shown: Vec<&str> = node
        .left_over
        .iter()
        .take(MAX_LEFT_OVER)
        .map(String::as_str)
        .collect();
    let rest = node.left_over.len().saturating_sub(MAX_LEFT_OVER);
    let more = if rest == 0 {
        String::new()
    } else {
        format!(" and {rest} more")
    };
    (!shown.is_empty()).then(|| {
        format!(
            "Left over from pods that are gone, and not counted: the directories of {}{more}",
            shown.join(", ")
        )
    })
}

/// More pods that are gone are not named.
const MAX_LEFT_OVER: usize = 3;

/// Whether one of the sentences says what the remark ends with.
fn is_said(remark: &str, sentences: &[String]) -> bool {
    // Their first letter is a capital one.
    let mut ends = sentences.iter().map(|it| it.get(1..).unwrap_or(it));
    ends.any(|it| remark.ends_with(it))
}

/// The DNS servers of pods on the node's own network, each with its pod's number
/// in [`Node::pods`].
pub fn servers_on_node(node: &Node) -> Vec<(usize, DnsServer)> {
    let found = servers::of(node).into_iter().filter_map(|it| {
        let pod = it.pod?;
        let number = node.pods.iter().position(|own| std::ptr::eq(own, pod))?;
        let is_new = !node.servers.contains(&it.dns);
        (is_new && it.dns.network == Network::Node).then_some((number, it.dns))
    });
    found.collect()
}

/// Where servers of one list do not give the same answers though any of them is
/// asked, of the cluster's DNS. Whole sentences without a full stop.
pub fn unlike(node: &Node) -> Vec<String> {
    unlike::of(&Graph::of(node))
}

/// The servers that a probe of `node` asks.
pub fn probe_targets(node: &Node) -> Vec<seen::Target> {
    let graph = Graph::of(node);
    let servers: Vec<DnsServer> = graph.servers.into_iter().map(|it| it.dns).collect();
    seen::targets_of(&servers, node)
}
