#![doc = include_str!("nameserver_cut_off.md")]

use super::spec::{self, is_public};
use crate::config::manifest::MAX_NAMESERVERS;
use crate::kubelet::address::parse_address;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let servers = workload.dns_config("nameservers");
    // The API server refuses more.
    if servers.len() > MAX_NAMESERVERS || !spec::asks_cluster_dns(workload) {
        return;
    }
    let known = context.cluster_dns(workload.document.file);
    // One of them can be that of the cluster, which counts once.
    let is_surely_other = |text: &str| parse_address(text).is_some_and(is_public);
    if known.is_empty() && !servers.iter().all(|it| is_surely_other(&it.text)) {
        return;
    }
    let Some(file) = spec::pod_file(workload, context) else {
        return;
    };
    let dropped = file.dropped.iter().filter(|it| it.limit.is_of_servers());
    for word in dropped {
        let is_it = |it: &&crate::lint::facts::Text| it.text.as_bytes() == word.word.text;
        let Some(server) = servers.iter().find(is_it) else {
            continue;
        };
        let message = format!(
            "{} is cut off: with those of the cluster it is the fourth name server or later",
            server.text
        );
        let finding = report.add(server.at, message);
        finding
            .help(format!("remove it, or write at most {} in nameservers", MAX_NAMESERVERS.saturating_sub(known.len().max(1))))
            .note("the kubelet writes the servers of the cluster first and three altogether, and records the event DNSConfigForming at every sync");
        for at in known.iter().filter_map(|it| it.at) {
            finding.also(at, "this one comes first");
        }
    }
}
