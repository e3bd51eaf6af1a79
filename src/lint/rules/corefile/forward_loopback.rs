#![doc = include_str!("forward_loopback.md")]

use std::net::IpAddr;

use crate::config::corefile::Transport;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::loopback::owners::DOCKER;

/// More are not said about one file.
const MAX_FINDINGS: usize = 100;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    if blocks::is_on_node(&file.corefile.blocks) {
        return;
    }
    let document = &file.document;
    let is_of_object = document.path != document.source.name && !document.is_of_script;
    let is_in_pod = is_of_object || blocks::is_cluster_dns(&file.corefile.blocks);
    let forwards = file.corefile.blocks.iter().flat_map(blocks::forwards);
    let targets = forwards.flat_map(blocks::targets);
    let loopback = targets.filter_map(|word| Some((loopback(&word.text)?, file.at(word.at)?)));
    // In a container of Docker's it is another server.
    let loopback = loopback.filter(|it| is_in_pod || it.0.to_canonical() != DOCKER);
    for (address, at) in loopback.take(MAX_FINDINGS) {
        report
            .add(at, format!("forward to {address} goes to the pod itself"))
            .note("CoreDNS sends the query to itself until loop ends it, or is refused where it does not listen there")
            .help("write the address of a real server, or /etc/resolv.conf with a file that has one");
    }
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
