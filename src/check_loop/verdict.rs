//! From what becomes of queries to states, and from these to the answer.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{State, Verdict};
use super::servers::{Role, Server};
use crate::topology::{Doubt, Weight};

/// The state of all of them: that of the worst, unless other DNS pods answer
/// what one of them does not.
pub(super) fn state(graph: &Graph<'_>, outcomes: &[Outcome]) -> State {
    let is_judged = |it: &&Outcome| {
        let server = graph.servers.get(it.start);
        // Where there is no kubelet the question is about what runs.
        server.is_some_and(|it| it.role == Role::Cluster || graph.node.kubelet.is_none())
    };
    let share = Share::of_outcomes(graph, outcomes);
    let states = outcomes.iter().map(|it| match it.state {
        State::Loop | State::Refused if share.is_some(it.start) => State::Mixed,
        state => state,
    });
    let worst = states.min_by_key(|it| it.rank());
    match worst {
        None | Some(State::NoLoop) if asks_nobody(graph) => State::NoLoop,
        None if waits(graph) => State::NoLoop,
        None => State::Unknown,
        Some(State::NoLoop) if !outcomes.iter().any(|it| is_judged(&it)) => State::Unknown,
        // What was supposed cannot prove that nothing loops.
        Some(State::NoLoop) => {
            let supposed = |it: &Outcome| {
                let server = graph.servers.get(it.start);
                server.is_some_and(|it| it.assumed.is_some())
            };
            if outcomes.iter().any(supposed) {
                State::Unknown
            } else {
                State::NoLoop
            }
        }
        Some(state) => state,
    }
}

/// Of the pods of the cluster's DNS: those in which queries loop or are refused, and
/// the others behind its service, which get queries by lot.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// The servers of the former.
    bad: BTreeSet<usize>,
    /// How many pods these are.
    bad_pods: usize,
    /// How many pods behind the service answer all queries.
    good: usize,
}

impl Share {
    pub(super) fn of_outcomes(graph: &Graph<'_>, outcomes: &[Outcome]) -> Self {
        let behind = graph.behind_service();
        let backends: BTreeSet<usize> = graph.backends().map(|(index, _)| index).collect();
        let mut pods: BTreeMap<String, (Vec<usize>, State)> = BTreeMap::new();
        for outcome in outcomes.iter().filter(|it| backends.contains(&it.start)) {
            let server = graph.servers.get(outcome.start);
            let Some(pod) = server.and_then(|it| it.pod) else {
                continue;
            };
            let known = pods.entry(pod.key()).or_insert((Vec::new(), State::NoLoop));
            known.0.push(outcome.start);
            if outcome.state.rank() < known.1.rank() {
                known.1 = outcome.state;
            }
        }
        let mut share = Self::default();
        for (servers, state) in pods.into_values() {
            match state {
                State::Loop | State::Mixed | State::Refused => {
                    share.bad.extend(servers);
                    share.bad_pods += 1;
                }
                State::NoLoop if servers.iter().any(|it| behind.binary_search(it).is_ok()) => {
                    share.good += 1;
                }
                State::NoLoop | State::Unknown => {}
            }
        }
        share
    }

    /// Whether the server is in a pod that is not the only one, and others
    /// answer.
    pub(super) fn is_some(&self, server: usize) -> bool {
        self.good > 0 && self.bad.contains(&server)
    }

    /// In how many pods of how many queries do not come to an end; `None`: in
    /// all or in none.
    pub(super) fn counts(&self) -> Option<(usize, usize)> {
        let bad = self.bad_pods;
        (bad > 0 && self.good > 0).then_some((bad, bad + self.good))
    }
}

/// Whether the cluster's DNS answers all that it answers by itself.
pub(super) fn asks_nobody(graph: &Graph<'_>) -> bool {
    let mut servers = graph.servers.iter().filter(|it| it.role == Role::Cluster);
    let is_alone = |it: &Server<'_>| {
        let forwards = &it.dns.forwards;
        let is_noted = |it: &Doubt| it.weight() == Weight::Note;
        let is_known = it.assumed.is_none() && it.dns.doubts.iter().all(is_noted);
        is_known && !it.dns.listens.is_empty() && forwards.iter().all(|own| own.to.is_empty())
    };
    servers.next().is_some_and(is_alone) && servers.all(is_alone)
}

/// Whether nothing of the cluster's DNS runs, and so nothing sends queries.
fn waits(graph: &Graph<'_>) -> bool {
    let mut servers = graph.servers.iter().filter(|it| it.role == Role::Cluster);
    servers.next().is_some_and(Server::waits) && servers.all(Server::waits)
}

/// Whether queries of the cluster fail in this state.
pub(super) fn is_bad(state: State) -> bool {
    matches!(state, State::Loop | State::Mixed | State::Refused)
}

/// The answer of two states. Without a kubelet nothing tells what comes next.
pub(super) fn verdict(now: State, next_start: State, has_kubelet: bool) -> Verdict {
    match (now, next_start) {
        (State::Loop, _) => Verdict::Loop,
        (State::Mixed, _) => Verdict::Mixed,
        (State::NoLoop | State::Unknown, State::Loop | State::Mixed) => Verdict::WillLoop,
        (State::Refused, _) | (_, State::Refused) => Verdict::Refused,
        (State::NoLoop, State::Unknown) if !has_kubelet => Verdict::NoLoop,
        (_, State::Unknown) => Verdict::Unknown,
        (State::NoLoop | State::Unknown, State::NoLoop) => Verdict::NoLoop,
    }
}
