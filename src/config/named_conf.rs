//! The syntax of `named.conf(5)`: statements of words and blocks that end
//! with a semicolon.
//!
//! Source: BIND 9 `lib/isccfg/parser.c: cfg_gettoken, cfg_parse_mapbody`.

use super::lexer::Lexer;
use super::statements::{Statement, Token, unescaped};
use crate::text::Source;

/// Deepest nesting that is looked into; BIND's grammar needs 5.
const MAX_DEPTH: usize = 20;

/// The statements of a file, which is the one with the number `file`. Total:
/// what lacks its end ends with the file.
pub fn parse(source: &Source, file: usize) -> Vec<Statement> {
    let mut parser = Parser {
        lexer: Lexer::new(source, true),
        file,
    };
    let mut statements = Vec::new();
    // A `}` too many is passed over.
    while !parser.lexer.is_at_end() {
        statements.extend(parser.statements(0));
    }
    statements
}

struct Parser<'c> {
    lexer: Lexer<'c>,
    file: usize,
}

impl Parser<'_> {
    /// Statements up to the end of the block or file.
    fn statements(&mut self, depth: usize) -> Vec<Statement> {
        let mut found = Vec::new();
        let mut current = self.empty();
        while let Some(token) = self.token() {
            match token {
                Token::Word(word) => current.words.push(word),
                Token::Open if depth < MAX_DEPTH => {
                    let block = self.statements(depth + 1);
                    current.block.get_or_insert(block);
                }
                Token::Open => self.skip_block(),
                Token::Close => break,
                Token::Semicolon => {
                    found.push(std::mem::replace(&mut current, self.empty()));
                }
            }
        }
        found.push(current);
        found.retain(|it| !it.words.is_empty() || it.block.is_some());
        found
    }

    fn empty(&self) -> Statement {
        Statement {
            file: self.file,
            ..Statement::default()
        }
    }

    /// Passes a block that is nested too deep.
    fn skip_block(&mut self) {
        let mut open = 1_usize;
        while open > 0 {
            match self.token() {
                None => return,
                Some(Token::Open) => open += 1,
                Some(Token::Close) => open -= 1,
                Some(_) => {}
            }
        }
    }

    fn token(&mut self) -> Option<Token> {
        let (first, rest) = self.lexer.next()?;
        if let Some(token) = Token::of_byte(first) {
            self.lexer.at += 1;
            return Some(token);
        }
        if first == b'"' {
            let length = unescaped(rest.get(1..)?, |byte, _| byte == b'"');
            return Some(Token::Word(self.lexer.quoted(length)));
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"{};\"".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len()).max(1);
        Some(Token::Word(self.lexer.word(length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &Source, statements: &[Statement]) -> String {
        let one = |it: &Statement| {
            let words = it.words.iter();
            let words = words.map(|span| String::from_utf8_lossy(span.slice(&source.bytes)));
            let mut parts: Vec<String> = words.map(std::borrow::Cow::into_owned).collect();
            parts.extend(it.block.as_ref().map(|block| {
                let inside = shown(source, block);
                format!("{{{inside}}}")
            }));
            parts.join(" ")
        };
        let all: Vec<String> = statements.iter().map(one).collect();
        all.join("; ")
    }

    fn check(text: &str, expected: &str) {
        let source = Source::new("f", text);
        let statements = parse(&source, 0);
        assert_eq!(shown(&source, &statements), expected, "{text:?}");
    }

    #[test]
    fn statements_have_words_and_blocks() {
        check(
            "options { forwarders { 192.0.2.1; 192.0.2.2 port 5353; }; };",
            "options {forwarders {192.0.2.1; 192.0.2.2 port 5353}}",
        );
        check(
            "// a\n# b\n/* c; */ zone \"x y\" IN{type forward;};",
            "zone x y IN {type forward}",
        );
        check("include \"/etc/a\";}}; b", "include /etc/a; b");
        check("a { b", "a {b}");
        check("/* open", "");
        check("\"open", "open");
    }

    #[test]
    fn deep_nesting_ends() {
        let text = "{".repeat(100_000);
        let source = Source::new("f", text);
        assert_eq!(parse(&source, 0).len(), 1);
    }
}
