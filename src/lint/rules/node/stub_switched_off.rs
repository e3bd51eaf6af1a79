#![doc = include_str!("stub_switched_off.md")]

use std::net::IpAddr;

use crate::lint::rules::prelude::*;
use crate::loopback::name_servers;
use crate::topology::Network;
use crate::topology::resolved::Stub;

/// Where the stub listens if it is switched on.
const STUB: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 53));

pub(super) fn check(node: &Node, _: &Context<'_>, report: &mut Report) {
    let off = node.resolved.as_ref().filter(|it| it.stub == Stub::No);
    let file = node
        .node_file
        .as_ref()
        .and_then(|it| it.content.as_ref().ok());
    let (Some(resolved), Some(file)) = (off, file) else {
        return;
    };
    // Something else can have taken the address.
    let has_it = |it: &crate::node::Listener| {
        it.network == Network::Node && it.address.is_none_or(|it| it == STUB)
    };
    if node.listeners.iter().any(has_it) {
        return;
    }
    let Some((_, span)) = name_servers(file).find(|(it, _)| *it == STUB) else {
        return;
    };
    report
        .add(file.source.place_of(span.start), "the node asks 127.0.0.53, where nobody listens")
        .help("link /etc/resolv.conf to /run/systemd/resolve/resolv.conf, or switch the stub on again")
        .note("no program on the node resolves a name, and neither does a kubelet that hands out this file")
        .also_each(resolved.stub_place.clone(), "the stub is switched off here");
}
