#![doc = include_str!("dns_pod_asks_itself.md")]

use crate::lint::facts::{Forward, Text};
use crate::lint::rules::is_own_file;
use crate::lint::rules::prelude::*;

use super::spec::{asks_cluster_dns, containers, field};

pub(super) fn check(workload: &Workload<'_>, context: &Context<'_>, report: &mut Report) {
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
    // What a template does not say it can become.
    if written.is_none() && workload.document.is_partial {
        return;
    }
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
    let template = workload.object.at(&["spec", "template"]);
    let has_label = [Some(workload.object), template]
        .into_iter()
        .flatten()
        .any(|it| {
            let app = it.word(&["metadata", "labels", "k8s-app"]);
            app.is_some_and(|it| ["kube-dns", "node-local-dns", "nodelocaldns"].contains(&it))
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
    let mut targets = forward.to.iter().filter(|_| forward.from == ".");
    targets.find(|it| is_own_file(&it.text))
}
