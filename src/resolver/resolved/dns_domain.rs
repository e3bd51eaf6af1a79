//! Names in systemd's spelling, and what it tells of them.
//!
//! Source: systemd `src/shared/dns-domain.c`, `src/basic/hostname-util.c`.

use crate::name::{MAX_LABEL_BYTES, Name};
use crate::resolver::resolved::Version;

/// Longest name, with its escapes and without a final dot.
///
/// Source: `src/basic/hostname-util.h: DNS_HOSTNAME_MAX`.
const DNS_HOSTNAME_MAX: usize = 253;

/// The name that `text` spells; `None` if it is not valid.
///
/// Source: `dns_name_is_valid`, `dns_name_concat`.
pub(super) fn dns_name_normalize(text: &[u8]) -> Option<Name> {
    let name = if text.contains(&b'\\') {
        from_escaped(text)?
    } else if text.iter().any(|byte| matches!(byte, ..0x20 | 0x7f)) {
        return None;
    } else {
        Name::from_plain(text).ok()?
    };
    (escaped_length(&name) <= DNS_HOSTNAME_MAX).then_some(name)
}

/// The name that a text with escapes spells.
fn from_escaped(text: &[u8]) -> Option<Name> {
    let mut labels = Vec::new();
    let mut rest = text;
    loop {
        let label = dns_label_unescape(&mut rest)?;
        if label.is_empty() {
            break;
        }
        labels.push(label);
    }
    Name::from_labels(labels.iter().map(Vec::as_slice)).ok()
}

/// Takes the first label off `text`: an empty one at the end, `None` if the
/// text is no name.
///
/// Source: `dns_label_unescape`.
fn dns_label_unescape(text: &mut &[u8]) -> Option<Vec<u8>> {
    let mut label = Vec::new();
    let mut rest = *text;
    loop {
        rest = match rest {
            [] => break,
            [b'.', after @ ..] => {
                rest = after;
                break;
            }
            [b'\\', byte @ (b'\\' | b'.'), after @ ..] => {
                label.push(*byte);
                after
            }
            [
                b'\\',
                a @ b'0'..=b'9',
                b @ b'0'..=b'9',
                c @ b'0'..=b'9',
                after @ ..,
            ] => {
                let digit = |byte: &u8| u32::from(byte - b'0');
                let value = digit(a) * 100 + digit(b) * 10 + digit(c);
                label.push(u8::try_from(value).ok()?);
                after
            }
            [b'\\' | ..0x20 | 0x7f, ..] => return None,
            [byte, after @ ..] => {
                label.push(*byte);
                after
            }
        };
        if label.len() > MAX_LABEL_BYTES {
            return None;
        }
    }
    // A label is empty only at the very end, and no second dot follows there.
    if (label.is_empty() && !rest.is_empty()) || rest.first() == Some(&b'.') {
        return None;
    }
    *text = rest;
    Some(label)
}

/// `a` with `b` behind it; `None` if that is too long.
///
/// Source: `dns_name_concat`.
pub(super) fn dns_name_concat(a: &Name, b: &Name) -> Option<Name> {
    let name = Name::from_labels(a.labels().chain(b.labels())).ok()?;
    (escaped_length(&name) <= DNS_HOSTNAME_MAX).then_some(name)
}

/// The length of the name as text: a dot and a backslash count two, other
/// bytes that are no letters, digits, `_` and `-` four.
///
/// Source: `dns_label_escape`.
fn escaped_length(name: &Name) -> usize {
    let byte_length = |&byte: &u8| match byte {
        b'.' | b'\\' => 2,
        byte if is_bare(byte) => 1,
        _ => 4,
    };
    let labels = name
        .labels()
        .map(|label| label.iter().map(byte_length).sum::<usize>() + 1);
    labels.sum::<usize>().saturating_sub(1)
}

/// Whether a byte is written without an escape.
fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The name as systemd writes it.
///
/// Source: `dns_label_escape`.
pub(super) fn escaped(name: &Name) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(name.wire_len());
    for label in name.labels() {
        if !text.is_empty() {
            text.push('.');
        }
        for run in label.chunk_by(|one, other| is_bare(*one) && is_bare(*other)) {
            match run {
                [byte @ (b'.' | b'\\')] => text.extend(['\\', char::from(*byte)]),
                // Writing to a string cannot fail.
                [byte] if !is_bare(*byte) => {
                    let _ = write!(text, "\\{byte:03}");
                }
                bare => text.push_str(&String::from_utf8_lossy(bare)),
            }
        }
    }
    if text.is_empty() {
        text.push('.');
    }
    text
}

/// Whether a dot ends the text, one that is no part of a label.
///
/// Source: `dns_name_dot_suffixed`.
pub(super) fn dns_name_dot_suffixed(text: &[u8]) -> bool {
    let Some(before) = text.strip_suffix(b".") else {
        return false;
    };
    let backslashes = before.iter().rev().take_while(|&&byte| byte == b'\\');
    backslashes.count() % 2 == 0
}

