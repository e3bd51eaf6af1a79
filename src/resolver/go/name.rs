//! Which texts are domain names, and how they become questions.

use crate::name::Name;

/// Longest text of a name, final dot included.
/// Source: Go `src/net/dnsclient.go: isDomainName`.
pub(super) const MAX_NAME_BYTES: usize = 254;
/// Longest label. Source: Go `src/net/dnsclient.go: isDomainName`.
const MAX_LABEL_BYTES: usize = 63;

/// Whether `name` may be looked up: letters, digits, `-` and `_`, and not only
/// digits.
///
/// Source: Go `src/net/dnsclient.go: isDomainName`.
pub(super) fn is_domain_name(name: &[u8]) -> bool {
    if name == b"." {
        return true;
    }
    let rooted = name.ends_with(b".");
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.len() == MAX_NAME_BYTES && !rooted {
        return false;
    }
    let mut last = b'.';
    let mut non_numeric = false;
    let mut label = 0;
    for &byte in name {
        match byte {
            b'0'..=b'9' => label += 1,
            b'-' if last == b'.' => return false,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'-' => {
                non_numeric = true;
                label += 1;
            }
            b'.' if last == b'.' || last == b'-' || label > MAX_LABEL_BYTES => return false,
            b'.' => label = 0,
            _ => return false,
        }
        last = byte;
    }
    last != b'-' && label <= MAX_LABEL_BYTES && non_numeric
}

/// The name that a rooted text spells in a question, every byte as it is;
/// `None` if a label is empty or too long.
///
/// Source: Go `golang.org/x/net/dns/dnsmessage/message.go: Name.pack`.
pub(super) fn pack(rooted: &[u8]) -> Option<Name> {
    Name::from_plain(rooted).ok()
}

/// Whether DNS is not asked for `name`: RFC 7686.
///
/// Source: Go `src/net/dnsclient_unix.go: avoidDNS`.
pub(super) fn avoid_dns(name: &[u8]) -> bool {
    let name = name.strip_suffix(b".").unwrap_or(name);
    has_suffix_fold(name, b".onion")
}

/// Source: Go `src/net/parse.go: stringsHasSuffixFold`.
pub(super) fn has_suffix_fold(text: &[u8], suffix: &[u8]) -> bool {
    text.len()
        .checked_sub(suffix.len())
        .and_then(|at| text.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// Whether two names mean the same in the hosts file: a name with a dot in it
/// may have a final one, a name without may not.
///
/// Source: Go `src/net/dnsclient.go: absDomainName`.
pub(super) fn same_abs_domain_name(one: &[u8], other: &[u8]) -> bool {
    abs_domain_name(one).eq_ignore_ascii_case(abs_domain_name(other))
        && is_abs(one) == is_abs(other)
}

/// Without the final dot; whether there is one after all, says [`is_abs`].
fn abs_domain_name(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".").unwrap_or(name)
}

fn is_abs(name: &[u8]) -> bool {
    name.contains(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_letters_digits_and_hyphens() {
        for good in [
            "a", "a.", ".", "_x._y", "1a", "a-1", "1-2", "3.x", "xn--a", "a.1",
        ] {
            assert!(is_domain_name(good.as_bytes()), "{good}");
        }
        for bad in [
            "", "..", ".a", "a..", "a..b", "-a", "a-", "a-.b", "a.-b", "1", "1.2", "a b", "ü",
            "a*", "a@b", "a\\b",
        ] {
            assert!(!is_domain_name(bad.as_bytes()), "{bad}");
        }
        let long = |label: usize, dot: &str| {
            let name = [
                vec![b'x'; 63],
                vec![b'x'; 63],
                vec![b'x'; 63],
                vec![b'x'; label],
            ]
            .join(&b'.');
            [name, dot.into()].concat()
        };
        assert!(is_domain_name(&long(61, "")));
        assert!(is_domain_name(&long(61, ".")));
        assert!(!is_domain_name(&long(62, "")));
        assert!(!is_domain_name(&[b'x'; 64]));
    }

    #[test]
    fn the_hosts_file_takes_a_final_dot_only_with_another() {
        for (one, other, same) in [
            ("a", "A", true),
            ("a", "a.", false),
            ("a.b", "a.B.", true),
            ("a.b.", "a.b", true),
            ("a.b", "a.c", false),
        ] {
            assert_eq!(
                same_abs_domain_name(one.as_bytes(), other.as_bytes()),
                same,
                "{one} {other}"
            );
        }
    }
}
