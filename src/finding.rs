//! What is wrong, where, and what to write instead: the value that every
//! format of findings is made from.
//!
//! A finding has its places as people count them and the lines it shows, so
//! that no file need be at hand to print it.

use crate::text::{Position, Source, Span};

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
    /// The one safe mend, if there is one.
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
    /// The lines that the range touches, at most [`MAX_EXCERPT_LINES`].
    pub excerpt: String,
    /// What is said about it; can be empty. One line, safe to print.
    pub text: String,
}

/// More lines of one range are not shown.
pub const MAX_EXCERPT_LINES: usize = 4;

/// A change that mends it and changes nothing else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fix {
    /// What it does, as a command: `write the uplink file`.
    pub title: String,
    /// The changes, none of them over another one; never empty.
    pub edits: Vec<Edit>,
}

/// Bytes of a file in place of others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edit {
    /// The file's name.
    pub file: String,
    /// What is replaced; empty: it is inserted there.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

impl Severity {
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
    /// The label of a range of `source`.
    pub fn of(source: &Source, span: Span, text: String) -> Self {
        let (start, end) = (source.position(span.start), source.position(span.end));
        Self {
            file: source.name.clone(),
            span,
            start,
            end,
            excerpt: excerpt(&source.bytes, span),
            text,
        }
    }

    /// Where excerpts of the same file can be told apart: file, line, column.
    pub fn order(&self) -> (&str, usize, usize) {
        (&self.file, self.start.line, self.start.column)
    }
}

/// The whole lines under a span.
fn excerpt(bytes: &[u8], span: Span) -> String {
    let start = (span.start as usize).min(bytes.len());
    let end = (span.end as usize).clamp(start, bytes.len());
    let before = bytes.get(..start).unwrap_or_default();
    let first = before.iter().rposition(|&byte| byte == b'\n');
    let first = first.map_or(0, |newline| newline + 1);
    let behind = bytes.get(end..).unwrap_or_default();
    // A range that ends with its newline does not touch the next line.
    let is_line_end = end > start && bytes.get(end - 1) == Some(&b'\n');
    let rest = behind.iter().position(|&byte| byte == b'\n');
    let last = match (is_line_end, rest) {
        (true, _) => end,
        (false, rest) => end + rest.unwrap_or(behind.len()),
    };
    let text = bytes.get(first..last).unwrap_or_default();
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    let shown: Vec<u8> = lines.take(MAX_EXCERPT_LINES).flatten().copied().collect();
    String::from_utf8_lossy(shown.trim_ascii_end()).into_owned()
}