/// Whether the last labels of `name` are `suffix`; the root ends every name.
///
/// Source: `dns_name_endswith`.
pub(super) fn dns_name_endswith(name: &Name, suffix: &Name) -> bool {
    let mut ends = std::iter::successors(Some(name.as_wire()), |rest| {
        let (&length, after) = rest.split_first()?;
        after.get(length.into()..)
    });
    ends.any(|end| end.eq_ignore_ascii_case(suffix.as_wire()))
}

/// The same for a suffix of the source, written without escapes.
#[inline]
pub(super) fn ends_with_text(name: &Name, suffix: &str) -> bool {
    // Each name is held against many suffixes, and nearly always the last
    // letters differ already.
    match (name.as_wire(), suffix.as_bytes()) {
        ([.., one], [.., other]) if one.eq_ignore_ascii_case(other) => {
            ends_with_labels(name, suffix)
        }
        _ => false,
    }
}

/// A function apart, as few names come to it.
#[inline(never)]
fn ends_with_labels(name: &Name, suffix: &str) -> bool {
    let wire = name.as_wire();
    let at = wire.len().checked_sub(suffix.len());
    let end = at.and_then(|at| wire.get(at..)).unwrap_or_default();
    // Where the suffix has a dot, the wire has a length.
    let mut letters = end.iter().zip(suffix.as_bytes()).rev();
    if !letters.all(|(a, b)| *b == b'.' || a.eq_ignore_ascii_case(b)) {
        return false;
    }
    let extra = dns_name_count_labels(name).checked_sub(suffix.split('.').count());
    extra.is_some_and(|extra| {
        name.labels()
            .skip(extra)
            .zip(suffix.split('.'))
            .all(|(a, b)| a.eq_ignore_ascii_case(b.as_bytes()))
    })
}

/// Whether the name is this one of the source, written without escapes.
fn equals_text(name: &Name, text: &str) -> bool {
    ends_with_text(name, text) && dns_name_count_labels(name) == text.split('.').count()
}

/// Source: `dns_name_count_labels`.
pub(super) fn dns_name_count_labels(name: &Name) -> usize {
    name.labels().count()
}

/// Source: `dns_name_is_single_label`.
pub(super) fn dns_name_is_single_label(name: &Name) -> bool {
    dns_name_count_labels(name) == 1
}

/// Source: `dns_name_is_root`, `dns_name_is_empty`.
pub(super) fn dns_name_is_root(name: &Name) -> bool {
    name.as_wire().is_empty()
}

/// Names that RFC 6303, RFC 6761 and RFC 9476 keep from servers.
///
/// Source: `dns_name_dont_resolve`.
pub(super) fn dns_name_dont_resolve(name: &Name, version: Version) -> bool {
    ends_with_text(name, "0.in-addr.arpa")
        || equals_text(name, "255.255.255.255.in-addr.arpa")
        || equals_text(
            name,
            "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
        )
        || ends_with_text(name, "invalid")
        || version.refuses_alt && ends_with_text(name, "alt")
}

/// Names below `in-addr.arpa` and `ip6.arpa` that stand for this machine's loop.
pub(super) fn is_loopback_reverse(name: &Name) -> bool {
    ends_with_text(name, "127.in-addr.arpa")
        || equals_text(
            name,
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa",
        )
}

/// Source: `is_localhost`.
pub(super) fn is_localhost(name: &Name) -> bool {
    ends_with_text(name, "localhost") || ends_with_text(name, "localhost.localdomain")
}

/// Source: `is_gateway_hostname`.
pub(super) fn is_gateway_hostname(name: &Name) -> bool {
    equals_text(name, "_gateway")
}

/// Source: `is_outbound_hostname`.
pub(super) fn is_outbound_hostname(name: &Name, version: Version) -> bool {
    !version.is_before_248 && equals_text(name, "_outbound")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_their_escapes() {
        let check = |text: &str, expected: Option<&str>| {
            let name = dns_name_normalize(text.as_bytes());
            assert_eq!(
                name.map(|name| escaped(&name)).as_deref(),
                expected,
                "{text}"
            );
        };
        check("", Some("."));
        check(".", Some("."));
        check("a.b.", Some("a.b"));
        check("a\\.b", Some("a\\.b"));
        check("a\\046b", Some("a\\.b"));
        check("a,b", Some("a\\044b"));
        for bad in ["..", ".a", "a..b", "a..", "a\\", "a\\x", "a\\999", "a\tb"] {
            check(bad, None);
        }
        assert!(dns_name_normalize(&[b'l'; 63]).is_some());
        assert_eq!(dns_name_normalize(&[b'l'; 64]), None);
        // An escape counts four bytes: 63 commas are 252 of 253.
        assert!(dns_name_normalize(&[b','; 63]).is_some());
        assert_eq!(dns_name_normalize(&[&[b','; 63][..], b".a"].concat()), None);
    }
}
