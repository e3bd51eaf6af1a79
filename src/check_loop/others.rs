//! Somebody's own DNS servers in pods: not behind the service of the cluster's
//! DNS, and so no part of its verdict.

use std::collections::BTreeMap;

use super::graph::Graph;
use super::outcome::{self, Outcome};
use super::report::{State, When};

/// What does not work in them, a remark for each pod. Whole sentences without
/// a full stop.
pub(super) fn of(graph: &Graph<'_>) -> Vec<String> {
    let now = outcome::of_others(graph, When::Now);
    let next = outcome::of_others(graph, When::NextStart);
    let is_worth_saying = |it: &&Outcome| !matches!(it.state, State::NoLoop | State::Unknown);
    let mut pods: BTreeMap<String, (String, &Outcome)> = BTreeMap::new();
    for outcome in now.iter().chain(&next).filter(is_worth_saying) {
        let server = graph.servers.get(outcome.start);
        if let Some(pod) = server.and_then(|it| it.pod) {
            pods.entry(pod.key()).or_insert((pod.label(), outcome));
        }
    }
    pods.into_values()
        .map(|(label, it)| remark(&label, it))
        .collect()
}

fn remark(label: &str, outcome: &Outcome) -> String {
    let when = match outcome.when {
        When::Now => "",
        When::NextStart => ", from its next start on",
    };
    let what = match outcome.state {
        State::Loop => "its queries loop",
        State::Refused => "its queries are refused",
        _ => "some of its queries loop or are refused",
    };
    let step = outcome.deciding().and_then(|it| it.steps.last());
    let to = step.map_or_else(String::new, |it| format!(" (it sends to {})", it.to));
    format!(
        "Pod {label} is a DNS server of somebody else, not behind the service of the cluster's \
         DNS: {what}{when}{to}, which is no part of the verdict"
    )
}
