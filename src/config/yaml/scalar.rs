//! What a plain scalar is taken for.
//!
//! Source: go-yaml `v2/resolve.go: resolve`, which kubernetes-sigs/yaml has as
//! `goyaml.v2`; `testdata/yaml/decoder.tsv` has what the decoder says itself.

use crate::config::yaml::Kind;
use crate::text::Span;

pub(super) fn plain_kind(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Kind::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Kind::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Kind::Number,
        _ if is_number(text) => Kind::Number,
        _ => Kind::Text,
    }
}

/// Whether Go's decoder takes the text for an integer or a fraction. One that
/// is too large stays a text.
fn is_number(text: &str) -> bool {
    // Only what begins like a number is tried.
    if text.starts_with('.') {
        return matches!(text, ".inf" | ".Inf" | ".INF") || is_decimal(text);
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-".contains(first)) {
        return false;
    }
    // `_` may stand anywhere in it.
    let text = text.replace('_', "");
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let in_base = |prefixes: [char; 2], radix: u32| {
        let rest = digits.strip_prefix('0')?.strip_prefix(prefixes)?;
        let is_digits = !rest.is_empty() && rest.chars().all(|digit| digit.is_digit(radix));
        Some(is_digits && u64::from_str_radix(rest, radix).is_ok())
    };
    in_base(['x', 'X'], 16)
        .or_else(|| in_base(['o', 'O'], 8))
        .or_else(|| in_base(['b', 'B'], 2))
        .unwrap_or_else(|| is_decimal(digits))
}

/// `12`, `1.5`, `.5`, `1e-3`, without a sign.
fn is_decimal(text: &str) -> bool {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let all_digits = |part: &str| part.chars().all(|digit| digit.is_ascii_digit());
    let number_fits = match number.split_once('.') {
        Some((whole, part)) => {
            all_digits(whole) && all_digits(part) && !(whole.is_empty() && part.is_empty())
        }
        None => !number.is_empty() && all_digits(number),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    number_fits && exponent_fits && text.parse().is_ok_and(f64::is_finite)
}

/// Where the first line of the text of a [`super::Style::Block`] begins in the
/// file, by the span of the value, which begins at the `|` or `>`.
pub fn first_line_of_block(bytes: &[u8], span: Span) -> Option<usize> {
    let start = span.start as usize;
    let newline = memchr::memchr(b'\n', bytes.get(start..)?)?;
    Some(start + newline + 1)
}
