//! The syntax of `resolv.conf`: lines and words, with their places.
//!
//! Nothing here knows what a keyword means, or even what a comment is: which
//! lines and words count depends on the resolver that reads them, see
//! [`crate::resolver`]. Every byte of the file is in exactly one line.
//!
//! Format: `resolv.conf(5)`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::made::Made;
use crate::text::{self, Place, Position, Source, Span};

/// A parsed `resolv.conf`. Any bytes make one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResolvConf {
    /// The file as it was read.
    pub source: Source,
    /// Without their `\n`.
    lines: Vec<Span>,
    last: Last,
    /// What was made of it.
    pub made: Made,
}

/// The offset whose column was counted last, and that column: the next one is
/// often behind it on the same line, and lines can be long.
/// Both in one number, so that threads can share a file.
#[derive(Debug, Default)]
struct Last(AtomicU64);

impl Last {
    /// Column 0: nothing was counted yet.
    fn get(&self) -> (usize, usize) {
        let both = self.0.load(Ordering::Relaxed);
        let half = |number: u64| usize::try_from(number & u64::from(u32::MAX)).unwrap_or(0);
        (half(both >> 32), half(both))
    }

    fn set(&self, offset: usize, column: usize) {
        let both = Span::new(offset, column);
        let both = u64::from(both.start) << 32 | u64::from(both.end);
        self.0.store(both, Ordering::Relaxed);
    }
}

impl Clone for Last {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

impl Eq for Last {}

/// It changes nothing.
impl PartialEq for Last {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A line and its words.
#[derive(Clone, Copy, Debug)]
pub struct Line<'c> {
    conf: &'c ResolvConf,
    span: Span,
}

/// A word: bytes without white space, and where they stand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Word<'c> {
    /// The bytes, any but space, TAB, CR, VT, FF and LF.
    pub bytes: &'c [u8],
    /// Where they stand.
    pub span: Span,
}

impl ResolvConf {
    /// Finds the lines of `source`. Total: any bytes give a result.
    pub fn parse(source: Source) -> Self {
        let bytes = source.bytes.as_slice();
        let newlines = || memchr::memchr_iter(b'\n', bytes);
        let mut lines = Vec::with_capacity(1 + newlines().count());
        let mut start = 0;
        for end in newlines() {
            lines.push(Span::new(start, end));
            start = end + 1;
        }
        if start < bytes.len() {
            lines.push(Span::new(start, bytes.len()));
        }
        Self {
            source,
            lines,
            last: Last::default(),
            made: Made::default(),
        }
    }

    /// The lines, in file order, empty ones included. A final newline does
    /// not begin another line.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = Line<'_>> {
        self.lines.iter().map(|&span| Line { conf: self, span })
    }

    /// The line with the byte at `offset`, and its number, from 1.
    pub fn line_at(&self, offset: usize) -> Option<(usize, Line<'_>)> {
        let before = self.lines.partition_point(|it| (it.end as usize) < offset);
        let span = *self.lines.get(before)?;
        Some((before + 1, Line { conf: self, span }))
    }

    /// Line and column of the byte at `offset`, as [`Source::position`] says.
    pub fn position(&self, offset: u32) -> Position {
        let offset = (offset as usize).min(self.source.bytes.len());
        let line = self
            .lines
            .partition_point(|line| (line.end as usize) < offset);
        let start = match self.lines.get(line) {
            Some(line) => line.start as usize,
            // Behind the final newline, or an empty file.
            None => offset,
        };
        let characters = |from: usize, to: usize| {
            let between = self.source.bytes.get(from..to).unwrap_or_default();
            String::from_utf8_lossy(between).chars().count()
        };
        // Counting can begin between two characters only: before a byte that
        // goes on with none.
        let inside = self.source.bytes.get(start..=offset).unwrap_or_default();
        let begin = inside.iter().rposition(|byte| byte & 0xc0 != 0x80);
        let begin = begin.map_or(offset, |at| start + at);
        let (known, column) = self.last.get();
        let (from, before) = if column > 0 && (start..=begin).contains(&known) {
            (known, column)
        } else {
            (start, 1)
        };
        let column = before + characters(from, begin);
        self.last.set(begin, column);
        let column = column + characters(begin, offset);
        let is_behind_mark = text::is_behind_mark(&self.source.bytes, start, offset);
        Position {
            line: line + 1,
            column: column - usize::from(is_behind_mark),
        }
    }

    /// `NAME:LINE:COLUMN` of the byte at `offset`.
    pub fn place(&self, offset: u32) -> String {
        let at = self.position(offset);
        format!("{}:{}:{}", self.source.name, at.line, at.column)
    }

    /// The place of the byte at `offset`.
    pub fn place_of(&self, offset: u32) -> Place {
        let at = self.position(offset);
        Place::new(self.source.name.clone(), at.line, at.column)
    }

    /// The bytes under `span`.
    pub fn bytes(&self, span: Span) -> &[u8] {
        span.slice(&self.source.bytes)
    }
}

