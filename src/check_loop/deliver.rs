//! Who gets a packet: the same address is another socket in another network
//! namespace.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::facts::Unknown;
use super::graph::{Graph, reached};
use super::report::When;
use super::servers::Server;
use crate::loopback::owners::{self, Reach};
use crate::node::{Listener, Node, is_dns_name};
use crate::pod::DEFAULT_CLUSTER_DNS;
use crate::topology::{Listen, Network};

/// Who gets a packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Delivery {
    /// The server with this index.
    Server(usize),
    /// The service of the cluster's DNS: any of the servers behind it.
    Service,
    /// Nobody: it is refused.
    Nobody,
    /// A machine outside the node.
    Outside,
    /// That cannot be known; why.
    Unknown(Unknown),
}

/// What installers give the service of the cluster's DNS: kubeadm; k3s and
/// rke2; EKS, two; AKS; `MicroK8s`; `OpenShift`; kubespray.
pub(super) const USUAL_SERVICES: [IpAddr; 8] = [
    DEFAULT_CLUSTER_DNS,
    IpAddr::V4(Ipv4Addr::new(10, 43, 0, 10)),
    IpAddr::V4(Ipv4Addr::new(10, 100, 0, 10)),
    IpAddr::V4(Ipv4Addr::new(172, 20, 0, 10)),
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 10)),
    IpAddr::V4(Ipv4Addr::new(10, 152, 183, 10)),
    IpAddr::V4(Ipv4Addr::new(172, 30, 0, 10)),
    IpAddr::V4(Ipv4Addr::new(10, 233, 0, 3)),
];

/// Who gets a packet that the server `from` sends.
pub(super) fn deliver(graph: &Graph<'_>, from: usize, to: SocketAddr, when: When) -> Delivery {
    let Some(sender) = graph.servers.get(from) else {
        return Delivery::Outside;
    };
    let network = &sender.dns.network;
    let to = reached(to);
    let ip = to.ip();
    let own = graph.addresses(network);
    let is_service = graph.service(ip).is_some();
    // In IPVS mode the service's address is one of the node's own; kube-proxy
    // takes the packets before a socket with any address would. NodeLocal
    // DNSCache binds that very address, and writes its NOTRACK rules when it starts.
    if ip.is_loopback() || (own.contains(&ip) && !is_service) {
        return at(graph, network, to, when);
    }
    let node = graph.node;
    let is_taken = graph.is_sent_on && node.rules_unread.contains(&ip);
    let is_sent_on = when == When::Now && (is_taken || node.sent_on.contains(&ip));
    if let Some(server) = bound(graph, to, when).filter(|_| !is_sent_on) {
        return Delivery::Server(server);
    }
    if is_service {
        return Delivery::Service;
    }
    if graph.node.addresses.contains(&ip) {
        return at(graph, &Network::Node, to, when);
    }
    if let Some(pod) = graph.pod_at(ip) {
        let is_on_node = pod.host_network == Some(true);
        let network = if is_on_node {
            Network::Node
        } else {
            Network::Pod(pod.key())
        };
        return at(graph, &network, to, when);
    }
    if !graph.knows_service() && USUAL_SERVICES.contains(&ip) {
        let kubelet = graph.node.kubelet.as_ref();
        let is_set = kubelet.is_some_and(|it| !it.cluster_dns.value.is_empty());
        return Delivery::Unknown(Unknown::UsualService { ip, is_set });
    }
    let usual = owners::possible(ip)
        .next()
        .filter(|it| it.reach == Reach::Node);
    match usual {
        Some(owner) if !graph.node.sockets_known => {
            let who = owner.who;
            Delivery::Unknown(Unknown::UsualServer { ip, who })
        }
        _ => Delivery::Outside,
    }
}

/// The server on the node that has bound this very address.
pub(super) fn bound(graph: &Graph<'_>, to: SocketAddr, when: When) -> Option<usize> {
    let (ip, port) = (Some(to.ip()), to.port());
    listening(graph, &Network::Node, (ip, port), when)
}

/// The server of this network namespace that has bound the address, and not another one;
/// `None` is any address.
fn listening(
    graph: &Graph<'_>,
    network: &Network,
    (address, port): (Option<IpAddr>, u16),
    when: When,
) -> Option<usize> {
    let fits = |own: &Listen| own.address == address && own.port == port;
    let is_its = |index: &usize| {
        let server = graph.servers.get(*index);
        server.is_some_and(|it| {
            it.dns.listens.iter().any(fits) && !is_deaf(graph.node, it, (address, port), when)
        })
    };
    graph.here(network).iter().copied().find(is_its)
}

/// Whether the server runs in a pod on the node's network, and is seen not to listen at
/// this address, though its configuration has it.
fn is_deaf(
    node: &Node,
    server: &Server<'_>,
    (address, port): (Option<IpAddr>, u16),
    when: When,
) -> bool {
    let is_on_node = server.dns.network == Network::Node;
    let containers = server.pod.into_iter().flat_map(|it| &it.containers);
    let mut running = containers.filter(|it| it.pid.is_some() && is_dns_name(&it.name));
    let is_it =
        |it: &Listener| it.network == Network::Node && it.address == address && it.port == port;
    when == When::Now
        && address.is_some()
        && is_on_node
        && node.sockets_known
        && running.next().is_some()
        && !node.listeners.iter().any(is_it)
}

/// Who gets a packet to an address of this network namespace.
fn at(graph: &Graph<'_>, network: &Network, to: SocketAddr, when: When) -> Delivery {
    let here = graph.here(network);
    let listening = |address| listening(graph, network, (address, to.port()), when);
    // A socket with the very address beats one with any.
    if let Some(server) = listening(Some(to.ip())) {
        return Delivery::Server(server);
    }
    if let Some(process) = unknown_listener(graph, network, to, true) {
        return Delivery::Unknown(process);
    }
    if let Some(server) = listening(None) {
        return Delivery::Server(server);
    }
    if let Some(process) = unknown_listener(graph, network, to, false) {
        return Delivery::Unknown(process);
    }
    let silent = here.iter().filter_map(|&index| graph.servers.get(index));
    let mut silent = silent.filter(|it| it.dns.listens.is_empty());
    if let Some(server) = silent.next() {
        return Delivery::Unknown(Unknown::Listens(server.dns.name()));
    }
    if *network == Network::Node && !graph.node.sockets_known {
        return Delivery::Unknown(Unknown::Sockets(to));
    }
    Delivery::Nobody
}

/// A socket whose process has no configuration that was read.
fn unknown_listener(
    graph: &Graph<'_>,
    network: &Network,
    to: SocketAddr,
    is_exact: bool,
) -> Option<Unknown> {
    let fits = |it: &&Listener| {
        let address = match it.address {
            Some(own) => is_exact && own == to.ip(),
            None => !is_exact,
        };
        it.network == *network && it.port == to.port() && address
    };
    let listener = graph.node.listeners.iter().find(fits)?;
    // A server whose sockets are known by configuration only is that process.
    Some(Unknown::Listener {
        owner: listener.owner.clone(),
        file: listener.file.clone(),
        to,
    })
}
