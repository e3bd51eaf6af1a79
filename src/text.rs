//! A file as it was read, and places in it.

use std::cell::Cell;

/// The bytes of a file with the name it is shown under.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Source {
    /// What messages call this file: a path, `<stdin>`, `RES_OPTIONS`.
    pub name: String,
    /// Every byte, unchanged.
    pub bytes: Vec<u8>,
}

/// A range of bytes in a [`Source`]: `start` is the first, `end` one past the last.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte; never less than `start`.
    pub end: u32,
}

/// A place for people: both numbers begin at 1.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// Line, counted in `\n`.
    pub line: usize,
    /// Column, counted in characters; a byte that is not UTF-8 is one character.
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
    /// What no line of a file says: `the default of dnsmasq`.
    pub fn nowhere(what: &str) -> Self {
        Self {
            file: what.to_owned(),
            line: 0,
            column: 0,
        }
    }
}

/// `FILE:LINE:COLUMN`.
impl std::fmt::Display for Place {
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

impl Span {
    /// The span from `start` to before `end`. Offsets over 4 GiB are cut to it.
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Self {
            start: cut(start),
            end: cut(end),
        }
    }

    /// The bytes under this span; empty if it lies outside `bytes`.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
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

impl Source {
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
        let column = String::from_utf8_lossy(before.get(line_start..).unwrap_or_default())
            .chars()
            .count();
        Position {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: column + 1,
        }
    }

    /// `NAME:LINE:COLUMN` of the byte at `offset`.
    pub fn place(&self, offset: u32) -> String {
        self.place_of(offset).to_string()
    }

    /// The place of the byte at `offset`.
    pub fn place_of(&self, offset: u32) -> Place {
        let at = self.position(offset);
        Place {
            file: self.name.clone(),
            line: at.line,
            column: at.column,
        }
    }
}

/// The place that was asked for last. Places that are asked for in the order
/// of the file cost no more together than the file is long;
/// [`Source::place_of`] counts from the beginning each time.
#[derive(Clone, Debug, Default)]
pub struct Mark(Cell<Reached>);

impl Eq for Mark {}

/// It changes nothing.
impl PartialEq for Mark {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An offset between two characters of a file, and the line feeds and
/// characters before it.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    file: usize,
    offset: usize,
    lines: usize,
    columns: usize,
}

impl Mark {
    /// The place of the byte at `offset` of the file with the number `file`;
    /// of no file's, the beginning of one without a name.
    pub fn place(&self, files: &[Source], file: usize, offset: u32) -> Place {
        let Some(source) = files.get(file) else {
            return Source::default().place_of(0);
        };
        let bytes = source.bytes.as_slice();
        let offset = (offset as usize).min(bytes.len());
        let goes_on = |byte: &u8| (0x80..0xc0).contains(byte);
        let inside = bytes.get(..=offset).unwrap_or_default();
        let inside = inside.iter().rev().take_while(|it| goes_on(it)).count();
        let between = offset.saturating_sub(inside);
        let last = self.0.get();
        let from = if last.file == file && last.offset <= between {
            last
        } else {
            Reached {
                file,
                ..Reached::default()
            }
        };
        let reached = from.after(bytes.get(from.offset..between).unwrap_or_default());
        self.0.set(reached);
        let at = reached.after(bytes.get(between..offset).unwrap_or_default());
        Place {
            file: source.name.clone(),
            line: at.lines + 1,
            column: at.columns + 1,
        }
    }
}

impl Reached {
    fn after(self, bytes: &[u8]) -> Self {
        let mut parts = bytes.rsplit(|&byte| byte == b'\n');
        let last = parts.next().unwrap_or_default();
        let new_lines = parts.count();
        let columns = String::from_utf8_lossy(last).chars().count();
        Self {
            file: self.file,
            offset: self.offset + bytes.len(),
            lines: self.lines + new_lines,
            columns: if new_lines == 0 {
                self.columns + columns
            } else {
                columns
            },
        }
    }
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

/// The text if it is ASCII without control characters: nearly every one.
fn plain_text(bytes: &[u8]) -> Option<&str> {
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    std::str::from_utf8(bytes).ok().filter(|_| is_plain)
}

/// Control characters, and those that reorder or hide text (Unicode TR 9,
/// section 2; TR 36, section 3.7).
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_finds_what_counting_finds() {
        let source = |bytes: &[u8]| Source {
            name: "f".to_owned(),
            bytes: bytes.to_vec(),
        };
        let files = [
            source("a b\n\né\u{202e}x\n\n".as_bytes()),
            source(b"\x80\x80\xff\xe2\x80\n\xc3b"),
        ];
        let last = Mark::default();
        for offsets in [[0, 3, 4, 5, 6], [7, 8, 9, 10, 99], [2, 2, 1, 7, 0]] {
            for (file, source) in files.iter().enumerate() {
                for offset in offsets {
                    let found = last.place(&files, file, offset);
                    assert_eq!(found, source.place_of(offset), "{file} {offset}");
                }
            }
        }
        assert_eq!(last.place(&files, 2, 1).line, 1);
    }

    #[test]
    fn what_could_trick_a_terminal_is_escaped() {
        for (bytes, shown) in [
            (&b"/etc/resolv.conf"[..], "/etc/resolv.conf"),
            (b"a\x1b[31m\n", "a\\u{1b}[31m\\u{a}"),
            (b"a\xff\xc3b", "a\\xff\\xc3b"),
            ("é\u{202e}x".as_bytes(), "é\\u{202e}x"),
        ] {
            assert_eq!(escaped(bytes), shown);
        }
    }

    fn check(text: &[u8], offset: u32, expected: (usize, usize)) {
        let source = Source {
            name: "f".to_owned(),
            bytes: text.to_vec(),
        };
        let at = source.position(offset);
        assert_eq!((at.line, at.column), expected, "{text:?} at {offset}");
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
    }
}
