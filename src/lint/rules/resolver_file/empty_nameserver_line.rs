#![doc = include_str!("empty_nameserver_line.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};

/// KR009.
pub static RULE: Rule = Rule {
    code: "KR009",
    name: "empty-nameserver-line",
    severity: Severity::Error,
    summary: "a nameserver line without a value makes the kubelet refuse the file",
    page: include_str!("empty_nameserver_line.md"),
    check: Check::Resolver(check),
};

fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for entry in file.lines("nameserver") {
        if entry.values().next().is_some() {
            continue;
        }
        let at = file.document.at(entry.keyword.span);
        let finding = if file.role == Role::Kubelet {
            report
                .add(at, "no address follows, and the kubelet refuses the whole file")
                .note("no pod of the node starts, whatever its policy: the kubelet reads the file for each of them")
        } else {
            report
                .add(at, "no address follows, and resolvers pass the line over")
                .severity(Severity::Info)
        };
        finding
            .help("write an address behind it, or remove the line")
            .fix(
                "remove the line",
                [file.document.without_line(entry.line.span())],
            );
        point_to_setting(finding, file);
    }
}
