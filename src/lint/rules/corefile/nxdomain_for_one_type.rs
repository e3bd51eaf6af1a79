#![doc = include_str!("nxdomain_for_one_type.md")]

use crate::config::corefile::{Directive, ServerBlock, zones};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        if blocks::others_behind(block).is_empty() {
            continue;
        }
        let is_wrong = |it: &&Directive| denies_all(it) && !is_reverse(block, it);
        let denying = || blocks::named(block, "template").filter(is_wrong);
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
                .note("musl since 1.2.1 then finds no address at all, and caches between may say so of every type; glibc and Go take the other answer");
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

/// Whether it is for zones of addresses only, in which nobody looks for addresses.
fn is_reverse(block: &ServerBlock, template: &Directive) -> bool {
    let own = template.arguments.iter().skip(2);
    let mut all: Vec<String> = own.flat_map(|it| zones(&it.text)).collect();
    if template.arguments.len() < 3 {
        all.extend(blocks::keys(block).flat_map(|it| it.1.zones));
    }
    let is_of_addresses = |it: &String| {
        let mut ends = ["in-addr.arpa.", "ip6.arpa."].into_iter();
        ends.any(|end| it.ends_with(end))
    };
    !all.is_empty() && all.iter().all(is_of_addresses)
}
