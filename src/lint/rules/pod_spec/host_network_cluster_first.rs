#![doc = include_str!("host_network_cluster_first.md")]

use crate::config::yaml::{Entry, Node};
use crate::lint::rules::prelude::*;
use crate::text::nearest::nearest;

use super::spec::{field, service_names, starts_first};

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(host_network) = workload.host_network() else {
        return;
    };
    let policy = match workload.policy() {
        // A part that a template fills in can have one, and so can what a patch is for.
        None if workload.document.is_partial || has_own_policy(workload) || is_patch(workload) => {
            return;
        }
        None => return without_policy(workload, host_network, "no dnsPolicy", report),
        Some(policy) if policy.text == "ClusterFirst" && is_filled_in(workload) => {
            return without_policy(workload, host_network, "the default dnsPolicy", report);
        }
        Some(policy) if policy.text == "ClusterFirst" => policy,
        Some(_) => return,
    };
    let message = format!(
        "{} has the node's network, where the policy ClusterFirst means Default",
        workload.label()
    );
    let finding = report.add(policy.at, message);
    finding
        .label("the cluster's DNS is not asked")
        .also(workload.at(host_network), "because of this")
        .note("names of Services do not resolve in it");
    // What brings up the network cannot ask the cluster's DNS.
    match starts_first(workload) {
        Some(first) => finding
            .severity(Severity::Info)
            .also(workload.at(first), "this starts before the cluster's DNS")
            .help("write dnsPolicy: Default, which says what happens"),
        None => finding.help("write dnsPolicy: ClusterFirstWithHostNet, or dnsPolicy: Default if no Service is looked up"),
    };
}

/// The kinds of objects that are used as they are, not put into another one.
const WITH_PODS: [&str; 9] = [
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
];

/// The policy that nobody wrote is `ClusterFirst`, too. Most parts of the
/// system on the host network look up no Service.
fn without_policy(workload: &Workload<'_>, host_network: &Node, what: &str, report: &mut Report) {
    // Where the name of one stands in it, another rule says so.
    if is_of_system(workload)
        || starts_first(workload).is_some()
        || !service_names(workload).is_empty()
    {
        return;
    }
    // Values can have a list of containers, too.
    let is_of_pods = WITH_PODS.contains(&field(workload.object, "kind"));
    let is_whole = workload.get("containers").is_some() && is_of_pods;
    let ending = if is_whole {
        ", and asks the node's servers"
    } else {
        ": if what it is put into has none either, it asks the node's servers"
    };
    let message = format!(
        "{} has the node's network and {what}{ending}",
        workload.label()
    );
    report
        .add(workload.at(host_network), message)
        .severity(Severity::Info)
        .help("write dnsPolicy: ClusterFirstWithHostNet if it looks up a Service, or dnsPolicy: Default, which says what happens")
        .note("names of Services do not resolve in it");
}

/// Whether values that a chart or a program reads have a key of its own like `dnsPolicy`.
fn has_own_policy(workload: &Workload<'_>) -> bool {
    let is_like = |it: &Entry| {
        let key = it.key.as_scalar().map_or("", |it| it.text.as_str());
        let plain = key.replace(['-', '_'], "").to_ascii_lowercase();
        plain.len() <= 16 && nearest(&plain, ["dnspolicy"]).is_some()
    };
    let entries = workload.spec.as_mapping().unwrap_or_default();
    workload.get("containers").is_none() && entries.iter().any(is_like)
}

/// Whether it is a patch: some of its containers have their image in the object that it is for.
fn is_patch(workload: &Workload<'_>) -> bool {
    let mut containers = workload.spec.items(&["containers"]).iter();
    containers.any(|it| it.get("image").is_none())
}

/// Whether the API server wrote it out, with its own defaults: nobody chose the policy.
///
/// Source: kubernetes `pkg/apis/core/v1/defaults.go`: `SetDefaults_PodSpec`, `SetDefaults_Container`.
fn is_filled_in(workload: &Workload<'_>) -> bool {
    let containers = workload.spec.items(&["containers"]);
    let has_path = |it: &Node| it.get("terminationMessagePath").is_some();
    workload.get("schedulerName").is_some() && containers.iter().all(has_path)
}

/// Whether it is a part of the cluster's own, by its namespace or priority.
fn is_of_system(workload: &Workload<'_>) -> bool {
    let metadata = workload.object.get("metadata");
    let namespace = metadata.map_or("", |it| field(it, "namespace"));
    let is_systems = namespace.starts_with("kube-")
        || namespace.starts_with("openshift-")
        || namespace.strip_suffix("-system").is_some();
    is_systems || field(workload.spec, "priorityClassName").starts_with("system-")
}
