//! From lines to reports: one a line, or one over many lines, with or without
//! the words that `kubectl logs --prefix` and collectors put before them.

use super::record::{self, Found, MAX_RECORD, Wrong};
use super::{Merge, Where};
use crate::text::escaped;

/// How often a text may be wrapped in another one.
const MAX_ENVELOPES: u8 = 3;

/// Where no report comes in so many bytes, no other one is waited for: it is a file
/// without an end, or of something else.
pub const MAX_BARREN: u64 = 1 << 30;

/// The lines of one file.
#[derive(Debug)]
pub struct Stream<'m> {
    merge: &'m mut Merge,
    /// Safe to print.
    file: String,
    /// Of the line before, from 1.
    line: u64,
    open: Option<Open>,
    /// Bytes since the last report.
    barren: u64,
}

/// A document over many lines that is not yet complete.
#[derive(Debug)]
struct Open {
    /// The line of its first brace.
    line: u64,
    /// What stands before every one of its lines.
    prefix: Vec<u8>,
    text: Vec<u8>,
    balance: Balance,
}

/// Braces of a JSON text.
#[derive(Clone, Copy, Debug, Default)]
struct Balance {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl<'m> Stream<'m> {
    /// A file that nothing was read of; `file` is safe to print.
    pub fn new(merge: &'m mut Merge, file: String) -> Self {
        Self {
            merge,
            file,
            line: 0,
            open: None,
            barren: 0,
        }
    }

    /// The file's name, safe to print.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Why no more of it is to be read, as a sentence without a full stop.
    pub fn is_over(&self) -> Option<String> {
        let file = &self.file;
        (self.barren > MAX_BARREN).then(|| {
            let gibibytes = MAX_BARREN >> 30;
            format!("{file} has no report in {gibibytes} GiB: its rest was not read")
        })
    }

    /// Takes the next line, with or without its end.
    pub fn line(&mut self, line: &[u8]) {
        self.line += 1;
        self.barren += line.len() as u64;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if self.line == 1 => rest,
            _ => line,
        };
        if let Some(open) = self.open.take() {
            match line.strip_prefix(open.prefix.as_slice()) {
                // The next one begins: inside of a report braces are indented.
                Some(rest) if rest.starts_with(b"{") => self.never_ends(&open),
                Some(rest) => return self.go_on(open, rest),
                None => self.never_ends(&open),
            }
        }
        self.first(line, 0);
    }

    /// Takes notice of a line that is longer than any report, and of which so many
    /// bytes were read.
    pub fn long_line(&mut self, length: u64) {
        self.line += 1;
        self.barren += length;
        if let Some(open) = self.open.take() {
            self.never_ends(&open);
        }
        if self.is_over().is_none() {
            self.fail(self.line, None, &too_long("this line"));
        }
    }

    /// Takes notice of the end, or of what keeps the rest from being read.
    pub fn end(mut self, failure: Option<String>) {
        if let Some(open) = self.open.take() {
            self.never_ends(&open);
        }
        if let Some(message) = failure {
            let at = Where {
                file: self.file.clone(),
                line: None,
                column: None,
            };
            self.merge.fail(at, message);
        }
    }

    fn first(&mut self, line: &[u8], envelopes: u8) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(start) = line.iter().position(|&byte| byte == b'{') else {
            return self.pass_over(self.line);
        };
        let (prefix, text) = line.split_at_checked(start).unwrap_or_default();
        if text.trim_ascii_end() == b"{" {
            self.open = Some(Open {
                line: self.line,
                prefix: prefix.to_vec(),
                text: b"{\n".to_vec(),
                balance: Balance::default().after(text),
            });
            return;
        }
        self.document(text, self.line, start, envelopes);
    }

    fn go_on(&mut self, mut open: Open, line: &[u8]) {
        open.text.extend_from_slice(line);
        open.text.push(b'\n');
        open.balance = open.balance.after(line);
        if open.text.len() > MAX_RECORD {
            self.fail(open.line, None, &too_long("the document that begins here"));
        } else if open.balance.depth == 0 {
            let text = open.text.trim_ascii_end();
            // As in an array of reports.
            let text = text.strip_suffix(b",").unwrap_or(text);
            self.document(text, open.line, open.prefix.len(), 0);
        } else {
            self.open = Some(open);
        }
    }

    /// A JSON text that begins in that line, behind `start` bytes.
    fn document(&mut self, text: &[u8], line: u64, start: usize, envelopes: u8) {
        match record::parse_record(text) {
            Ok(Found::Report(report)) => {
                self.barren = 0;
                let at = self.place(line, None);
                self.merge.add(*report, &at);
            }
            Ok(Found::Logs(report)) => {
                self.barren = 0;
                self.merge.logs.add(*report);
            }
            Ok(Found::Enveloped(inner)) if envelopes < MAX_ENVELOPES => {
                self.enveloped(&inner, line, envelopes + 1);
            }
            Ok(Found::Other | Found::Enveloped(_)) => self.pass_over(line),
            Err(Wrong { at, message }) => {
                let (line, column) = match at {
                    _ if envelopes > 0 => (line, None),
                    Some((inner, column)) => {
                        let first = u64::try_from(inner).unwrap_or(1);
                        (line + first.saturating_sub(1), Some(start + column))
                    }
                    None => (line, None),
                };
                self.fail(line, column, &format!("what stands here {message}"));
            }
        }
    }

    fn enveloped(&mut self, text: &str, line: u64, envelopes: u8) {
        let mut lines = text.lines();
        if text.trim_end() != "{" && lines.next().is_some_and(|it| it.trim() == "{") {
            return self.document(text.as_bytes(), line, 0, envelopes);
        }
        for line in text.lines() {
            self.first(line.as_bytes(), envelopes);
            // A collector that took a document apart, line by line.
            if let Some(open) = self.open.take() {
                self.never_ends(&open);
            }
        }
    }

    fn never_ends(&mut self, open: &Open) {
        let is_report = if open.text.trim_ascii() == b"{" {
            is_of_logs(&open.prefix)
        } else {
            record::resembles(&open.text)
        };
        if !is_report {
            return self.pass_over(open.line);
        }
        let message = "the report that begins here does not end; where lines of several pods \
                       are mixed, let check-loop write --format jsonl";
        self.fail(open.line, None, message);
    }

    fn pass_over(&mut self, line: u64) {
        let at = self.place(line, None);
        self.merge.pass_over(&at);
    }

    fn fail(&mut self, line: u64, column: Option<usize>, message: &str) {
        let at = self.place(line, column);
        self.merge.fail(at, escaped(message.as_bytes()));
    }

    fn place(&self, line: u64, column: Option<usize>) -> Where {
        Where {
            file: self.file.clone(),
            line: Some(line),
            column,
        }
    }
}

/// Whether this stands before the lines of any program: nothing, a name or time
/// of `kubectl logs`, the mark of a runtime. Otherwise a brace behind it is the
/// program's own.
fn is_of_logs(prefix: &[u8]) -> bool {
    matches!(prefix.trim_ascii().last(), None | Some(b']' | b'Z' | b'F'))
}

fn too_long(what: &str) -> String {
    format!("{what} is longer than {MAX_RECORD} bytes, which no report is: it was left out")
}

impl Balance {
    fn after(mut self, text: &[u8]) -> Self {
        for &byte in text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                b'{' if !self.is_in_string => self.depth += 1,
                b'}' if !self.is_in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self
    }
}
