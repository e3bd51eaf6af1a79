//! Why a document is not read that has two versions of some lines.

use super::Embedded;
use crate::config::yaml;
use crate::text::{Span, merge_conflict};

/// Why a file is not read that has two versions of some lines.
pub(super) const MERGE: &str = "it has merge conflict markers";

/// Where and why a document that begins at `start` could not be read: a conflict, where its
/// mark stands at or before the place.
pub(super) fn refusal(error: yaml::YamlError, start: u32, text: &Embedded) -> (Span, String) {
    let document = text.source.bytes.get(start as usize..);
    let mark = document.and_then(merge_conflict).map(|it| Span {
        start: start + it.start,
        end: start + it.end,
    });
    match mark.filter(|it| it.start <= error.at) {
        Some(mark) => (mark, MERGE.to_owned()),
        None => {
            let (start, end) = (error.at, error.at);
            (Span { start, end }, error.message)
        }
    }
}
