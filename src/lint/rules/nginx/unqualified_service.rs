#![doc = include_str!("unqualified_service.md")]

use crate::lint::rules::nginx::names::{
    MAX_FINDINGS, directives, groups, host, lacks_domain, variables,
};
use crate::lint::rules::prelude::*;
use crate::text::Span;

pub(super) fn check(file: &DaemonText<'_>, _: &Context<'_>, report: &mut Report) {
    let directives = directives(file);
    let (variables, groups) = (variables(file, &directives), groups(file, &directives));
    let mut found: Vec<(Span, &str)> = Vec::new();
    for it in &directives {
        let url = file.word(it, 1);
        // Without a variable the C library is asked, which has the search list.
        if file.word(it, 0) != "proxy_pass" || !url.contains('$') {
            continue;
        }
        let Some(&own) = it.words.get(1) else {
            continue;
        };
        let rest = url.split_once("://").map_or(url, |it| it.1);
        let end = rest.find(['/', ':', '?']).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let (span, name) = match variables.get(name.as_bytes()) {
            Some(Some((value, span))) => (*span, host(value)),
            Some(None) => continue,
            None => (own, name),
        };
        if lacks_domain(name) && !groups.contains(&name) && !found.iter().any(|it| it.0 == span) {
            found.push((span, name));
        }
    }
    for (span, name) in found.into_iter().take(MAX_FINDINGS) {
        report
            .add(
                file.at(span),
                format!("nginx asks for {name} as it is, and there is no such name: it has no search list"),
            )
            .help(format!("write the whole name: {name}.cluster.local, or with the cluster's own domain"))
            .note("a variable in proxy_pass makes nginx ask its own resolver, which reads no resolv.conf");
    }
}
