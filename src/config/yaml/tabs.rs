//! Tabs, of which Go's decoder takes some and refuses others.
//!
//! Source: go-yaml `v2/scannerc.go: yaml_parser_scan_to_next_token`: a tab
//! parts a key from its value, and never begins a line outside of brackets,
//! quotes and blocks.

use crate::config::yaml::{Node, Style, Value, YamlError};
use crate::text::{self, Span};

/// Puts blanks in place of the tabs behind keys, from `start` on, which the
/// parser does not take. Whether there were any.
pub(super) fn take_away(text: &mut String, start: usize) -> bool {
    let Some((before, rest)) = text.split_at_checked(start) else {
        return false;
    };
    let mut fixed = String::with_capacity(text.len());
    fixed.push_str(before);
    for line in rest.split_inclusive('\n') {
        let value = after_key(line).unwrap_or(line.len());
        let (key, value) = line.split_at_checked(value).unwrap_or((line, ""));
        let content = value.trim_start_matches(['\t', ' ']);
        fixed.push_str(key);
        fixed.extend(std::iter::repeat_n(' ', value.len() - content.len()));
        fixed.push_str(content);
    }
    let is_changed = fixed != *text;
    *text = fixed;
    is_changed
}

/// Where what follows a key and a tab begins; `None`: the line has no such
/// key.
fn after_key(line: &str) -> Option<usize> {
    let colon = line.find(":\t")?;
    let key = line.get(..colon)?.trim_start_matches(['-', ' ']);
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._/-\"'<".contains(it);
    key.chars().all(is_plain).then_some(colon + 1)
}

/// The first tab of a document where none may stand: at the beginning of a
/// line, or behind the dash of a list.
pub(super) fn misplaced(bytes: &[u8], start: u32, root: &Node) -> Option<YamlError> {
    let (start, end) = (start as usize, root.span.end as usize);
    let line = bytes.get(..start)?.iter().rposition(|&byte| byte == b'\n');
    let start = line.map_or(0, |newline| newline + 1);
    let text = bytes.get(start..end)?;
    memchr::memchr(b'\t', text)?;
    let mut covered = Vec::new();
    cover(bytes, root, &mut covered);
    // What an alias repeats stands before it.
    covered.sort_by_key(|it| it.start);
    let mut at = start;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
        let tab = Span::new(at + blanks, at + blanks + 1);
        let is_first = line.get(blanks) == Some(&b'\t');
        let is_content = line.iter().any(|byte| !byte.is_ascii_whitespace());
        // A line of blanks before the tab goes on with a plain text.
        if is_first && (is_content || blanks == 0) && !is_covered(tab.start, &covered) {
            return Some(YamlError {
                at: tab.start,
                message: "a tab cannot begin a line here: YAML takes blanks only".to_owned(),
            });
        }
        let tab = behind_dash(line).map(|tab| text::offset(at + tab));
        let is_bad = |at: &u32| !is_covered(*at, &covered) && !is_in_text(root, *at);
        if let Some(at) = tab.filter(is_bad) {
            return Some(YamlError {
                at,
                message: "a tab cannot stand behind a dash: YAML takes blanks only".to_owned(),
            });
        }
        at += line.len();
    }
    None
}

/// Where a tab stands behind the dashes that a line begins with.
fn behind_dash(line: &[u8]) -> Option<usize> {
    let mut rest = line.trim_ascii_start();
    loop {
        rest = rest.strip_prefix(b"-")?;
        let blanks = rest.iter().take_while(|&&byte| byte == b' ').count();
        if rest.get(blanks) == Some(&b'\t') {
            return Some(line.len() - rest.len() + blanks);
        }
        rest = rest.get(blanks..).filter(|_| blanks > 0)?;
    }
}

/// Whether a place is inside a scalar.
fn is_in_text(node: &Node, at: u32) -> bool {
    match &node.value {
        Value::Scalar(_) => (node.span.start..node.span.end).contains(&at),
        Value::Sequence(items) => items.iter().any(|it| is_in_text(it, at)),
        Value::Mapping(entries) => entries
            .iter()
            .any(|it| is_in_text(&it.key, at) || is_in_text(&it.value, at)),
    }
}

/// The values in which tabs are content or blanks: blocks, texts in quotes,
/// brackets; in order.
fn cover(bytes: &[u8], node: &Node, covered: &mut Vec<Span>) {
    let is_bracket = matches!(bytes.get(node.span.start as usize), Some(b'{' | b'['));
    match &node.value {
        Value::Scalar(scalar) if scalar.style != Style::Plain => covered.push(node.span),
        Value::Scalar(_) => {}
        Value::Sequence(_) | Value::Mapping(_) if is_bracket => covered.push(node.span),
        Value::Sequence(items) => items.iter().for_each(|it| cover(bytes, it, covered)),
        Value::Mapping(entries) => {
            for entry in entries {
                cover(bytes, &entry.key, covered);
                cover(bytes, &entry.value, covered);
            }
        }
    }
}

fn is_covered(at: u32, covered: &[Span]) -> bool {
    let before = covered.partition_point(|it| it.start <= at);
    let last = before.checked_sub(1).and_then(|it| covered.get(it));
    last.is_some_and(|it| at < it.end)
}
