//! Lists of files, as `git diff --name-only` and `find` print them.

use std::borrow::Cow;

/// The names in a list: one on each line, those that git quotes among them, or each with a
/// NUL behind it. A file that `is_there` with its quotes is no other one.
pub(super) fn names(
    list: &[u8],
    is_there: impl Fn(&[u8]) -> bool,
) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let end = if list.contains(&0) { 0 } else { b'\n' };
    list.split(move |it| *it == end).map(move |name| {
        if end == 0 {
            return Cow::Borrowed(name);
        }
        let name = name.strip_suffix(b"\r").unwrap_or(name);
        let inside = name
            .strip_prefix(b"\"")
            .and_then(|it| it.strip_suffix(b"\""))
            .filter(|_| !is_there(name));
        inside.map_or(Cow::Borrowed(name), |it| Cow::Owned(unquoted(it)))
    })
}

/// What stands in the quotes of git.
///
/// Source: git, `quote.c: unquote_c_style`.
fn unquoted(text: &[u8]) -> Vec<u8> {
    const ESCAPES: [(u8, u8); 7] = [
        (b'a', 7),
        (b'b', 8),
        (b't', b'\t'),
        (b'n', b'\n'),
        (b'v', 11),
        (b'f', 12),
        (b'r', b'\r'),
    ];
    let mut name = Vec::new();
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        let Some((&second, behind)) = behind.split_first().filter(|_| first == b'\\') else {
            name.push(first);
            continue;
        };
        let octal = rest
            .get(..3)
            .filter(|it| it.iter().all(u8::is_ascii_digit))
            .and_then(|it| std::str::from_utf8(it).ok());
        if let Some(byte) = octal.and_then(|it| u8::from_str_radix(it, 8).ok()) {
            name.push(byte);
            rest = rest.get(3..).unwrap_or_default();
            continue;
        }
        let escape = ESCAPES.iter().find(|it| it.0 == second);
        name.push(escape.map_or(second, |it| it.1));
        rest = behind;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_git_prints_them() {
        let read = |text: &[u8]| {
            names(text, |it| it == b"\"q\"")
                .map(Cow::into_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(read(b"a.yaml\r\nb c\n"), [&b"a.yaml"[..], b"b c", b""]);
        assert_eq!(read(b"a\"b\0c\nd\0"), [&b"a\"b"[..], b"c\nd", b""]);
        assert_eq!(read(b"\"q\"\n\"\\+12\""), [&b"\"q\""[..], b"+12"]);
        let quoted = b"\"p\\303\\266d\\t\\\"\\\\.yaml\"";
        assert_eq!(read(quoted), ["p\u{f6}d\t\"\\.yaml".as_bytes()]);
    }
}
