//! From the ways that queries take to states, and from these to the answer.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::report::{Chain, End, Hop, State, Verdict, When};
use super::servers::{Role, Server};
use super::walk::{self, Step, Way, WayEnd, Who};
use crate::topology::{Network, Program, Target};

/// More zones than this are not looked at.
const MAX_ZONES: usize = 64;
/// More chains than this are not reported.
const MAX_CHAINS: usize = 200;

/// The ways of one zone's queries from one server.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) start: usize,
    pub(super) zone: String,
    pub(super) when: When,
    pub(super) state: State,
    pub(super) ways: Vec<Way>,
    /// Whether only names loop that a server on the way does not have.
    pub(super) is_partial: bool,
}

impl Outcome {
    /// Whether it only says that something was not followed.
    pub(super) fn is_doubt(&self) -> bool {
        self.ways.iter().all(|way| way.steps.is_empty())
    }

    /// The way that decides.
    pub(super) fn deciding(&self) -> Option<&Way> {
        let counted = || self.ways.iter().filter(|way| !way.is_passed);
        let cycle = counted().find(|way| matches!(way.end, WayEnd::Cycle(_)));
        let refused = |way: &&Way| matches!(way.end, WayEnd::Refused | WayEnd::Stopped);
        cycle.or_else(|| counted().find(refused))
    }
}

/// What becomes of queries with one of the two sets of files, those outcomes
/// first that decide.
pub(super) fn outcomes(graph: &Graph<'_>, when: When) -> Vec<Outcome> {
    let (zones, is_cut) = zones(graph);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (start, server) in graph.servers.iter().enumerate() {
        if !is_asked(server, when) {
            continue;
        }
        if server.role == Role::Cluster {
            outcomes.extend(in_doubt(start, server, when, is_cut));
        }
        if server.dns.stops.is_some() {
            continue;
        }
        let first = outcomes.len();
        for zone in &zones {
            if walk::forward(server, zone).is_none() {
                continue;
            }
            let ways = walk::ways(graph, when, start, zone);
            let same = |other: &Outcome| other.ways == ways;
            if outcomes.get(first..).unwrap_or_default().iter().any(same) {
                continue;
            }
            let state = state_of(&ways);
            // Whether servers of the node that nobody of the cluster asks
            // work is not the question, unless they ask themselves.
            if server.role == Role::Other && !has_cycle(&ways) {
                continue;
            }
            outcomes.push(Outcome {
                is_partial: is_partial(graph, zone, &ways),
                start,
                zone: zone.clone(),
                when,
                state,
                ways,
            });
        }
    }
    outcomes.sort_by_key(|it| rank(it.state));
    outcomes
}

/// Whether the circle leads through a CoreDNS that has names of the zone
/// itself and passes on only those that it does not have: with `fallthrough`,
/// reverse lookups of addresses outside the cluster. The names of the
/// cluster work then.
fn is_partial(graph: &Graph<'_>, zone: &str, ways: &[Way]) -> bool {
    let passes = |step: &Step| match step.who {
        Who::Server(index) => graph.servers.get(index).is_some_and(|it| {
            let serves = it.dns.forwards.iter().any(|own| own.to.is_empty());
            let forward = walk::forward(it, zone);
            it.dns.program == Program::CoreDns
                && serves
                && forward.is_some_and(|own| own.zone == ".")
        }),
        Who::Service(_) => false,
    };
    let in_circle = |way: &Way| match way.end {
        WayEnd::Cycle(first) => way
            .steps
            .get(first..)
            .unwrap_or_default()
            .iter()
            .any(passes),
        _ => false,
    };
    let is_cycle = |way: &&Way| matches!(way.end, WayEnd::Cycle(_));
    zone.ends_with(".arpa.")
        && ways.iter().filter(is_cycle).count() > 0
        && ways.iter().filter(is_cycle).all(in_circle)
}

/// Whether the server is there with these files: a pod that is only supposed
/// does not run.
fn is_asked(server: &Server<'_>, when: When) -> bool {
    when == When::NextStart || !server.is_elsewhere()
}

/// What keeps a server of the cluster's DNS from being judged: nothing of it
/// counts, or not all of it was followed.
fn in_doubt(start: usize, server: &Server<'_>, when: When, is_cut: bool) -> Option<Outcome> {
    let cut = || {
        is_cut
            .then(|| format!("there are more than {MAX_ZONES} zones, and the rest is not followed"))
    };
    let hides = || server.dns.hides.first().cloned();
    let reason = server.dns.stops.clone().or_else(hides).or_else(cut)?;
    let way = Way {
        steps: Vec::new(),
        end: WayEnd::Unknown(reason),
        share: (1, 1),
        is_passed: false,
    };
    Some(Outcome {
        start,
        zone: ".".to_owned(),
        when,
        state: State::Unknown,
        ways: vec![way],
        is_partial: false,
    })
}

