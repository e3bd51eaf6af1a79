//! The syntax of `unbound.conf(5)`: `keyword: value`, and clauses that are a
//! keyword without a value.
//!
//! Source: unbound `util/configlexer.lex`.

use super::lexer::Lexer;
use crate::config::settings::Setting;
use crate::text::{Source, Span, WordList};

/// Keywords that begin a clause.
const CLAUSES: WordList = WordList(
    "server forward-zone stub-zone auth-zone view remote-control python dynlib dnscrypt cachedb \
     ipset rpz dnstap",
);

/// Whether a keyword begins a clause.
pub fn is_clause(name: &[u8]) -> bool {
    CLAUSES.has(name)
}

/// The settings of a file, which is the one with the number `file`. Total:
/// what is no keyword where one belongs is passed over.
pub fn parse(source: &Source, file: usize) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut lexer = Lexer::new(source, false);
    while let Some(token) = token(&mut lexer, true) {
        let bytes = token.slice(&source.bytes);
        let Some(name) = bytes.strip_suffix(b":") else {
            continue;
        };
        let start = token.start as usize;
        let value = if is_clause(name) {
            None
        } else {
            self::token(&mut lexer, false)
        };
        settings.push(Setting {
            file,
            name: Span::new(start, start + name.len()),
            value,
        });
    }
    settings
}

/// Whether a setting includes the files that its value, a pattern, names.
pub fn is_include(name: &[u8]) -> bool {
    matches!(name, b"include" | b"include-toplevel")
}

/// The next token without its quotes; a keyword ends with its colon.
fn token(lexer: &mut Lexer<'_>, is_keyword: bool) -> Option<Span> {
    let (first, rest) = lexer.next()?;
    if first == b'"' || first == b'\'' {
        let mut inside = rest.iter().skip(1);
        return Some(lexer.quoted(inside.position(|&byte| byte == first || byte == b'\n')));
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'".contains(byte);
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let colon = rest.iter().take(end).position(|&byte| byte == b':');
    let keyword = colon.filter(|_| is_keyword).map(|it| it + 1);
    Some(lexer.word(keyword.unwrap_or(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("f", text);
        let text_of = |span: Span| String::from_utf8_lossy(span.slice(&source.bytes)).into_owned();
        let show = |it: &Setting| match it.value {
            Some(value) => format!("{}={}", text_of(it.name), text_of(value)),
            None => text_of(it.name),
        };
        let found: Vec<String> = parse(&source, 0).iter().map(show).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn keywords_have_values() {
        check(
            "server:\n\tinterface: ::1 # x\n  port:5353\n",
            &["server", "interface=::1", "port=5353"],
        );
        check(
            "forward-zone: name: \".\" forward-addr: 192.0.2.1@853#a",
            &["forward-zone", "name=.", "forward-addr=192.0.2.1@853#a"],
        );
        check(
            "access-control: ::/0 allow\nport: 1",
            &["access-control=::/0", "port=1"],
        );
        check("#a: b\nname: 'x y'\nlast:", &["name=x y", "last"]);
        check("\"", &[]);
        check("include: \"/etc/x", &["include=/etc/x"]);
    }
}
