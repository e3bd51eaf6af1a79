//! A file as the parser gets it.

use std::io::{self, BufRead, Read};

use crate::config::yaml::{Document, Style, YamlError};
use crate::text;

/// The file, every byte at its own offset, what is not allowed in YAML
/// replaced by `?`.
pub(super) struct Text {
    pub(super) yaml: String,
    /// Where it begins, behind a byte order mark.
    pub(super) start: usize,
    /// What was replaced, in order.
    bad: Vec<(u32, &'static str)>,
    /// Where [`HIDDEN`] stands for another character, in order, and for which.
    hidden: Vec<(usize, char)>,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

impl Text {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut yaml = String::with_capacity(bytes.len());
        let mut bad = Vec::new();
        let offset = |yaml: &String| text::offset(yaml.len());
        for chunk in bytes.utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(character) = rest.chars().find(|it| !is_allowed(*it)) {
                let (allowed, behind) = rest.split_once(character).unwrap_or_default();
                yaml.push_str(allowed);
                bad.push((offset(&yaml), "a control character is not allowed in YAML"));
                yaml.extend(std::iter::repeat_n('?', character.len_utf8()));
                rest = behind;
            }
            yaml.push_str(rest);
            for _ in chunk.invalid() {
                bad.push((offset(&yaml), "the text is not UTF-8"));
                yaml.push('?');
            }
        }
        let marked = yaml.starts_with(BYTE_ORDER_MARK);
        let start = if marked {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        };
        if yaml
            .get(start..)
            .is_some_and(|it| it.trim_start().starts_with('{'))
        {
            yaml = json_as_yaml(&yaml);
        }
        let hidden = hide(&mut yaml);
        Self {
            yaml,
            start,
            bad,
            hidden,
        }
    }

    /// The first byte of the document that YAML does not allow.
    pub(super) fn error_in(&self, document: &Document) -> Option<YamlError> {
        let span = document.root.as_ref().ok()?.span;
        let (at, message) = *self
            .bad
            .iter()
            .find(|(at, _)| (document.start..span.end).contains(at))?;
        Some(YamlError {
            at,
            message: message.to_owned(),
        })
    }

    /// Whether the value at `at` begins with a tag that was hidden.
    pub(super) fn is_hidden_tag(&self, at: usize) -> bool {
        self.hidden_at(at) == Some('!')
    }

    fn hidden_at(&self, at: usize) -> Option<char> {
        let index = self.hidden.binary_search_by_key(&at, |it| it.0).ok()?;
        Some(self.hidden.get(index)?.1)
    }

    /// The value of the scalar at `start..end` as it is written; in double quotes a
    /// hidden backslash is none of it.
    pub(super) fn shown(&self, value: String, style: Style, start: usize, end: usize) -> String {
        let first = self.hidden.partition_point(|it| it.0 < start);
        if self.hidden.get(first).is_none_or(|it| it.0 >= end) {
            return value;
        }
        let written = self.yaml.as_bytes().get(start..end).unwrap_or_default();
        let mut marks = memchr::memchr_iter(HIDDEN, written);
        let shown = value.chars().filter_map(|it| {
            let mark = if it == '^' { marks.next() } else { None };
            match mark.and_then(|mark| self.hidden_at(start + mark)) {
                Some('\\') if style == Style::DoubleQuoted => None,
                hidden => Some(hidden.unwrap_or(it)),
            }
        });
        shown.collect()
    }
}

/// What stands in the place of a character that is hidden.
const HIDDEN: u8 = b'^';

/// Source: go-yaml `v2/readerc.go: yaml_parser_update_buffer`.
fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | '\u{85}' | '\u{fffd}')
        || !character.is_control() && !matches!(character, '\u{fffe}' | '\u{ffff}')
}

/// Puts [`HIDDEN`] in place of what libyaml-safer 0.3.0 takes otherwise than
/// Go's decoder, and tells where: a tag with a comma behind it (`[!!str, a]`)
/// ends the program, and is refused in Go; a colon at the end of a word in
/// brackets (`[fe80::]`) is refused, and a part of the word in Go; so is `\'` in
/// double quotes, which is `'` there.
///
/// Source: go-yaml `v2/scannerc.go: yaml_parser_scan_tag`,
/// `yaml_parser_scan_plain_scalar`, `yaml_parser_scan_flow_scalar`.
fn hide(yaml: &mut String) -> Vec<(usize, char)> {
    let bytes = yaml.as_bytes();
    let mut hidden = Vec::new();
    // Where the word ends that was looked at last, and its last comma.
    let (mut word_end, mut last_comma) = (0, None);
    // Behind the last two backslashes, of which the second is no escape.
    let mut escaped = 0;
    for at in memchr::memchr3_iter(b'!', b':', b'\\', bytes) {
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        let rest = bytes.get(at..).unwrap_or_default();
        let is_in_word =
            before.is_some_and(|it| !it.is_ascii_whitespace() && !b"[]{},\"'".contains(it));
        match rest {
            [b':', b',' | b']' | b'}', ..] if is_in_word => hidden.push((at, ':')),
            [b'\\', b'\'', ..] if at >= escaped => hidden.push((at, '\\')),
            [b'\\', b'\\', ..] if at >= escaped => escaped = at + 2,
            [b'!', ..] if before.is_none_or(|it| !it.is_ascii_alphanumeric()) => {
                if at >= word_end {
                    let length = rest.iter().position(u8::is_ascii_whitespace);
                    let word = rest.get(..length.unwrap_or(rest.len()));
                    let word = word.unwrap_or_default();
                    word_end = at + word.len();
                    last_comma = memchr::memrchr(b',', word).map(|it| at + it);
                }
                if last_comma > Some(at) {
                    hidden.push((at, '!'));
                }
            }
            _ => {}
        }
    }
    for (at, _) in &hidden {
        yaml.replace_range(at..=at, "^");
    }
    hidden
}

/// JSON, byte for byte as long, without what YAML does not know: halves of a
/// surrogate pair become U+FFFD.
fn json_as_yaml(text: &str) -> String {
    let mut pieces = text.split("\\u");
    let mut yaml = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece
            .get(..4)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let is_half = code.is_some_and(|code| char::from_u32(code).is_none());
        yaml.push_str("\\u");
        match piece.get(4..) {
            Some(rest) if is_half => {
                yaml.push_str("fffd");
                yaml.push_str(rest);
            }
            _ => yaml.push_str(piece),
        }
    }
    yaml
}

/// A text piece by piece, so that what is read costs, not what follows an error.
/// It ends with a newline, without which libyaml-safer 0.3.0 ends the program
/// in a block scalar.
pub(super) struct Pieces<'t> {
    rest: &'t str,
    /// What is given behind the text.
    end: &'static str,
}

/// So many bytes are given at once.
const PIECE: usize = 4096;

impl<'t> Pieces<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        Self { rest: text, end }
    }
}

impl BufRead for Pieces<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.rest.is_empty() {
            self.rest = std::mem::take(&mut self.end);
        }
        let longest = self.rest.len().min(PIECE);
        let is_whole = |it: &usize| self.rest.is_char_boundary(*it);
        let end = (0..=longest).rev().find(is_whole).unwrap_or_default();
        Ok(self.rest.as_bytes().get(..end).unwrap_or_default())
    }

    fn consume(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}
