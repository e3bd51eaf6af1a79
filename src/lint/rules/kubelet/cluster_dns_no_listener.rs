#![doc = include_str!("cluster_dns_no_listener.md")]

use std::net::IpAddr;

use crate::lint::rules::kubelet::common::{is_cache_address, place};
use crate::lint::rules::prelude::*;
use crate::node::Listener;
use crate::topology::Network;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(kubelet) = node.kubelet.as_ref().filter(|_| node.sockets_known) else {
        return;
    };
    // Cilium can send the queries to a pod before they reach an address.
    if has_cilium(node) {
        return;
    }
    for &address in &kubelet.cluster_dns.value {
        let is_served = node.listeners.iter().any(|it| is_at(it, address));
        if !is_cache_address(address) || is_served {
            continue;
        }
        let message = format!("clusterDNS is {address}, where nobody listens on this node");
        let note = if node.addresses.contains(&address) {
            "the node still has the address, so queries are refused, in every pod of this node, and only of this node; a cache that was killed leaves its interface behind"
        } else {
            "names time out in every pod of this node, and only of this node"
        };
        report
            .add(place(&kubelet.cluster_dns.origin), message)
            .help("start the node's DNS cache, or write the address of the Service kube-dns")
            .note(note);
    }
}

fn is_at(listener: &Listener, address: IpAddr) -> bool {
    listener.network == Network::Node && listener.address.is_none_or(|it| it == address)
}

fn has_cilium(node: &Node) -> bool {
    let is_its = |name: &str| name.starts_with("cilium");
    node.interfaces.iter().any(|(_, name)| is_its(name))
        || node
            .pods
            .iter()
            .any(|pod| pod.name.as_deref().is_some_and(is_its))
}
