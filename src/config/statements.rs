//! Statements of words and blocks, which several programs' settings are made of.

use crate::text::{Lines, Place, Source, Span};

/// A statement: `forwarders port 53 { 192.0.2.1; };` of BIND, `resolver 10.96.0.10
/// valid=30s;` of nginx.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statement {
    /// The file, as a number that the caller gave.
    pub file: usize,
    /// The words outside of blocks, without quotes, in order, also those
    /// behind a block.
    pub words: Vec<Span>,
    /// The statements of its first block; `None`: it has none.
    pub block: Option<Vec<Self>>,
}

/// Files, and their statements as one configuration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statements {
    /// The files, in the order in which they were opened.
    pub files: Vec<Source>,
    /// The statements, those of included files in place of the `include`.
    pub statements: Vec<Statement>,
}

impl Statements {
    /// The `index`-th word of a statement; empty if there is none.
    pub fn word(&self, statement: &Statement, index: usize) -> &[u8] {
        match (statement.words.get(index), self.files.get(statement.file)) {
            (Some(span), Some(file)) => span.slice(&file.bytes),
            _ => &[],
        }
    }

    /// Statements with those of included files in place of each `include`: what
    /// `read` makes of the path or pattern behind it.
    pub fn with_included(
        &mut self,
        statements: Vec<Statement>,
        read: &mut dyn FnMut(&mut Self, &[u8]) -> Vec<Statement>,
    ) -> Vec<Statement> {
        let mut found = Vec::with_capacity(statements.len());
        for mut statement in statements {
            if self.word(&statement, 0) == b"include" && statement.block.is_none() {
                let pattern = self.word(&statement, 1).to_vec();
                found.extend(read(self, &pattern));
                continue;
            }
            let block = statement.block.take();
            statement.block = block.map(|it| self.with_included(it, read));
            found.push(statement);
        }
        found
    }

    /// The same with the lines of its files found.
    pub fn indexed(&self) -> Indexed<'_> {
        Indexed {
            statements: &self.statements,
            conf: self,
            files: self.files.iter().map(Lines::new).collect(),
        }
    }
}

/// A configuration in which many places are asked for.
#[derive(Clone, Debug)]
pub struct Indexed<'c> {
    /// [`Statements::statements`].
    pub statements: &'c [Statement],
    conf: &'c Statements,
    files: Vec<Lines<'c>>,
}

impl<'c> Indexed<'c> {
    /// [`Statements::word`].
    pub fn word(&self, statement: &Statement, index: usize) -> &'c [u8] {
        self.conf.word(statement, index)
    }

    /// Where the `index`-th word of a statement is written, or the statement.
    pub fn place(&self, statement: &Statement, index: usize) -> Place {
        let words = &statement.words;
        let span = words.get(index).or_else(|| words.first());
        let start = span.copied().unwrap_or_default().start;
        match self.files.get(statement.file) {
            Some(file) => file.place_of(start),
            None => Source::default().place_of(start),
        }
    }
}

/// What a file of statements consists of.
pub(super) enum Token {
    Word(Span),
    Open,
    Close,
    Semicolon,
}

impl Token {
    /// The token that is one byte long.
    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            b'{' => Self::Open,
            b'}' => Self::Close,
            b';' => Self::Semicolon,
            _ => return None,
        })
    }
}

/// Where the first byte stands that `ends`, given with the one before it; a
/// backslash hides the byte behind it.
pub(super) fn unescaped(bytes: &[u8], ends: impl Fn(u8, Option<u8>) -> bool) -> Option<usize> {
    let mut before = None;
    let mut is_hidden = false;
    for (at, &byte) in bytes.iter().enumerate() {
        if !is_hidden && ends(byte, before) {
            return Some(at);
        }
        is_hidden = !is_hidden && byte == b'\\';
        before = Some(byte);
    }
    None
}
