//! Words to server blocks, with imports and snippets put in place.
//!
//! CoreDNS ends at the first error; this parser notes it and goes on.

use std::collections::BTreeMap;

use super::lexer::{Token, tokens};
use super::strict;
use super::{At, Corefile, Directive, Finding, Import, ServerBlock, Word, import};
use crate::text::{Source, escaped};

/// More imports than this are an error.
///
/// Source: github.com/coredns/caddy, caddyfile/parse.go `maxSnippetExpansions`.
const MAX_IMPORTS: usize = 1000;
/// More words than this of imports are an error of ours, so that a small file
/// cannot become a large one.
const MAX_WORDS: usize = 1 << 17;

/// A parser at work.
pub(super) struct Parser<'s> {
    sources: &'s [Source],
    /// The words of each source, once it is needed.
    tokens: Vec<Option<Vec<Token<'s>>>>,
    /// What is being read, the innermost last.
    frames: Vec<Frame>,
    snippets: BTreeMap<String, Frame>,
    /// Imports and words so far.
    expanded: (usize, usize),
    /// Whether the last word was a closing brace.
    is_after_brace: bool,
    result: Corefile,
}

/// A range of the words of a source.
#[derive(Clone, Copy, Debug)]
struct Frame {
    source: usize,
    next: usize,
    end: usize,
    /// Whether nothing of it has been read.
    is_fresh: bool,
}

/// A word and whether it is the first on its line.
struct Next {
    word: Word,
    starts_line: bool,
}

impl<'s> Parser<'s> {
    pub(super) fn new(sources: &'s [Source]) -> Self {
        let mut parser = Self {
            sources,
            tokens: vec![None; sources.len()],
            frames: Vec::new(),
            snippets: BTreeMap::new(),
            expanded: (0, 0),
            is_after_brace: false,
            result: Corefile::default(),
        };
        parser.enter_source(0);
        parser
    }

    /// Reads everything; the sources are not in the result.
    pub(super) fn run(mut self) -> Corefile {
        while self.peek().is_some() {
            self.block();
        }
        self.result
    }

    /// Source: parse.go `parseOne`, `begin`.
    fn block(&mut self) {
        let keys = self.keys();
        let has_brace = self.peek().is_some_and(|next| next.word.text == "{");
        if let [key] = keys.as_slice()
            && let Some(name) = key.text.strip_prefix('(')
            && let Some(name) = name.strip_suffix(')')
        {
            return self.snippet(key, name);
        }
        let opening = has_brace.then(|| self.advance()).flatten();
        let directives = self.directives(opening.map(|it| it.word.at));
        if keys.is_empty() {
            return;
        }
        if let Some(key) = keys.iter().find(|key| key.text.ends_with('{')) {
            self.note(
                key.at,
                false,
                "the { is part of the key, as no blank is before it",
            );
        }
        self.result.blocks.push(ServerBlock { keys, directives });
    }

    /// Source: parse.go `addresses`.
    fn keys(&mut self) -> Vec<Word> {
        let mut keys = Vec::new();
        let mut expects_another = false;
        while let Some(next) = self.peek() {
            if next.word.text == "import" && next.starts_line {
                self.import();
                continue;
            }
            if next.word.text == "{" {
                if expects_another {
                    let message = "expected another address but had { - check for extra comma";
                    self.note(next.word.at, true, message);
                }
                break;
            }
            if next.starts_line && !keys.is_empty() && !expects_another {
                break;
            }
            self.advance();
            let mut key = next.word;
            expects_another = key.text.ends_with(',');
            if expects_another {
                key.text.pop();
                key.at.span.end = key.at.span.end.saturating_sub(1);
            }
            if !key.text.is_empty() {
                keys.push(key);
            }
        }
        if let (true, None, Some(key)) = (expects_another, self.peek(), keys.last()) {
            self.note(
                key.at,
                true,
                "the file ends where another address was expected",
            );
        }
        keys
    }

    /// Source: parse.go `snippetTokens`.
    fn snippet(&mut self, key: &Word, name: &str) {
        let open = self.advance().filter(|next| next.word.text == "{");
        let Some(mut frame) = self.frames.last().copied().filter(|_| open.is_some()) else {
            return self.note(key.at, true, "a snippet needs a block in braces");
        };
        frame.is_fresh = true;
        let mut depth = 1_usize;
        while self.position() < frame.end {
            let token = self.token_at(frame.source, self.position());
            match token.map_or("", |token| &*token.text) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            self.skip();
        }
        frame.end = self.position();
        if depth > 0 {
            self.note(key.at, true, "the snippet has no closing }");
        }
        self.skip();
        if self.snippets.insert(name.to_owned(), frame).is_some() {
            let message = format!("the snippet {} is declared twice", escaped(name.as_bytes()));
            self.note(key.at, true, &message);
        }
    }

    /// The directives up to the closing brace, or to the end of the file
    /// where there was no opening one.
    ///
    /// Source: parse.go `directives`, `closeCurlyBrace`.
    fn directives(&mut self, opening: Option<At>) -> Vec<Directive> {
        let mut directives = Vec::new();
        while let Some(next) = self.peek() {
            match next.word.text.as_str() {
                "}" => {
                    self.advance();
                    return directives;
                }
                "import" => self.import(),
                _ => directives.push(self.directive()),
            }
        }
        // CoreDNS looks at the last word of the file, whatever it closes.
        if let Some(at) = opening.filter(|_| !self.is_after_brace) {
            self.note(at, true, "the server block has no closing }");
        }
        directives
    }

