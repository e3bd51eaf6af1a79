#![doc = include_str!("domain_without_search.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};

/// KR018.
pub static RULE: Rule = Rule {
    code: "KR018",
    name: "domain-without-search",
    severity: Severity::Info,
    summary: "the kubelet does not read the domain line, and there is no search line",
    page: include_str!("domain_without_search.md"),
    check: Check::Resolver(check),
};

fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
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
