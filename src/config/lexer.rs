//! Blanks, comments and quotes, as named, nginx and unbound have them in common.

use crate::text::{Source, Span};

/// A file that is read from its beginning to its end.
pub(super) struct Lexer<'c> {
    pub(super) bytes: &'c [u8],
    pub(super) at: usize,
    /// Whether `//` and `/* … */` are comments, as `#` is.
    has_c_comments: bool,
}

impl<'c> Lexer<'c> {
    pub(super) fn new(source: &'c Source, has_c_comments: bool) -> Self {
        Self {
            bytes: &source.bytes,
            at: 0,
            has_c_comments,
        }
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The first byte behind blanks and comments, and all from there on.
    pub(super) fn next(&mut self) -> Option<(u8, &'c [u8])> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            self.at += match rest {
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [b'#', ..] => line(rest),
                [b'/', b'/', ..] if self.has_c_comments => line(rest),
                [b'/', b'*', inside @ ..] if self.has_c_comments => {
                    let end = inside.windows(2).position(|two| two == b"*/");
                    end.map_or(rest.len(), |end| end + 4)
                }
                _ => return Some((*rest.first()?, rest)),
            };
        }
    }

    /// Takes so many bytes.
    pub(super) fn word(&mut self, length: usize) -> Span {
        let start = self.at;
        self.at += length;
        Span::new(start, self.at)
    }

    /// Takes so many bytes behind a quote, and the quote behind them; `None`: all that
    /// there are.
    pub(super) fn quoted(&mut self, length: Option<usize>) -> Span {
        let start = self.at + 1;
        let end = length.map_or(self.bytes.len(), |it| start + it);
        self.at = (end + 1).min(self.bytes.len());
        Span::new(start, end)
    }
}

/// The length of what is left of a line.
fn line(rest: &[u8]) -> usize {
    memchr::memchr(b'\n', rest).unwrap_or(rest.len())
}
