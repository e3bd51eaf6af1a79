#![doc = include_str!("empty_corefile.md")]

use crate::lint::rules::prelude::*;
use crate::text::Span;

pub(super) fn check(file: &CorefileText<'_>, _: &Context<'_>, report: &mut Report) {
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
