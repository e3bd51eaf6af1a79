#![doc = include_str!("resolver_valid_long.md")]

use std::collections::BTreeMap;

use crate::config::statements::Statement;
use crate::lint::rules::nginx::names::{Asked, MAX_FINDINGS, directives, is_service};
use crate::lint::rules::prelude::*;

/// CoreDNS lets Services be kept for 5 s, and for 30 s from its cache. Ours.
const LONG: u64 = 300;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let asked = Asked::new(file, &directives(file));
    let is_of_service = |it| asked.name(file, it).is_some_and(|it| is_service(it.1));
    let long = |resolver: &Statement| {
        resolver.words.iter().enumerate().find_map(|(at, span)| {
            let value = file.word(resolver, at).strip_prefix("valid=")?;
            (seconds(value)? >= LONG).then_some((*span, value))
        })
    };
    let mut found = BTreeMap::new();
    // Blocks, each with the time of the resolver around it.
    let mut open = vec![(file.statements, None)];
    while let Some((block, around)) = open.pop() {
        let own = block.iter().find(|it| file.word(it, 0) == "resolver");
        let valid = own.map_or(around, long);
        for it in block {
            if let Some((span, value)) = valid.filter(|_| is_of_service(it)) {
                found.insert(span.start, (span, value));
            }
            open.extend(it.block.as_deref().map(|it| (it, valid)));
        }
    }
    for (span, value) in found.into_values().take(MAX_FINDINGS) {
        report
            .add(
                file.at(span),
                format!("nginx keeps the addresses of Services for {value}, whatever the TTL says"),
            )
            .help("leave valid out: nginx then honours the TTL, which CoreDNS sets to 5 s for Services");
    }
}

/// `1h30m`, `300s`, `300`. Source: nginx `src/core/ngx_parse.c: ngx_parse_time` (1.22)
fn seconds(value: &str) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = value;
    while !rest.is_empty() {
        let end = rest
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, unit) = rest.split_at_checked(end)?;
        let number: u64 = number.parse().ok()?;
        let (factor, length) = match unit.as_bytes() {
            [] => (1, 0),
            [b's', ..] => (1, 1),
            [b'm', b's', ..] => (0, 2),
            [b'm', ..] => (60, 1),
            [b'h', ..] => (3600, 1),
            [b'd', ..] => (86400, 1),
            [b'w', ..] => (604_800, 1),
            _ => return None,
        };
        sum = sum.checked_add(number.checked_mul(factor)?)?;
        rest = unit.get(length..)?;
    }
    Some(sum)
}
