//! Whom to ask.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::check_loop::seen::{NamespaceFile, Target};
use crate::node::{Node, Pod};
use crate::topology::{DnsServer, Forward, Listen, Network, Policy};

/// More servers are not asked: with one zone each they are all that can be
/// asked in half of the probe's time.
pub const MAX_TARGETS: usize = 50;

/// One zone is asked so many times at most.
const MAX_TIMES: usize = 3;

/// The servers that can be asked, one target for each address where one
/// listens, and what listens on the node without being known.
///
/// A server is asked in its own namespace, at its own address: there nothing
/// rewrites the packets.
pub fn targets_of(servers: &[DnsServer], node: &Node) -> Vec<Target> {
    let mut targets = Vec::new();
    for server in servers {
        for listen in &server.listens {
            let target = target_of(server, listen, servers, node);
            targets.extend(target.filter(|it| !is_asked(&targets, it)));
        }
    }
    let strangers = node.listeners.iter().filter(|it| it.is_udp);
    for listener in strangers {
        let address = asked_at(listener.address);
        let owner = listener.owner.as_ref();
        let target = Target {
            who: owner.map_or_else(
                || "a DNS server".to_owned(),
                |owner| format!("{} (process {})", owner.comm, owner.pid),
            ),
            network: listener.network.clone(),
            namespace: namespace_of(&listener.network, node),
            server: SocketAddr::new(address, listener.port),
            takes_any: listener.address.is_none(),
            others: others(&listener.network, listener.port, node, servers),
            zones: vec![".".to_owned()],
        };
        if !is_asked(&targets, &target) && is_reachable(&target, node) {
            targets.push(target);
        }
    }
    targets.truncate(MAX_TARGETS);
    targets
}

fn target_of(
    server: &DnsServer,
    listen: &Listen,
    servers: &[DnsServer],
    node: &Node,
) -> Option<Target> {
    let zones = zones_of(server);
    let target = Target {
        who: server.label.clone(),
        network: server.network.clone(),
        namespace: namespace_of(&server.network, node),
        server: SocketAddr::new(asked_at(listen.address), listen.port),
        takes_any: listen.address.is_none(),
        others: others(&server.network, listen.port, node, servers),
        zones,
    };
    (!target.zones.is_empty() && is_reachable(&target, node)).then_some(target)
}

fn is_asked(targets: &[Target], target: &Target) -> bool {
    targets
        .iter()
        .any(|known| known.network == target.network && known.server == target.server)
}

/// The node's own namespace needs no file.
fn is_reachable(target: &Target, node: &Node) -> bool {
    let is_node = target.network == Network::Node;
    (is_node && node.is_live) || target.namespace.is_some()
}

/// The zones that it forwards, each as often as it takes to meet any of its
/// servers; the root, if it is not known what it does.
fn zones_of(server: &DnsServer) -> Vec<String> {
    if server.forwards.is_empty() && !server.unknown.is_empty() {
        return vec![".".to_owned()];
    }
    let times = |forward: &Forward| match forward.policy {
        Policy::Sequential => 1,
        _ => forward.to.len().clamp(1, MAX_TIMES),
    };
    let zones = server
        .forwards
        .iter()
        .flat_map(|it| std::iter::repeat_n(it.zone.clone(), times(it)));
    zones.collect()
}

/// A server that listens on any address is asked on the loopback one.
fn asked_at(address: Option<IpAddr>) -> IpAddr {
    address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// The addresses of the namespace that a server has for itself.
fn others(network: &Network, port: u16, node: &Node, servers: &[DnsServer]) -> Vec<IpAddr> {
    let seen = node
        .listeners
        .iter()
        .filter(|it| it.is_udp && it.network == *network && it.port == port)
        .filter_map(|it| it.address);
    let written = servers
        .iter()
        .filter(|it| it.network == *network)
        .flat_map(|it| &it.listens)
        .filter(|it| it.port == port)
        .filter_map(|it| it.address);
    let mut others: Vec<IpAddr> = seen.chain(written).collect();
    others.sort_unstable();
    others.dedup();
    others
}

fn namespace_of(network: &Network, node: &Node) -> Option<NamespaceFile> {
    let Network::Pod(key) = network else {
        return None;
    };
    let pod = node.pods.iter().find(|pod| pod.key() == *key)?;
    Some(NamespaceFile {
        path: namespace_path(pod)?,
        number: pod.netns,
    })
}

/// A file that keeps the namespace stays when the process ends.
fn namespace_path(pod: &Pod) -> Option<String> {
    let of_process = || {
        let process = pod.processes.first()?;
        Some(format!("/proc/{}/ns/net", process.pid))
    };
    pod.netns_path.clone().or_else(of_process)
}
