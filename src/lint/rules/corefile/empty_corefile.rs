#![doc = include_str!("empty_corefile.md")]

use crate::finding::Severity;
use crate::lint::context::Context;
use crate::lint::report::Report;
use crate::lint::subject::CorefileText;
use crate::lint::{Check, Rule};
use crate::text::Span;

/// KC031.
pub static RULE: Rule = Rule {
    code: "KC031",
    name: "empty-corefile",
    severity: Severity::Warning,
    summary: "the Corefile has nothing in it",
    page: include_str!("empty_corefile.md"),
    check: Check::Corefile(check),
};

fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
    let corefile = file.corefile;
    let is_comment = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"#")
    };
    let bytes = &file.document.source.bytes;
    let is_empty = bytes.split(|&byte| byte == b'\n').all(is_comment);
    if !is_empty || !corefile.blocks.is_empty() || !corefile.imports.is_empty() {
        return;
    }
    report
        .add(
            file.document.at(Span::default()),
            "the Corefile has no server block",
        )
        .help("write a server block: .:53 { … }")
        .note("CoreDNS has nothing to serve, and the cluster has no DNS");
}
