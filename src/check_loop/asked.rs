//! Whether a question that is really asked goes round: what a resolver would
//! start that sends to these servers.

use std::net::SocketAddr;

use super::facts::Round;
use super::graph::Graph;
use super::report::{End, When};
use super::servers::{Role, Server};
use super::walk::{self, QueryPath};
use super::{chains, evidence};
use crate::node::Node;
use crate::text::{Place, Placed};
use crate::topology::{
    DnsServer, Evidence, Forward, Instance, Listen, Network, Policy, Program, Target,
};

/// How queries for `name` go round that somebody in `network` sends to one of
/// the `servers`; `None`: nothing shows that they do. A query path that cannot be
/// followed counts where a log shows that CoreDNS ended in a loop.
pub fn goes_round(
    node: &Node,
    network: &Network,
    servers: &[SocketAddr],
    name: &str,
) -> Option<Round> {
    let zone = format!("{}.", name.trim_end_matches('.').to_lowercase());
    let mut graph = Graph::of_node(node);
    let asker = graph.servers.len();
    graph.servers.push(asker_of(network, servers));
    let paths = walk::paths(&graph, When::Now, asker, &zone);
    let is_cycle = |path: &&QueryPath| matches!(path.end, End::Cycle(_));
    graph.is_sent_on = true;
    let is_certain = || {
        walk::paths(&graph, When::Now, asker, &zone)
            .iter()
            .any(|it| is_cycle(&it))
    };
    let is_certain = node.rules_unread.is_empty() || is_certain();
    graph.is_sent_on = false;
    if let Some(path) = paths.iter().find(is_cycle).filter(|_| is_certain) {
        return Some(Round::Path(chains::chain(&graph, When::Now, &zone, path)));
    }
    let is_unknown = |path: &QueryPath| matches!(path.end, End::Unknown(_));
    paths
        .iter()
        .any(is_unknown)
        .then(|| evidence::contradiction(node))
        .flatten()
        .map(Round::Log)
}

/// Whoever asks, as a server that nobody can ask.
fn asker_of(network: &Network, servers: &[SocketAddr]) -> Server<'static> {
    let place = Place::new("", 1, 1);
    let to = servers
        .iter()
        .map(|it| Placed::new(Target::Address(*it), place.clone()));
    let mut dns = DnsServer::new(Program::Other, Instance::Only, network.clone());
    dns.listens.push(Listen::new(None, 0, Evidence::Default));
    dns.forwards.push(Forward {
        zone: ".".to_owned(),
        to: to.collect(),
        policy: Policy::Unknown,
    });
    Server {
        dns,
        pod: None,
        role: Role::Other,
        assumed: None,
        unread: None,
    }
}
