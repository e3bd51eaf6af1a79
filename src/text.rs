//! A file as it was read, and places in it.

mod conflict;
mod lines;
pub mod nearest;
mod placeholder;
mod words;

use std::fmt::Display;

pub use self::conflict::merge_conflicts;
pub use self::lines::{LineIndex, Lines};
pub use self::placeholder::has_placeholder;
pub use self::words::WordList;

/// The bytes of a file with the name it is shown under.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Source {
    /// What messages call this file: a path, `<stdin>`, `RES_OPTIONS`.
    pub name: String,
    /// Every byte, unchanged.
    pub bytes: Vec<u8>,
}

/// A file without a name and without bytes.
pub static EMPTY: Source = Source {
    name: String::new(),
    bytes: Vec::new(),
};

/// A range of bytes in a [`Source`]: `start` is the first, `end` one past the last.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte; never less than `start`.
    pub end: u32,
}

/// A place for people: both numbers begin at 1.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// Line, counted in `\n`.
    pub line: usize,
    /// Column, counted in characters; a byte that is not UTF-8 is one
    /// character, and a byte order mark at the beginning of the file is none.
    pub column: usize,
}

/// Where something is written.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Place {
    /// The file's name, safe to print.
    pub file: String,
    /// Line, from 1; 0: what is meant is no line of a file, and `file` says it.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Place {
    /// The place in a file of this name, which is safe to print.
    pub fn new(file: impl Into<String>, line: usize, column: usize) -> Self {
        Self {
            file: file.into(),
            line,
            column,
        }
    }

    /// What no line of a file says: `the default of dnsmasq`.
    pub fn nowhere(what: &str) -> Self {
        Self::new(what, 0, 0)
    }
}

/// `FILE:LINE:COLUMN`.
impl Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            return f.write_str(&self.file);
        }
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value and where it is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it is written.
    pub place: Place,
}

impl<T> Placed<T> {
    /// A value that is written there.
    pub const fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

/// An offset of a file as it is kept: one over 4 GiB is cut to it.
pub fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Span {
    /// The span from `start` to before `end`. Offsets over 4 GiB are cut to it.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: offset(start),
            end: offset(end),
        }
    }

    /// The span of `bytes`, which begin at `start`, without white space around
    /// them.
    pub fn trimmed(bytes: &[u8], start: usize) -> Self {
        let kept = bytes.trim_ascii_start();
        let start = start + bytes.len() - kept.len();
        Self::new(start, start + kept.trim_ascii_end().len())
    }

    /// The bytes under this span; empty if it lies outside `bytes`.
    pub fn slice(self, bytes: &[u8]) -> &[u8] {
        bytes
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }

    /// How many bytes the span covers.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether the span covers nothing.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// So much is read of a file; what is longer has lost its end.
pub const MAX_READ: usize = 1 << 20;

impl Source {
    /// A file of this name, with these bytes.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            bytes: bytes.into(),
        }
    }

    /// Whether its end may be missing.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() >= MAX_READ
    }

    /// Line and column of the byte at `offset`; of the end if it lies outside.
    pub fn position(&self, offset: u32) -> Position {
        let before = self
            .bytes
            .get(..offset as usize)
            .unwrap_or(self.bytes.as_slice());
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let column = characters(before.get(line_start..).unwrap_or_default());
        let is_behind_mark = is_behind_mark(&self.bytes, line_start, before.len());
        Position {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: column + 1 - usize::from(is_behind_mark),
        }
    }

    /// `NAME:LINE:COLUMN` of the byte at `offset`.
    pub fn place(&self, offset: u32) -> String {
        self.place_of(offset).to_string()
    }

    /// The place of the byte at `offset`.
    pub fn place_of(&self, offset: u32) -> Place {
        let at = self.position(offset);
        Place::new(self.name.clone(), at.line, at.column)
    }
}

/// Characters as people count them; a byte that is not UTF-8 is one, too.
fn characters(bytes: &[u8]) -> usize {
    if bytes.is_ascii() {
        return bytes.len();
    }
    String::from_utf8_lossy(bytes).chars().count()
}

/// The mark with which an editor of another system may begin a file.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the mark at the beginning of a file, which no editor shows, stands
/// on the line that begins at `start`, before `offset`.
pub(crate) fn is_behind_mark(bytes: &[u8], start: usize, offset: usize) -> bool {
    start == 0 && offset >= BYTE_ORDER_MARK.len() && bytes.starts_with(BYTE_ORDER_MARK)
}

/// The lines that are UTF-8, as nearly all are.
pub fn utf8_lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let lines = bytes.split(|&byte| byte == b'\n');
    lines.filter_map(|line| std::str::from_utf8(line).ok())
}

