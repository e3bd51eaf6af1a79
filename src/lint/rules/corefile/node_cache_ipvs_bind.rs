#![doc = include_str!("node_cache_ipvs_bind.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use std::net::IpAddr;

use crate::lint::rules::corefile::blocks;

/// KC016.
pub static RULE: Rule = Rule {
    code: "KC016",
    name: "node-cache-ipvs-bind",
    severity: Severity::Error,
    summary: "the node's cache binds the Service's address, which IPVS has",
    page: include_str!("node_cache_ipvs_bind.md"),
    check: Check::Corefile(check),
};

fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
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
        let service = services.iter().find(|it| it.value == address);
        let is_service = service.is_some() && !blocks::is_link_local(&address);
        if !is_service || seen.contains(&address) {
            continue;
        }
        let Some(at) = file.at(word.at) else {
            continue;
        };
        seen.push(address);
        let finding = report
            .add(at, format!("{address} is the Service's address, which kube-proxy in IPVS mode has on kube-ipvs0"))
            .also(mode, "kube-proxy's mode")
            .help("bind the link-local address alone, and write it for clusterDNS in the kubelet's configuration")
            .note("the node's cache does not start, or queries to the Service pass it by");
        if let Some(at) = service.and_then(|it| it.at) {
            finding.also(at, "the Service's address");
        }
    }
}
