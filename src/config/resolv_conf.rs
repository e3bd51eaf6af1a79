//! The syntax of `resolv.conf`: lines and words, with their places.
//!
//! Nothing here knows what a keyword means, or even what a comment is: which
//! lines and words count depends on the resolver that reads them, see
//! [`crate::resolver`]. Every byte of the file is in exactly one line.
//!
//! Format: `resolv.conf(5)`.

use super::made::Made;
use crate::text::{LineIndex, Place, Position, Source, Span};

/// A parsed `resolv.conf`. Any bytes make one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ResolvConf {
    /// The file as it was read.
    pub source: Source,
    /// Without their `\n`.
    lines: Vec<Span>,
    /// What was made of it.
    pub made: Made,
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
        let bytes = &self.source.bytes;
        let index = self.made.once(|| LineIndex::new(bytes));
        index.position(bytes, offset)
    }

    /// `NAME:LINE:COLUMN` of the byte at `offset`.
    pub fn place(&self, offset: u32) -> String {
        self.place_of(offset).to_string()
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
    pub fn words(self) -> impl Iterator<Item = Word<'c>> {
        split(self.bytes(), self.span.start as usize, |it| is_blank(*it))
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
        split(self.bytes(), self.span.start as usize, is_one_of(blanks))
    }
}

impl Word<'_> {
    /// The parts of this text between bytes that are in `blanks`.
    pub fn split(self, blanks: &[u8]) -> impl Iterator<Item = Self> {
        split(self.bytes, self.span.start as usize, is_one_of(blanks))
    }
}

/// The words of `text`, which begins at `offset`.
fn split(
    text: &[u8],
    offset: usize,
    is_blank: impl Fn(&u8) -> bool,
) -> impl Iterator<Item = Word<'_>> {
    let mut start = offset;
    let words = text.split(is_blank).map(move |bytes| {
        let span = Span::new(start, start + bytes.len());
        start += bytes.len() + 1;
        Word { bytes, span }
    });
    words.filter(|word| !word.bytes.is_empty())
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
