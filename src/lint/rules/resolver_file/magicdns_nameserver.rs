#![doc = include_str!("magicdns_nameserver.md")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{handed_out, point_to_setting};

/// Source: tailscale `net/tsaddr/tsaddr.go: TailscaleServiceIP`.
const MAGIC_DNS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 100)),
    IpAddr::V6(Ipv6Addr::new(0xfd7a, 0x115c, 0xa1e0, 0, 0, 0, 0, 0x53)),
];

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role != Role::Kubelet {
        return;
    }
    for (address, server) in handed_out(file, context).filter(|(it, _)| MAGIC_DNS.contains(it)) {
        let message =
            format!("{address} is Tailscale's MagicDNS on the node, which pods often cannot reach");
        let finding = report
            .add(server.at, message)
            .help("run tailscale set --accept-dns=false on nodes, or give the kubelet a file with other servers")
            .note("CoreDNS gets no answers from it where the node does not forward pods' packets to tailscaled");
        point_to_setting(finding, file);
    }
}
