#![doc = include_str!("none_without_searches.md")]

use super::spec::list;
use crate::kubelet::address::parse_address;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    let is_none = workload.policy().is_some_and(|it| it.text == "None");
    if !is_none || !list(workload, "searches").is_empty() {
        return;
    }
    let known = context.cluster_dns(workload.document.file);
    let is_clusters =
        |text: &str| parse_address(text).is_some_and(|it| known.iter().any(|own| own.value == it));
    let servers = workload.dns_config("nameservers");
    let Some(server) = servers.iter().find(|it| is_clusters(&it.text)) else {
        return;
    };
    let domain = context.cluster_domain(workload.document.file);
    let domain = domain.map_or_else(|| "cluster.local".to_owned(), |it| it.value);
    report
        .add(server.at, format!("{} is asked without a search list: short names of Services are not found", server.text))
        .help(format!("write searches: [NAMESPACE.svc.{domain}, svc.{domain}, {domain}] and the option ndots with value \"5\""))
        .note("with dnsPolicy: None the pod gets only what dnsConfig has; names with the cluster's domain are found");
}
