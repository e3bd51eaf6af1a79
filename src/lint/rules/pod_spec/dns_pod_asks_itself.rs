#![doc = include_str!("dns_pod_asks_itself.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::facts::{Forward, Text};
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::{asks_cluster_dns, containers, field};

/// KP003.
pub static RULE: Rule = Rule {
    code: "KP003",
    name: "dns-pod-asks-itself",
    severity: Severity::Error,
    summary: "the pods of the cluster's DNS have the policy ClusterFirst",
    page: include_str!("dns_pod_asks_itself.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
    if !asks_cluster_dns(workload) || !is_cluster_dns(workload) {
        return;
    }
    let corefiles = context.corefiles(workload.document.file);
    let file = corefiles.iter().flat_map(|it| &it.forwards).find_map(file);
    // It forwards to servers that are written there.
    if file.is_none() && !corefiles.is_empty() {
        return;
    }
    let written = workload.policy();
    let at = written.as_ref().map_or(workload.place(), |it| it.at);
    let word = written.as_ref().map_or("", |it| it.text.as_str());
    let message = if word.is_empty() {
        format!(
            "without dnsPolicy {} asks the cluster's DNS, which it is itself",
            workload.label()
        )
    } else {
        format!(
            "with dnsPolicy: {word} {} asks the cluster's DNS, which it is itself",
            workload.label()
        )
    };
    let finding = report.add(at, message);
    finding
        .help("write dnsPolicy: Default")
        .note("its /etc/resolv.conf names the address of its own Service: what it forwards comes back to it, and CoreDNS ends with a FATAL message of its plugin loop");
    match file {
        Some(file) => finding.also(file.at, "queries are forwarded to the servers of that file"),
        None => finding.severity(Severity::Warning),
    };
}

/// Whether it has the label of the cluster's DNS, or of its cache on each
/// node, and a container that is a server.
fn is_cluster_dns(workload: &Workload<'_>) -> bool {
    let template = workload
        .object
        .get("spec")
        .and_then(|it| it.get("template"));
    let has_label = [Some(workload.object), template]
        .into_iter()
        .flatten()
        .any(|it| {
            let labels = it.get("metadata").and_then(|it| it.get("labels"));
            let app = labels.map(|it| field(it, "k8s-app")).unwrap_or_default();
            ["kube-dns", "node-local-dns", "nodelocaldns"].contains(&app)
        });
    has_label
        && containers(workload).any(|it| {
            let image = field(it, "image");
            let is_image = ["coredns", "k8s-dns-"]
                .iter()
                .any(|name| image.contains(name));
            is_image || ["coredns", "node-cache", "kubedns"].contains(&field(it, "name"))
        })
}

/// Where all names are forwarded to the servers of the pod's own file.
fn file(forward: &Forward) -> Option<&Text> {
    let is_file = |it: &&Text| it.text == "/etc/resolv.conf" || it.text == UPSTREAM_SERVERS;
    forward
        .to
        .iter()
        .find(is_file)
        .filter(|_| forward.from == ".")
}

/// What NodeLocal `DNSCache` puts `/etc/resolv.conf` for.
const UPSTREAM_SERVERS: &str = "__PILLAR__UPSTREAM__SERVERS__";
