#![doc = include_str!("unqualified_service.md")]

use crate::config::envoy_bootstrap::{Cluster, clusters, resolver};
use crate::lint::rules::nginx::names::{MAX_FINDINGS, lacks_domain};
use crate::lint::rules::prelude::*;

pub(super) fn check(object: &Object<'_>, _: &Context<'_>, report: &mut Report) {
    let usual = resolver(object.object);
    let lookups = clusters(object.object).filter(|it| {
        let resolver = it.resolver().or(usual);
        let asks_as_it_is = resolver.is_some_and(|it| it.is_c_ares() && it.has_no_search());
        it.is_by_name() && asks_as_it_is
    });
    let names = lookups.flat_map(Cluster::names);
    let names = names.filter_map(|it| Some((it, it.as_scalar()?.text.as_str())));
    for (node, name) in names.filter(|it| lacks_domain(it.1)).take(MAX_FINDINGS) {
        report
            .add(
                object.at(node),
                format!("Envoy asks for {name} as it is, and there is no such name: `no_default_search_domain` is set"),
            )
            .help(format!("write the whole name: {name}.cluster.local, or with the cluster's own domain"));
    }
}
