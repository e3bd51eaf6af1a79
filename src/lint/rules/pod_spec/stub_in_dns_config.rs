#![doc = include_str!("stub_in_dns_config.md")]

use std::net::{IpAddr, Ipv4Addr};

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::Workload;
use crate::lint::{Check, Rule};

use super::spec::address;

/// KP028.
pub static RULE: Rule = Rule {
    code: "KP028",
    name: "stub-in-dns-config",
    severity: Severity::Error,
    summary: "dnsConfig names a stub of the node, which in the pod is the pod itself",
    page: include_str!("stub_in_dns_config.md"),
    check: Check::Workload(check),
};

fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    if workload.host_network().is_some() {
        return;
    }
    for server in workload.dns_config("nameservers") {
        let found = address(&server.text);
        let Some((address, who)) = STUBS.iter().find(|it| found == Some(IpAddr::V4(it.0))) else {
            continue;
        };
        report
            .add(
                server.at,
                format!("{address} is {who} outside of the pod; in the pod it is the pod itself"),
            )
            .help("write the address of a server that pods reach")
            .note("nobody listens there: lookups are refused, or wait for the next server");
    }
}

/// Addresses that no server in a pod has of its own accord.
const STUBS: [(Ipv4Addr, &str); 3] = [
    (Ipv4Addr::new(127, 0, 0, 53), "systemd-resolved"),
    (Ipv4Addr::new(127, 0, 0, 54), "systemd-resolved"),
    (Ipv4Addr::new(127, 0, 0, 11), "Docker's resolver"),
];
