#![doc = include_str!("query_log_on.md")]

use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let root = blocks::blocks(file)
        .iter()
        .filter(|it| blocks::key_of(it, ".").is_some());
    let mut places = blocks::Places::new(file);
    for log in root.flat_map(|it| blocks::named(it, "log")) {
        let name = log.arguments.first().map_or(".", |it| it.text.as_str());
        let mut classes = log.options("class").flatten();
        let has_class = log.options("class").next().is_some();
        if name != "." || has_class && !classes.any(|it| it.text == "all") {
            continue;
        }
        if let Some(at) = places.first(&log.name) {
            report
                .add(at, "every query is logged")
                .help("write log . { class error }, on three lines, or remove log")
                .note("the log grows with every lookup of every pod, which costs time and disk and tells who asks for what");
        }
    }
}
