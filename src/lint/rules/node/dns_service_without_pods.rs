#![doc = include_str!("dns_service_without_pods.md")]

use super::look;
use crate::lint::rules::prelude::*;

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let dns = look::cluster_dns(node);
    let services = node.kernel.services.iter().flatten();
    for service in services.filter(|it| it.is_udp && dns.contains(&it.address.ip())) {
        if service.servers.iter().any(|it| it.1 > 0) {
            continue;
        }
        let message = format!(
            "behind {}, the cluster's DNS, IPVS has no server that takes queries",
            service.address.ip()
        );
        let finding = report.add(service.place.clone(), message);
        finding
            .help(
                "see why no DNS pod is ready: kubectl -n kube-system get pods -l k8s-app=kube-dns",
            )
            .note("every lookup of every pod on this node fails");
        if !service.servers.is_empty() {
            finding.note("its servers have weight 0: they are about to end");
        }
        finding.also_each(look::cluster_dns_place(node), "pods ask this address");
    }
}
