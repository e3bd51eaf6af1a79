//! Rules of a chain.

use serde_json::json;

use super::statement::statements;
use super::words::{depth, split};
use crate::rules::nft::rule::{is_six, of_statements};
use crate::rules::rule::Rule;
use crate::rules::table::Table;
use crate::rules::{Backend, View};
use crate::text::escaped;

/// nftables 1.0.6 leaves out targets that it cannot translate, and writes nothing
/// in their place: seen of DNAT and MASQUERADE where tables of both families are
/// listed. iptables-nft counts before its target.
const HOLLOW: &str = "a target that nft does not show";

/// The rules among the lines of a view, all of which are of one chain.
pub(in crate::rules::nft) fn rules(bytes: &[u8], view: View, table: &Table) -> Vec<Rule> {
    let mut rules = Vec::new();
    let (mut start, mut end, mut line) = (0, 0, 0);
    let (mut first, mut open) = (0, 0);
    for piece in bytes.split_inclusive(|it| *it == b'\n') {
        end += piece.len();
        line += 1;
        open += depth(&String::from_utf8_lossy(piece));
        if open > 0 {
            // Its braces end on another line.
            continue;
        }
        let view = View {
            start: view.start + start as u64,
            end: view.start + end as u64,
            line: view.line + first,
            ..view
        };
        let text = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
        rules.extend(rule(&text, view, table));
        (start, first, open) = (end, line, 0);
    }
    rules
}

/// A rule; `None`: it is a line of another kind.
fn rule(text: &str, view: View, table: &Table) -> Option<Rule> {
    let words = split(undressed(text));
    if words.is_empty() || is_of_chain(&words) {
        return None;
    }
    let is_six = is_six(table);
    let (mut statements, comment) = statements(&words, is_six);
    let ends_counting = statements
        .last()
        .is_some_and(|it| it.get("counter").is_some());
    if ends_counting && table.backend == Backend::Iptables {
        statements.push(json!({ "unknown target": HOLLOW }));
    }
    Some(of_statements(
        &statements,
        view,
        is_six,
        comment.map(Into::into),
    ))
}

/// Whether a line is one of the chain itself: where it hangs, its policy, its
/// comment, its end.
pub(super) fn is_of_chain(words: &[&str]) -> bool {
    match words {
        ["type", _, "hook", ..] | ["policy", _, ..] | ["comment", _] => true,
        all => all.iter().all(|it| ["}", ";"].contains(it)),
    }
}

/// A line without what a paste puts in front of it.
pub(super) fn undressed(line: &str) -> &str {
    line.trim().trim_start_matches(['>', '|']).trim_start()
}

/// A rule as it is written, in one line, without its handle.
pub(in crate::rules::nft) fn shown(text: &str) -> String {
    escaped(
        split(undressed(text))
            .join(" ")
            .replace(" ,", ",")
            .as_bytes(),
    )
}
