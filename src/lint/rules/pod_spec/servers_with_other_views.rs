#![doc = include_str!("servers_with_other_views.md")]

use super::spec::{self, is_public};
use crate::kubelet::address::parse_address;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let servers = workload.dns_config("nameservers");
    let known = context.cluster_dns(workload.document.file);
    let is_known =
        |text: &str| parse_address(text).is_some_and(|it| known.iter().any(|own| own.value == it));
    let listed = servers.iter().find(|it| is_known(&it.text));
    let has_clusters = spec::asks_cluster_dns(workload) || listed.is_some();
    let is_outside = |text: &str| parse_address(text).is_some_and(is_public) && !is_known(text);
    let Some(outside) = servers.iter().find(|it| is_outside(&it.text)) else {
        return;
    };
    if !has_clusters {
        return;
    }
    let message = format!(
        "{} does not know the names of the cluster, and is asked beside its DNS",
        outside.text
    );
    let finding = report.add(outside.at, message);
    finding
        .help("write one kind of servers: those of the cluster, which can forward a zone to this one, or dnsPolicy: None without them")
        .note("musl asks all servers at once and takes the first answer: names of Services are not found now and then; glibc asks this one after a time-out, and then does not find them");
    finding.also_each(listed.map(|it| it.at), "the cluster's DNS");
}
