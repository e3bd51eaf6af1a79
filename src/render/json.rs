//! JSON as text that is safe to look at in a terminal.

use std::io::{self, Write};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::text::{Place, is_unprintable};

/// A place in a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlaceForm<'r> {
    /// The file, or what else says it.
    file: &'r str,
    /// Line, from 1; 0: the place is in no file.
    line: usize,
    /// Column, from 1, in characters; 0: the place is in no file.
    column: usize,
}

impl<'r> From<&'r Place> for PlaceForm<'r> {
    fn from(place: &'r Place) -> Self {
        Self {
            file: &place.file,
            line: place.line,
            column: place.column,
        }
    }
}

/// Writes `value` over many lines.
pub(super) fn document(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    shown(serde_json::to_vec_pretty(value)?, out)
}

/// Writes `value` as one line.
pub(super) fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    shown(serde_json::to_vec(value)?, out)
}

fn shown(mut text: Vec<u8>, out: &mut dyn Write) -> io::Result<()> {
    make_harmless(&mut text, 0);
    text.push(b'\n');
    out.write_all(&text)
}

/// Appends `value`, one of many, as one line.
pub(super) fn append(value: &impl Serialize, text: &mut Vec<u8>) -> io::Result<()> {
    let start = text.len();
    serde_json::to_writer(Bytes(text), value)?;
    make_harmless(text, start);
    text.push(b'\n');
    Ok(())
}

/// A vector to write JSON to: most pieces of it are one byte, and a call for each costs more than all else.
struct Bytes<'v>(&'v mut Vec<u8>);

impl Write for Bytes<'_> {
    #[inline]
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match piece {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(piece),
        }
        Ok(piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        self.write(piece).map(drop)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Escapes what stands behind `start` and could trick a terminal.
pub(super) fn make_harmless(text: &mut Vec<u8>, start: usize) {
    let new = text.get(start..).unwrap_or_default();
    // Those below are escaped as JSON demands it.
    if !new.is_ascii() || memchr::memchr(0x7f, new).is_some() {
        let shown = harmless(&String::from_utf8_lossy(new));
        text.truncate(start);
        text.extend_from_slice(shown.as_bytes());
    }
}

/// The same JSON with `\u` escapes for what could trick a terminal: outside
/// of strings there is no such character but the newline.
fn harmless(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\n' || !is_unprintable(character) {
            shown.push(character);
            continue;
        }
        let units = character.encode_utf16(&mut [0; 2]).to_vec();
        shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
    }
    shown
}

/// The schema of what is written, not of what could be read.
pub(super) fn schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_the_same_and_harmless() {
        for text in [
            "plain é",
            "\u{7f}",
            "\u{9b}31m",
            "a\u{202e}b\n",
            "\u{e0041}",
            "\"\\",
        ] {
            let mut bytes = Vec::new();
            document(&[text], &mut bytes).unwrap();
            let json = String::from_utf8(bytes).unwrap();
            assert!(
                !json.chars().any(|c| c != '\n' && is_unprintable(c)),
                "{json:?}"
            );
            let read: Vec<String> = serde_json::from_str(&json).unwrap();
            assert_eq!(read, [text]);
        }
    }
}
