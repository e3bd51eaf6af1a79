//! How systemd splits text into lines, words and addresses.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::text::Span;

/// White space of systemd: `src/basic/string-util.h: WHITESPACE`.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A piece of a file: its bytes, and the offset of the first one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Piece<'c> {
    /// The bytes.
    pub bytes: &'c [u8],
    /// Offset of the first byte in the file.
    pub offset: usize,
}

/// A word as [`extract_first_word`] takes it: without quotes and backslashes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Extracted<'c> {
    /// The text.
    pub text: Cow<'c, [u8]>,
    /// Where it stands in the file, with its quotes and backslashes.
    pub span: Span,
}

/// How [`extract_first_word`] treats quotes and a text that ends too early.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Flags {
    /// `EXTRACT_UNQUOTE`: quotes group words and are taken off.
    pub unquote: bool,
    /// `EXTRACT_RELAX`: a final backslash is no error.
    pub relax: bool,
}

/// The words do not go on: there is a quote without its partner, or a final backslash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Invalid;

/// An address with what may stand around it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AddressWord {
    /// The address.
    pub ip: IpAddr,
    /// The port behind it.
    pub port: Option<u16>,
    /// The interface behind it.
    pub scope: Option<Box<str>>,
}

impl Piece<'_> {
    /// Where this piece stands.
    pub(super) fn span(self) -> Span {
        Span::new(self.offset, self.offset + self.bytes.len())
    }

    /// The piece from its `from`-th byte on.
    fn rest(self, from: usize) -> Self {
        Self {
            bytes: self.bytes.get(from..).unwrap_or_default(),
            offset: self.offset + from.min(self.bytes.len()),
        }
    }

    /// Without white space at both ends.
    ///
    /// Source: `src/basic/string-util.c: strstrip`.
    pub(super) fn strip(self) -> Self {
        let is_text = |byte: &u8| !is_blank(*byte);
        let Some(first) = self.bytes.iter().position(is_text) else {
            return self.rest(self.bytes.len());
        };
        let last = self.bytes.iter().rposition(is_text);
        Self {
            bytes: self
                .bytes
                .get(first..=last.unwrap_or(first))
                .unwrap_or_default(),
            offset: self.offset + first,
        }
    }

    /// The first word of the piece, up to white space.
    pub(super) fn first(self) -> Self {
        let end = self.bytes.iter().position(|&byte| is_blank(byte));
        let bytes = end.and_then(|end| self.bytes.get(..end));
        Self {
            bytes: bytes.unwrap_or(self.bytes),
            ..self
        }
    }

    /// What follows `word` and white space, if the piece begins with it.
    ///
    /// Source: `src/basic/string-util.c: first_word`.
    pub(super) fn first_word(self, word: &str) -> Option<Self> {
        let after = self.bytes.strip_prefix(word.as_bytes())?;
        match after.first() {
            Some(&byte) if !is_blank(byte) => None,
            _ => Some(self.rest(word.len()).strip()),
        }
    }

    /// Up to a NUL byte.
    pub(super) fn until_nul(self) -> Self {
        let bytes = self.bytes.split(|byte| *byte == 0).next();
        Self {
            bytes: bytes.unwrap_or_default(),
            ..self
        }
    }
}

/// The lines of a text. A NUL byte and a carriage return end one too.
///
/// Source: `src/basic/fileio.c: read_line_full`.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut offset = 0;
    text.split(|byte| matches!(byte, b'\n' | b'\r' | 0))
        .map(move |bytes| {
            let line = Piece { bytes, offset };
            offset += bytes.len() + 1;
            line
        })
}

/// Takes the next word off `text`; `None` if there is no further one.
///
/// Source: `src/basic/extract-word.c: extract_first_word`.
pub(super) fn extract_first_word<'c>(
    text: &mut Piece<'c>,
    flags: Flags,
) -> Result<Option<Extracted<'c>>, Invalid> {
    let rest = text.strip();
    if rest.bytes.is_empty() {
        *text = rest;
        return Ok(None);
    }
    let word = rest.first();
    let is_plain = |&byte: &u8| byte != b'\\' && !(flags.unquote && is_quote(byte));
    if word.bytes.iter().all(is_plain) {
        *text = rest.rest(word.bytes.len());
        return Ok(Some(Extracted {
            text: Cow::Borrowed(word.bytes),
            span: word.span(),
        }));
    }
    let mut word = Vec::with_capacity(word.bytes.len());
    let mut quote = None;
    let mut backslash = false;
    let mut length = rest.bytes.len();
    for (at, &byte) in rest.bytes.iter().enumerate() {
        if backslash {
            word.push(byte);
            backslash = false;
        } else if byte == b'\\' {
            backslash = true;
        } else if quote == Some(byte) {
            quote = None;
        } else if quote.is_some() {
            word.push(byte);
        } else if flags.unquote && is_quote(byte) {
            quote = Some(byte);
        } else if is_blank(byte) {
            length = at;
            break;
        } else {
            word.push(byte);
        }
    }
    if (backslash || quote.is_some()) && !flags.relax {
        return Err(Invalid);
    }
    *text = rest.rest(length);
    let span = Span::new(rest.offset, rest.offset + length);
    let text = Cow::Owned(word);
    Ok(Some(Extracted { text, span }))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'\'' | b'"')
}

