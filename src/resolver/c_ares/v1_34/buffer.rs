//! Text in buffers.
//!
//! Source: c-ares 1.34 `src/lib/str/ares_buf.c`, `src/lib/str/ares_str.c`.

use std::ops::Range;

use crate::config::resolv_conf::Word;
use crate::resolver::c_ares::name::is_space;
use crate::text::Span;

/// A text that stands in no file.
pub(super) fn text(bytes: &[u8]) -> Word<'_> {
    Word {
        bytes,
        span: Span::new(0, bytes.len()),
    }
}

/// The part of `word` at `range`.
pub(super) fn part(word: Word<'_>, range: Range<usize>) -> Word<'_> {
    let start = word.span.start as usize;
    Word {
        bytes: word.bytes.get(range.clone()).unwrap_or_default(),
        span: Span::new(start + range.start, start + range.end),
    }
}

/// `word` without white space around it.
pub(super) fn trim(word: Word<'_>) -> Word<'_> {
    let is_text = |byte: &u8| !is_space(*byte);
    let start = word
        .bytes
        .iter()
        .position(is_text)
        .unwrap_or(word.bytes.len());
    let end = word
        .bytes
        .iter()
        .rposition(is_text)
        .map_or(start, |last| last + 1);
    part(word, start..end)
}

/// The parts of `word` between `delimiters`, at most `most` of them, without
/// those that are empty (when they are trimmed, if they are to be).
///
/// Source: c-ares 1.34 `src/lib/str/ares_buf.c: ares_buf_split`.
pub(super) fn split<'c>(
    word: Word<'c>,
    delimiters: &[u8],
    most: usize,
    trimmed: bool,
) -> Vec<Word<'c>> {
    let mut parts = Vec::new();
    let length = word.bytes.len();
    let mut start = 0;
    while start < length {
        let rest = word.bytes.get(start..).unwrap_or_default();
        let end = if parts.len() + 1 >= most {
            length
        } else {
            let found = rest.iter().position(|byte| delimiters.contains(byte));
            start + found.unwrap_or(rest.len())
        };
        let whole = part(word, start..end);
        let kept = if trimmed { trim(whole) } else { whole };
        if !kept.bytes.is_empty() {
            parts.push(kept);
        }
        start = end + 1;
    }
    parts
}

/// The part of `word` before its first white space, and the rest.
pub(super) fn nonwhitespace(word: Word<'_>) -> (Word<'_>, Word<'_>) {
    let length = word.bytes.len();
    let end = word
        .bytes
        .iter()
        .position(|&byte| is_space(byte))
        .unwrap_or(length);
    (part(word, 0..end), part(word, end..length))
}

/// Whether `bytes` are printable and leave room for a zero byte in a buffer
/// of `size`; if not, the source takes nothing.
///
/// Source: c-ares 1.34 `src/lib/str/ares_buf.c: ares_buf_tag_fetch_string`.
pub(super) fn fits(bytes: &[u8], size: usize) -> bool {
    bytes.len() < size && is_print(bytes)
}

/// Source: c-ares 1.34 `src/lib/str/ares_str.c: ares_str_isprint`.
pub(super) fn is_print(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e))
}

/// Decimal digits, up to what an `unsigned int` holds.
///
/// Source: c-ares 1.34 `src/lib/str/ares_str.c: ares_str_parse_uint`.
pub(super) fn parse_uint(bytes: &[u8]) -> Option<u32> {
    let is_number = bytes.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(bytes)
        .ok()
        .filter(|_| is_number)?
        .parse()
        .ok()
}

/// What C's `strtoul` reads from the beginning of `bytes`, cut to an `unsigned int`.
pub(super) fn strtoul(bytes: &[u8]) -> u32 {
    let digits = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+"));
    let digits = digits.unwrap_or(bytes).iter();
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    let value = digits
        .map(|byte| u64::from(byte - b'0'))
        .try_fold(0, |sum: u64, digit| sum.checked_mul(10)?.checked_add(digit));
    let value = match value {
        Some(value) if bytes.starts_with(b"-") => value.wrapping_neg(),
        Some(value) => value,
        None => u64::MAX,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the source casts, too")]
    let cut = value as u32;
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_its_digits_do() {
        let check = |text: &str, expected: u32| {
            assert_eq!(strtoul(text.as_bytes()), expected, "{text}");
        };
        check("5", 5);
        check("+3x", 3);
        check("x", 0);
        check("", 0);
        check("-1", u32::MAX);
        check("4294967298", 2);
        check("18446744073709551616", u32::MAX);
    }

    #[test]
    fn parts_stand_between_delimiters() {
        let check = |word: &str, most: usize, expected: &[&str]| {
            let parts = split(text(word.as_bytes()), b":", most, true);
            let parts: Vec<&str> = parts
                .iter()
                .map(|part| std::str::from_utf8(part.bytes).unwrap())
                .collect();
            assert_eq!(parts, expected, "{word}");
        };
        check("ndots:5", 2, &["ndots", "5"]);
        check("ndots:", 2, &["ndots"]);
        check(":5", 2, &["5"]);
        check("a:b:c", 2, &["a", "b:c"]);
        check("a : b", usize::MAX, &["a", "b"]);
        check("", 2, &[]);
        check(":", 2, &[]);
    }
}
