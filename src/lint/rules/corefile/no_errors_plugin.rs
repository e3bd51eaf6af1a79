#![doc = include_str!("no_errors_plugin.md")]

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let blocks = blocks::blocks(file);
    if !blocks::is_whole(file) {
        return;
    }
    let mut places = blocks::Places::new(file);
    for block in blocks {
        let is_logged = blocks::has(block, "errors") || blocks::has(block, "log");
        let forwards_all = || {
            let mut forwards = blocks::forwards(block);
            blocks::key_of(block, ".").is_some()
                && forwards.any(|it| blocks::forwarded_zone(it).is_some_and(|it| it == "."))
        };
        if is_logged || !(blocks::has(block, "kubernetes") || forwards_all()) {
            continue;
        }
        let (Some(key), Some(first)) = (block.keys.first(), block.directives.first()) else {
            continue;
        };
        let Some(at) = places.first(key) else {
            continue;
        };
        let change = blocks::line_before(file, block, first, "errors");
        report
            .add(at, "errors of this server block are not logged")
            .help("write errors on a line of its own in this block")
            .note("timeouts and refusals of its servers show nowhere in CoreDNS's log")
            .fix("add errors", [change]);
    }
}
