//! The syntax of HAProxy's configuration: lines of words, in sections that begin
//! with a keyword.
//!
//! Source: HAProxy `src/cfgparse.c: readcfgfile`, `src/tools.c: parse_line` (2.6)

use super::statements::Statement;
use crate::text::{Source, Span, WordList};

/// Words that begin a section.
///
/// Source: HAProxy `doc/configuration.txt` (3.2), sections 3, 4, 5.3, 11 and 12
const SECTIONS: WordList = WordList(
    "acme backend cache crt-store defaults email-alert fcgi-app frontend global http-errors \
     listen log-forward log-profile mailers peers program resolvers ring traces userlist",
);

/// The sections of a file, which is the one with the number `file`, each with
/// its lines as its block. Total; lines before the first section are one
/// without words.
pub fn parse(source: &Source, file: usize) -> Vec<Statement> {
    let mut sections: Vec<Statement> = Vec::new();
    for words in lines(&source.bytes) {
        let Some(first) = words.first().map(|it| it.slice(&source.bytes)) else {
            continue;
        };
        let statement = |words, block| Statement { file, words, block };
        if SECTIONS.has(first) {
            sections.push(statement(words, Some(Vec::new())));
            continue;
        }
        if sections.is_empty() {
            sections.push(statement(Vec::new(), Some(Vec::new())));
        }
        let block = sections.last_mut().and_then(|it| it.block.as_mut());
        if let Some(block) = block {
            block.push(statement(words, None));
        }
    }
    sections
}

/// Whether a text is such sections, with one in which servers can be: each begins as
/// `HAProxy` wants it, the first with the first line. One that is not named so has `global` or
/// `defaults`, too.
///
/// Source: HAProxy `src/cfgparse-listen.c: cfg_parse_listen` (2.6)
pub fn is_whole(bytes: &[u8], is_named: bool) -> bool {
    let mut is_usual = is_named;
    let mut has_servers = false;
    for (at, words) in lines(bytes).enumerate() {
        let mut words = words.iter().map(|it| it.slice(bytes));
        let kind = words.next().unwrap_or_default();
        if !SECTIONS.has(kind) {
            if at == 0 {
                return false;
            }
            continue;
        }
        let words: Vec<&[u8]> = words.collect();
        let is_right = match words.as_slice() {
            [] => !matches!(kind, b"backend" | b"listen"),
            // Of old versions, which had the address there.
            [_, address] if kind == b"listen" => address.contains(&b':'),
            [_] => kind != b"global",
            [b"from", _] | [_, b"from", _] => true,
            _ => false,
        };
        if !is_right {
            return false;
        }
        is_usual |= matches!(kind, b"global" | b"defaults");
        has_servers |= matches!(kind, b"backend" | b"listen");
    }
    is_usual && has_servers
}

/// The words of each line that has any.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Vec<Span>> {
    let mut at = 0;
    let next = move || {
        let (words, next) = (at < bytes.len()).then(|| line(bytes, at))?;
        at = next;
        Some(words)
    };
    std::iter::from_fn(next).filter(|it| !it.is_empty())
}

/// The words of the line that begins at `start`, without the quotes around
/// them, and where the next one begins.
fn line(bytes: &[u8], start: usize) -> (Vec<Span>, usize) {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let end = start + length;
    let mut words = Vec::new();
    let mut at = start;
    while at < end {
        match bytes.get(at) {
            Some(b'#') | None => break,
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            Some(_) => {
                let word = word(bytes.get(at..end).unwrap_or_default());
                let quotes = usize::from(matches!(bytes.get(at), Some(b'"' | b'\'')) && word > 1);
                let last = at + word;
                let is_closed = quotes == 1 && bytes.get(last - 1) == bytes.get(at);
                words.push(Span::new(at + quotes, last - usize::from(is_closed)));
                at = last;
            }
        }
    }
    (words, end + 1)
}

/// How many bytes the word at the beginning has, quotes and backslashes heeded.
fn word(bytes: &[u8]) -> usize {
    let mut quote = None;
    let mut is_hidden = false;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_plain = !is_hidden && quote.is_none();
        if is_plain && (byte.is_ascii_whitespace() || byte == b'#') {
            return at;
        }
        let was_hidden = std::mem::replace(&mut is_hidden, false);
        match quote {
            _ if was_hidden => {}
            Some(open) if open == byte => quote = None,
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            // Nothing is hidden between single quotes.
            Some(b'\'') => {}
            _ => is_hidden = byte == b'\\',
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source {
            name: "f".to_owned(),
            bytes: text.as_bytes().to_vec(),
        }
    }

    fn check(text: &str, expected: &str) {
        let source = source(text);
        let words = |it: &Statement| {
            let words = it
                .words
                .iter()
                .map(|it| String::from_utf8_lossy(it.slice(&source.bytes)));
            words.collect::<Vec<_>>().join("~")
        };
        let sections = parse(&source, 0);
        let shown = sections.iter().map(|it| {
            let lines = it.block.iter().flatten().map(words);
            format!("{}:{}", words(it), lines.collect::<Vec<_>>().join(","))
        });
        let shown: Vec<String> = shown.collect();
        assert_eq!(shown.join("|"), expected, "{text:?}");
    }

    #[test]
    fn sections_have_lines() {
        check("", "");
        check("# a\n\n", "");
        check(
            "global\n  maxconn 8\nresolvers dns # x\r\n\tnameserver a 10.0.0.1:53\n",
            "global:maxconn~8|resolvers~dns:nameserver~a~10.0.0.1:53",
        );
        check("a b\nlisten l", ":a~b|listen~l:");
        check(
            "global\n log \"a b\" 'c\\' d\\ e#f",
            "global:log~a b~c\\~d\\ e",
        );
        check("global\n a \"\n b '", "global:a~\",b~'");
    }

    #[test]
    fn length_is_bounded() {
        let long = format!("global\n{}", "a ".repeat(500_000));
        let found = parse(&source(&long), 0);
        let block = found.first().and_then(|it| it.block.as_ref()).unwrap();
        assert_eq!(block.first().map(|it| it.words.len()), Some(500_000));
        parse(&source(&"\"\\".repeat(500_000)), 0);
    }
}
