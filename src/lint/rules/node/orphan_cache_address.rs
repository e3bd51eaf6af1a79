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
    let is_link_local = |it: IpAddr| matches!(it, IpAddr::V4(it) if it.is_link_local());
    for address in node
        .addresses
        .iter()
        .copied()
        .filter(|it| is_link_local(*it))
    {
        let is_asked = dns.contains(&address);
        let is_known = is_asked || USUAL.iter().any(|it| address == IpAddr::from(*it));
        if !is_known
            || look::listeners(node, &Network::Node, address)
                .next()
                .is_some()
        {
            continue;
        }
        let place = look::cluster_dns_place(node).filter(|_| is_asked);
        let place = place.unwrap_or_else(|| Place::nowhere("/proc/net/fib_trie"));
        let finding = report.add(
            place,
            format!(
                "the node has {address}, an address of NodeLocal DNSCache, and nobody listens there"
            ),
        );
        finding.help("start the pod of the cache on this node again; if there is to be none, ip link delete nodelocaldns");
        if is_asked {
            finding.note("the kubelet writes this address into the pods' files: no lookup on this node is answered");
        } else {
            finding
                .severity(Severity::Warning)
                .note("the cache was ended without cleaning up: queries to this address, and to that of the Service if the interface has it, are not answered on this node");
        }
    }
}

/// The addresses that the manifests of Kubernetes and of kubespray give it.
///
/// Source: kubernetes `cluster/addons/dns/nodelocaldns`; kubespray `nodelocaldns_ip`.
const USUAL: [[u8; 4]; 2] = [[169, 254, 20, 10], [169, 254, 25, 10]];
