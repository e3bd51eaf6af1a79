#![doc = include_str!("no_lameduck.md")]

use crate::config::corefile::Directive;
use crate::kubelet::Version;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

/// The first version that knows it. Source: `CoreDNS`, notes/coredns-1.0.5.md.
const FIRST: Version = blocks::release(1, 0, 5);

pub(super) fn check(file: &CorefileText<'_>, context: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    let is_older = blocks::version(file, context).is_some_and(|it| it.value < FIRST);
    // A cache on each node is not behind a Service.
    if is_older || !blocks::is_cluster_dns(blocks) {
        return;
    }
    let health = blocks.iter().flat_map(|it| blocks::named(it, "health"));
    let mut places = blocks::Places::new(file);
    // In a part of a template its block can have more.
    let is_whole = |it: &Directive| !file.document.is_partial || blocks::is_alone(file, it);
    for health in health.filter(|it| it.options("lameduck").next().is_none()) {
        if !is_whole(health) {
            continue;
        }
        let Some(at) = places.first(&health.name) else {
            continue;
        };
        let change = blocks::block_behind(file, health, "lameduck 5s");
        report
            .add(at, "health has no lameduck: a pod that ends stops to answer at once")
            .help("write health { lameduck 5s }, on three lines")
            .note("while pods are replaced, nodes send queries to the one that is gone until their rules are updated, and these time out")
            .fix("add lameduck 5s", [change]);
    }
}
