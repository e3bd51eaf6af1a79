#![doc = include_str!("dns_role_without_slices.md")]

use crate::config::yaml::Node;
use crate::kubelet::Version;
use crate::lint::rules::prelude::*;

/// Since this version CoreDNS watches slices where the cluster has them.
/// Source: `CoreDNS`, notes/coredns-1.8.1.md.
const SINCE: Version = Version::release(1, 8, 1);

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    let is_role =
        object.kind() == "ClusterRole" && object.word(&["metadata", "name"]) == "system:coredns";
    let Some(rules) = object.get(&["rules"]).filter(|_| is_role) else {
        return;
    };
    let version = context.coredns_version(object.document.file);
    if version.as_ref().is_some_and(|it| it.value < SINCE) {
        return;
    }
    let is_allowed = |verb: &str| {
        let rules = rules.as_sequence().unwrap_or_default();
        rules.iter().any(|rule| allows(rule, verb))
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

fn allows(rule: &Node, verb: &str) -> bool {
    let has = |key: &str, word: &str| {
        let words = rule.items(&[key]).iter();
        words
            .filter_map(Node::as_scalar)
            .any(|it| it.text == word || it.text == "*")
    };
    has("apiGroups", "discovery.k8s.io") && has("resources", "endpointslices") && has("verbs", verb)
}
