#![doc = include_str!("split_options.md")]

use std::collections::BTreeSet;

use crate::lint::document::Change;
use crate::lint::rules::prelude::*;
use crate::lint::rules::resolver_file::common::{is_comment, kubelet, point_to_setting};
use crate::pod::rules::Rules;
use crate::text::{Span, ordered};

pub(super) fn check(file: &ResolverFile<'_>, context: &Context<'_>, report: &mut Report) {
    let version = context.kubelet_version();
    let is_merged = version.is_some_and(|it| Rules::of_version(Some(it)).merges_options);
    if file.role != Role::Kubelet || is_merged {
        return;
    }
    let lines: Vec<Entry<'_>> = file.lines("options").collect();
    let Some((last, earlier)) = lines.split_last() else {
        return;
    };
    let kept: BTreeSet<&[u8]> = ordered(last.values().map(|it| it.bytes));
    let is_lost = |it: &Entry<'_>| it.values().any(|word| !kept.contains(word.bytes));
    let Some(first) = earlier.iter().find(|it| is_lost(it)) else {
        return;
    };
    let who = match version {
        Some(_) => kubelet(version),
        None => "a kubelet up to 1.25".to_owned(),
    };
    let message = format!("{who} takes only the last options line, and pods lose this one");
    let finding = report
        .add(file.document.at(first.keyword.span), message)
        .help("write all options on one line")
        .note("pods with the policy Default get other options than the node has");
    if version.is_none() {
        finding.severity(Severity::Info);
    }
    finding.also(file.document.at(last.keyword.span), "this line counts");
    finding.unsafe_fix("write one line", joined(file, &lines));
    point_to_setting(finding, file);
}

/// The options of the later lines at the end of the first one. Nothing where
/// a comment stands among them.
fn joined(file: &ResolverFile<'_>, lines: &[Entry<'_>]) -> Vec<Option<Change>> {
    let Some((first, later)) = lines.split_first() else {
        return Vec::new();
    };
    let has_comment = |it: &Entry<'_>| it.values().any(|word| is_comment(word.bytes));
    if lines.iter().any(has_comment) {
        return Vec::new();
    }
    let end = first.line.words().last().map_or(0, |it| it.span.end);
    let mut text = String::new();
    for word in later.iter().flat_map(|it| it.values()) {
        let Ok(word) = std::str::from_utf8(word.bytes) else {
            return Vec::new();
        };
        text.extend([" ", word]);
    }
    // Behind the last word, not before the newline: blanks can follow.
    let last = first
        .line
        .words()
        .last()
        .map_or(Span::default(), |it| it.span);
    let known = String::from_utf8_lossy(file.document.bytes(last)).into_owned();
    let span = Span {
        start: last.start,
        end,
    };
    let mut changes = vec![file.document.change(span, known + &text)];
    changes.extend(
        later
            .iter()
            .map(|it| file.document.without_line(it.line.span())),
    );
    changes
}
