#![doc = include_str!("node_cache_no_bind.md")]

use crate::config::corefile::Transport;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    if !blocks::is_node_cache(blocks) || !blocks::is_whole(file) {
        return;
    }
    let bound = blocks.iter().flat_map(blocks::binds).next();
    let mut places = blocks::Places::new(file);
    for block in blocks.iter().filter(|it| !blocks::has(it, "bind")) {
        let mut keys = blocks::keys(block);
        let key = keys.find(|(_, key)| key.transport == Transport::Dns && key.port == 53);
        let Some(at) = key.and_then(|(key, _)| places.first(key)) else {
            continue;
        };
        let finding = report
            .add(at, "without bind this server block takes port 53 of every address of the node")
            .help("write bind with the cache's own addresses, as in the other server blocks")
            .note("on the host network the cache does not start beside systemd-resolved or dnsmasq, or answers for the node itself");
        match bound.and_then(|it| file.at(it.at)) {
            Some(at) => {
                finding.also(at, "another server block has its address");
            }
            // Redirected to by an eBPF rule it has a network of its own.
            None => {
                finding.severity(Severity::Warning);
            }
        }
    }
}
