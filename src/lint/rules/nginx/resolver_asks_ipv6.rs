#![doc = include_str!("resolver_asks_ipv6.md")]

use crate::config::statements::Statement;
use crate::lint::rules::nginx::names::{MAX_FINDINGS, directives};
use crate::lint::rules::prelude::*;

pub(super) fn check(file: &DaemonText<'_>, context: &Context<'_>, report: &mut Report) {
    if !file.document.is_embedded() {
        return;
    }
    let networks = context.networks(file.document.file);
    let Some(first) = networks.first() else {
        return;
    };
    let has_ipv6 = networks.iter().any(|it| it.value.address.is_ipv6());
    if has_ipv6 {
        return;
    }
    let resolvers = directives(file).into_iter();
    let resolvers = resolvers.filter(|it| file.word(it, 0) == "resolver" && it.block.is_none());
    let is_said = |it: &&Statement| {
        let mut words = (1..it.words.len()).map(|at| file.word(it, at));
        words.any(|word| word.starts_with("ipv6="))
    };
    for it in resolvers.filter(|it| !is_said(it)).take(MAX_FINDINGS) {
        let Some(&span) = it.words.first() else {
            continue;
        };
        report
            .add(file.at(span), "nginx asks for IPv6 addresses, which no pod of this cluster can reach")
            .also_each(first.at, "the cluster's networks are IPv4 only")
            .help("add ipv6=off")
            .note("nginx takes one of all addresses in turn, and an error of the AAAA query fails the lookup");
    }
}
