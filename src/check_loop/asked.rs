//! Whether a question that is really asked goes round: what a resolver would
//! start that sends to these servers.

use std::net::SocketAddr;

use super::graph::Graph;
use super::report::When;
use super::servers::{Role, Server};
use super::walk::{self, Way, WayEnd};
use super::{evidence, headline};
use crate::node::Node;
use crate::text::{Place, Placed};
use crate::topology::{DnsServer, Evidence, Forward, Listen, Network, Policy, Program, Target};

/// How queries for `name` go round that somebody in `network` sends to one of
/// the `servers`; `None`: nothing shows that they do. A way that cannot be
/// followed counts where a log shows that CoreDNS ended in a loop.
pub fn goes_round(
    node: &Node,
    network: &Network,
    servers: &[SocketAddr],
    name: &str,
) -> Option<String> {
    let zone = format!("{}.", name.trim_end_matches('.').to_lowercase());
    let mut graph = Graph::of(node);
    let asker = graph.servers.len();
    graph.servers.push(asker_of(network, servers));
    let ways = walk::ways(&graph, When::Now, asker, &zone);
    let is_cycle = |way: &&Way| matches!(way.end, WayEnd::Cycle(_));
    if let Some(way) = ways.iter().find(is_cycle) {
        return Some(headline::what(&graph, way));
    }
    let is_unknown = |way: &Way| matches!(way.end, WayEnd::Unknown(_));
    ways.iter()
        .any(is_unknown)
        .then(|| evidence::contradiction(node))
        .flatten()
}

/// Whoever asks, as a server that nobody can ask.
fn asker_of(network: &Network, servers: &[SocketAddr]) -> Server<'static> {
    let place = Place {
        file: String::new(),
        line: 1,
        column: 1,
    };
    let to = servers.iter().map(|it| Placed {
        value: Target::Address(*it),
        place: place.clone(),
    });
    Server {
        dns: DnsServer {
            program: Program::Other,
            label: "the resolver".to_owned(),
            network: network.clone(),
            listens: vec![Listen {
                address: None,
                port: 0,
                evidence: Evidence::Default,
            }],
            forwards: vec![Forward {
                zone: ".".to_owned(),
                to: to.collect(),
                policy: Policy::Unknown,
            }],
            notices_loops: false,
            unknown: Vec::new(),
            hides: Vec::new(),
            stops: None,
        },
        pod: None,
        role: Role::Other,
        assumed: None,
    }
}
