#![doc = include_str!("resolver_service_address.md")]

use std::net::IpAddr;

use crate::lint::rules::nginx::names::{MAX_FINDINGS, resolvers};
use crate::lint::rules::prelude::*;
use crate::lint::rules::service_address;

const HELP: &str = "write kube-dns.kube-system.svc and the cluster's domain, which nginx looks up when it starts, or $NGINX_LOCAL_RESOLVERS of the official image";

pub(super) fn check(file: &DaemonText<'_>, context: &Context<'_>, report: &mut Report) {
    if !file.document.is_embedded() {
        return;
    }
    let words = resolvers(file).take(MAX_FINDINGS);
    let addresses = words.filter_map(|(span, word)| Some((file.at(span), address(word)?)));
    service_address::check(addresses, file.document.file, HELP, context, report);
}

/// The address of `10.96.0.10`, `10.96.0.10:53`, `[fd00::a]:53`.
fn address(word: &str) -> Option<IpAddr> {
    let host = match word.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => word.split(':').next()?,
    };
    host.parse().ok()
}
