//! The ways that queries take, for people.

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{Chain, End, Hop};
use super::walk::{self, Way, WayEnd, Who};
use crate::topology::Network;

/// More chains than this are not reported.
const MAX_CHAINS: usize = 200;

/// The ways for people, those that decide first.
pub(super) fn of(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<Chain> {
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
