#![doc = include_str!("duplicate_nameserver.md")]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::net::IpAddr;

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::handed_out_count;
use crate::text::Span;

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    if file.role == Role::Node || file.read.servers.len() < 2 {
        return;
    }
    // Without more servers than fit, repeats only cost time.
    let places = handed_out_count(file, context);
    let has_more = file.read.servers.len() > places;
    let mut place = 0;
    let mut known: BTreeMap<(IpAddr, &str), Span> = BTreeMap::new();
    for entry in file.lines("nameserver") {
        let mut values = entry.values();
        let Some(word) = values.next() else {
            continue;
        };
        let text = std::str::from_utf8(word.bytes).unwrap_or_default();
        let (address, scope) = text.split_once('%').unwrap_or((text, ""));
        let Ok(address) = address.parse::<IpAddr>() else {
            continue;
        };
        place += 1;
        // Behind the last place the repeat itself is what pods do not get.
        let loses_one = has_more && place <= places;
        let first = match known.entry((address.to_canonical(), scope)) {
            MapEntry::Vacant(free) => {
                free.insert(word.span);
                continue;
            }
            MapEntry::Occupied(first) => *first.get(),
        };
        let finding = report
            .add(
                file.document.at(word.span),
                format!("{text} is a name server of this file already"),
            )
            .help("remove the line")
            .note(if place > places { "pods do not get it: there is no place left for it" } else { "it takes one of the three places of a pod's file, and a server that does not answer is waited for twice" });
        finding.also(file.document.at(first), "it stands here first");
        if !loses_one {
            finding.severity(Severity::Info);
        }
        // What else stands on the line would be lost.
        if values.next().is_some() {
            continue;
        }
        let fix = [file.document.without_line(entry.line.span())];
        if loses_one {
            // One that was cut off is asked then.
            finding.unsafe_fix("remove the line", fix);
        } else {
            finding.fix("remove the line", fix);
        }
    }
}
