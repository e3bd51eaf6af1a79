#![doc = include_str!("not_plain_text.md")]

use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::point_to_setting;
use crate::text::Span;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    let bytes = file.document.source.bytes.as_slice();
    if bytes.starts_with(BYTE_ORDER_MARK) {
        let mark = Span::new(0, BYTE_ORDER_MARK.len());
        let first = file.entries.first().filter(|it| it.keyword.span.start == 0);
        let keyword = first.and_then(|it| it.keyword.bytes.strip_prefix(BYTE_ORDER_MARK));
        let is_lost = keyword.is_some_and(|it| KEYWORDS.contains(&it));
        let finding = report
            .add(
                file.document.at(mark),
                "the file begins with a byte-order mark, which is a part of its first word",
            )
            .help("write the file as UTF-8 without a byte-order mark");
        let fix = (
            "remove the byte-order mark",
            [file.document.change(mark, "")],
        );
        if is_lost {
            // What the line says then counts, and did not before.
            finding.unsafe_fix(fix.0, fix.1);
            finding.note("the first line has no keyword that the kubelet or a resolver knows, and is silently ignored");
        } else {
            finding.severity(Severity::Info).fix(fix.0, fix.1);
        }
        point_to_setting(finding, file);
        return;
    }
    let Some(at) = memchr::memchr(0, bytes) else {
        return;
    };
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let message = if is_wide {
        "the file is UTF-16, of which nobody reads a line"
    } else {
        "a NUL byte ends the line for glibc, and musl passes the line and the next one over"
    };
    let finding = report
        .add(file.document.at(Span::new(at, at + 1)), message)
        .help("write the file as UTF-8");
    point_to_setting(finding, file);
}

const KEYWORDS: [&[u8]; 4] = [b"nameserver", b"search", b"domain", b"options"];
