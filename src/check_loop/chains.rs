//! The query paths, for people.

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{Chain, End, Hop, When, Who};
use super::walk::{self, QueryPath};
use crate::order::Order as _;
use crate::topology::Network;

/// More chains than this are not reported.
const MAX_CHAINS: usize = 200;

/// The query paths for people, those that decide first.
pub(super) fn all(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<Chain> {
    let paths = outcomes.iter().flat_map(|it| {
        let mut paths: Vec<&QueryPath> = it.paths.iter().collect();
        paths.order_by_key(|path| (path.is_passed, end_rank(&path.end)));
        paths
            .into_iter()
            .map(|path| chain(graph, it.when, &it.zone, path))
    });
    // A query path without a hop is a doubt, which has its sentence.
    let paths = paths.filter(|chain| !chain.hops.is_empty());
    paths.take(MAX_CHAINS).collect()
}

fn end_rank(end: &End) -> u8 {
    match end {
        End::Cycle(_) => 0,
        End::Refused | End::Stopped => 1,
        End::Unknown(_) => 2,
        End::Outside => 3,
    }
}

/// A query path for people.
pub(super) fn chain(graph: &Graph<'_>, when: When, zone: &str, path: &QueryPath) -> Chain {
    let hop = |step: &walk::Step| {
        let who = match step.who {
            walk::Who::Server(index) => {
                let server = &graph.servers.get(index)?.dns;
                Who::Server {
                    name: server.name(),
                    is_on_node: server.network == Network::Node,
                }
            }
            walk::Who::Service(to) => Who::Service(to.map(|it| it.ip())),
        };
        Some(Hop {
            who,
            sends_to: step.to.clone(),
            proof: step.proof.clone(),
        })
    };
    Chain {
        when,
        zone: zone.to_owned(),
        hops: path.steps.iter().filter_map(hop).collect(),
        end: path.end.clone(),
        share: path.share,
    }
}