/// Whether a byte is one of `set`, which are ASCII: a test of one bit.
pub fn is_one_of(set: &[u8]) -> impl Fn(&u8) -> bool + Clone + use<> {
    let bit = |byte: u8| 1_u128.checked_shl(byte.into()).unwrap_or(0);
    let set = set.iter().fold(0, |set, &byte| set | bit(byte));
    move |&byte| set & bit(byte) != 0
}

/// White space as C's `isspace` knows it, without the newline.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

impl<'c> Line<'c> {
    /// Where the line stands, without its newline.
    pub fn span(self) -> Span {
        self.span
    }

    /// The bytes of the line, without its newline.
    pub fn bytes(self) -> &'c [u8] {
        self.conf.bytes(self.span)
    }

    /// Whether a newline ends it: only the last line can lack one.
    pub fn ends_in_newline(self) -> bool {
        (self.span.end as usize) < self.conf.source.bytes.len()
    }

    /// The words of the line, in order, the keyword first. White space is
    /// C's `isspace`, as in musl; a resolver with other blanks splits
    /// [`Line::bytes`] itself.
    pub fn words(self) -> impl DoubleEndedIterator<Item = Word<'c>> {
        Words {
            text: self.bytes(),
            offset: self.span.start as usize,
        }
    }

    /// The lines that Java and Python make of it: a carriage return ends one, too.
    pub fn at_returns(self) -> impl Iterator<Item = Word<'c>> {
        let mut start = self.span.start as usize;
        self.bytes().split(|&byte| byte == b'\r').map(move |bytes| {
            let span = Span::new(start, start + bytes.len());
            start += bytes.len() + 1;
            Word { bytes, span }
        })
    }

    /// The parts of the line between bytes that are in `blanks`, empty parts
    /// left out: the words for a resolver with blanks of its own.
    pub fn split(self, blanks: &[u8]) -> impl Iterator<Item = Word<'c>> {
        split(self.bytes(), self.span.start as usize, blanks)
    }
}

/// The words of `text`, which begins at `offset`.
struct Words<'c> {
    text: &'c [u8],
    offset: usize,
}

impl<'c> Iterator for Words<'c> {
    type Item = Word<'c>;

    fn next(&mut self) -> Option<Word<'c>> {
        let start = self.text.iter().position(|&byte| !is_blank(byte))?;
        let (_, text) = self.text.split_at_checked(start)?;
        let end = text.iter().position(|&byte| is_blank(byte));
        let (bytes, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        let start = self.offset + start;
        *self = Words {
            text: rest,
            offset: start + bytes.len(),
        };
        let span = Span::new(start, start + bytes.len());
        Some(Word { bytes, span })
    }
}

impl DoubleEndedIterator for Words<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let last = self.text.iter().rposition(|&byte| !is_blank(byte))?;
        let (text, _) = self.text.split_at_checked(last + 1)?;
        let before = text.iter().rposition(|&byte| is_blank(byte));
        let (rest, bytes) = text.split_at_checked(before.map_or(0, |at| at + 1))?;
        self.text = rest;
        let start = self.offset + rest.len();
        let span = Span::new(start, start + bytes.len());
        Some(Word { bytes, span })
    }
}

