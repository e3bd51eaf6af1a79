//! Changes of files: which fixes can be made together, and what a file is
//! afterwards.

use std::collections::BTreeMap;

use crate::finding::{Edit, Finding};
use crate::order::Order as _;

/// The edits of each file from the fixes of findings, those that are not safe
/// only `with_unsafe`, in the order of their places. A fix that touches what an earlier one changes waits for the next
/// round; of a fix either all edits are made or none.
pub fn edits(findings: &[Finding], with_unsafe: bool) -> BTreeMap<String, Vec<Edit>> {
    let mut chosen: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    let fixes = findings.iter().filter_map(|it| it.fix.as_ref());
    for fix in fixes.filter(|it| it.is_safe || with_unsafe) {
        let is_free = |edit: &Edit| {
            let others = chosen.get(&edit.file);
            others.is_none_or(|others| others.iter().all(|other| is_apart(edit, other)))
        };
        if fix.edits.iter().all(is_free) {
            for edit in &fix.edits {
                chosen
                    .entry(edit.file.clone())
                    .or_default()
                    .push(edit.clone());
            }
        }
    }
    for edits in chosen.values_mut() {
        edits.order_by_key(|it| it.span);
    }
    chosen
}

/// Two insertions at one place are not apart: nothing says which comes first.
fn is_apart(one: &Edit, other: &Edit) -> bool {
    let (one, other) = (one.span, other.span);
    let is_same_place = one.start == other.start;
    !is_same_place && (one.end <= other.start || other.end <= one.start)
}

/// A file after its edits, which are in order and apart. `None`: one lies
/// outside of it.
pub fn applied(bytes: &[u8], edits: &[Edit]) -> Option<Vec<u8>> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in edits {
        result.extend_from_slice(bytes.get(at..edit.span.start as usize)?);
        result.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end as usize;
    }
    result.extend_from_slice(bytes.get(at..)?);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Position, Span};

    fn edit(start: usize, end: usize, text: &str) -> Edit {
        Edit {
            file: "f".to_owned(),
            span: Span::new(start, end),
            start: Position::default(),
            end: Position::default(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn edits_are_made_where_they_stand() {
        let check = |edits: &[Edit], expected: Option<&str>| {
            let result = applied(b"abcdef", edits);
            assert_eq!(result.as_deref(), expected.map(str::as_bytes), "{edits:?}");
        };
        check(&[], Some("abcdef"));
        check(&[edit(1, 2, "X"), edit(4, 4, "Y")], Some("aXcdYef"));
        check(&[edit(0, 6, "")], Some(""));
        check(&[edit(5, 7, "")], None);
        check(&[edit(2, 4, ""), edit(1, 3, "")], None);
    }

    #[test]
    fn what_touches_is_not_apart() {
        for (one, other, expected) in [
            (edit(0, 2, ""), edit(2, 4, ""), true),
            (edit(0, 3, ""), edit(2, 4, ""), false),
            (edit(2, 2, ""), edit(2, 2, ""), false),
            (edit(2, 2, ""), edit(2, 4, ""), false),
            (edit(1, 1, ""), edit(2, 4, ""), true),
        ] {
            assert_eq!(is_apart(&one, &other), expected, "{one:?} {other:?}");
            assert_eq!(is_apart(&other, &one), expected, "{one:?} {other:?}");
        }
    }
}
