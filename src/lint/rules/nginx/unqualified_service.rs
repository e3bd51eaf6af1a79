#![doc = include_str!("unqualified_service.md")]

use std::collections::BTreeMap;

use crate::lint::rules::nginx::names::{Asked, MAX_FINDINGS, directives, lacks_domain};
use crate::lint::rules::prelude::*;
use crate::text::Span;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let directives = directives(file);
    let asked = Asked::new(file, &directives);
    let mut found: BTreeMap<u32, (Span, &str)> = BTreeMap::new();
    let names = directives.iter().filter_map(|it| asked.name(file, it));
    for (span, name) in names.filter(|it| lacks_domain(it.1)) {
        found.entry(span.start).or_insert((span, name));
    }
    for (span, name) in found.into_values().take(MAX_FINDINGS) {
        report
            .add(
                file.at(span),
                format!("nginx asks for {name} as it is, and there is no such name: it has no search list"),
            )
            .help(format!("write the whole name: {name}.cluster.local, or with the cluster's own domain"))
            .note("a variable in proxy_pass makes nginx ask its own resolver, which reads no resolv.conf");
    }
}
