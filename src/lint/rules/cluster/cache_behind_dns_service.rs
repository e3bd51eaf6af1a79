#![doc = include_str!("cache_behind_dns_service.md")]

use crate::config::yaml::Node;
use crate::lint::egress;
use crate::lint::facts::Service;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    let labels = ["spec", "template", "metadata", "labels", "k8s-app"];
    let is_cache = |it: &Node| {
        let image = it.word(&["image"]);
        image.is_some_and(|it| it.contains("k8s-dns-node-cache"))
    };
    let containers = object.get(&["spec", "template", "spec", "containers"]);
    let containers = containers.and_then(Node::as_sequence).unwrap_or_default();
    let is_labelled = object.word(&labels) == "kube-dns" && containers.iter().any(is_cache);
    let label = object.get(&labels).filter(|_| is_labelled);
    let (Some(label), Some(pods)) = (label, egress::pods(object.object)) else {
        return;
    };
    // A Service chooses pods of its own namespace.
    let namespace = pods.namespace.as_deref();
    let services = context.dns_services(object.document.file);
    let chooses = |it: &&Service| !it.pods.labels.is_empty() && it.pods.choose(&pods);
    let is_chosen = services.is_empty() || services.iter().any(chooses);
    if !is_chosen || namespace.is_some_and(|it| it != "kube-system") {
        return;
    }
    let finding = report.add(
        object.at(label),
        "by this label the Service kube-dns sends queries to the nodes' caches, too",
    );
    finding
        .help("write k8s-app: node-local-dns, here and in the selector; delete the DaemonSet first, as its selector cannot be changed")
        .note("a cache answers at the addresses behind its bind, and the Service sends to that of the pod; what it forwards to the Service can come back to it");
    if namespace.is_none() {
        finding
            .severity(Severity::Info)
            .note("in kube-system, where the Service is: the namespace is not written here");
    }
}