/// `1 query`, `8 queries`.
pub fn counted<N: Copy + Display + From<u8> + PartialEq>(
    number: N,
    one: &str,
    many: &str,
) -> String {
    format!("{number} {}", if number == N::from(1) { one } else { many })
}

/// The first `most` of them, and how many more there are: `a, b and 3 more`.
pub fn some_of(items: impl IntoIterator<Item: Display>, most: usize) -> String {
    let mut items = items.into_iter();
    let shown: Vec<String> = items.by_ref().take(most).map(|it| it.to_string()).collect();
    let shown = shown.join(", ");
    match items.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Collects one by one. `collect` makes a map or a set by sorting, with code
/// of its own for each kind of iterator: 5 KB that a program of many small
/// sets has a hundred times.
pub fn ordered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}

/// Text from a stranger's file, safe to print: control and bidirectional
/// characters as `\u{1b}`, bytes that are not UTF-8 as `\xff`.
pub fn escaped(bytes: &[u8]) -> String {
    if let Some(plain) = plain_text(bytes) {
        return plain.to_owned();
    }
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_unprintable(character) {
                shown.extend(character.escape_unicode());
            } else {
                shown.push(character);
            }
        }
        for byte in chunk.invalid() {
            shown.extend([format!("\\x{byte:02x}")]);
        }
    }
    shown
}

/// The same, cut behind so many bytes, with an ellipsis.
pub fn excerpt(bytes: &[u8], longest: usize) -> String {
    match bytes.get(..longest) {
        Some(start) if bytes.len() > longest => format!("{}…", escaped(start)),
        _ => escaped(bytes),
    }
}

/// The text if it is ASCII without control characters: nearly every one.
fn plain_text(bytes: &[u8]) -> Option<&str> {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    std::str::from_utf8(bytes).ok().filter(|_| is_plain)
}

/// Control characters, those that reorder or hide text (Unicode TR 9, section 2;
/// TR 36, section 3.7), and what is no character, which XML does not take.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || u32::from(character) & 0xfffe == 0xfffe
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Whether much of the beginning is nothing that an editor writes. A single odd byte
/// is something that resolvers meet, and a log after a crash.
pub fn is_binary(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 1024;
    const ODD_PART: usize = 8;
    let begin = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let is_control = |it: &&u8| it.is_ascii_control() && !it.is_ascii_whitespace();
    let invalid = begin.utf8_chunks().map(|it| it.invalid().len());
    let odd = begin.iter().filter(is_control).count() + invalid.sum::<usize>();
    odd * ODD_PART > begin.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_the_first_are_named() {
        for (most, expected) in [(3, "a, b, c"), (2, "a, b and 1 more"), (1, "a and 2 more")] {
            assert_eq!(some_of(["a", "b", "c"], most), expected);
        }
    }

    #[test]
    fn what_could_trick_a_terminal_is_escaped() {
        for (bytes, shown) in [
            (&b"/etc/resolv.conf"[..], "/etc/resolv.conf"),
            (b"a\x1b[31m\n", "a\\u{1b}[31m\\u{a}"),
            (b"a\xff\xc3b", "a\\xff\\xc3b"),
            ("é\u{202e}x".as_bytes(), "é\\u{202e}x"),
            (
                "\u{fffd}\u{ffff}\u{1fffe}".as_bytes(),
                "\u{fffd}\\u{ffff}\\u{1fffe}",
            ),
        ] {
            assert_eq!(escaped(bytes), shown);
        }
    }

    fn check(text: &[u8], offset: u32, expected: (usize, usize)) {
        let source = Source::new("f", text);
        let at = source.position(offset);
        assert_eq!((at.line, at.column), expected, "{text:?} at {offset}");
        let place = Lines::new(&source).place_of(offset);
        assert_eq!(place, source.place_of(offset), "{text:?} at {offset}");
    }

    #[test]
    fn lines_and_columns_begin_at_one() {
        check(b"", 0, (1, 1));
        check(b"ab\ncd", 0, (1, 1));
        check(b"ab\ncd", 4, (2, 2));
        check(b"ab\n", 3, (2, 1));
        check(b"ab", 99, (1, 3));
    }

    #[test]
    fn columns_count_characters_and_odd_bytes() {
        check("é x".as_bytes(), 3, (1, 3));
        check(b"\xff\xfe x", 3, (1, 4));
        check("\u{feff}a: b".as_bytes(), 0, (1, 1));
        check("\u{feff}a: b".as_bytes(), 3, (1, 1));
        check("\u{feff}a: b\n\u{feff}c".as_bytes(), 6, (1, 4));
        check("\u{feff}a\n\u{feff}c".as_bytes(), 8, (2, 2));
    }
}
