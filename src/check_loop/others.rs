//! Somebody's own DNS servers in pods: not behind the service of the cluster's
//! DNS, and so no part of its verdict.

use std::collections::BTreeMap;

use super::facts::Remark;
use super::graph::Graph;
use super::outcome::{self, Outcome};
use super::report::{State, When};

/// What does not work in them, a remark for each pod.
pub(super) fn remarks(graph: &Graph<'_>) -> Vec<Remark> {
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
    let remarks = pods.into_values().map(|(pod, outcome)| Remark::Other {
        pod,
        when: outcome.when,
        state: outcome.state,
        to: (outcome.deciding().and_then(|it| it.steps.last())).map(|it| it.to.clone()),
    });
    remarks.collect()
}
