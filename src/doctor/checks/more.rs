//! What logs, packets, counters and servers show.

use super::{parted, worst};
use crate::doctor::{Asked, Check, Counted, Fact, Logs, Lookup, Route, State, Unasked};
use crate::finding::Severity;
use crate::lint::Findings;
use crate::path::Tree;
use crate::text::Place;
use crate::why::log::Advice;

/// The check of what the DNS pods log.
pub fn logs(logs: Option<&Logs>) -> Check<'_> {
    let advice = logs.map_or(&[][..], |it| it.summary.advice.as_slice());
    let worst = advice.iter().filter(|it| is_trouble(it));
    let state = match (logs, worst.map(Advice::severity).max()) {
        (_, Some(Severity::Error)) => State::Error,
        (_, Some(Severity::Warning)) => State::Warning,
        (None, _) => State::Unknown,
        (Some(_), _) => State::Ok,
    };
    let sightings = logs.into_iter().flat_map(|it| &it.summary.sightings);
    let places = sightings.map(|it| {
        Place::new(
            it.place.0.clone(),
            usize::try_from(it.place.1).unwrap_or_default(),
            1,
        )
    });
    Check::new("logs", state, Fact::Logs(logs), places.collect())
}

/// Fewer queries that fail, or are slow, are in the log of every healthy server.
const MIN_QUERIES: u64 = 5;

/// Whether it is something wrong: queries for nothing are as every cluster has
/// them.
pub fn is_trouble(advice: &Advice) -> bool {
    match advice {
        Advice::Waste { .. } => false,
        Advice::Broken { count, .. } | Advice::Slow { count, .. } => *count >= MIN_QUERIES,
        other => other.severity() > Severity::Info,
    }
}

/// Where packets to the cluster's DNS go; an error says why that is not known.
pub fn path<'o>(route: Result<&'o Route, &'o str>) -> Check<'o> {
    let (state, places) = match route {
        Err(_) => (State::Unknown, Vec::new()),
        Ok(route) => (state_of(route), shown_by(route)),
    };
    Check::new("path", state, Fact::Path(route), places)
}

fn state_of(route: &Route) -> State {
    let worst = route.wrong().map(|it| it.severity).max();
    if route.trees.iter().any(Tree::fails) || worst == Some(Severity::Error) {
        State::Error
    } else if worst.is_some() {
        State::Warning
    } else if route.is_whole() {
        State::Ok
    } else {
        State::Unknown
    }
}

fn shown_by(route: &Route) -> Vec<Place> {
    let evidence = route.wrong().flat_map(|it| &it.evidence);
    let places = evidence.map(|it| &it.place);
    places.filter(|it| it.line > 0).cloned().collect()
}

/// What the kernel keeps about connections: what lint finds there, and whether
/// it loses packets now; and whether the kubelet has room.
pub fn kernel<'o>(found: &'o Findings, counted: &'o Counted) -> Check<'o> {
    let (all, _) = parted(found);
    let (state, findings) = worst(&all);
    let is_seen = counted.room.is_some() || counted.twice.is_some();
    let of_disk = counted.short_of_disk().map(|it| it.0);
    let state = match state.max(of_disk.unwrap_or(State::Ok)) {
        State::Error => State::Error,
        _ if counted.is_losing() => State::Warning,
        State::Ok if !is_seen => State::Unknown,
        state => state,
    };
    Check {
        code: "kernel",
        state,
        places: findings.iter().map(|it| it.primary.place()).collect(),
        fact: Fact::Kernel { findings, counted },
    }
}

/// That nobody was asked.
pub fn not_asked<'o>(why: Unasked) -> Check<'o> {
    Check::new("servers", State::Unknown, Fact::NotAsked(why), Vec::new())
}

/// Servers that were asked, at least one.
pub fn servers(asked: &[Asked]) -> Check<'_> {
    let is_wrong = |it: &Asked| it.is_silent() || it.is_slow() || it.is_without_tcp();
    let state = if asked.iter().all(Asked::is_silent) {
        State::Error
    } else if asked.iter().any(is_wrong) {
        State::Warning
    } else if asked.iter().any(|it| it.fails || it.is_malformed) {
        State::Unknown
    } else {
        State::Ok
    };
    Check::new("servers", state, Fact::Servers(asked), Vec::new())
}

/// A name that was looked up; an error says why it was not.
pub fn lookup<'o>(lookup: Result<&'o Lookup, &'o str>) -> Check<'o> {
    Check::new(
        "lookup",
        lookup.map_or(State::Unknown, Lookup::state),
        Fact::Lookup(lookup),
        Vec::new(),
    )
}
