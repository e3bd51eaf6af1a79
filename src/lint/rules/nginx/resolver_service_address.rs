#![doc = include_str!("resolver_service_address.md")]

use std::net::IpAddr;

use crate::lint::rules::nginx::names::{MAX_FINDINGS, resolvers};
use crate::lint::rules::prelude::*;

const HELP: &str = "write kube-dns.kube-system.svc and the cluster's domain, which nginx looks up when it starts, or $NGINX_LOCAL_RESOLVERS of the official image";

pub(super) fn check(file: &DaemonText<'_>, context: &Context<'_>, report: &mut Report) {
    if !file.is_embedded() {
        return;
    }
    let near = file.document.file;
    let dns = context.cluster_dns(near);
    if dns.is_empty() {
        return;
    }
    let networks = context.networks(near);
    let services = || networks.iter().filter(|it| it.value.is_of_services);
    for (span, word) in resolvers(file).take(MAX_FINDINGS) {
        let Some(ip) = address(word) else {
            continue;
        };
        if let Some(known) = dns.iter().find(|it| it.value == ip) {
            report
                .add(
                    file.at(span),
                    format!("{ip} is the cluster's DNS Service, written in as an address"),
                )
                .also_each(known.at, "the cluster's DNS is set here")
                .help(HELP);
        } else if let Some(network) = services().find(|it| it.value.holds(ip)) {
            report
                .add(
                    file.at(span),
                    format!("{ip} lies in the network of Services, and is not the cluster's DNS"),
                )
                .severity(Severity::Warning)
                .also_each(network.at, "the network")
                .also_each(
                    dns.iter().find_map(|it| it.at),
                    "the cluster's DNS is set here",
                )
                .help(HELP);
        }
    }
}

/// The address of `10.96.0.10`, `10.96.0.10:53`, `[fd00::a]:53`.
fn address(word: &str) -> Option<IpAddr> {
    let host = match word.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => word.split(':').next()?,
    };
    host.parse().ok()
}
