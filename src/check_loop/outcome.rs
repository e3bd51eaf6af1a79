//! What becomes of the queries of each zone from each server.

use std::collections::BTreeSet;

use super::facts::Unknown;
use super::graph::Graph;
use super::report::{End, State, When};
use super::servers::{Role, Server};
use super::walk::{self, QueryPath, Step};
use crate::order::Order as _;
use crate::topology::{Program, Target, Weight};

/// More zones than this are not looked at.
const MAX_ZONES: usize = 64;
/// The query paths of one zone's queries from one server.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) start: usize,
    pub(super) zone: String,
    pub(super) when: When,
    pub(super) state: State,
    pub(super) paths: Vec<QueryPath>,
    /// Whether only names loop that a server on the query path does not have.
    pub(super) is_partial: bool,
}

impl Outcome {
    /// Whether it only says that something was not followed.
    pub(super) fn is_doubt(&self) -> bool {
        self.paths.iter().all(|path| path.steps.is_empty())
    }

    /// The query path that decides.
    pub(super) fn deciding(&self) -> Option<&QueryPath> {
        let counted = || self.paths.iter().filter(|path| !path.is_passed);
        let cycle = counted().find(|path| matches!(path.end, End::Cycle(_)));
        let refused = |path: &&QueryPath| matches!(path.end, End::Refused | End::Stopped);
        cycle.or_else(|| counted().find(refused))
    }
}

/// What becomes of queries with one of the two sets of files, those outcomes
/// first that decide; without what becomes of those of somebody's own servers.
pub(super) fn outcomes(graph: &Graph<'_>, when: When) -> Vec<Outcome> {
    let mut outcomes = every(graph, when);
    outcomes.retain(|it| !is_of_others(graph, it));
    outcomes
}

/// What becomes of queries now. Where that depends on rules that were not read it is not
/// known.
pub(super) fn of_now(graph: &mut Graph<'_>) -> Vec<Outcome> {
    let mut kept = outcomes(graph, When::Now);
    let Some(&ip) = graph.node.rules_unread.first() else {
        return kept;
    };
    let again = |graph: &Graph<'_>, it: &Outcome| {
        state_of(&walk::paths(graph, When::Now, it.start, &it.zone)) == it.state
    };
    graph.is_sent_on = true;
    let sent_on = outcomes(graph, When::Now);
    let is_same: Vec<bool> = kept
        .iter()
        .map(|it| it.is_doubt() || again(graph, it))
        .collect();
    graph.is_sent_on = false;
    for (it, is_same) in kept.iter_mut().zip(is_same) {
        if !is_same {
            *it = doubt(it.start, it.zone.clone(), When::Now, Unknown::Rules(ip));
        }
    }
    let others = sent_on
        .into_iter()
        .filter(|it| !it.is_doubt() && !again(graph, it));
    let is_new = |it: &Outcome| {
        !kept
            .iter()
            .any(|own| (own.start, &own.zone) == (it.start, &it.zone))
    };
    let others: Vec<Outcome> = others.filter(is_new).collect();
    kept.extend(
        others
            .into_iter()
            .map(|it| doubt(it.start, it.zone, When::Now, Unknown::Rules(ip))),
    );
    kept.order_by_key(|it| it.state.rank());
    kept
}

/// The outcomes of query paths that begin in DNS servers of somebody's own.
pub(super) fn of_others(graph: &Graph<'_>, when: When) -> Vec<Outcome> {
    let mut outcomes = every(graph, when);
    outcomes.retain(|it| is_of_others(graph, it));
    outcomes
}

fn is_of_others(graph: &Graph<'_>, outcome: &Outcome) -> bool {
    let server = graph.servers.get(outcome.start);
    let pod = server.and_then(|it| it.pod);
    pod.is_some_and(|it| graph.others.has(it))
}

/// The outcomes of all query paths, whoever asks.
pub(super) fn every(graph: &Graph<'_>, when: When) -> Vec<Outcome> {
    let (zones, is_cut) = zones(graph);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (start, server) in graph.servers.iter().enumerate() {
        if !server.is_there(when) {
            continue;
        }
        if server.role == Role::Cluster {
            outcomes.extend(in_doubt(start, server, when, is_cut));
        }
        if server.dns.first(Weight::Stops).is_some() {
            continue;
        }
        let first = outcomes.len();
        for zone in &zones {
            if walk::forward(server, zone).is_none() {
                continue;
            }
            let paths = walk::paths(graph, when, start, zone);
            let same = |other: &Outcome| other.paths == paths;
            if outcomes.get(first..).unwrap_or_default().iter().any(same) {
                continue;
            }
            let state = state_of(&paths);
            // Whether servers of the node that nobody of the cluster asks
            // work is not the question, unless they ask themselves.
            let is_asked_about = graph.node.kubelet.is_none() && server.pod.is_some();
            if server.role == Role::Other && !has_cycle(&paths) && !is_asked_about {
                continue;
            }
            outcomes.push(Outcome {
                is_partial: is_partial(graph, zone, &paths),
                start,
                zone: zone.clone(),
                when,
                state,
                paths,
            });
        }
    }
    // Who goes round itself says more than who only asks such a server.
    let before = |it: &Outcome| match it.deciding().map(|path| &path.end) {
        Some(End::Cycle(first)) => *first,
        _ => 0,
    };
    outcomes.order_by_key(|it| (it.state.rank(), before(it)));
    outcomes
}