/// Reads `192.0.2.1:53%eth0#name`, `[2001:db8::1]:53%eth0#name` and parts of it.
///
/// Source: `src/shared/socket-netlink.c: in_addr_port_ifindex_name_from_string_auto`.
pub(super) fn in_addr_port_ifindex_name_from_string_auto(text: &[u8]) -> Option<AddressWord> {
    let text = std::str::from_utf8(text).ok()?;
    let text = match text.split_once('#') {
        Some((_, "")) => return None,
        Some((text, _)) => text,
        None => text,
    };
    let (text, scope) = interface(text)?;
    let (ip, port) = match text.rsplit_once(':') {
        Some((bracketed, port)) if text.starts_with('[') => {
            let ip = bracketed.strip_prefix('[')?.strip_suffix(']')?;
            (IpAddr::V6(inet_pton6(ip)?), Some(parse_ip_port(port)?))
        }
        Some((ip, port)) => match inet_pton6(text) {
            Some(ip) => (IpAddr::V6(ip), None),
            None => (IpAddr::V4(inet_pton4(ip)?), Some(parse_ip_port(port)?)),
        },
        None => (IpAddr::V4(inet_pton4(text)?), None),
    };
    Some(AddressWord { ip, port, scope })
}

/// The same without port and name.
///
/// Source: `src/shared/socket-netlink.h: in_addr_ifindex_from_string_auto`.
pub(super) fn in_addr_ifindex_from_string_auto(text: &[u8]) -> Option<AddressWord> {
    let word = in_addr_port_ifindex_name_from_string_auto(text)?;
    (word.port.is_none() && !text.contains(&b'#')).then_some(word)
}

/// Interfaces that a machine of a scenario has.
const INTERFACES: [&str; 2] = ["eth0", "lo"];

/// The text before `%` and the interface behind it; nothing if there is no
/// such interface. A number is taken as it is.
///
/// Source: `src/shared/netif-util.c: ifname_valid_full`,
/// `src/libsystemd/sd-netlink/netlink-util.c: rtnl_resolve_interface`.
fn interface(text: &str) -> Option<(&str, Option<Box<str>>)> {
    let Some((text, name)) = text.split_once('%') else {
        return Some((text, None));
    };
    let number = name.bytes().all(|byte| byte.is_ascii_digit())
        && name.parse::<i32>().is_ok_and(|index| index > 0);
    (number || INTERFACES.contains(&name)).then(|| (text, Some(name.into())))
}

/// A port: a decimal, hexadecimal or octal number.
///
/// Source: `src/basic/parse-util.c: parse_ip_port`.
fn parse_ip_port(text: &str) -> Option<u16> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', b'b' | b'B', ..] => (text.get(2..)?, 2),
        [b'0', b'o', ..] => (text.get(2..)?, 8),
        [b'0', _, ..] => (text.get(1..)?, 8),
        [b'+', ..] => (text.get(1..)?, 10),
        _ => (text, 10),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u16::from_str_radix(digits, radix)
        .ok()
        .filter(|&port| plain && port != 0)
}

/// `inet_pton(AF_INET)`: four decimal numbers.
fn inet_pton4(text: &str) -> Option<Ipv4Addr> {
    text.parse().ok()
}

/// `inet_pton(AF_INET6)`.
fn inet_pton6(text: &str) -> Option<Ipv6Addr> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_quotes_and_backslashes() {
        let check = |text: &str, flags: Flags, expected: &[&str], ends_well: bool| {
            let mut rest = Piece {
                bytes: text.as_bytes(),
                offset: 0,
            };
            let mut words = Vec::new();
            let ended = loop {
                match extract_first_word(&mut rest, flags) {
                    Ok(Some(word)) => words.push(String::from_utf8(word.text.into()).unwrap()),
                    ended => break ended,
                }
            };
            assert_eq!(words, expected, "{text:?}");
            assert_eq!(ended.is_ok(), ends_well, "{text:?}");
        };
        let unquote = Flags {
            unquote: true,
            relax: false,
        };
        check(" a\tb \r", Flags::default(), &["a", "b"], true);
        check("a\\ b 'c d'", unquote, &["a b", "c d"], true);
        check("'c d'", Flags::default(), &["'c", "d'"], true);
        check("a 'b", unquote, &["a"], false);
        check("a \\", unquote, &["a"], false);
        check("\"\" a", unquote, &["", "a"], true);
    }

    #[test]
    fn addresses_may_have_a_port_an_interface_and_a_name() {
        let check = |text: &str, expected: Option<(&str, Option<u16>, Option<&str>)>| {
            let found = in_addr_port_ifindex_name_from_string_auto(text.as_bytes());
            let found = found
                .as_ref()
                .map(|word| (word.ip.to_string(), word.port, word.scope.as_deref()));
            let expected = expected.map(|(ip, port, scope)| (ip.to_owned(), port, scope));
            assert_eq!(found, expected, "{text}");
        };
        check("10.0.0.1", Some(("10.0.0.1", None, None)));
        check("10.0.0.1:5353#a.b", Some(("10.0.0.1", Some(5353), None)));
        check(
            "[fd00::1]:53%eth0",
            Some(("fd00::1", Some(53), Some("eth0"))),
        );
        check("fe80::1%eth0", Some(("fe80::1", None, Some("eth0"))));
        for bad in [
            "[fd00::1]",
            "10.1",
            "10.0.0.1#",
            "fe80::1%no",
            "10.0.0.1;",
            "10.0.0.1:0",
        ] {
            check(bad, None);
        }
    }
}
