//! The answer in one line.

use super::Verdict;
use super::graph::Graph;
use super::verdict::Outcome;

/// One line that a tired person understands, without a full stop.
pub(super) fn of(graph: &Graph<'_>, verdict: Verdict, outcomes: &[&Outcome]) -> String {
    let _ = (graph, outcomes);
    format!("{verdict:?}")
}
