#![doc = include_str!("scoped_nameserver.md")]

use std::net::IpAddr;

use crate::kubelet::Version;
use crate::lint::facts::Text;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, handed_out_count, point_to_setting};

/// Before it, the scope makes a Corefile's `forward` an error.
///
/// Source: coredns#3528.
const SCOPE_PARSED: Version = Version::release(1, 6, 7);

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role == Role::Node {
        return;
    }
    let is_scoped = |(address, text): (IpAddr, &Text)| {
        let is_link_local = matches!(address, IpAddr::V6(it) if it.is_unicast_link_local());
        is_link_local || address.is_ipv6() && text.text.contains('%')
    };
    let scoped = handed_out(file, context)
        .filter(|it| is_scoped(*it))
        .count();
    let is_old = |it: Version| it < SCOPE_PARSED;
    let stops_coredns = context.options().coredns_version.is_some_and(is_old);
    let is_only = scoped == handed_out_count(file, context);
    for (_, server) in handed_out(file, context).filter(|it| is_scoped(*it)) {
        let text = &server.text;
        let message = format!("{text} is an address on a link of the node, which pods do not have");
        let finding = report
            .add(server.at, message)
            .help("name the server by a global or unique local address");
        if stops_coredns {
            finding.note("this CoreDNS does not start with it; since 1.6.7 it starts and gets no answers from there");
        } else {
            finding.note(if is_only {
                "no query of CoreDNS or of a pod with the policy Default is answered"
            } else {
                "a part of CoreDNS's queries is not answered at the first attempt"
            });
        }
        if !is_only && !stops_coredns {
            finding.severity(Severity::Warning);
        }
        point_to_setting(finding, file);
    }
}
