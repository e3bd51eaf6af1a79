//! Names that were asked for in vain, always or by turns.

use super::Rcode;
use super::advice::{Advice, MAX_OF_A_KIND};
use super::summary::{NameRow, Summary};
use super::tally::Tally;
use crate::text::escaped;
use crate::why::looked::Looked;

/// Names of Services that never had a record, where the log has answers, too, and no
/// query failed otherwise.
pub(super) fn missing(summary: &Summary, found: &mut Vec<Advice>) {
    let is_filtered = found.iter().any(|it| matches!(it, Advice::Filtered));
    let has = |rcode| summary.rcodes.iter().any(|it| it.0 == rcode && it.1 > 0);
    let is_broken = has(Rcode::Unanswered) || has(Rcode::ServFail);
    let is_in_vain = |it: &&NameRow| {
        it.failed == it.queries
            && it.waste == 0
            && Looked::of_query(&it.name) == Some(Looked::Service)
    };
    let names = summary.names.first.iter().filter(is_in_vain);
    let names: Vec<String> = names
        .take(MAX_OF_A_KIND)
        .map(|it| it.name.clone())
        .collect();
    if has(Rcode::NoError) && !is_filtered && !is_broken && !names.is_empty() {
        found.push(Advice::Missing { names });
    }
}

/// Names that were there, then not, and then again, or the other way round: one that is
/// made, or deleted, changes once.
pub(super) fn by_turns(tally: &Tally) -> impl Iterator<Item = Advice> {
    const MIN_TURNS: u64 = 2;
    let names = tally.names.sorted().into_iter();
    let names = names.filter(|it| it.value.turns >= MIN_TURNS);
    names.map(|it| {
        let name = escaped(&it.text);
        Advice::ByTurns {
            denied: it.value.denied,
            queries: it.value.queries,
            is_service: name.contains(".svc."),
            name,
        }
    })
}
