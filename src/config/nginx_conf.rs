//! The syntax of nginx' configuration: directives of words that end with a
//! semicolon or have a block.
//!
//! Source: nginx `src/core/ngx_conf_file.c: ngx_conf_read_token` (1.22)

use super::lexer::Lexer;
use super::statements::{Statement, Token, unescaped};
use crate::text::{Source, Span};

/// Deepest nesting that is looked into; nginx' own grammar needs 6.
const MAX_DEPTH: usize = 32;

/// The directives of a file, and whether all of it is one nginx would take for
/// directives.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Parsed {
    /// The directives, with those of their blocks.
    pub statements: Vec<Statement>,
    /// Whether every directive has its end, every block its brackets and every
    /// quote its other one.
    pub is_whole: bool,
}

/// The directives of a file, which is the one with the number `file`. Total:
/// what lacks its end ends with the file. What is code of another language, in a
/// block of Lua, is passed over.
pub fn parse(source: &Source, file: usize) -> Parsed {
    let mut parser = Parser {
        lexer: Lexer::new(source, false),
        file,
        is_whole: true,
    };
    let mut statements = Vec::new();
    loop {
        statements.extend(parser.statements(0));
        if parser.lexer.is_at_end() {
            break;
        }
        // A `}` too many.
        parser.is_whole = false;
    }
    Parsed {
        statements,
        is_whole: parser.is_whole,
    }
}

/// Whether all of a text is such directives.
pub fn is_whole(bytes: &[u8]) -> bool {
    parse(&Source::new("", bytes), 0).is_whole
}

struct Parser<'c> {
    lexer: Lexer<'c>,
    file: usize,
    is_whole: bool,
}

impl Parser<'_> {
    /// Directives up to the end of the block or file.
    fn statements(&mut self, depth: usize) -> Vec<Statement> {
        let mut found = Vec::new();
        let mut words: Vec<Span> = Vec::new();
        let mut is_closed = false;
        while let Some(token) = self.token() {
            let block = match token {
                Token::Word(word) => {
                    words.push(word);
                    continue;
                }
                Token::Close => {
                    is_closed = true;
                    break;
                }
                Token::Semicolon => None,
                Token::Open if self.is_code(&words) || depth >= MAX_DEPTH => {
                    self.skip_block();
                    Some(Vec::new())
                }
                Token::Open => Some(self.statements(depth + 1)),
            };
            self.is_whole &= !words.is_empty();
            if words.is_empty() && block.is_none() {
                continue;
            }
            found.push(Statement {
                file: self.file,
                words: std::mem::take(&mut words),
                block,
            });
        }
        self.is_whole &= words.is_empty() && is_closed == (depth > 0);
        found
    }

    /// Whether a block with these words before it is Lua, which has brackets and
    /// semicolons of its own.
    fn is_code(&self, words: &[Span]) -> bool {
        let first = words.first().map(|it| it.slice(self.lexer.bytes));
        first.is_some_and(|it| it.ends_with(b"_by_lua_block"))
    }

    /// Passes a block, brackets in it counted.
    fn skip_block(&mut self) {
        let mut open = 1_usize;
        while let Some(&byte) = self.lexer.bytes.get(self.lexer.at) {
            self.lexer.at += 1;
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
        self.is_whole = false;
    }

    fn token(&mut self) -> Option<Token> {
        let (first, rest) = self.lexer.next()?;
        if let Some(token) = Token::of_byte(first) {
            self.lexer.at += 1;
            return Some(token);
        }
        if matches!(first, b'"' | b'\'') {
            let length = unescaped(rest.get(1..)?, |byte, _| byte == first);
            self.is_whole &= length.is_some();
            return Some(Token::Word(self.lexer.quoted(length)));
        }
        // `${name}` is a variable and no block.
        let ends = |byte: u8, before: Option<u8>| {
            byte.is_ascii_whitespace() || byte == b';' || byte == b'{' && before != Some(b'$')
        };
        let length = unescaped(rest, ends).unwrap_or(rest.len());
        Some(Token::Word(self.lexer.word(length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(statements: &[Statement], bytes: &[u8]) -> String {
        let one = |it: &Statement| {
            let words = it
                .words
                .iter()
                .map(|it| String::from_utf8_lossy(it.slice(bytes)));
            let words: Vec<_> = words.collect();
            let block = it
                .block
                .as_ref()
                .map(|it| format!("{{{}}}", shown(it, bytes)));
            words.join(" ") + &block.unwrap_or_default()
        };
        let all: Vec<String> = statements.iter().map(one).collect();
        all.join("|")
    }

    fn check(text: &str, expected: &str, is_whole: bool) {
        let source = Source {
            name: "f".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        let found = parse(&source, 0);
        assert_eq!(
            shown(&found.statements, &source.bytes),
            expected,
            "{text:?}"
        );
        assert_eq!(found.is_whole, is_whole, "{text:?}");
    }

    #[test]
    fn directives_have_words_and_blocks() {
        check("", "", true);
        check("a b;c{d 'e f';}", "a b|c{d e f}", true);
        check("a\r\n\tb # c;\n;", "a b", true);
        check(
            "location ~ ^/(a|b)$ { return 200 \"x;{\\\"\"; }",
            "location ~ ^/(a|b)${return 200 x;{\\\"}",
            true,
        );
        check(
            "proxy_pass http://${host}x;",
            "proxy_pass http://${host}x",
            true,
        );
        check("a\\;b;", "a\\;b", true);
        check(
            "content_by_lua_block { if a then b{c=1} end; } d;",
            "content_by_lua_block{}|d",
            true,
        );
    }

    #[test]
    fn what_lacks_its_end_ends_with_the_file() {
        check("a", "", false);
        check("a {", "a{}", false);
        check("a {}}b;", "a{}|b", false);
        check(";", "", false);
        check("{}", "{}", false);
        check("a 'b", "", false);
        check("a_by_lua_block {{}", "a_by_lua_block{}", false);
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = "a {".repeat(100_000);
        let source = |text: &str| Source {
            name: "f".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        assert!(!parse(&source(&deep), 0).is_whole);
        let long = format!("a {};", "b ".repeat(500_000));
        assert!(parse(&source(&long), 0).is_whole);
        assert!(!parse(&source(&"}".repeat(100_000)), 0).is_whole);
        let quotes = "'\\".repeat(500_000);
        assert!(!parse(&source(&quotes), 0).is_whole);
    }
}
