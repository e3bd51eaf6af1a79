#![doc = include_str!("cache_connections_tracked.md")]

use std::net::IpAddr;

use crate::lint::rules::prelude::*;
use crate::node::kernel::Flow;
use crate::topology::Network;

use super::look;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    // Told to leave iptables alone, it is set up in another way.
    let is_told =
        |it: &String| it.trim_start_matches('-').replace(' ', "") == "setupiptables=false";
    let processes = node.pods.iter().flat_map(|it| &it.processes);
    if processes.flat_map(|it| &it.arguments).any(is_told) {
        return;
    }
    let is_cache = |it: IpAddr| {
        let is_link_local = matches!(it, IpAddr::V4(it) if it.is_link_local());
        is_link_local && look::cluster_dns(node).contains(&it) && node.addresses.contains(&it)
    };
    let flows: Vec<&Flow> = node
        .kernel
        .flows
        .iter()
        .filter(|it| is_cache(it.server))
        .collect();
    let Some(first) = flows.first().filter(|_| flows.len() >= ENOUGH) else {
        return;
    };
    if look::listeners(node, &Network::Node, first.server)
        .next()
        .is_none()
    {
        return;
    }
    let finding = report.add(first.place.clone(), format!("{} to {} are in the table, which the rules of NodeLocal DNSCache should keep them out of", counted(flows.len(), "connection", "connections"), first.server));
    finding
        .help("restart the cache's pod, which writes its NOTRACK rules again, and look for who deletes them")
        .note("queries are lost in races for connections, which the cache is there to prevent");
    finding.also_each(look::cluster_dns_place(node), "pods ask this address");
}

/// With fewer they can be older than the rules.
const ENOUGH: usize = 5;
