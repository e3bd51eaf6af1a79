#![doc = include_str!("asks_ipv6.md")]

use super::asked;
use crate::config::envoy_bootstrap::{clusters, flag, get, resolver};
use crate::lint::rules::nginx::names::MAX_FINDINGS;
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    if !object.document.is_of_object() {
        return;
    }
    let found: Vec<_> = clusters(object.object)
        .filter(|it| matches!(it.family(), "AUTO" | "V6_ONLY") && asked(*it).next().is_some())
        .collect();
    if found.is_empty() {
        return;
    }
    let networks = context.networks(object.document.file);
    // Those of Services say nothing of the addresses that pods have.
    let Some(first) = networks.iter().find(|it| !it.value.is_of_services) else {
        return;
    };
    if networks.iter().any(|it| it.value.address.is_ipv6()) {
        return;
    }
    let usual = resolver(object.object);
    for cluster in found.iter().take(MAX_FINDINGS) {
        let used = cluster.resolver().or(usual);
        let is_only = cluster.family() == "V6_ONLY";
        // The C library asks for both at once; a family without a route can be left out.
        let is_otherwise = used.is_some_and(|it| {
            it.is_libc() || !it.is_c_ares() || flag(it.config, "filter_unroutable_families")
        });
        if is_otherwise && !is_only {
            continue;
        }
        let set = get(cluster.settings, "dns_lookup_family");
        let at = set.or_else(|| get(cluster.node, "name"));
        let (severity, what) = if is_only {
            (
                Severity::Warning,
                "Envoy asks for IPv6 addresses alone, which no pod with an address of this cluster can reach",
            )
        } else {
            (
                Severity::Info,
                "Envoy asks for an IPv6 address first, and takes it if there is one; no pod with an address of this cluster can reach it",
            )
        };
        report
            .add(object.at(at.unwrap_or(cluster.node)), what)
            .severity(severity)
            .also_each(first.at, "the cluster's networks are IPv4 only")
            .help("write `dns_lookup_family: V4_ONLY`");
    }
}
