#![doc = include_str!("cache_behind_dns_service.md")]

use crate::config::yaml::Node;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let labels = ["spec", "template", "metadata", "labels", "k8s-app"];
    let is_cache = |it: &Node| {
        let image = it.word(&["image"]);
        image.is_some_and(|it| it.contains("k8s-dns-node-cache"))
    };
    let containers = object.get(&["spec", "template", "spec", "containers"]);
    let containers = containers.and_then(Node::as_sequence).unwrap_or_default();
    let is_chosen = object.word(&labels) == "kube-dns" && containers.iter().any(is_cache);
    let Some(label) = object.get(&labels).filter(|_| is_chosen) else {
        return;
    };
    report
        .add(
            object.at(label),
            "by this label the Service kube-dns sends queries to the nodes' caches, too",
        )
        .help("write k8s-app: node-local-dns, here and in the selector")
        .note("a cache answers at the addresses behind its bind, and the Service sends to that of the pod; what it forwards to the Service can come back to it");
}
