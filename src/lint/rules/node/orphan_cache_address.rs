#![doc = include_str!("orphan_cache_address.md")]

use std::net::IpAddr;

use crate::lint::rules::prelude::*;
use crate::text::Place;
use crate::topology::Network;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    if !node.sockets_known {
        return;
    }
    let dns = look::cluster_dns(node);
    // Of those that the kubelet writes into the pods' files, KK014 says it.
    let is_left = |it: &IpAddr| {
        let is_usual = USUAL.iter().any(|usual| *it == IpAddr::from(*usual));
        is_usual && !dns.contains(it)
    };
    for address in node.addresses.iter().copied().filter(is_left) {
        let mut listeners = look::listeners(node, &Network::Node, address);
        if listeners.next().is_some() {
            continue;
        }
        report
            .add(
                Place::nowhere("/proc/net/fib_trie"),
                format!(
                    "the node has {address}, an address of NodeLocal DNSCache, and nobody listens there"
                ),
            )
            .help(format!(
                "start the pod of the cache on this node again; if there is to be none, ip address show \
                 to {address} names its link: ip link delete nodelocaldns, or of another link ip \
                 address delete"
            ))
            .note("the cache was ended without cleaning up: queries to this address, and to that of the Service if the interface has it, are not answered on this node");
    }
}

/// The addresses that the manifests of Kubernetes and of kubespray give it.
///
/// Source: kubernetes `cluster/addons/dns/nodelocaldns`; kubespray `nodelocaldns_ip`.
const USUAL: [[u8; 4]; 2] = [[169, 254, 20, 10], [169, 254, 25, 10]];
