#![doc = include_str!("node_cache_ipvs_bind.md")]

use std::net::IpAddr;

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let Some(mode) = context
        .ipvs(file.document.file)
        .filter(|_| blocks::is_node_cache(blocks))
    else {
        return;
    };
    let services = context.cluster_dns(file.document.file);
    let mut seen = Vec::new();
    for word in blocks.iter().flat_map(blocks::binds) {
        let Ok(address) = word.text.parse::<IpAddr>() else {
            continue;
        };
        let service = blocks::service(&services, address).filter(|_| !seen.contains(&address));
        let (Some(service), Some(at)) = (service, file.at(word.at)) else {
            continue;
        };
        seen.push(address);
        report
            .add(at, format!("{address} is the Service's address, which kube-proxy in IPVS mode has on kube-ipvs0"))
            .also(mode, "kube-proxy's mode")
            .help("bind the link-local address alone, and write it for clusterDNS in the kubelet's configuration")
            .note("the node's cache does not start, or queries to the Service pass it by")
            .also_each(service.at, "the Service's address");
    }
}
