//! The syntax of a Corefile, CoreDNS's configuration: server blocks, and in
//! them directives with arguments and blocks, all with their places.
//!
//! What a directive means is said elsewhere; here every one is kept, known or
//! not. Environment variables (`{$NAME}`, `{%NAME%}`) stay as they are
//! written. Imports are put in place; the files for them are given.
//!
//! Source: github.com/coredns/caddy, caddyfile/lexer.go `next`,
//! caddyfile/parse.go, caddyfile/dispenser.go `NextArg`, `NextBlock`.

mod duration;
mod import;
mod key;
mod lexer;
mod manifest;
mod parser;
mod quoted;
mod strict;

#[cfg(test)]
mod tests;

use crate::text::{Source, Span, has_placeholder};

pub use duration::seconds;
pub use key::{Key, Transport, domain, is_within, split_key, zones};
pub use manifest::in_manifest;
pub use quoted::quoted;

/// Whether a tool puts something in before CoreDNS reads it. What the answers of the
/// plugin `template` have in braces CoreDNS puts in itself.
///
/// Source: github.com/coredns/coredns, plugin/template/README.md, "Template Data".
pub fn is_template(bytes: &[u8]) -> bool {
    const MARKS: [&[u8]; 7] = [b"{{", b"{% ", b"{%-", b"<%", b"%{", b"#{ ", b"#% "];
    const OWN: [&[u8]; 3] = [b"answer ", b"additional ", b"authority "];
    let has_mark = |text: &[u8]| {
        let has = |it: &&[u8]| memchr::memmem::find(text, it).is_some();
        MARKS.iter().any(has)
    };
    let is_own = |line: &[u8]| OWN.iter().any(|it| line.trim_ascii_start().starts_with(it));
    let mut lines = bytes.split(|it| *it == b'\n');
    has_mark(bytes) && lines.any(|it| !is_own(it) && has_mark(it))
}

/// The text with blanks where `sed` puts something in behind a brace: `}STUBDOMAINS`.
///
/// Source: coredns/deployment `kubernetes/coredns.yaml.sed`.
pub fn without_filled_in(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    let mut is_behind = false;
    for byte in &mut text {
        if is_behind && (byte.is_ascii_uppercase() || *byte == b'_') {
            *byte = b' ';
        } else {
            is_behind = *byte == b'}';
        }
    }
    text
}

/// A Corefile with what it imports. Any bytes make one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Corefile {
    /// The Corefile, then the files that it can import, as they were given.
    pub sources: Vec<Source>,
    /// The server blocks, in the order of the file; snippets are none.
    pub blocks: Vec<ServerBlock>,
    /// The `import` directives that name files, in the order in which they
    /// were met, each pattern once.
    pub imports: Vec<Import>,
    /// What is wrong, in the order in which it was met.
    pub findings: Vec<Finding>,
}

/// A place in one of the files of a Corefile.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct At {
    /// Which of [`Corefile::sources`].
    pub source: usize,
    /// The bytes, with quotes.
    pub span: Span,
}

/// A word: what stands between blanks or quotes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Word {
    /// Its text, without quotes; bytes that are not UTF-8 are U+FFFD. Not
    /// safe to print.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

/// Keys and the directives that hold for them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ServerBlock {
    /// The keys, without the commas; never empty.
    pub keys: Vec<Word>,
    /// The directives, in the order of the file.
    pub directives: Vec<Directive>,
}

/// A directive: a plugin's name, its arguments, and its block.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Directive {
    /// The plugin's name.
    pub name: Word,
    /// The words behind it on its line.
    pub arguments: Vec<Word>,
    /// The lines of its block, none of them empty. Braces in it are words.
    pub lines: Vec<Vec<Word>>,
}

/// An `import` of files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Import {
    /// The path or glob pattern, from the root if the importing file's name
    /// is a path from there.
    pub pattern: String,
    /// Where the `import` stands.
    pub at: At,
    /// How many of the given files it names.
    pub found: usize,
}

/// Something that is wrong with a Corefile.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The word or line that is wrong.
    pub at: At,
    /// What, in words that are safe to print, without a full stop.
    pub message: String,
    /// Whether CoreDNS ends at its start because of it.
    pub stops: bool,
}

/// Parses `main`. What it imports is looked for in `others`, by path, and
/// where none fits by the last part of the path: the files of a pod are known
/// by their paths on the node. Total: any bytes give a result.
pub fn parse(main: Source, others: &[Source]) -> Corefile {
    let mut sources = vec![main];
    sources.extend(others.iter().cloned());
    let parsed = parser::Parser::new(&sources).run();
    Corefile { sources, ..parsed }
}

impl Corefile {
    /// The first finding that keeps CoreDNS from starting.
    pub fn stop(&self) -> Option<&Finding> {
        self.findings.iter().find(|it| it.stops)
    }
}

impl Word {
    /// Whether an environment variable decides what it says, or a tool that fills
    /// in the file. `NodeLocal` `DNSCache` fills in its own names itself.
    pub fn has_variable(&self) -> bool {
        has_placeholder(&self.text) && !self.text.contains("__PILLAR__")
    }
}

impl Directive {
    /// The first words of its block's lines that are `name`, with the words
    /// behind them.
    pub fn options<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d [Word]> {
        self.lines.iter().filter_map(move |line| {
            let (first, rest) = line.split_first()?;
            (first.text == name).then_some(rest)
        })
    }
}
