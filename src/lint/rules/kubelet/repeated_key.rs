#![doc = include_str!("repeated_key.md")]

use crate::config::yaml::Entry;
use crate::lint::document::{Change, Document};
use crate::lint::facts::KubeletForm;
use crate::lint::rules::kubelet::common::{entries, key};
use crate::lint::rules::prelude::*;
use crate::text::Span;

/// More of one file are not told.
const MAX_FINDINGS: usize = 100;

pub(super) fn check(text: &KubeletText<'_>, _: &Context<'_>, report: &mut Report) {
    let document = text.document;
    for name in ["resolvConf", "clusterDNS", "clusterDomain"] {
        let of_key: Vec<&Entry> = entries(text).iter().filter(|it| key(it) == name).collect();
        let Some((last, others)) = of_key.split_last() else {
            continue;
        };
        for entry in others.iter().take(MAX_FINDINGS) {
            let is_same = meaning(entry) == meaning(last);
            let finding = report
                .add(
                    document.at(entry.key.span),
                    format!("{name} stands here once more, and this one does not count"),
                )
                .also(document.at(last.key.span), "the last one counts")
                .help("remove the line");
            if is_same {
                finding.severity(Severity::Info);
                finding.fix("remove the line", [without(document, entry)]);
            } else {
                finding.note("an edit of this line changes nothing on the node");
            }
            if text.form == KubeletForm::DropIn {
                finding
                    .severity(Severity::Warning)
                    .note("drop-ins are decoded strictly: the kubelet can refuse the file, and then does not start");
            }
        }
    }
}

/// The texts of a value, in order.
fn meaning(entry: &Entry) -> Option<Vec<(&str, bool)>> {
    let items = entry.value.as_sequence();
    let items = items.unwrap_or(std::slice::from_ref(&entry.value));
    let texts = items.iter().map(|it| {
        let scalar = it.as_scalar()?;
        Some((scalar.text.as_str(), it.is_null()))
    });
    texts.collect()
}

/// Takes the lines of an entry away, if there is nothing else on them.
fn without(document: &Document, entry: &Entry) -> Option<Change> {
    let bytes = &document.source.bytes;
    let (start, end) = (entry.key.span.start as usize, entry.value.span.end as usize);
    let before = bytes.get(..start)?;
    let line_start = before
        .iter()
        .rposition(|&it| it == b'\n')
        .map_or(0, |it| it + 1);
    let indent = bytes.get(line_start..start)?;
    let rest = bytes.get(end..)?;
    let rest = rest.split(|&it| it == b'\n').next().unwrap_or_default();
    let rest = rest.trim_ascii();
    let rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii();
    let is_alone =
        indent.iter().all(|&it| it == b' ') && (rest.is_empty() || rest.starts_with(b"#"));
    // Several lines are more than one change.
    let is_one_line = !bytes.get(start..end)?.contains(&b'\n');
    let line = Span::new(start, start);
    (is_alone && is_one_line)
        .then(|| document.without_line(line))
        .flatten()
}
