#![doc = include_str!("no_cache.md")]

use crate::lint::rules::corefile::{blocks, plugins};
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    if !blocks::is_whole(file) || !blocks::is_cluster_dns(blocks) {
        return;
    }
    let mut places = blocks::Places::new(file);
    for block in blocks {
        let mut caches = blocks::named(block, "cache");
        let first = caches.next().map(|it| &it.arguments);
        // What stands behind it are zones, too, that are cached.
        if let Some([word]) = first.map(Vec::as_slice)
            && plugins::is_time(&word.text)
            && let Some(at) = places.first(word)
        {
            let text = &word.text;
            report
                .add(
                    at,
                    format!("nothing is cached: {text} is no time here, but a zone"),
                )
                .severity(Severity::Warning)
                .help("write the seconds without their unit: cache 30");
        }
        if first.is_some() {
            continue;
        }
        let of_root = |it: &&crate::config::corefile::Directive| {
            blocks::forwarded_zone(it).is_some_and(|it| it == ".")
        };
        let root = blocks::key_of(block, ".");
        let forward = blocks::forwards(block)
            .find(of_root)
            .filter(|_| root.is_some());
        let Some(forward) = forward else {
            continue;
        };
        let Some(at) = places.first(&forward.name) else {
            continue;
        };
        let change = blocks::line_before(file, block, forward, "cache 30");
        report
            .add(at, "answers are not cached: each query of a pod goes to these servers")
            .help("write cache 30 on a line of its own in this block")
            .note("with ndots 5 a pod asks for a name outside up to eight times more, and the servers' limits and failures are felt at once")
            .unsafe_fix("add cache 30", [change]);
    }
}
