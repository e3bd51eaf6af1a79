#![doc = include_str!("nameserver_of_other_family.md")]

use std::net::IpAddr;

use crate::address::is_link_local;
use crate::lint::rules::node::look::is_own;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, handed_out_count, point_to_setting};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let networks = &context.options().pod_cidr;
    if file.role != Role::Kubelet || networks.is_empty() {
        return;
    }
    let has = |of: fn(&IpAddr) -> bool| networks.iter().any(|(address, _)| of(address));
    let (v4, v6) = (has(IpAddr::is_ipv4), has(IpAddr::is_ipv6));
    let is_other = |address: IpAddr| {
        let is_v4 = address.to_canonical().is_ipv4();
        !is_own(address) && !is_link_local(address) && if is_v4 { !v4 } else { !v6 }
    };
    let others = handed_out(file, context)
        .filter(|(it, _)| is_other(*it))
        .count();
    let is_only = others == handed_out_count(file, context);
    for (address, server) in handed_out(file, context).filter(|(it, _)| is_other(*it)) {
        let (family, other) = if address.to_canonical().is_ipv4() {
            ("IPv4", "IPv6")
        } else {
            ("IPv6", "IPv4")
        };
        let message = format!("{address} is an {family} address, and pods have none of these");
        let finding = report.add(server.at, message).help(format!(
            "name servers with {other} addresses in the file that the kubelet hands out"
        ));
        if v4 {
            finding.note("CoreDNS fails with: network is unreachable");
            if is_only {
                finding.severity(Severity::Error);
            }
        } else {
            // Some networks translate for pods.
            finding
                .severity(Severity::Info)
                .note("CoreDNS fails with: network is unreachable, unless the network plugin gives pods a way to IPv4");
        }
        point_to_setting(finding, file);
    }
}
