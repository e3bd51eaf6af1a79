#![doc = include_str!("nxdomain_for_one_type.md")]

use crate::config::corefile::Directive;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        if blocks::others_behind(block).is_empty() {
            continue;
        }
        let denying = || blocks::named(block, "template").filter(|it| denies_all(it));
        for template in denying() {
            let (own, other) = match kind(template) {
                "AAAA" => ("AAAA", "A"),
                "A" => ("A", "AAAA"),
                _ => continue,
            };
            // Who refuses both means that there are no such names.
            if denying().any(|it| [other, "ANY"].contains(&kind(it))) {
                continue;
            }
            let Some(at) = places.first(&template.name) else {
                continue;
            };
            report
                .add(
                    at,
                    format!("to a query for {own} this says that there is no such name, {other} or not"),
                )
                .help("write rcode NOERROR: the name is there, and has no such address")
                .note("musl then finds no address at all, and caches between may say so of every type; glibc and Go take the other answer");
        }
    }
}

fn kind(template: &Directive) -> &str {
    template.arguments.get(1).map_or("", |it| it.text.as_str())
}

/// Whether it denies every name of its zones.
fn denies_all(template: &Directive) -> bool {
    let has = |name| template.options(name).next().is_some();
    let mut codes = template.options("rcode").filter_map(|it| it.first());
    let class = template.arguments.first().map(|it| it.text.as_str());
    matches!(class, Some("IN" | "ANY"))
        && codes.any(|it| it.text.eq_ignore_ascii_case("NXDOMAIN"))
        && !has("match")
        && !has("answer")
}
