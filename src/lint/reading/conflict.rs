//! Why a document is not read that has two versions of some lines.

use crate::config::yaml;
use crate::text::Span;

/// Why a file is not read that has two versions of some lines.
pub(super) const MERGE: &str = "it has merge conflict markers";

/// Where and why a document that begins at `start` could not be read: one of the conflicts of
/// the text, where its mark stands at or before the place.
pub(super) fn refusal(error: yaml::YamlError, start: u32, conflicts: &[Span]) -> (Span, String) {
    let first = conflicts.partition_point(|it| it.start < start);
    let mark = conflicts.get(first).filter(|it| it.start <= error.at);
    match mark {
        Some(mark) => (*mark, MERGE.to_owned()),
        None => {
            let (start, end) = (error.at, error.at);
            (Span { start, end }, error.message)
        }
    }
}
