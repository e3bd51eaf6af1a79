#![doc = include_str!("stub_in_dns_config.md")]

use std::net::{IpAddr, Ipv4Addr};

use crate::kubelet::address::parse_address;
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    if workload.host_network().is_some() {
        return;
    }
    for server in workload.dns_config("nameservers") {
        let found = parse_address(&server.text);
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
