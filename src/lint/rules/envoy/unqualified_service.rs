#![doc = include_str!("unqualified_service.md")]

use super::asked;
use crate::config::envoy_bootstrap::{Resolver, clusters, resolver};
use crate::lint::rules::nginx::names::{MAX_FINDINGS, lacks_domain};
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let usual = resolver(object.object);
    let lookups = clusters(object.object).filter_map(|it| {
        let resolver = it.resolver().or(usual)?;
        (resolver.is_c_ares() && resolver.has_no_search()).then_some((it, resolver))
    });
    let names = lookups.flat_map(|(cluster, it)| asked(cluster).map(move |name| (name, it)));
    let names = names.filter(|((_, name), _)| lacks_domain(name));
    for ((node, name), resolver) in names.take(MAX_FINDINGS) {
        let finding = report
            .add(
                object.at(node),
                format!("Envoy asks for {name} as it is: `no_default_search_domain` is set, and nothing puts the cluster's domain behind it"),
            )
            .help(format!("write the whole name: {name}.cluster.local, or with the cluster's own domain"));
        if has_own_servers(resolver) {
            finding.severity(Severity::Warning);
        }
    }
}

/// Whether it asks servers that are not those of the pod: they can have such a name.
fn has_own_servers(resolver: Resolver<'_>) -> bool {
    resolver.servers().next().is_some() && !resolver.is_fallback()
}
