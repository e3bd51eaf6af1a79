#![doc = include_str!("cluster_dns_no_listener.md")]

use crate::lint::rules::kubelet::common::place;
use crate::lint::rules::node::look::is_deaf_cache;
use crate::lint::rules::prelude::*;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let Some(kubelet) = &node.kubelet else {
        return;
    };
    let addresses = kubelet.cluster_dns.value.iter();
    for &address in addresses.filter(|it| is_deaf_cache(node, **it)) {
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
