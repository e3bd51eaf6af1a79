#![doc = include_str!("resolver_valid_long.md")]

use crate::lint::rules::nginx::names::{
    MAX_FINDINGS, directives, host, is_service, resolvers, variables,
};
use crate::lint::rules::prelude::*;

/// CoreDNS lets Services be kept for 5 s, and for 30 s from its cache. Ours.
const LONG: u64 = 300;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let directives = directives(file);
    let variables = variables(file, &directives);
    let mut values = variables.values().flatten();
    let has_service = values.any(|it| is_service(host(it.0)));
    if !has_service {
        return;
    }
    let long = resolvers(file).filter_map(|(span, word)| {
        let value = word.strip_prefix("valid=")?;
        (seconds(value)? >= LONG).then_some((span, value))
    });
    for (span, value) in long.take(MAX_FINDINGS) {
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
