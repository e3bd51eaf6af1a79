//! Whether a live lookup would start queries that go round between DNS
//! servers: each of them becomes thousands.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use anyhow::bail;

use crate::address::{Address, DNS_PORT};
use crate::check_loop;
use crate::cli::node::{has_kubelet, node_below};
use crate::cli::question::QuestionArgs;
use crate::host::node::{self, Parts, StandIns};
use crate::loopback::name_servers;
use crate::netns::{EnterError, Namespace};
use crate::node::Node;
use crate::render;
use crate::scenario::Scenario;
use crate::scenario::own::Given;
use crate::topology::Network;

/// More servers of a file are not asked by any resolver.
const MAX_SERVERS: usize = 100;

/// Judges the query path as `check-loop` does, where there is a DNS server or a
/// kubelet on this machine that can be on it.
///
/// # Errors
///
/// The queries go round; the reason.
pub(super) fn admit(
    scenario: &Scenario,
    namespace: Option<&Result<Namespace, EnterError>>,
    question: &QuestionArgs,
) -> anyhow::Result<()> {
    let conf = scenario.resolv_conf.as_ref();
    let listed = conf.into_iter().flat_map(name_servers);
    let own = scenario.own.iter().flat_map(|it| &it.servers);
    let own = own.filter_map(|it| match &it.value {
        Given::Server(server) => Some(server.address.ip),
        _ => None,
    });
    let all = listed.map(|(ip, _)| ip).chain(own);
    let mut servers: Vec<IpAddr> = all.take(MAX_SERVERS).collect();
    if servers.is_empty() {
        servers.push(IpAddr::from([127, 0, 0, 1]));
    }
    let root = node_below(question.root())?;
    let is_loopback = |it: &IpAddr| Address::from(*it).reached().is_loopback();
    if !servers.iter().any(is_loopback) && !has_kubelet(&root) {
        return Ok(());
    }
    // What cannot be read shows no loop, and keeps nobody from asking.
    let Ok(node) = node::read_node(&root, &StandIns::default(), Parts::ALL) else {
        return Ok(());
    };
    let number = namespace
        .and_then(|it| it.as_ref().ok())
        .map(Namespace::number);
    let network = network(&node, number);
    let servers: Vec<SocketAddr> = servers
        .into_iter()
        .map(|ip| SocketAddr::new(ip, DNS_PORT))
        .collect();
    if let Some(how) = check_loop::goes_round(&node, &network, &servers, &scenario.name) {
        bail!(
            "nothing was asked, as the queries would go round: {}; kdns check-loop says more, \
             and --even-if-it-loops asks all the same",
            render::check_loop::words::round(&how)
        );
    }
    Ok(())
}

/// The network namespace from which the queries are sent, by its number;
/// `None`: this one, which is the node's.
fn network(node: &Node, number: Option<u64>) -> Network {
    let Some(number) = number else {
        return Network::Node;
    };
    let pod = node.pods.iter().find(|it| it.netns == Some(number));
    match pod {
        Some(pod) if pod.host_network == Some(true) => Network::Node,
        Some(pod) => Network::Pod(pod.key()),
        None if is_nodes(number) => Network::Node,
        None => Network::Pod(format!("network namespace {number}")),
    }
}

/// Whether it is the network namespace of the machine's first process.
fn is_nodes(number: u64) -> bool {
    let own = Namespace::of_path(Path::new("/proc/1/ns/net"));
    own.is_ok_and(|it| it.number() == number)
}
