#![doc = include_str!("loop_zone_order.md")]

use crate::config::corefile::{Word, is_within, zones};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let (Some(test), Some(first)) = (blocks::named(block, "loop").next(), block.keys.first())
        else {
            continue;
        };
        let Some(zone) = blocks::keys(block)
            .next()
            .and_then(|(_, it)| it.zones.into_iter().next())
        else {
            continue;
        };
        let Some((root, _)) = blocks::key_of(block, ".").filter(|_| zone != ".") else {
            continue;
        };
        let mut forwards = blocks::forwards(block);
        let forward = forwards.find(|it| blocks::forwarded_zone(it).is_some_and(|it| it == "."));
        let is_answered = blocks::named(block, "kubernetes").any(|it| {
            let zones = blocks::cluster_zones(block, it);
            let mut passed = it.options("fallthrough").map(|it| passes(it, &zone));
            zones.iter().any(|own| own != "." && is_within(&zone, own)) && !passed.any(|it| it)
        });
        if forward.is_none() || !is_answered {
            continue;
        }
        let (Some(at), Some(root), Some(test)) =
            (places.first(first), file.at(root.at), file.at(test.name.at))
        else {
            continue;
        };
        report
            .add(
                at,
                format!("loop tries a name in {zone}, which is not forwarded"),
            )
            .label("the first zone is tried")
            .also(root, "this one is forwarded")
            .also(test, "once, at the start")
            .help("write the root zone first")
            .note("a loop of the root zone is not noticed");
    }
}

/// Whether a `fallthrough` passes the names of a zone on.
fn passes(words: &[Word], zone: &str) -> bool {
    let mut named = words.iter().flat_map(|it| zones(&it.text));
    words.is_empty() || named.any(|it| is_within(zone, &it))
}
