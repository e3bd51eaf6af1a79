//! The words of one file.

use std::borrow::Cow;

use crate::text::Span;

/// A word as it is written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Token<'s> {
    /// Its text, without quotes: mostly that of the file.
    pub(super) text: Cow<'s, str>,
    /// Where it stands, with quotes.
    pub(super) span: Span,
    /// Whether it is the first on its line.
    pub(super) starts_line: bool,
}

/// The words of `bytes`. Linear.
pub(super) fn tokens(bytes: &[u8]) -> Vec<Token<'_>> {
    let mut lexer = Lexer {
        characters: characters(bytes),
        line: 1,
    };
    let mut tokens = Vec::new();
    let mut last_line = 0;
    while let Some((Written { text, span }, line)) = lexer.next_token() {
        let starts_line = last_line < line;
        // A quoted word can end on a later line than it began.
        last_line = line + text.matches('\n').count();
        let same = std::str::from_utf8(span.slice(bytes));
        let same = same.ok().filter(|same| *same == text);
        tokens.push(Token {
            text: same.map_or(Cow::Owned(text), Cow::Borrowed),
            span,
            starts_line,
        });
    }
    tokens
}

/// Each character with its offset and the offset behind it. What is not
/// UTF-8 is U+FFFD, a byte order mark at the beginning is nothing.
fn characters(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, char)> {
    let mut start = 0;
    let all = bytes.utf8_chunks().flat_map(move |chunk| {
        let from = start;
        let bad = from + chunk.valid().len();
        start = bad + chunk.invalid().len();
        let valid = chunk.valid().char_indices();
        let valid = valid.map(move |(at, it)| (from + at, from + at + it.len_utf8(), it));
        let invalid = (bad..start).map(|at| (at, at + 1, char::REPLACEMENT_CHARACTER));
        valid.chain(invalid)
    });
    all.skip_while(|it| it.0 == 0 && it.2 == '\u{feff}')
}

/// A word and where it stands.
#[derive(Default)]
struct Written {
    text: String,
    span: Span,
}

struct Lexer<I> {
    characters: I,
    line: usize,
}

impl<I: Iterator<Item = (usize, usize, char)>> Lexer<I> {
    /// The next word and the line on which it begins.
    ///
    /// As in the source a `#` ends a word in its middle, and the comment then
    /// ends with the first blank behind it: `1.1.1.1#the first` is `1.1.1.1`
    /// and `first`.
    fn next_token(&mut self) -> Option<(Written, usize)> {
        let mut token = Written::default();
        let mut line = self.line;
        let mut in_comment = false;
        while let Some((start, end, character)) = self.characters.next() {
            if character.is_whitespace() {
                if character == '\r' {
                    continue;
                }
                if character == '\n' {
                    self.line += 1;
                    in_comment = false;
                }
                if !token.text.is_empty() {
                    break;
                }
                continue;
            }
            in_comment |= character == '#';
            if in_comment {
                continue;
            }
            if token.text.is_empty() {
                token.span = Span::new(start, end);
                line = self.line;
                if character == '"' {
                    return self.quoted(token).map(|token| (token, line));
                }
            }
            token.text.push(character);
            token.span.end = Span::new(start, end).end;
        }
        (!token.text.is_empty()).then_some((token, line))
    }

    /// The word behind an opening quote. Only a quote can be escaped. Without
    /// a closing quote it ends with the file.
    fn quoted(&mut self, mut token: Written) -> Option<Written> {
        let mut is_escaped = false;
        for (start, end, character) in self.characters.by_ref() {
            token.span.end = Span::new(start, end).end;
            match character {
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                '"' if !is_escaped => return Some(token),
                '\n' => self.line += 1,
                _ => {}
            }
            if is_escaped && character != '"' {
                token.text.push('\\');
            }
            token.text.push(character);
            is_escaped = false;
        }
        (!token.text.is_empty()).then_some(token)
    }
}
