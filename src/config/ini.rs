//! The syntax of systemd's and NetworkManager's configuration files: sections
//! with lines `key=value`.
//!
//! Format: `systemd.syntax(7)`. Source: systemd
//! `src/shared/conf-parser.c: config_parse, parse_line`.

use crate::text::{Source, Span};

/// A line `key=value` and its section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The name in the brackets above it; empty if there are none.
    pub section: Span,
    /// The key.
    pub key: Span,
    /// The value: one piece, and one more for each line that a backslash at
    /// the end of the one before continues. Never empty; a piece can be.
    pub value: Vec<Span>,
}

impl Entry {
    /// The words of the value, in order, quotes not taken off.
    pub fn words<'c>(&'c self, source: &'c Source) -> impl Iterator<Item = (&'c [u8], Span)> {
        self.value.iter().flat_map(|piece| {
            let mut start = piece.start as usize;
            let parts = piece.slice(&source.bytes).split(u8::is_ascii_whitespace);
            parts.filter_map(move |word| {
                let span = Span::new(start, start + word.len());
                start += word.len() + 1;
                (!word.is_empty()).then_some((word, span))
            })
        })
    }

    /// The value's first piece, without white space around it.
    pub fn first<'c>(&self, source: &'c Source) -> &'c [u8] {
        let piece = self.value.first().copied().unwrap_or_default();
        piece.slice(&source.bytes).trim_ascii()
    }

    /// Where the value begins.
    pub fn start(&self) -> u32 {
        self.value.first().map_or(self.key.start, |it| it.start)
    }

    /// Whether it stands in that section and has that key.
    pub fn is(&self, source: &Source, section: &str, key: &str) -> bool {
        self.section.slice(&source.bytes) == section.as_bytes()
            && self.key.slice(&source.bytes) == key.as_bytes()
    }
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The entries of a file, in order. Total: lines that are none are passed
/// over, as systemd does with a warning, and a byte order mark without one.
pub fn entries(text: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = Span::default();
    let mut is_continued = false;
    let mut start = if text.starts_with(MARK) {
        MARK.len()
    } else {
        0
    };
    let lines = text.get(start..).unwrap_or_default();
    for line in lines.split(|&byte| byte == b'\n') {
        let whole = Span::trimmed(line, start);
        start += line.len() + 1;
        let bytes = whole.slice(text);
        // A comment between continued lines is passed over.
        if bytes.starts_with(b"#") || bytes.starts_with(b";") {
            continue;
        }
        let continues = bytes.ends_with(b"\\");
        let end = whole.end as usize - usize::from(continues);
        let kept = Span::new(whole.start as usize, end);
        if is_continued {
            entries
                .last_mut()
                .into_iter()
                .for_each(|it| it.value.push(kept));
        } else if bytes.starts_with(b"[") {
            if bytes.ends_with(b"]") {
                section = Span::new(whole.start as usize + 1, whole.end as usize - 1);
            }
            continue;
        } else {
            let found = entry(text, kept, section);
            is_continued = found.is_some() && continues;
            entries.extend(found);
            continue;
        }
        is_continued = continues;
    }
    entries
}

fn entry(text: &[u8], line: Span, section: Span) -> Option<Entry> {
    let bytes = line.slice(text);
    let start = line.start as usize;
    let equals = bytes.iter().position(|&byte| byte == b'=')?;
    Some(Entry {
        section,
        key: Span::trimmed(bytes.get(..equals)?, start),
        value: vec![Span {
            start: Span::trimmed(bytes.get(equals + 1..)?, start + equals + 1).start,
            end: line.end,
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("f", text);
        let show = |entry: &Entry| {
            let bytes =
                |span: Span| String::from_utf8_lossy(span.slice(&source.bytes)).into_owned();
            let words = entry.words(&source);
            let words: Vec<_> = words.map(|(_, span)| bytes(span)).collect();
            let words = words.join("|");
            format!("[{}] {}={words}", bytes(entry.section), bytes(entry.key))
        };
        let found: Vec<String> = entries(&source.bytes).iter().map(show).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn entries_stand_in_sections() {
        check(
            "[Resolve]\n#DNS=1\nDNS= 192.0.2.1  192.0.2.2#a\n",
            &["[Resolve] DNS=192.0.2.1|192.0.2.2#a"],
        );
        check(
            "DNS=\n[a]\nx = y \n[b\n;c\nz=1",
            &["[] DNS=", "[a] x=y", "[a] z=1"],
        );
        check("a=1 \\\n# x\n  2\\\n3\nb=4", &["[] a=1|2|3", "[] b=4"]);
        check("nothing \\\na=1", &["[] a=1"]);
        check("[\n]\n\\", &[]);
        check("\u{feff}[a]\nb=1", &["[a] b=1"]);
    }
}