impl Word<'_> {
    /// The parts of this text between bytes that are in `blanks`.
    pub fn split(self, blanks: &[u8]) -> impl Iterator<Item = Self> {
        split(self.bytes, self.span.start as usize, blanks)
    }
}

fn split<'c>(text: &'c [u8], offset: usize, blanks: &[u8]) -> impl Iterator<Item = Word<'c>> {
    let mut at = 0;
    text.split(is_one_of(blanks))
        .map(move |bytes| {
            let start = offset + at;
            at += bytes.len() + 1;
            Word {
                bytes,
                span: Span::new(start, start + bytes.len()),
            }
        })
        .filter(|word| !word.bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> ResolvConf {
        ResolvConf::parse(Source::new("f", text))
    }

    fn check(text: &str, expected: &[&[&str]]) {
        let conf = parse(text.as_bytes());
        let lines: Vec<Vec<&[u8]>> = conf
            .lines()
            .map(|line| line.words().map(|word| word.bytes).collect())
            .collect();
        let expected: Vec<Vec<&[u8]>> = expected
            .iter()
            .map(|line| line.iter().map(|word| word.as_bytes()).collect())
            .collect();
        assert_eq!(lines, expected, "{text:?}");
    }

    #[test]
    fn words_stand_between_blanks() {
        check(
            "nameserver 10.0.0.1\nsearch a\tb \n",
            &[&["nameserver", "10.0.0.1"], &["search", "a", "b"]],
        );
        check("  search a", &[&["search", "a"]]);
        check("search a\r\n\r\nx", &[&["search", "a"], &[], &["x"]]);
        check("", &[]);
        check("\n", &[&[]]);
        check("search a #b\n# c", &[&["search", "a", "#b"], &["#", "c"]]);
    }

    /// Every text of up to six pieces, in a fixed order: nothing is lost, and
    /// words are the text under their spans.
    #[test]
    fn lines_and_words_cover_the_file() {
        for text in all_texts(&[b"n", b" ", b"\n", b"\r", b"\0", b"\xc3"], 6) {
            let conf = parse(&text);
            let mut rebuilt = Vec::new();
            for line in conf.lines() {
                rebuilt.extend_from_slice(line.bytes());
                if line.ends_in_newline() {
                    rebuilt.push(b'\n');
                }
                for word in line.words() {
                    assert_eq!(conf.bytes(word.span), word.bytes);
                    assert!(!word.bytes.iter().any(|&byte| is_blank(byte)));
                }
                let words: Vec<Word<'_>> = line.words().collect();
                let same: Vec<Word<'_>> = line.split(b" \t\r\x0b\x0c").collect();
                assert_eq!(words, same, "{text:?}");
                let mut backwards: Vec<Word<'_>> = line.words().rev().collect();
                backwards.reverse();
                assert_eq!(words, backwards, "{text:?}");
            }
            assert_eq!(rebuilt, text);
        }
    }

    /// Also when the places are asked for in any order.
    #[test]
    fn places_are_those_of_the_source() {
        for text in all_texts(
            &[b"n", b"\n", b"\r", b"\xc3\xa9", b"\xc3", b"\xef\xbb\xbf"],
            4,
        ) {
            let conf = parse(&text);
            let end = u32::try_from(text.len()).unwrap() + 1;
            for first in 0..=end {
                for second in (0..=end).rev() {
                    conf.position(first);
                    let place = conf.position(second);
                    assert_eq!(place, conf.source.position(second), "{text:?} {second}");
                }
            }
        }
    }

    fn all_texts(pieces: &[&[u8]], longest: u32) -> Vec<Vec<u8>> {
        let mut texts = vec![Vec::new()];
        let mut last = texts.clone();
        for _ in 0..longest {
            last = last
                .iter()
                .flat_map(|text: &Vec<u8>| pieces.iter().map(move |piece| [text, *piece].concat()))
                .collect();
            texts.extend(last.iter().cloned());
        }
        texts
    }
}
