#![doc = include_str!("service_name_on_host_network.md")]

use crate::config::manifest::DnsPolicy;
use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::{list, policy, service_names};

/// KP015.
pub static RULE: Rule = Rule {
    code: "KP015",
    name: "service-name-on-host-network",
    severity: Severity::Warning,
    summary: "a pod on the host network calls a Service by its name and asks the node's servers",
    page: include_str!("service_name_on_host_network.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
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
    if let Some(policy) = workload.policy() {
        finding.also(policy.at, "on the host network this is the node's DNS");
    }
}