/// Whether the circle leads through a CoreDNS that has names of the zone
/// itself and passes on only those that it does not have: with `fallthrough`,
/// reverse lookups of addresses outside the cluster. The names of the
/// cluster work then.
fn is_partial(graph: &Graph<'_>, zone: &str, paths: &[QueryPath]) -> bool {
    let passes = |step: &Step| {
        graph.server(&step.who).is_some_and(|it| {
            let serves = it.dns.forwards.iter().any(|own| own.to.is_empty());
            let forward = walk::forward(it, zone);
            it.dns.program == Program::CoreDns
                && serves
                && forward.is_some_and(|own| own.zone == ".")
        })
    };
    let in_circle = |path: &QueryPath| match path.end {
        End::Cycle(first) => path
            .steps
            .get(first..)
            .unwrap_or_default()
            .iter()
            .any(passes),
        _ => false,
    };
    let is_cycle = |path: &&QueryPath| matches!(path.end, End::Cycle(_));
    zone.ends_with(".arpa.")
        && paths.iter().filter(is_cycle).count() > 0
        && paths.iter().filter(is_cycle).all(in_circle)
}

/// What keeps a server of the cluster's DNS from being judged: nothing of it
/// counts, or not all of it was followed.
fn in_doubt(start: usize, server: &Server<'_>, when: When, is_cut: bool) -> Option<Outcome> {
    let doubt = server.dns.first(Weight::Stops);
    let doubt = doubt.or_else(|| server.dns.first(Weight::Hides));
    let cut = || is_cut.then_some(Unknown::TooManyZones(MAX_ZONES));
    let doubt = doubt.cloned().map(Unknown::Server).or_else(cut);
    let reason = server.unread_at(when).or(doubt)?;
    Some(self::doubt(start, ".".to_owned(), when, reason))
}

/// What is not known, and why.
fn doubt(start: usize, zone: String, when: When, reason: Unknown) -> Outcome {
    let path = QueryPath {
        steps: Vec::new(),
        end: End::Unknown(reason),
        share: (1, 1),
        is_passed: false,
    };
    Outcome {
        start,
        zone,
        when,
        state: State::Unknown,
        paths: vec![path],
        is_partial: false,
    }
}

/// Every zone that some server treats in its own way, the root first, and
/// whether there are more.
fn zones(graph: &Graph<'_>) -> (Vec<String>, bool) {
    let forwards = graph.servers.iter().flat_map(|it| &it.dns.forwards);
    let mut zones: Vec<String> = forwards.map(|it| it.zone.clone()).collect();
    zones.order_by_key(|zone| (zone.ends_with(".arpa."), zone.len(), zone.clone()));
    zones.dedup();
    if zones.len() > MAX_ZONES {
        // Of zones that every server treats alike one is enough.
        let mut known = BTreeSet::new();
        zones.retain(|zone| known.insert(treatment(graph, zone)));
    }
    let is_cut = zones.len() > MAX_ZONES;
    zones.truncate(MAX_ZONES);
    (zones, is_cut)
}

/// What tells the query paths of one zone's queries from those of another.
fn treatment<'g>(graph: &'g Graph<'_>, zone: &str) -> (bool, Vec<Option<Vec<&'g Target>>>) {
    let targets = |server: &'g Server<'_>| {
        let forward = walk::forward(server, zone)?;
        Some(forward.to.iter().map(|it| &it.value).collect())
    };
    let all = graph.servers.iter().map(targets).collect();
    (zone.ends_with(".arpa."), all)
}

fn has_cycle(paths: &[QueryPath]) -> bool {
    paths.iter().any(|path| matches!(path.end, End::Cycle(_)))
}

fn state_of(paths: &[QueryPath]) -> State {
    let counted = || paths.iter().filter(|path| !path.is_passed);
    let has = |is: fn(&End) -> bool| counted().any(|path| is(&path.end));
    let cycles = has(|end| matches!(end, End::Cycle(_)));
    let refused = has(|end| matches!(end, End::Refused | End::Stopped));
    let answered = has(|end| *end == End::Outside);
    let unknown = has(|end| matches!(end, End::Unknown(_)));
    match (cycles, refused, answered || unknown) {
        (true, _, false) => State::Loop,
        (true, _, true) | (false, true, true) => State::Mixed,
        (false, true, false) => State::Refused,
        (false, false, _) if unknown => State::Unknown,
        (false, false, _) => State::NoLoop,
    }
}
