//! The syntax of `unbound.conf(5)`: `keyword: value`, and clauses that are a
//! keyword without a value.
//!
//! Source: unbound `util/configlexer.lex`.

use crate::config::settings::Setting;
use crate::text::{Source, Span};

/// Keywords that begin a clause.
const CLAUSES: &[&[u8]] = &[
    b"server",
    b"forward-zone",
    b"stub-zone",
    b"auth-zone",
    b"view",
    b"remote-control",
    b"python",
    b"dynlib",
    b"dnscrypt",
    b"cachedb",
    b"ipset",
    b"rpz",
    b"dnstap",
];

/// Whether a keyword begins a clause.
pub fn is_clause(name: &[u8]) -> bool {
    CLAUSES.contains(&name)
}

/// The settings of a file, which is the one with the number `file`. Total:
/// what is no keyword where one belongs is passed over.
pub fn parse(source: &Source, file: usize) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut tokens = Tokens {
        bytes: &source.bytes,
        at: 0,
    };
    while let Some(token) = tokens.next(true) {
        let bytes = token.slice(&source.bytes);
        let Some(name) = bytes.strip_suffix(b":") else {
            continue;
        };
        let start = token.start as usize;
        let value = if is_clause(name) {
            None
        } else {
            tokens.next(false)
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

struct Tokens<'c> {
    bytes: &'c [u8],
    at: usize,
}

impl Tokens<'_> {
    /// The next token without its quotes; a keyword ends with its colon.
    fn next(&mut self, is_keyword: bool) -> Option<Span> {
        self.skip_blanks();
        let rest = self.bytes.get(self.at..)?;
        let first = *rest.first()?;
        let start = self.at;
        if first == b'"' || first == b'\'' {
            let inside = rest.get(1..)?;
            let length = inside
                .iter()
                .position(|&byte| byte == first || byte == b'\n');
            let length = length.unwrap_or(inside.len());
            self.at = (start + length + 2).min(self.bytes.len());
            return Some(Span::new(start + 1, start + 1 + length));
        }
        let mut length = 0;
        for &byte in rest {
            if byte.is_ascii_whitespace() || byte == b'"' || byte == b'\'' {
                break;
            }
            length += 1;
            if is_keyword && byte == b':' {
                break;
            }
        }
        self.at = start + length.max(1);
        Some(Span::new(start, self.at))
    }

    /// Passes white space and comments, which begin where a token could.
    fn skip_blanks(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'#' {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let end = rest.iter().position(|&byte| byte == b'\n');
                self.at += end.unwrap_or(rest.len());
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else {
                return;
            }
        }
    }
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
