#![doc = include_str!("nameserver_not_ip.md")]

use std::net::IpAddr;

use crate::address::inet_aton;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    let is_pods = file.role != Role::Node;
    for server in &file.read.servers {
        let text = server.text.as_str();
        if server.server().is_some() || has_placeholder(text) {
            continue;
        }
        if let Some(read) = inet_aton(text.as_bytes()) {
            report
                .add(
                    server.at,
                    format!("{text} is {read} to C libraries and no address to Go"),
                )
                .severity(Severity::Warning)
                .help("write four decimal numbers, without zeros before them")
                .note("CoreDNS and other programs in Go get no answers from it");
            continue;
        }
        let finding = report
            .add(server.at, format!("{text} is no IP address"))
            .help(help(text))
            .note(if is_pods {
                "the kubelet hands it to pods unchecked, and their resolvers pass it over"
            } else {
                "resolvers pass the line over"
            });
        if !is_pods {
            finding.severity(Severity::Warning);
        }
        point_to_setting(finding, file);
    }
}

/// Whether an address stands before the mark.
fn has_address_before(mark: char, text: &str) -> bool {
    let (address, _) = text.split_once(mark).unwrap_or_default();
    address.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
}

fn help(text: &str) -> &'static str {
    if has_address_before('#', text) || has_address_before(';', text) {
        "write the address alone: a port has no place here, and a comment needs a line of its own"
    } else if has_address_before(':', text) || text.starts_with('[') {
        "write the address alone: resolv.conf has no place for a port"
    } else if text.contains(',') {
        "write one address on each nameserver line"
    } else {
        "write the IP address of the server"
    }
}
