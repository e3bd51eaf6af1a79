//! What is wrong, where, and what to write instead: the value that every
//! format of findings is made from.
//!
//! A finding has its places as people count them and the lines it shows, so
//! that no file need be at hand to print it.

use crate::text::{BYTE_ORDER_MARK, LineIndex, Place, Position, Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Breaks in some situations.
    Warning,
    /// Broken now, or at the next start.
    Error,
}

/// Something that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The code of its rule: `KR001`.
    pub code: &'static str,
    /// The name of its rule: `loopback-nameserver`.
    pub name: &'static str,
    /// How bad it is, here.
    pub severity: Severity,
    /// What is wrong, the problem first; one line, safe to print, without a
    /// full stop.
    pub message: String,
    /// Where it is.
    pub primary: Label,
    /// What else has to do with it, in any file.
    pub secondary: Vec<Label>,
    /// The exact text to write, or what to do; safe to print.
    pub help: Option<String>,
    /// What breaks and when; one line each, safe to print.
    pub notes: Vec<String>,
    /// The one safe fix, if there is one.
    pub fix: Option<Fix>,
}

/// A range of a file, with words for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Label {
    /// The file's name, safe to print.
    pub file: String,
    /// The bytes.
    pub span: Span,
    /// Where the first byte stands. Line 0: the file as a whole.
    pub start: Position,
    /// Where the byte after the last one stands.
    pub end: Position,
    /// The lines that the range touches, at most [`MAX_EXCERPT_LINES`]; of a
    /// long line what stands around the range, with `…` for the rest.
    pub excerpt: String,
    /// The column of the excerpt's first character.
    pub excerpt_column: usize,
    /// What is said about it; can be empty. One line, safe to print.
    pub text: String,
}

/// More lines of one range are not shown.
pub const MAX_EXCERPT_LINES: usize = 4;
/// So many bytes of a line are shown.
const MAX_EXCERPT_BYTES: usize = 110;
/// So many of them before the range.
const BYTES_BEFORE: usize = 40;

/// A change that fixes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fix {
    /// What it does, as a command: `write the uplink file`.
    pub title: String,
    /// The changes, none of them over another one; never empty.
    pub edits: Vec<Edit>,
    /// Whether it cannot change what works: otherwise it depends on a file or a
    /// version that was not seen, or makes something count that did not.
    pub is_safe: bool,
}

/// Bytes of a file in place of others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    /// The file's name.
    pub file: String,
    /// What is replaced; empty: it is inserted there.
    pub span: Span,
    /// Where its first byte stands.
    pub start: Position,
    /// Where the byte after its last one stands.
    pub end: Position,
    /// What stands there afterwards.
    pub text: String,
}

impl Severity {
    /// An error if that is so, else a warning.
    pub const fn error_if(is_error: bool) -> Self {
        if is_error { Self::Error } else { Self::Warning }
    }

    /// The word for it in every format: `error`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Label {
    /// Where it begins.
    pub fn place(&self) -> Place {
        Place::new(self.file.clone(), self.start.line, self.start.column)
    }

    /// The label of a range of `source`, whose lines are `lines`.
    pub fn spanning(source: &Source, lines: &LineIndex, span: Span, text: String) -> Self {
        let bytes = &source.bytes;
        let (start, end) = positions(source, lines, span);
        let (excerpt, cut) = excerpt(bytes, lines, span.start, start, end);
        let excerpt_column = match cut {
            Some(offset) => lines.position(bytes, offset).column,
            None => 1,
        };
        Self {
            file: source.name.clone(),
            span,
            start,
            end,
            excerpt,
            excerpt_column,
            text,
        }
    }

    /// The label of a place whose file is not at hand.
    pub fn at(place: &Place, text: String) -> Self {
        let at = Position {
            line: place.line,
            column: place.column,
        };
        Self {
            file: place.file.clone(),
            span: Span::default(),
            start: at,
            end: at,
            excerpt: String::new(),
            excerpt_column: 1,
            text,
        }
    }

    /// Where excerpts of the same file can be told apart: file, line, column.
    pub fn order(&self) -> (&str, usize, usize) {
        (&self.file, self.start.line, self.start.column)
    }

    /// The last line that the range touches: one that ends with its newline
    /// does not touch the next line.
    pub fn last_line(&self) -> usize {
        last_line(self.start, self.end)
    }
}

/// Where a range of a file begins and ends.
pub fn positions(source: &Source, lines: &LineIndex, span: Span) -> (Position, Position) {
    let at = |offset| lines.position(&source.bytes, offset);
    (at(span.start), at(span.end))
}

