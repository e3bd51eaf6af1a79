#![doc = include_str!("dns_role_without_slices.md")]

use crate::config::yaml::Node;
use crate::kubelet::Version;
use crate::lint::rules::prelude::*;

/// Since this version CoreDNS watches slices where the cluster has them.
/// Source: `CoreDNS`, notes/coredns-1.8.1.md.
const SINCE: Version = Version::release(1, 8, 1);

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    let Some(rules) = object
        .get(&["rules"])
        .filter(|it| is_of_coredns(object, it))
    else {
        return;
    };
    let file = object.document.file;
    let version = context.coredns_version(file);
    let is_older = match &version {
        Some(version) => version.value < SINCE,
        None => context.older_coredns(file, SINCE).is_some(),
    };
    if is_older {
        return;
    }
    let is_allowed = |verb: &str| {
        let rules = rules.as_sequence().unwrap_or_default();
        rules
            .iter()
            .any(|it| allows(it, "discovery.k8s.io", "endpointslices", verb))
    };
    let missing: Vec<&str> = ["list", "watch"]
        .into_iter()
        .filter(|verb| !is_allowed(verb))
        .collect();
    if missing.is_empty() {
        return;
    }
    let finding = report.add(
        object.at(rules),
        format!(
            "CoreDNS may not {} endpointslices: it waits for the API, and is never ready",
            missing.join(" and ")
        ),
    );
    finding
        .help("add {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}")
        .also_each(version.as_ref().and_then(|it| it.at), "the version");
    if version.is_none() {
        finding
            .severity(Severity::Info)
            .note("CoreDNS before 1.8.1 asks for endpoints only");
    }
}

/// Whether it is the role of a CoreDNS with the plugin `kubernetes`: by the name that
/// kubeadm gives it, or by its own name or label and what such a one has asked for ever
/// since. Roles of other plugins, as `k8s_gateway`, have neither.
fn is_of_coredns(object: &Object<'_>, rules: &Node) -> bool {
    let name = object.word(&["metadata", "name"]);
    let label = object.word(&["metadata", "labels", "k8s-app"]);
    let is_named = name.ends_with("coredns") || matches!(label, "coredns" | "kube-dns");
    let watches = |resource: &str| {
        let rules = rules.as_sequence().unwrap_or_default();
        rules.iter().any(|it| allows(it, "", resource, "watch"))
    };
    object.kind() == "ClusterRole"
        && (name == "system:coredns"
            || is_named
                && ["endpoints", "services", "pods", "namespaces"]
                    .into_iter()
                    .all(watches))
}

fn allows(rule: &Node, group: &str, resource: &str, verb: &str) -> bool {
    let has = |key: &str, word: &str| {
        let words = rule.items(&[key]).iter();
        words
            .filter_map(Node::as_scalar)
            .any(|it| it.text == word || it.text == "*")
    };
    has("apiGroups", group) && has("resources", resource) && has("verbs", verb)
}
