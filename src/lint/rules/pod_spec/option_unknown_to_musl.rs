#![doc = include_str!("option_unknown_to_musl.md")]

use super::spec::{containers, field, options};
use crate::lint::rules::prelude::*;

pub(super) fn check(workload: &Workload<'_>, _: &Context<'_>, report: &mut Report) {
    let mut images = containers(workload).map(|it| field(it, "image")).peekable();
    if images.peek().is_none() || !images.all(|it| it.contains("alpine")) {
        return;
    }
    for option in options(workload).filter(|it| GLIBC_ONLY.contains(&it.name())) {
        let at = workload.at(option.name.unwrap_or(option.node));
        report
            .add(at, format!("{} has no effect on programs that use musl, as those in Alpine images do", option.name()))
            .help("remove it; against lost queries use NodeLocal DNSCache")
            .note("musl knows ndots, timeout and attempts alone; only programs with a resolver of their own, as Go's, take notice of it");
    }
}

/// Options of glibc that musl does not know.
///
/// Source: musl `src/network/resolvconf.c: __get_resolv_conf`.
const GLIBC_ONLY: [&str; 8] = [
    "single-request",
    "single-request-reopen",
    "use-vc",
    "rotate",
    "edns0",
    "trust-ad",
    "no-aaaa",
    "no-tld-query",
];
