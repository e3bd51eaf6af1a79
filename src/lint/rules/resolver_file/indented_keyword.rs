#![doc = include_str!("indented_keyword.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::text::Span;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
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
            finding.unsafe_fix("remove the blanks", [file.document.change(blanks, "")]);
        }
        point_to_setting(finding, file);
    }
}
