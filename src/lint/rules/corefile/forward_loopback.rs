#![doc = include_str!("forward_loopback.md")]

use std::net::IpAddr;

use crate::address::is_link_local;
use crate::config::corefile::{ServerBlock, Transport};
use crate::lint::rules::prelude::*;

/// More are not said about one file.
const MAX_FINDINGS: usize = 100;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = file.corefile.blocks.iter().filter(|it| !is_on_node(it));
    let directives = blocks.flat_map(|block| &block.directives);
    let forwards = directives.filter(|it| matches!(it.name.text.as_str(), "forward" | "proxy"));
    let targets = forwards.flat_map(|it| it.arguments.iter().skip(1));
    let loopback = targets.filter_map(|word| Some((loopback(&word.text)?, file.at(word.at)?)));
    for (address, at) in loopback.take(MAX_FINDINGS) {
        report
            .add(at, format!("forward to {address} goes to the pod itself"))
            .note("CoreDNS sends the query to itself until loop ends it, or is refused where it does not listen there")
            .help("write the address of a real server, or /etc/resolv.conf with a file that has one");
    }
}

/// Whether it runs on the node's network, as NodeLocal DNSCache: no pod of its own
/// network has such an address to bind.
fn is_on_node(block: &ServerBlock) -> bool {
    let binds = block.directives.iter().filter(|it| it.name.text == "bind");
    let mut bound = binds.flat_map(|it| &it.arguments);
    bound.any(|it| it.text.parse().is_ok_and(is_link_local))
}

/// The address of a server as `forward` takes it, if nobody but the pod has it.
fn loopback(text: &str) -> Option<IpAddr> {
    let (_, rest) = Transport::split(text);
    let rest = rest.split('%').next()?;
    let plain = rest.parse().ok();
    let address: IpAddr =
        plain.or_else(|| Some(rest.parse::<std::net::SocketAddr>().ok()?.ip()))?;
    // Another port is another program in the same pod.
    let is_other = plain.is_none() && !rest.ends_with(":53");
    (address.to_canonical().is_loopback() && !is_other).then_some(address)
}