    /// Source: parse.go `directive`, dispenser.go `NextBlock`.
    fn directive(&mut self) -> Directive {
        let mut directive = Directive {
            name: self.advance().map(|it| it.word).unwrap_or_default(),
            ..Directive::default()
        };
        let mut depth = 0_usize;
        let mut is_closed = false;
        while let Some(next) = self.peek() {
            let text = next.word.text.as_str();
            if depth == 0 && text == "{" && next.starts_line {
                let stops = strict::is(&directive);
                self.note(
                    next.word.at,
                    stops,
                    "the { must be on the line of its directive",
                );
            } else if depth == 0 && next.starts_line {
                break;
            } else if depth == 0 && text == "}" {
                let message = "unexpected } because no matching opening brace is on its line";
                self.note(next.word.at, true, message);
                break;
            } else if depth > 0 && text == "import" && next.starts_line {
                self.import();
                continue;
            }
            let is_new_line = next.starts_line || directive.lines.is_empty();
            let was = depth;
            match text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            is_closed |= was == 1 && depth == 0;
            self.advance();
            match was.min(depth) {
                0 if was == depth && is_closed => {
                    let stops = strict::is(&directive);
                    self.note(next.word.at, stops, "unexpected word behind the closing }");
                }
                0 if was == depth => directive.arguments.push(next.word),
                0 => directive.lines.push(Vec::new()),
                _ => directive.add(next.word, is_new_line),
            }
        }
        directive.lines.retain(|line| !line.is_empty());
        if depth > 0 {
            self.note(directive.name.at, true, "its block has no closing }");
        }
        if let Some((at, message)) = strict::plugin_inside(&directive) {
            self.note(at, true, &message);
        }
        directive
    }

    /// Puts what an `import` names in its place.
    ///
    /// Source: parse.go `doImport`.
    fn import(&mut self) {
        let Some(at) = self.advance().map(|it| it.word.at) else {
            return;
        };
        let mut arguments = Vec::new();
        while let Some(next) = self.peek().filter(|next| !next.starts_line) {
            if matches!(next.word.text.as_str(), "{" | "}") {
                break;
            }
            arguments.push(next.word);
            self.advance();
        }
        let [name] = arguments.as_slice() else {
            return self.note(
                at,
                true,
                "import takes one argument: a snippet, file or pattern",
            );
        };
        self.expanded.0 += 1;
        if self.expanded.0 > MAX_IMPORTS {
            let message = format!("more than {MAX_IMPORTS} imports, so nothing more is imported");
            return self.note(at, true, &message);
        }
        if let Some(&frame) = self.snippets.get(&name.text) {
            return self.enter(frame);
        }
        self.import_files(at, name);
    }

    fn import_files(&mut self, at: At, name: &Word) {
        let importing = self.sources.get(at.source);
        let importing = importing.map_or("", |it| it.name.as_str());
        let pattern = import::absolute(importing, &name.text);
        let shown = escaped(name.text.as_bytes());
        if import::is_refused(&pattern) {
            let message = format!("{shown} has more than one wildcard");
            return self.note(name.at, true, &message);
        }
        let found = import::matches(&pattern, self.sources);
        if found.is_empty() && !import::is_glob(&pattern) {
            self.note(name.at, false, &format!("the import {shown} was not found"));
        }
        if !self.result.imports.iter().any(|it| it.pattern == pattern) {
            self.result.imports.push(Import {
                pattern,
                at: name.at,
                found: found.len(),
            });
        }
        for source in found.into_iter().rev() {
            self.enter_source(source);
        }
    }

    fn note(&mut self, at: At, stops: bool, message: &str) {
        self.result.findings.push(Finding {
            at,
            message: message.to_owned(),
            stops,
        });
    }

    fn enter_source(&mut self, source: usize) {
        let (Some(file), Some(slot)) = (self.sources.get(source), self.tokens.get_mut(source))
        else {
            return;
        };
        let end = slot.get_or_insert_with(|| tokens(&file.bytes)).len();
        self.enter(Frame {
            source,
            next: 0,
            end,
            is_fresh: true,
        });
    }

    fn enter(&mut self, frame: Frame) {
        // The Corefile itself is as long as it is.
        if (frame.source, frame.next) != (0, 0) {
            self.expanded.1 += frame.end - frame.next;
        }
        if self.expanded.1 > MAX_WORDS {
            let span = self.token_at(frame.source, frame.next).map(|it| it.span);
            let (source, span) = (frame.source, span.unwrap_or_default());
            let message = "the imports are too long, so this one is left out";
            return self.note(At { source, span }, true, message);
        }
        self.frames.push(frame);
    }

    fn token_at(&self, source: usize, index: usize) -> Option<&Token<'s>> {
        self.tokens.get(source)?.as_ref()?.get(index)
    }

    /// Where the innermost frame is.
    fn position(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.next)
    }

    /// The next word.
    fn peek(&mut self) -> Option<Next> {
        while let Some(frame) = self.frames.last() {
            if frame.next < frame.end {
                let token = self.token_at(frame.source, frame.next)?;
                return Some(Next {
                    word: Word {
                        text: token.text.clone().into_owned(),
                        at: At {
                            source: frame.source,
                            span: token.span,
                        },
                    },
                    starts_line: token.starts_line || frame.is_fresh,
                });
            }
            self.frames.pop();
        }
        None
    }

    fn advance(&mut self) -> Option<Next> {
        let next = self.peek();
        self.is_after_brace = next.as_ref().is_some_and(|it| it.word.text == "}");
        self.skip();
        next
    }

    fn skip(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next += 1;
            frame.is_fresh = false;
        }
    }
}

impl Directive {
    fn add(&mut self, word: Word, is_new_line: bool) {
        match self.lines.last_mut() {
            Some(line) if !is_new_line => line.push(word),
            _ => self.lines.push(vec![word]),
        }
    }
}
