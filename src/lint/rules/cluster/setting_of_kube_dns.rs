#![doc = include_str!("setting_of_kube_dns.md")]

use crate::lint::rules::prelude::*;

/// What kube-dns and NodeLocal DNSCache take from their ConfigMap.
///
/// Source: kubernetes/dns `pkg/dns/config/config.go`.
const KEYS: [&str; 3] = ["stubDomains", "upstreamNameservers", "federations"];

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    let is_ours = object.kind() == "ConfigMap" && object.word(&["metadata", "name"]) == "kube-dns";
    let data = object.get(&["data"]).and_then(|it| it.as_mapping());
    let Some(data) = data.filter(|_| is_ours) else {
        return;
    };
    let file = object.document.file;
    let corefiles = context.corefiles(file);
    let pods = context.dns_pods(file);
    let is_coredns = |it: &&crate::lint::facts::DnsPod| it.image.is_some();
    let Some(server) = corefiles.iter().find(|it| !it.cluster_zones.is_empty()) else {
        return;
    };
    // The cache on each node reads them, too.
    let has_cache = corefiles.iter().any(|it| it.cluster_zones.is_empty());
    if has_cache || !pods.iter().all(is_coredns) {
        return;
    }
    let key = |it: &&crate::config::yaml::Entry| {
        it.key
            .as_scalar()
            .is_some_and(|it| KEYS.contains(&it.text.as_str()))
    };
    for entry in data.iter().filter(key) {
        let name = entry.key.as_scalar().map_or("", |it| it.text.as_str());
        report
            .add(
                object.at(&entry.key),
                format!("CoreDNS does not read {name}: it is a setting of kube-dns"),
            )
            .also(server.at, "the cluster's DNS is CoreDNS")
            .help(match name {
                "stubDomains" => "write a server block for each domain into the Corefile: example.com:53 { forward . ADDRESS }",
                "upstreamNameservers" => "write the addresses behind forward . in the Corefile",
                _ => "remove it: federations are gone",
            });
    }
}
