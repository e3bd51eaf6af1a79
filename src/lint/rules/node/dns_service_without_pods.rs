#![doc = include_str!("dns_service_without_pods.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::{Check, Rule};
use crate::node::Node;

use super::look;

/// KN005.
pub static RULE: Rule = Rule {
    code: "KN005",
    name: "dns-service-without-pods",
    severity: Severity::Error,
    summary: "IPVS has no server behind the address of the cluster's DNS",
    page: include_str!("dns_service_without_pods.md"),
    check: Check::Node(check),
};

fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
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
        if let Some(place) = look::cluster_dns_place(node) {
            finding.also(place, "pods ask this address");
        }
    }
}
