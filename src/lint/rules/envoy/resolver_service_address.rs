#![doc = include_str!("resolver_service_address.md")]

use crate::config::envoy_bootstrap::{Cluster, Resolver, clusters, get, resolver};
use crate::lint::rules::nginx::names::MAX_FINDINGS;
use crate::lint::rules::prelude::*;
use crate::lint::rules::service_address;

const HELP: &str = "leave the servers out: Envoy then takes those of resolv.conf, which on the node's network needs dnsPolicy: ClusterFirstWithHostNet";

pub(super) fn check(object: &Object<'_>, context: &Context<'_>, report: &mut Report) {
    if !object.document.is_of_object() {
        return;
    }
    let of_clusters = clusters(object.object).filter(|it| it.is_by_name());
    let of_clusters = of_clusters.filter_map(Cluster::resolver);
    let resolvers = resolver(object.object).into_iter().chain(of_clusters);
    let servers = resolvers
        .filter(|it| it.is_c_ares() && !it.is_fallback())
        .flat_map(Resolver::servers);
    let addresses = servers.filter_map(|it| {
        let node = get(it, "address")?;
        Some((object.at(node), node.as_scalar()?.text.parse().ok()?))
    });
    let near = object.document.file;
    let addresses: Vec<_> = addresses.take(MAX_FINDINGS).collect();
    if !addresses.is_empty() {
        service_address::check(addresses.into_iter(), near, HELP, context, report);
    }
}
