#![doc = include_str!("force_tcp_upstream.md")]

use crate::config::corefile::Word;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::topology::coredns::UPSTREAM_SERVERS;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        if blocks::key_of(block, ".").is_none() {
            continue;
        }
        for forward in blocks::named(block, "forward") {
            let mut words = forward.lines.iter().filter_map(|it| it.first());
            let forced = words.find(|it| it.text == "force_tcp");
            let mut targets = blocks::targets(forward).iter();
            let is_file =
                |it: &&Word| it.text.contains("resolv.conf") || it.text == UPSTREAM_SERVERS;
            let (Some(forced), Some(target)) = (forced, targets.find(is_file)) else {
                continue;
            };
            let (Some(at), Some(target)) = (places.first(forced), file.at(target.at)) else {
                continue;
            };
            report
                .add(at, "the node's servers are asked over TCP only")
                .also(target, "by all that this file lists")
                .help("write prefer_udp in its place, unless all of them answer over TCP")
                .note("where a server or a firewall drops TCP on port 53, every lookup ends with dial tcp: i/o timeout");
        }
    }
}
