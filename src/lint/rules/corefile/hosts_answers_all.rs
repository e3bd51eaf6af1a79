#![doc = include_str!("hosts_answers_all.md")]

use crate::config::corefile::{Directive, ServerBlock, zones};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let behind = blocks::others_behind(block);
        for hosts in blocks::named(block, "hosts") {
            let has_fallthrough = hosts.options("fallthrough").next().is_some();
            if has_fallthrough || behind.is_empty() || !is_for_all(block, hosts) {
                continue;
            }
            let Some(at) = places.first(&hosts.name) else {
                continue;
            };
            let change = match hosts.lines.last() {
                Some(line) => blocks::line_behind(file, line, "fallthrough"),
                None => blocks::block_behind(file, hosts, "fallthrough"),
            };
            report
                .add(
                    at,
                    format!("names that hosts does not have get SERVFAIL: none reaches {behind}"),
                )
                .help("write fallthrough as the last line of its block")
                .unsafe_fix("add fallthrough", [change]);
        }
    }
}

/// Whether it answers for the root zone: its first argument is a file.
fn is_for_all(block: &ServerBlock, hosts: &Directive) -> bool {
    let of_its_own = hosts.arguments.get(1..).unwrap_or_default();
    if of_its_own.is_empty() {
        return blocks::key_of(block, ".").is_some();
    }
    of_its_own
        .iter()
        .any(|it| zones(&it.text).iter().any(|zone| zone == "."))
}
