//! Lines of configuration files as C strings.
//!
//! Source: c-ares 1.18.1 `src/lib/ares__read_line.c`, `src/lib/ares_init.c`.

use std::borrow::Cow;
use std::ops::Range;

use crate::config::resolv_conf::ResolvConf;
use crate::resolver::c_ares::name::is_space;
use crate::scenario::Scenario;
use crate::text::Span;

/// A line as `ares__read_line` gives it.
#[derive(Clone, Debug)]
pub(super) struct CLine<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) span: Span,
}

/// The lines of a file. A zero byte hides the rest of its line, the newline
/// included, so that the next line is joined to it.
pub(super) fn c_lines(file: &ResolvConf) -> Vec<CLine<'_>> {
    let mut lines = Vec::new();
    let mut begun: Option<CLine<'_>> = None;
    for line in file.lines() {
        let bytes = line.bytes();
        let end = bytes.iter().position(|&byte| byte == 0);
        let kept = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        let joined = match begun.take() {
            None => CLine::borrowed(kept, line.span()),
            Some(mut start) => {
                start.text.to_mut().extend_from_slice(kept);
                start.span.end = line.span().end;
                start
            }
        };
        if end.is_some() {
            begun = Some(joined);
        } else {
            lines.push(joined);
        }
    }
    lines.extend(begun);
    lines
}

/// The lines of a file of the scenario that is not its `resolv.conf`.
pub(super) fn file_lines<'a>(scenario: &'a Scenario, path: &str) -> Vec<CLine<'a>> {
    let known = match path {
        "/etc/nsswitch.conf" => scenario.nsswitch.as_ref(),
        "/etc/hosts" => scenario.hosts.as_ref(),
        _ => None,
    };
    if let Some(file) = known {
        return c_lines(file);
    }
    let bytes = scenario.files.get(path).map_or(&[][..], Vec::as_slice);
    let lines = bytes.split(|&byte| byte == b'\n');
    lines
        .map(|line| CLine::borrowed(line, Span::default()))
        .collect()
}

/// The value of `keyword` in `line`, without the comment and blanks around it.
///
/// Source: c-ares 1.18.1 `src/lib/ares_init.c: try_config`.
pub(super) fn try_config(line: &[u8], keyword: &str, comment: Option<u8>) -> Option<Range<usize>> {
    let first = line.iter().position(|&byte| !is_space(byte))?;
    if !line.get(first..)?.starts_with(keyword.as_bytes()) {
        return None;
    }
    let is_comment = |byte: &u8| *byte == b'#' || Some(*byte) == comment;
    let end = line.iter().position(is_comment).unwrap_or(line.len());
    let kept = line.get(..end)?;
    let end = kept.iter().rposition(|&byte| !is_space(byte))? + 1;
    let rest = kept.get(first..end)?.strip_prefix(keyword.as_bytes())?;
    let needs_blank = !keyword.ends_with([':', '=']);
    if needs_blank && !is_space(*rest.first()?) {
        return None;
    }
    let blanks = rest.iter().position(|&byte| !is_space(byte))?;
    Some(first + keyword.len() + blanks..end)
}

/// C's `strtol` with base 10, cut to an `int` without its sign bit.
///
/// Source: c-ares 1.18.1 `src/lib/ares_nowarn.c: aresx_sltosi`.
pub(super) fn strtol(text: &[u8]) -> u32 {
    let text = text.trim_ascii_start();
    let negative = text.starts_with(b"-");
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+"));
    let digits = digits.unwrap_or(text);
    let mut value = 0_i64;
    for byte in digits.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = i64::from(byte - b'0');
        value = value.saturating_mul(10);
        value = if negative {
            value.saturating_sub(digit)
        } else {
            value.saturating_add(digit)
        };
    }
    u32::try_from(value & i64::from(i32::MAX)).unwrap_or_default()
}

impl<'a> CLine<'a> {
    /// A line that stands in a file as it is.
    pub(super) fn borrowed(text: &'a [u8], span: Span) -> Self {
        Self {
            text: Cow::Borrowed(text),
            span,
        }
    }

    /// Whether it is neither blank nor a comment.
    pub(super) fn has_text(&self) -> bool {
        let first = self.text.iter().find(|&&byte| !is_space(byte));
        first.is_some_and(|byte| !matches!(byte, b'#' | b';'))
    }

    /// The bytes at `range`.
    pub(super) fn part(&self, range: Range<usize>) -> Cow<'a, [u8]> {
        match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
            Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_vec()),
        }
    }

    /// Where `range` stands in the file: the whole line if it was joined.
    pub(super) fn span_of(&self, range: Range<usize>) -> Span {
        if matches!(self.text, Cow::Owned(_)) {
            return self.span;
        }
        let start = self.span.start as usize;
        Span::new(start + range.start, start + range.end)
    }

    /// The parts of `range` between bytes that `is_delimiter`, without empty ones.
    pub(super) fn split(
        &self,
        range: Range<usize>,
        is_delimiter: impl Fn(u8) -> bool,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut at = range.start;
        let text = self.text.get(range).unwrap_or_default();
        text.split(move |&byte| is_delimiter(byte))
            .map(move |part| {
                let start = at;
                at += part.len() + 1;
                start..start + part.len()
            })
            .filter(|part| !part.is_empty())
    }

    /// The parts of `range` between white space.
    pub(super) fn words(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        self.split(range, is_space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_before_a_comment() {
        let check = |line: &str, expected: Option<&str>| {
            let value = try_config(line.as_bytes(), "search", Some(b';'));
            let value = value.map(|range| line.get(range).unwrap());
            assert_eq!(value, expected, "{line:?}");
        };
        check("search a.test b.test", Some("a.test b.test"));
        check("  search\ta.test # b", Some("a.test"));
        check("search a;b", Some("a"));
        check("search", None);
        check("search #a", None);
        check("searchx a", None);
        check("#search a", None);
    }

    #[test]
    fn numbers_lose_their_sign() {
        for (text, value) in [
            ("5", 5),
            (" 2 x", 2),
            ("x", 0),
            ("-1", i32::MAX.cast_unsigned()),
            ("99999999999999999999", i32::MAX.cast_unsigned()),
        ] {
            assert_eq!(strtol(text.as_bytes()), value, "{text}");
        }
    }
}
