#![doc = include_str!("host_network_cluster_first.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::rewritten;

/// KP001.
pub static RULE: Rule = Rule {
    code: "KP001",
    name: "host-network-cluster-first",
    severity: Severity::Warning,
    summary: "on the host network the policy ClusterFirst gives the node's DNS",
    page: include_str!("host_network_cluster_first.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(host_network) = workload.host_network() else {
        return;
    };
    let policy = workload.policy();
    // Without a policy nobody asked for the cluster's DNS: most agents of a
    // node need none.
    let Some(policy) = policy.filter(|it| it.text == "ClusterFirst") else {
        return;
    };
    let message = format!(
        "{} has the node's network, where the policy ClusterFirst means Default",
        workload.label()
    );
    let node = workload.get("dnsPolicy");
    let change = node.and_then(|it| rewritten(workload, it, "ClusterFirstWithHostNet"));
    report
        .add(policy.at, message)
        .label("the cluster's DNS is not asked")
        .also(workload.at(host_network), "because of this")
        .help("write dnsPolicy: ClusterFirstWithHostNet, or dnsPolicy: Default if no Service is looked up")
        .note("names of Services do not resolve in it")
        .fix("write ClusterFirstWithHostNet", [change]);
}
