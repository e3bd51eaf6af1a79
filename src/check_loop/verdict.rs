//! From what becomes of queries to states, and from these to the answer.

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{State, Verdict};
use super::servers::{Role, Server};

/// The state of all of them: that of the worst.
pub(super) fn state(graph: &Graph<'_>, outcomes: &[Outcome]) -> State {
    let of_cluster = |it: &&Outcome| {
        let server = graph.servers.get(it.start);
        server.is_some_and(|it| it.role == Role::Cluster)
    };
    let states = outcomes.iter().map(|it| it.state);
    let worst = states.min_by_key(|it| it.rank());
    match worst {
        None | Some(State::NoLoop) if asks_nobody(graph) => State::NoLoop,
        None => State::Unknown,
        Some(State::NoLoop) if !outcomes.iter().any(|it| of_cluster(&it)) => State::Unknown,
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

/// Whether the cluster's DNS answers all that it answers by itself.
pub(super) fn asks_nobody(graph: &Graph<'_>) -> bool {
    let mut servers = graph.servers.iter().filter(|it| it.role == Role::Cluster);
    let is_alone = |it: &Server<'_>| {
        let forwards = &it.dns.forwards;
        let is_known = it.assumed.is_none() && it.dns.hides.is_empty() && it.dns.stops.is_none();
        is_known && !it.dns.listens.is_empty() && forwards.iter().all(|own| own.to.is_empty())
    };
    servers.next().is_some_and(is_alone) && servers.all(is_alone)
}

/// Whether DNS does not work in this state.
pub(super) fn is_bad(state: State) -> bool {
    matches!(state, State::Loop | State::Mixed | State::Refused)
}

/// The answer of two states.
pub(super) fn verdict(now: State, next_start: State) -> Verdict {
    match (now, next_start) {
        (State::Loop, _) => Verdict::Loop,
        (State::Mixed, _) => Verdict::Mixed,
        (State::NoLoop | State::Unknown, State::Loop | State::Mixed) => Verdict::WillLoop,
        (State::Refused, _) | (_, State::Refused) => Verdict::Refused,
        (_, State::Unknown) => Verdict::Unknown,
        (State::NoLoop | State::Unknown, State::NoLoop) => Verdict::NoLoop,
    }
}
