#![doc = include_str!("service_name_on_host_network.md")]

use crate::config::manifest::DnsPolicy;
use crate::lint::rules::prelude::*;

use super::spec::{list, policy, service_names};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(host_network) = workload.host_network() else {
        return;
    };
    let is_host = matches!(
        policy(workload),
        Some(DnsPolicy::ClusterFirst | DnsPolicy::Default)
    );
    // With servers of its own it can know the names.
    if !is_host || !list(workload, "nameservers").is_empty() {
        return;
    }
    let Some((name, text)) = service_names(workload).into_iter().next() else {
        return;
    };
    let finding = report.add(
        text.at,
        format!(
            "{} has the node's network and the node's DNS, which does not know {name}",
            workload.label()
        ),
    );
    finding
        .also(workload.at(host_network), "because of this")
        .help("write dnsPolicy: ClusterFirstWithHostNet")
        .note("the name is not found, unless the servers of the node know the cluster's zone");
    finding.also_each(
        workload.policy().map(|it| it.at),
        "on the host network this is the node's DNS",
    );
}
