#![doc = include_str!("shadowed_forward.md")]

use crate::config::corefile::{Directive, Word, is_within, zones};
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file) {
        let forwards: Vec<&Directive> =
            blocks::named(block, "forward").take(MAX_FORWARDS).collect();
        for (index, forward) in forwards.iter().enumerate() {
            let Some(zone) = blocks::forwarded_zone(forward) else {
                continue;
            };
            let earlier = forwards.iter().take(index);
            let Some(first) = earlier.copied().find(|it| takes(it, &zone)) else {
                continue;
            };
            let (Some(at), Some(first_at)) = (places.first(&forward.name), file.at(first.name.at))
            else {
                continue;
            };
            let finding = report
                .add(at, format!("this forward of {zone} is never asked"))
                .also(first_at, "this one takes all of its queries")
                .note(
                    "the first forward whose zone fits gets the query, also when its servers fail",
                );
            let is_same = blocks::forwarded_zone(first).is_some_and(|it| it == zone);
            finding.help(if is_same {
                "put all servers into one forward"
            } else {
                "put the forward of the more special zone first"
            });
        }
    }
}

/// More of one block are not looked at.
const MAX_FORWARDS: usize = 200;

/// Whether a `forward` takes all names of a zone.
///
/// Source: `CoreDNS`, plugin/forward/forward.go `match`, `isAllowedDomain`.
fn takes(forward: &Directive, zone: &str) -> bool {
    // What stands in the place of a variable is not known here.
    let mut words = forward.lines.iter().flatten();
    if words.any(Word::has_variable) {
        return false;
    }
    let goes_on = |it: &[Word]| {
        let name = it.first().map_or("", |it| it.text.as_str());
        matches!(name, "next" | "next_on_nodata")
    };
    let words: Vec<&Word> = forward.options("except").flatten().collect();
    if words.len() > MAX_FORWARDS {
        return false;
    }
    let mut excepted = words.into_iter().flat_map(|it| zones(&it.text));
    let from = forward.arguments.first();
    let is_over = blocks::forwarded_zone(forward).is_some_and(|it| {
        let is_known = !from.is_some_and(Word::has_variable);
        it == zone || is_known && is_within(zone, &it)
    });
    is_over
        && !forward.lines.iter().any(|it| goes_on(it))
        && !excepted.any(|it| is_within(zone, &it) || is_within(&it, zone))
}