/// Every zone that some server treats in its own way, the root first, and
/// whether there are more.
fn zones(graph: &Graph<'_>) -> (Vec<String>, bool) {
    let forwards = graph.servers.iter().flat_map(|it| &it.dns.forwards);
    let mut zones: Vec<String> = forwards.map(|it| it.zone.clone()).collect();
    zones.sort_by_key(|zone| (zone.ends_with(".arpa."), zone.len(), zone.clone()));
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

/// What tells the ways of one zone's queries from those of another.
fn treatment<'g>(graph: &'g Graph<'_>, zone: &str) -> (bool, Vec<Option<Vec<&'g Target>>>) {
    let targets = |server: &'g Server<'_>| {
        let forward = walk::forward(server, zone)?;
        Some(forward.to.iter().map(|it| &it.value).collect())
    };
    let all = graph.servers.iter().map(targets).collect();
    (zone.ends_with(".arpa."), all)
}

fn has_cycle(ways: &[Way]) -> bool {
    ways.iter().any(|way| matches!(way.end, WayEnd::Cycle(_)))
}

fn state_of(ways: &[Way]) -> State {
    let counted = || ways.iter().filter(|way| !way.is_passed);
    let has = |is: fn(&WayEnd) -> bool| counted().any(|way| is(&way.end));
    let cycles = has(|end| matches!(end, WayEnd::Cycle(_)));
    let refused = has(|end| matches!(end, WayEnd::Refused | WayEnd::Stopped));
    let answered = has(|end| *end == WayEnd::Answered);
    let unknown = has(|end| matches!(end, WayEnd::Unknown(_)));
    match (cycles, refused, answered || unknown) {
        (true, _, false) => State::Loop,
        (true, _, true) | (false, true, true) => State::Mixed,
        (false, true, false) => State::Refused,
        (false, false, _) if unknown => State::Unknown,
        (false, false, _) => State::NoLoop,
    }
}

/// How bad a state is, the worst first.
fn rank(state: State) -> u8 {
    match state {
        State::Loop => 0,
        State::Mixed => 1,
        State::Refused => 2,
        State::Unknown => 3,
        State::NoLoop => 4,
    }
}

/// The state of all of them: that of the worst.
pub(super) fn state(graph: &Graph<'_>, outcomes: &[Outcome]) -> State {
    let of_cluster = |it: &&Outcome| {
        let server = graph.servers.get(it.start);
        server.is_some_and(|it| it.role == Role::Cluster)
    };
    let states = outcomes.iter().map(|it| it.state);
    let worst = states.min_by_key(|it| rank(*it));
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

/// The ways for people, those that decide first.
pub(super) fn chains(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<Chain> {
    let ways = outcomes.iter().flat_map(|it| {
        let mut ways: Vec<&Way> = it.ways.iter().collect();
        ways.sort_by_key(|way| (way.is_passed, way_rank(&way.end)));
        ways.into_iter().map(|way| chain(graph, it, way))
    });
    // A way without a hop is a doubt, which has its sentence.
    let ways = ways.filter(|chain| !chain.hops.is_empty());
    ways.take(MAX_CHAINS).collect()
}

fn way_rank(end: &WayEnd) -> u8 {
    match end {
        WayEnd::Cycle(_) => 0,
        WayEnd::Refused | WayEnd::Stopped => 1,
        WayEnd::Unknown(_) => 2,
        WayEnd::Answered => 3,
    }
}

fn chain(graph: &Graph<'_>, outcome: &Outcome, way: &Way) -> Chain {
    let hops = way.steps.iter().map(|step| {
        let (who, network) = match step.who {
            Who::Server(index) => match graph.servers.get(index) {
                Some(server) => (server.dns.label.clone(), network(&server.dns.network)),
                None => (String::new(), ""),
            },
            Who::Service(to) => (
                match to {
                    Some(to) => format!("the service of the cluster's DNS, {}", to.ip()),
                    None => walk::UPSTREAM_SERVICE.to_owned(),
                },
                "in the cluster",
            ),
        };
        Hop {
            who,
            network: network.to_owned(),
            sends_to: step.to.clone(),
            proof: step.proof.clone(),
        }
    });
    Chain {
        when: outcome.when,
        zone: outcome.zone.clone(),
        hops: hops.collect(),
        end: match &way.end {
            WayEnd::Cycle(first) => End::Cycle(*first),
            WayEnd::Refused | WayEnd::Stopped => End::Refused,
            WayEnd::Answered => End::Outside,
            WayEnd::Unknown(reason) => End::Unknown(reason.clone()),
        },
        share: way.share,
    }
}

fn network(network: &Network) -> &'static str {
    match network {
        Network::Node => "on the node",
        Network::Pod(_) => "in the pod's network",
    }
}
