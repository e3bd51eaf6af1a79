#![doc = include_str!("indented_keyword.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::options::Role;
use crate::lint::report::Report;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::lint::subject::ResolverFile;
use crate::lint::{Check, Rule};
use crate::text::Span;

/// KR020.
pub static RULE: Rule = Rule {
    code: "KR020",
    name: "indented-keyword",
    severity: Severity::Warning,
    summary: "the C libraries do not read an indented line, and the kubelet does",
    page: include_str!("indented_keyword.md"),
    check: Check::Resolver(check),
};

fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for entry in file.entries {
        let blanks = Span {
            start: entry.line.span().start,
            end: entry.keyword.span.start,
        };
        let known = ["nameserver", "search", "options"];
        if blanks.is_empty() || !known.iter().any(|it| entry.is(it)) {
            continue;
        }
        let keyword = String::from_utf8_lossy(entry.keyword.bytes);
        let at = file.document.at(entry.keyword.span);
        let is_kubelets = file.role == Role::Kubelet;
        let message = if is_kubelets {
            format!("this {keyword} is indented: the kubelet reads it, the node itself does not")
        } else {
            format!("this {keyword} is indented, and the C libraries do not read it")
        };
        let finding = report
            .add(at, message)
            .help("remove the blanks before it")
            .note("glibc and musl look for keywords only where a line begins");
        // Where nobody reads the line now, it can be meant to be so.
        if is_kubelets {
            finding.fix("remove the blanks", [file.document.change(blanks, "")]);
        }
        point_to_setting(finding, file);
    }
}
