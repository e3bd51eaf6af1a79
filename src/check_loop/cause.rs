//! What decides the verdict.

use super::chains;
use super::facts::Cause;
use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{State, Verdict};
use super::verdict::{Share, asks_nobody};

/// What decides it; `None`: every query path leads outside, or nothing is known.
pub(super) fn deciding(
    graph: &Graph<'_>,
    verdict: Verdict,
    outcomes: &[&Outcome],
) -> Option<Cause> {
    match verdict {
        Verdict::NoLoop => asks_nobody(graph).then_some(Cause::AsksNobody),
        Verdict::Unknown => None,
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => {
            let (outcome, path) = outcomes.iter().find_map(|it| Some((*it, it.deciding()?)))?;
            Some(Cause::Path {
                chain: chains::chain(graph, outcome.when, &outcome.zone, path),
                state: outcome.state,
                pods: pods(graph, outcome, outcomes),
            })
        }
    }
}

/// In how many of how many DNS pods queries do not come to an end, if the
/// server is in one of these and others answer.
fn pods(graph: &Graph<'_>, outcome: &Outcome, outcomes: &[&Outcome]) -> Option<(usize, usize)> {
    let same = outcomes.iter().filter(|it| it.when == outcome.when);
    let same: Vec<Outcome> = same.map(|it| (*it).clone()).collect();
    let share = Share::of_outcomes(graph, &same);
    let is_whole = matches!(outcome.state, State::Loop | State::Refused);
    let counts = share.counts().filter(|_| share.is_some(outcome.start));
    counts.filter(|_| is_whole)
}
