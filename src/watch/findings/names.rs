//! What is wrong with the names that are asked for.

use crate::explain::cluster::is_of_the_world;
use crate::finding::Severity;
use crate::name::Name;
use crate::order::Order as _;
use crate::watch::findings::{Finding, Known, What};
use crate::watch::tally::EntryTally;

/// Fewer wasted queries are not worth a word.
const MIN_WASTED: u64 = 20;

/// Fewer lookups that wasted some, too.
const MIN_SEARCHED: u64 = 5;

/// So many of a hundred queries.
const WASTED: u64 = 66;

/// A cache is missed when it would have answered so many lookups of one name…
const MIN_SAVED: u64 = 20;

/// … which are so many of a hundred of its lookups…
const SAVED: u64 = 80;

/// … at so many a second.
const RATE: u64 = 1;

/// So many names have a finding of their own, those that a cache would save most.
const MAX_REPEATED: usize = 20;

const SECOND: i64 = 1_000_000_000;

/// So many names and entries are listed.
const LISTED: usize = 5;

pub(super) fn add(known: &Known<'_>, found: &mut Vec<Finding>) {
    wildcards(known, found);
    waste(known, found);
    no_cache(known, found);
    for (name, count) in &known.tally.local {
        let questions = [1, 28].map(|qtype| known.tally.questions.get(name, qtype));
        let exists = questions.iter().flatten().any(|it| it.sum()[0] > 0);
        if !exists {
            let finding = Finding::from_count(What::MdnsLeak, Severity::Warning, count);
            found.push(finding.about(Some(name)));
        }
    }
}

/// Entries of the search list that have an answer for names of other zones, and
/// the same one for all.
fn wildcards(known: &Known<'_>, found: &mut Vec<Finding>) {
    let entries = &known.tally.names.entries;
    // `db.prod` and `www.us` may well be there; whole names are of another zone.
    let is_whole = |it: &&Name| {
        let labels: Vec<&[u8]> = it.labels().collect();
        let last = labels.last().copied().unwrap_or_default();
        let is_of_list = |entry: &EntryTally| entry.entry.labels().last() == Some(last);
        let is_long = labels.len() > 2 || last.len() > 2;
        is_long && is_of_the_world(&it.to_string()) || entries.iter().any(is_of_list)
    };
    for entry in entries {
        let is_for_all = entry.found.iter().filter(is_whole).count() >= 2;
        if is_for_all && entry.denied == 0 && !entry.differs {
            let what = What::Wildcard {
                address: entry.address,
                names: entry.found.iter().take(LISTED).cloned().collect(),
                is_inferred: known.is_inferred,
            };
            let count = entry.found.len() as u64;
            let finding = Finding::new(what, Severity::Error, count).about(Some(&entry.entry));
            found.push(finding.shown_by(entry.packets.iter().copied()));
        }
    }
}

fn waste(known: &Known<'_>, found: &mut Vec<Finding>) {
    let (names, queries) = (&known.tally.names, known.tally.queries);
    let is_much = names.wasted >= MIN_WASTED
        && names.searched >= MIN_SEARCHED
        && names.wasted * 100 >= queries * WASTED;
    if !is_much {
        return;
    }
    let mut entries: Vec<&EntryTally> = names.entries.iter().filter(|it| it.wasted > 0).collect();
    entries.order_by_key(|it| std::cmp::Reverse(it.wasted));
    let mut worst = names.by(|it| it.wasted);
    worst.retain(|it| it.wasted > 0);
    let of_entries = entries.iter().take(LISTED);
    let of_names = worst.iter().take(LISTED);
    let what = What::SearchWaste {
        of: queries,
        entries: of_entries.map(|it| (it.entry.clone(), it.wasted)).collect(),
        names: of_names.map(|it| (it.name.clone(), it.wasted)).collect(),
    };
    let first = worst.first().map(|it| &it.name);
    found.push(Finding::new(what, Severity::Warning, names.wasted).about(first));
}

fn no_cache(known: &Known<'_>, found: &mut Vec<Finding>) {
    let mut repeated = Vec::new();
    let questions: Vec<_> = known.tally.questions.all.values().collect();
    for question in questions {
        let (lookups, saved) = question.repeats;
        let span = question.span.1.saturating_sub(question.span.0).max(1);
        let seconds = u64::try_from(span / SECOND).unwrap_or_default().max(1);
        let is_much = saved >= MIN_SAVED && saved * 100 >= lookups * SAVED;
        if is_much && saved >= RATE * seconds {
            repeated.push((question, lookups, saved, span));
        }
    }
    repeated.order_by(|one, other| {
        one.0
            .name
            .cmp(&other.0.name)
            .then(one.0.qtype.cmp(&other.0.qtype))
    });
    // A and AAAA of one name are one finding.
    repeated.dedup_by(|one, other| one.0.name.eq_ignore_case(&other.0.name));
    repeated.order_by_key(|it| std::cmp::Reverse(it.2));
    repeated.truncate(MAX_REPEATED);
    for (question, lookups, saved, span) in repeated {
        let what = What::NoCache {
            lookups,
            saved,
            ttl: question.ttl,
            span,
        };
        let finding = Finding::new(what, Severity::Warning, saved).about(Some(&question.name));
        found.push(finding.shown_by(question.packets.iter().copied()));
    }
}
