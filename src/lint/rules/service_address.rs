//! A resolver of a daemon's own configuration whose address is written in.

use std::net::IpAddr;

use crate::lint::document::{At, FileId};
use crate::lint::rules::prelude::*;

/// Says of each address that it is the cluster's DNS Service, or one of its Services that is not.
pub(super) fn check(
    addresses: impl Iterator<Item = (At, IpAddr)>,
    near: FileId,
    help: &'static str,
    context: &Context<'_>,
    report: &mut Report,
) {
    let dns = context.cluster_dns(near);
    if dns.is_empty() {
        return;
    }
    let networks = context.networks(near);
    let services = || networks.iter().filter(|it| it.value.is_of_services);
    for (at, ip) in addresses {
        if let Some(known) = dns.iter().find(|it| it.value == ip) {
            report
                .add(
                    at,
                    format!("{ip} is the cluster's DNS Service, written in as an address"),
                )
                .also_each(known.at, "the cluster's DNS is set here")
                .help(help);
        } else if let Some(network) = services().find(|it| it.value.holds(ip)) {
            report
                .add(
                    at,
                    format!("{ip} lies in the network of Services, and is not the cluster's DNS"),
                )
                .severity(Severity::Warning)
                .also_each(network.at, "the network")
                .also_each(
                    dns.iter().find_map(|it| it.at),
                    "the cluster's DNS is set here",
                )
                .help(help);
        }
    }
}