fn last_line(start: Position, end: Position) -> usize {
    let is_line_end = end.column == 1 && end.line > start.line;
    end.line - usize::from(is_line_end)
}

/// The lines under a range, and where the first one is cut at its beginning.
fn excerpt(
    bytes: &[u8],
    lines: &LineIndex,
    offset: u32,
    start: Position,
    end: Position,
) -> (String, Option<u32>) {
    let mut text = String::new();
    let mut cut = None;
    let last = last_line(start, end).min(start.line + MAX_EXCERPT_LINES - 1);
    for number in start.line..=last {
        let line = lines.line(bytes, number);
        let (from, to) = if number == start.line {
            window(bytes, line, offset)
        } else {
            window(bytes, line, line.start)
        };
        let shown = Span {
            start: from,
            end: to,
        }
        .slice(bytes);
        let shown = match number {
            1 => shown.strip_prefix(BYTE_ORDER_MARK).unwrap_or(shown),
            _ => shown,
        };
        let shown = String::from_utf8_lossy(shown);
        if number > start.line {
            text.push('\n');
        }
        if from > line.start {
            cut = Some(from);
            text.push('…');
            text.extend(shown.chars().skip(1));
        } else {
            text.push_str(&shown);
        }
        if to < line.end {
            text.push('…');
        }
    }
    text.truncate(text.trim_end().len());
    (text, cut)
}

/// What is shown of a line if `offset` is to be seen.
fn window(bytes: &[u8], line: Span, offset: u32) -> (u32, u32) {
    if line.len() <= MAX_EXCERPT_BYTES {
        return (line.start, line.end);
    }
    // Characters stay whole.
    let back = |at: usize| {
        let before = bytes.get(..=at).unwrap_or(bytes);
        let first = before.iter().rposition(|byte| byte & 0xc0 != 0x80);
        first.unwrap_or(at)
    };
    let (start, end) = (line.start as usize, line.end as usize);
    let from = (offset as usize).saturating_sub(BYTES_BEFORE);
    let from = if from > start {
        back(from).max(start)
    } else {
        start
    };
    let to = from + MAX_EXCERPT_BYTES;
    let to = if to < end { back(to).max(from) } else { end };
    let span = Span::new(from, to);
    (span.start, span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, span: (usize, usize), excerpt: &str, column: usize) {
        let source = Source::new("f", text);
        let lines = LineIndex::new(&source.bytes);
        let label = Label::spanning(&source, &lines, Span::new(span.0, span.1), String::new());
        assert_eq!(
            (label.excerpt.as_str(), label.excerpt_column),
            (excerpt, column),
            "{text:.80}"
        );
    }

    #[test]
    fn excerpts_are_the_lines_that_a_range_touches() {
        check("", (0, 0), "", 1);
        check("a\nbcd\ne\n", (3, 4), "bcd", 1);
        check("a\r\nbcd\r\ne", (3, 4), "bcd", 1);
        check("a\nbcd\ne\n", (2, 6), "bcd", 1);
        check("a\nb\nc\nd\ne\nf\n", (0, 11), "a\nb\nc\nd", 1);
        check("\u{feff}a: b\n", (3, 4), "a: b", 1);
        check("a\n", (2, 2), "", 1);
        check("a\n", (9, 12), "", 1);
    }

    #[test]
    fn of_long_lines_little_is_shown() {
        let long = "é".repeat(500_000);
        let text = format!("{long}word{long}\nnext");
        let at = long.len();
        let before = format!("…{}word", "é".repeat(19));
        let shown = format!("{before}{}…", "é".repeat(33));
        check(&text, (at, at + 4), &shown, 500_000 - 19);
        let shown = format!("{}…", "é".repeat(55));
        check(&text, (0, at), &shown, 1);
        let end = text.len() - 5;
        let shown = format!("…{}", "é".repeat(19));
        check(&text, (end, end), &shown, 1_000_005 - 20);
    }

    #[test]
    fn no_bytes_are_too_odd() {
        let bytes = [vec![0x80; 400], b"\n\xff\xfe".to_vec(), vec![0xe2; 400]].concat();
        let source = Source::new("f", bytes);
        let lines = LineIndex::new(&source.bytes);
        for start in (0..805).step_by(7) {
            for end in [start, start + 1, start + 300] {
                let label = Label::spanning(&source, &lines, Span::new(start, end), String::new());
                assert!(label.excerpt.chars().count() < 2000, "{start} {end}");
            }
        }
    }
}
