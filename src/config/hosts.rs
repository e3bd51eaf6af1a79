//! The syntax of `hosts(5)`: addresses and the names they have.
//!
//! Which spellings of an address count, and how names compare, is up to the
//! resolver that reads the file.

use crate::config::resolv_conf::{ResolvConf, Word};

/// A line of a hosts file with at least one word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry<'c> {
    /// The address as written.
    pub address: Word<'c>,
    /// The names, in order: the canonical one first, then aliases.
    pub names: Vec<Word<'c>>,
}

/// The entries of a hosts file, in file order. A `#` and what follows it on
/// the line is a comment.
pub fn entries(file: &ResolvConf) -> impl Iterator<Item = Entry<'_>> {
    file.lines().filter_map(|line| {
        let mut open = true;
        let mut words = line.words().map_while(move |word| {
            let comment = word.bytes.iter().position(|&byte| byte == b'#');
            let kept = cut(word, comment.unwrap_or(word.bytes.len()));
            let keep = open && !kept.bytes.is_empty();
            open &= comment.is_none();
            keep.then_some(kept)
        });
        let address = words.next()?;
        Some(Entry {
            address,
            names: words.collect(),
        })
    })
}

/// The words of a file that can be names, without final dots.
struct PlainWords(Vec<Vec<u8>>);

/// Whether a resolver can find `name` in the file, whatever it takes for a blank, for the
/// end of a line or for the same name. Of a name with odd bytes nothing is known: it can.
pub fn may_have(file: &ResolvConf, name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let words = file.made.once(|| {
        let words = file.source.bytes.split(|byte| !is_plain(byte));
        PlainWords(words.map(|it| without_dots(it).to_vec()).collect())
    });
    let known = without_dots(name);
    let is_it = |word: &Vec<u8>| word.eq_ignore_ascii_case(known);
    name.is_empty() || words.0.iter().any(is_it) || !name.iter().all(is_plain)
}

fn without_dots(mut word: &[u8]) -> &[u8] {
    while let [rest @ .., b'.'] = word {
        word = rest;
    }
    word
}

/// The first `length` bytes of `word`.
fn cut(word: Word<'_>, length: usize) -> Word<'_> {
    let mut span = word.span;
    span.end = span
        .start
        .saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
    Word {
        bytes: word.bytes.get(..length).unwrap_or(word.bytes),
        span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Source;

    #[test]
    fn what_no_resolver_can_find_is_told_apart() {
        let text = b"10.0.0.1\tWeb.a. b\0c#d\n10.0.0.2\x0be\xffg";
        let file = ResolvConf::parse(Source::new("hosts", text));
        for name in [
            "web.A", "web.a.", "B", "c", "d", "e", "g", "10.0.0.2", "", "x%y", "\u{e9}",
        ] {
            assert!(may_have(&file, name.as_bytes()), "{name}");
        }
        for name in ["web", "a", "b.c", "eg", "x"] {
            assert!(!may_have(&file, name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn comments_end_a_line_anywhere() {
        let file = ResolvConf::parse(Source::new(
            "hosts",
            b"127.0.0.1 localhost\n# x\n\n10.0.0.1\ta b#c d\n10.0.0.2 # e f\n",
        ));
        let found: Vec<(&[u8], Vec<&[u8]>)> = entries(&file)
            .map(|entry| {
                let names = entry.names.iter().map(|word| word.bytes).collect();
                (entry.address.bytes, names)
            })
            .collect();
        assert_eq!(
            found,
            [
                (&b"127.0.0.1"[..], vec![&b"localhost"[..]]),
                (b"10.0.0.1", vec![b"a", b"b"]),
                (b"10.0.0.2", vec![]),
            ]
        );
    }
}
