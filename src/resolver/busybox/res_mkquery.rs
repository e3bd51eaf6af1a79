//! The name of a query as glibc's `res_mkquery` takes it.

use memchr::memchr;

use crate::name::{Name, escape};

/// The name, with `\.` and `\DDD` escapes; `None` if there is no such name,
/// and `res_mkquery` fails.
///
/// Source: glibc `resolv/ns_name_pton.c`: `ns_name_pton`,
/// `resolv/ns_name_pack.c`: `ns_name_pack` (2.36)
pub(super) fn ns_name_pton(text: &[u8]) -> Option<Name> {
    if escapes_are_whole(text) {
        Name::from_master_file(text).ok()
    } else {
        None
    }
}

/// Whether every backslash stands before three digits up to 255, or before
/// another byte.
fn escapes_are_whole(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr(b'\\', rest) {
        let after = rest.get(at + 1..).unwrap_or_default();
        let Some((_, after)) = escape(after) else {
            return false;
        };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_glibc_reads_them() {
        let check = |text: &str, expected: Option<&str>| {
            let name = ns_name_pton(text.as_bytes());
            assert_eq!(
                name.map(|name| name.to_string()).as_deref(),
                expected,
                "{text}"
            );
        };
        check("a.b.", Some("a.b"));
        check("", Some("."));
        check(".", Some("."));
        check("a\\046b", Some("a\\.b"));
        check("a\\.", Some("a\\."));
        check("a\\..", Some("a\\."));
        for bad in ["..", "a..", ".a", "a..b", "a\\", "a\\25", "a\\256", "\\1a2"] {
            check(bad, None);
        }
        check(&"x".repeat(64), None);
    }
}
