//! Texts as names, and parts of them.

use std::net::Ipv6Addr;

use crate::name::Name;
use crate::resolver::glibc::thread::Thread;

/// The name that `text` spells, with escapes; `None` if no message can have it.
///
/// Source: glibc `resolv/ns_name_pton.c` (2.36).
pub(super) fn ns_name_pton(text: &[u8]) -> Option<Name> {
    if !text.contains(&b'\\') {
        return Name::from_plain(text).ok();
    }
    let mut labels: Vec<Vec<u8>> = vec![Vec::new()];
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let byte = match byte {
            b'\\' => {
                let (byte, after) = escaped(rest)?;
                rest = after;
                byte
            }
            b'.' if rest.is_empty() => break,
            b'.' => {
                labels.push(Vec::new());
                continue;
            }
            byte => byte,
        };
        labels.last_mut()?.push(byte);
    }
    Name::from_labels(labels.iter().map(Vec::as_slice)).ok()
}

/// What follows a backslash: three digits up to 255, or one byte that is no digit.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, after) = text.split_first()?;
    if !first.is_ascii_digit() {
        return Some((first, after));
    }
    let (digits, after) = text.split_at_checked(3)?;
    let number = std::str::from_utf8(digits).ok()?;
    let all_digits = digits.iter().all(u8::is_ascii_digit);
    Some((number.parse().ok().filter(|_| all_digits)?, after))
}

/// Whether `name` may be asked for at all: labels of letters, digits, `-` and
/// `_`, the first without a `-` in front.
///
/// Source: glibc `resolv/res-name-checking.c: __libc_res_hnok` (2.36).
pub(super) fn res_hnok(name: &[u8]) -> bool {
    name.iter().all(u8::is_ascii_graphic)
        && ns_name_pton(name).is_some_and(|name| res_binary_hnok(&name))
}

/// Source: glibc `resolv/res-name-checking.c: __res_binary_hnok` (2.36).
pub(super) fn res_binary_hnok(name: &Name) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let leading_dash = name
        .labels()
        .next()
        .is_some_and(|label| label.starts_with(b"-"));
    !leading_dash && name.labels().all(|label| label.iter().all(fits))
}

/// Whether `scope` is one: an interface of the machine, or a number.
///
/// Source: glibc `inet/inet6_scopeid_pton.c` (2.36).
pub(super) fn inet6_scopeid_pton(thread: &Thread<'_>, ip: Ipv6Addr, scope: &str) -> bool {
    let number = scope.bytes().all(|byte| byte.is_ascii_digit()) && scope.parse::<u32>().is_ok();
    is_link_local(ip) && thread.scenario.has_interface(scope) || number
}

/// Whether `ip` means different machines on different links.
pub(super) fn is_link_local(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.octets();
    ip.is_unicast_link_local() || first == 0xff && matches!(second & 0xf, 1 | 2)
}

/// White space in the C locale, `isspace(3)`.
pub(super) fn isspace(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_bytes_of_a_label() {
        let check = |text: &str, expected: Option<&[&[u8]]>| {
            let expected =
                expected.map(|labels| Name::from_labels(labels.iter().copied()).unwrap());
            assert_eq!(ns_name_pton(text.as_bytes()), expected, "{text}");
        };
        check("", Some(&[]));
        check(".", Some(&[]));
        check("a.b.", Some(&[b"a", b"b"]));
        check(r"a\.b", Some(&[b"a.b"]));
        check(r"a\032b.c.", Some(&[b"a b", b"c"]));
        check(r"a\b", Some(&[b"ab"]));
        for bad in [
            "a..b", ".a", "a..", r"a\", r"a\25", r"a\256", r"a\2x5", r"\..a..b",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn host_names_have_letters_digits_dashes_and_underscores() {
        for (name, ok) in [
            ("web", true),
            ("_http._tcp.web.", true),
            ("db-", true),
            ("a.-b", true),
            ("-db", false),
            ("a b", false),
            ("b\u{fc}cher", false),
            ("*.a", false),
            (r"\119eb", true),
            (r"a\.b", false),
            ("", true),
        ] {
            assert_eq!(res_hnok(name.as_bytes()), ok, "{name}");
        }
    }
}
