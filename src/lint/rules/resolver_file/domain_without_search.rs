#![doc = include_str!("domain_without_search.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    let Some(last) = file.lines("domain").next_back() else {
        return;
    };
    if file.role != Role::Kubelet || file.lines("search").next().is_some() {
        return;
    }
    let mut values = last.values();
    let Some(domain) = values.next() else {
        return;
    };
    let text = String::from_utf8_lossy(domain.bytes);
    let at = file.document.at(last.keyword.span);
    let finding = report
        .add(
            at,
            "the kubelet passes the domain line over, and pods get no search domain",
        )
        .help(format!("write a line: search {text}"))
        .note("short names that resolve on the node do not resolve in pods");
    point_to_setting(finding, file);
}
