//! Names that were asked for in vain, always or by turns.

use super::advice::{Advice, MAX_OF_A_KIND};
use super::query::{Query, Rcode, Record};
use super::summary::{NameRow, Summary};
use super::tally::{NameCount, Tally};
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

impl NameCount {
    /// Whether the name was there for a query for A in a pod's log.
    pub(super) fn existence(&mut self, query: &Query<'_>, pod: u32) {
        let is_there = match (query.record, query.rcode) {
            (Record::A, Rcode::NoError) => true,
            (Record::A, Rcode::NxDomain) => false,
            _ => return,
        };
        self.denied += u64::from(!is_there);
        let was_there = self.there & pod != 0;
        self.turns += u64::from(self.asked & pod != 0 && was_there != is_there);
        self.asked |= pod;
        self.there ^= if was_there == is_there { 0 } else { pod };
    }
}

/// Names that were there, then not, and then again, or the other way round: one that is
/// made, or deleted, changes once in each pod. Which pod a line is of may not be said: logs one
/// after the other begin anew.
pub(super) fn by_turns(tally: &Tally) -> impl Iterator<Item = Advice> {
    let least = 2 * tally.sources.max(tally.starts).max(2);
    let names = tally.names.sorted().into_iter();
    let names = names.filter(move |it| it.value.turns >= least);
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
