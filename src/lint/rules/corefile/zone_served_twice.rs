#![doc = include_str!("zone_served_twice.md")]

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::config::corefile::Word;
use crate::lint::rules::corefile::blocks;
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    // An import can bind a block to an address, or give it a view.
    if !blocks::is_whole(file) {
        return;
    }
    let mut served: BTreeMap<Served, Vec<Earlier<'_>>> = BTreeMap::new();
    let mut places = blocks::Places::new(file);
    for block in blocks::blocks(file)
        .iter()
        .filter(|it| !blocks::has(it, "view"))
    {
        let binds: Rc<[&str]> = blocks::binds(block).map(|it| it.text.as_str()).collect();
        for (word, key) in blocks::keys(block) {
            for zone in key.zones {
                if served.len() == MAX_ZONES {
                    return;
                }
                let transport = key.transport as u8;
                let earlier = served.entry((transport, key.port, zone)).or_default();
                let first = earlier
                    .iter()
                    .take(MAX_BLOCKS)
                    .find(|it| overlap(&it.0, &binds));
                if let Some((_, first)) = first {
                    said(file, report, &mut places, word, first);
                    break;
                }
                earlier.push((Rc::clone(&binds), word));
            }
        }
    }
}

/// What a block is bound to, and its key.
type Earlier<'b> = (Rc<[&'b str]>, &'b Word);
/// A transport, a port and a zone.
type Served = (u8, u16, String);

/// More zones are not compared.
const MAX_ZONES: usize = 10_000;
/// Of more with one zone the rest is not compared.
const MAX_BLOCKS: usize = 100;

/// Whether two blocks listen at one address: no `bind` is every address.
///
/// Source: `CoreDNS`, core/dnsserver/address.go `registerAndCheck`.
fn overlap(one: &[&str], other: &[&str]) -> bool {
    one.is_empty() || other.is_empty() || one.iter().any(|it| other.contains(it))
}

fn said(
    file: &CorefileText<'_>,
    report: &mut Report,
    places: &mut blocks::Places<'_, '_>,
    word: &Word,
    first: &Word,
) {
    let (Some(at), Some(first)) = (places.first(word), file.at(first.at)) else {
        return;
    };
    report
        .add(
            at,
            format!("CoreDNS does not start: {} is served twice", word.text),
        )
        .also(first, "the first time")
        .help("put the directives of both into one server block, or remove one of them")
        .note(blocks::KEEPS_OLD);
}
