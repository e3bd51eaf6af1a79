//! What several rules ask of a node.

use std::net::IpAddr;

use crate::address::Address;
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::Origin;
use crate::loopback::name_servers;
use crate::node::{HostFile, Listener, Node, Pod};
use crate::text::{Place, some_of};
use crate::topology::Network;

/// The content of the file that the kubelet hands out.
pub(in crate::lint::rules) fn kubelet_file(node: &Node) -> Option<&ResolvConf> {
    let kubelet = node.kubelet.as_ref()?;
    let is_known = !matches!(kubelet.resolv_conf.origin, Origin::Unread(_));
    let is_named = !kubelet.resolv_conf.value.is_empty();
    content(node.kubelet_file.as_ref().filter(|_| is_known && is_named))
}

/// The content of a file that could be read.
pub(in crate::lint::rules) fn content(file: Option<&HostFile>) -> Option<&ResolvConf> {
    file?.content.as_ref().ok()
}

/// The name servers of a file with their places. A stranger's file can have thousands,
/// and each place takes a look at all before it: the addresses alone are cheap.
pub(in crate::lint::rules) fn servers(conf: &ResolvConf) -> impl Iterator<Item = (IpAddr, Place)> {
    name_servers(conf).map(|(ip, span)| (ip, conf.source.place_of(span.start)))
}

/// Whether packets for the address reach whoever sends them.
pub(in crate::lint::rules) fn is_own(address: IpAddr) -> bool {
    Address::from(address).reached().is_loopback()
}

/// The sockets that take queries in UDP to an address of a network namespace.
pub(in crate::lint::rules) fn listeners<'n>(
    node: &'n Node,
    network: &Network,
    address: IpAddr,
) -> impl Iterator<Item = &'n Listener> {
    node.listeners.iter().filter(move |it| {
        let is_there = it.address.is_none_or(|it| it == address);
        it.network == *network && it.is_udp && is_there
    })
}

/// The addresses of the cluster's DNS as the kubelet has them; empty if they
/// are not known.
pub(in crate::lint::rules) fn cluster_dns(node: &Node) -> &[IpAddr] {
    let setting = node.kubelet.as_ref().map(|it| &it.cluster_dns);
    let known = setting.filter(|it| !matches!(it.origin, Origin::Unread(_)));
    known.map_or(&[], |it| it.value.as_slice())
}

/// Where the addresses of the cluster's DNS are set, if in a file.
pub(in crate::lint::rules) fn cluster_dns_place(node: &Node) -> Option<Place> {
    node.kubelet.as_ref()?.cluster_dns.origin.place().cloned()
}

/// Where the kubelet's file is named, if in a file.
pub(in crate::lint::rules) fn resolv_conf_place(node: &Node) -> Option<Place> {
    node.kubelet.as_ref()?.resolv_conf.origin.place().cloned()
}

/// Whether the address belongs to a Service that IPVS serves on the node.
pub(in crate::lint::rules) fn is_service(node: &Node, address: IpAddr) -> bool {
    let services = node.kernel.services.iter().flatten();
    let mut services = services.map(|it| it.address.ip());
    services.any(|it| it == address)
}

/// The names of the first pods, and how many more there are.
pub(in crate::lint::rules) fn named(pods: &[&Pod]) -> String {
    const MAX_NAMED: usize = 3;
    some_of(pods.iter().map(|it| it.label()), MAX_NAMED)
}

/// Whether it is an address of the link, where caches of nodes listen, and
/// none at which clouds have their own servers.
pub(in crate::lint::rules) fn is_cache_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let is_of_cloud = matches!(it.octets(), [169, 254, 169, 253 | 254]);
            it.is_link_local() && !is_of_cloud
        }
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}

/// Whether it is such an address, and nobody listens there on the node.
pub(in crate::lint::rules) fn is_deaf_cache(node: &Node, address: IpAddr) -> bool {
    // Cilium can send the queries to a pod before they reach an address.
    let is_its = |name: &str| name.starts_with("cilium");
    let names = node.pods.iter().filter_map(|it| it.name.as_deref());
    let mut names = names.chain(node.interfaces.iter().map(|it| it.1.as_str()));
    let is_at =
        |it: &Listener| it.network == Network::Node && it.address.is_none_or(|it| it == address);
    is_cache_address(address)
        && node.sockets_known
        && !names.any(is_its)
        && !node.listeners.iter().any(is_at)
}
