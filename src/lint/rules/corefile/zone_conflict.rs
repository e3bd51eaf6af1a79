#![doc = include_str!("zone_conflict.md")]

use crate::config::corefile::{Key, ServerBlock, Transport, Word, is_within};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;
use crate::order::Order as _;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let with = blocks.iter().filter(|it| blocks::has(it, "kubernetes"));
    for block in with.take(MAX_PARTS) {
        for kubernetes in blocks::named(block, "kubernetes").take(1) {
            let zones = blocks::cluster_zones(block, kubernetes);
            for zone in zones.into_iter().take(MAX_PARTS) {
                if zone == "." || zone.ends_with(".arpa.") {
                    continue;
                }
                let Some((own, _)) = best(block, &zone) else {
                    continue;
                };
                let Some((other, key)) = taker(blocks, block, &zone) else {
                    continue;
                };
                let (Some(at), Some(here)) = (file.at(key.at), file.at(own.at)) else {
                    continue;
                };
                let plugin = other.directives.iter().find(|it| it.name.text == "forward");
                report
                    .add(
                        at,
                        format!(
                            "this server block takes {zone} away from kubernetes in another one"
                        ),
                    )
                    .label("the more special zone counts")
                    .also(here, "kubernetes is in this server block")
                    .help(format!(
                        "put kubernetes {zone} into the server block of {}, or remove that block",
                        key.text
                    ))
                    .note("names of Services are not answered by kubernetes")
                    .also_each(
                        plugin.and_then(|it| file.at(it.name.at)),
                        "they are sent there",
                    );
            }
        }
    }
}

/// More server blocks with `kubernetes`, and zones of one, are not compared
/// with all others.
const MAX_PARTS: usize = 10;

/// The key of a block with the most special zone that has `zone` in it.
fn best<'b>(block: &'b ServerBlock, zone: &str) -> Option<(&'b Word, Key)> {
    let keys = blocks::keys(block).filter(|(_, key)| key.transport == Transport::Dns);
    let above = keys.filter(|(_, key)| key.zones.iter().any(|it| is_within(zone, it)));
    above.max_by_key(|(_, key)| length(key, zone))
}

/// How long the part of `zone` is that a key has.
fn length(key: &Key, zone: &str) -> usize {
    let above = key.zones.iter().filter(|it| is_within(zone, it));
    above
        .map(|it| it.trim_start_matches('.').len())
        .max()
        .unwrap_or(0)
}

/// The block that gets the queries for a zone in place of `own`, and which
/// cannot answer them.
fn taker<'b>(
    blocks: &'b [ServerBlock],
    own: &ServerBlock,
    zone: &str,
) -> Option<(&'b ServerBlock, &'b Word)> {
    let (_, here) = best(own, zone)?;
    let binds = |block| {
        let mut binds: Vec<&str> = blocks::binds(block).map(|it| it.text.as_str()).collect();
        binds.order();
        binds
    };
    let others = blocks.iter().filter(|it| !std::ptr::eq(*it, own));
    let same = others.filter(|it| {
        let forwards = blocks::forwards(it).next().is_some();
        forwards
            && !blocks::has(it, "kubernetes")
            && !blocks::has(it, "view")
            && binds(it) == binds(own)
    });
    let mut found = same.filter_map(|block| {
        let (word, key) = best(block, zone)?;
        let is_better = key.port == here.port && length(&key, zone) > length(&here, zone);
        is_better.then_some((block, word))
    });
    found.next()
}
