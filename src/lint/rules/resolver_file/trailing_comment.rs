#![doc = include_str!("trailing_comment.md")]

use crate::lint::document::Change;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{is_comment, point_to_setting};
use crate::text::Span;

pub(super) fn check(file: &ResolverFile<'_>, _: &Context<'_>, report: &mut Report) {
    for entry in file.entries {
        let is_search = entry.is("search");
        if !is_search && !entry.is("options") {
            continue;
        }
        let mut last = None;
        let mut values = entry.values();
        let Some(mark) = values.by_ref().find(|word| {
            let is_it = is_comment(word.bytes);
            last = if is_it { last } else { Some(*word) };
            is_it
        }) else {
            continue;
        };
        let end = values.last().map_or(mark.span.end, |it| it.span.end);
        let comment = Span {
            start: mark.span.start,
            end,
        };
        let what = if is_search {
            "search domains"
        } else {
            "options"
        };
        let message =
            format!("the words of this comment are {what}: a comment needs a line of its own");
        let finding = report
            .add(file.document.at(comment), message)
            .help("write the comment on the line before");
        if is_search {
            finding.note("names are asked for with each of these words behind them, by every pod that inherits them");
        } else {
            finding.note(
                "pods with the policy Default get them as options; a word that is one is in force",
            );
            if file.role != Role::Kubelet {
                finding.severity(Severity::Info);
            }
        }
        if let Some(last) = last {
            finding.fix(
                "move the comment",
                [moved(file, *entry, last.span.end, comment)],
            );
        }
        point_to_setting(finding, file);
    }
}

/// The comment on its own line before the rest of the line.
fn moved(file: &ResolverFile<'_>, entry: Entry<'_>, end: u32, comment: Span) -> Option<Change> {
    let line = entry.line.span();
    let values = Span {
        start: line.start,
        end,
    };
    let newline = if entry.line.bytes().ends_with(b"\r") {
        "\r\n"
    } else {
        "\n"
    };
    let text = |span: Span| std::str::from_utf8(file.document.bytes(span)).ok();
    let new = format!("{}{newline}{}", text(comment)?, text(values)?);
    let old = Span {
        start: line.start,
        end: comment.end,
    };
    file.document.change(old, new)
}
