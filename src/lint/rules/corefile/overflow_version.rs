#![doc = include_str!("overflow_version.md")]

use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// The versions that neither ask with room for long answers nor take those that
/// are too long. Source: coredns/coredns#5671, coredns/coredns#5998;
/// `CoreDNS`, notes/coredns-1.11.2.md.
const FIRST: Version = blocks::release(1, 10, 1);
const FIXED: Version = blocks::release(1, 11, 2);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let version = blocks::version(file, context);
    let Some(version) = version.filter(|it| (FIRST..FIXED).contains(&it.value)) else {
        return;
    };
    if !blocks::is_whole(file) {
        return;
    }
    let asks = |it: &&crate::config::corefile::Directive| {
        let mut words = it.lines.iter().filter_map(|it| it.first());
        let is_tcp = words.any(|it| it.text == "force_tcp");
        !is_tcp && blocks::forwarded_zone(it).is_some_and(|it| it == ".")
    };
    // What has the plugin asks with room, whoever asks.
    let mut blocks = blocks::blocks(file)
        .iter()
        .filter(|it| !blocks::has(it, "bufsize") && blocks::key_of(it, ".").is_some());
    let forward = blocks.find_map(|it| blocks::forwards(it).find(asks));
    let Some(at) = forward.and_then(|it| file.at(it.name.at)) else {
        return;
    };
    report
        .add(
            at,
            format!(
                "{} answers SERVFAIL where one of these servers sends more than it was asked for",
                blocks::shown(version.value)
            ),
        )
        .also_each(version.at, "the version")
        .help("take CoreDNS 1.11.2 or newer")
        .note("such a server sends more than 512 bytes to a query without EDNS; the log says: dns: overflow unpacking uint16");
}
