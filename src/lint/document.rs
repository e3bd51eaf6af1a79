//! A file as the documents in it, each with its syntax and the way back to
//! the bytes of the file.

use std::ops::Deref;
use std::sync::Arc;

use crate::config::corefile::Corefile;
use crate::config::env_file::Variable;
use crate::config::resolv_conf::ResolvConf;
use crate::config::statements::Statement;
use crate::config::traced::Traced;
use crate::config::{ini, unit_file, yaml};
use crate::lint::embedded::Layers;
use crate::text::{Source, Span};

/// The number of a file in its [`crate::lint::workspace::Workspace`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FileId(pub u32);

/// Bytes of a file that was given: what the text of a document inside it
/// stands for is already found.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct At {
    /// Which file.
    pub file: FileId,
    /// Which bytes of it.
    pub span: Span,
}

/// Bytes of a file in place of others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Change {
    /// What is replaced; an empty span: it is inserted there.
    pub at: At,
    /// What stands there afterwards.
    pub text: String,
}

/// The bytes of a text, and the way back to those of its file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Body {
    /// The file it stands in.
    pub file: FileId,
    /// Its bytes; spans in a document's `syntax` are spans of these. The name is
    /// that of the file.
    pub source: Arc<Source>,
    /// Its path: that of the file; of a text inside it, with the path that it
    /// is to have or its key behind, as if the file were a directory.
    pub path: String,
    /// How its bytes stand in the file; empty: they are the file's own.
    pub layers: Layers,
    /// Whether a script writes it: on which machine is not known.
    pub is_of_script: bool,
    /// Whether these are the plain parts of a template: what is missing can be in it.
    pub is_partial: bool,
    /// The bytes of the file where something of a template was left out.
    pub gaps: Arc<[Span]>,
    /// The bytes of the file that stand under a condition of a template: it is these that
    /// the document is read for, as one where the condition is met.
    pub condition: Option<Span>,
}

/// A text of one kind: a whole file, one of its YAML documents, or a text
/// that a value in it holds.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its bytes.
    pub body: Body,
    /// What it is.
    pub syntax: Syntax,
    /// How the texts that a Corefile imports stand in their files, in the order
    /// of its sources behind the first.
    pub imported: Vec<(FileId, Layers)>,
}

/// A document as its parser has it.
#[derive(Clone, Debug)]
pub enum Syntax {
    /// In the syntax of resolv.conf.
    ResolvConf(ResolvConf),
    /// One document of YAML or JSON.
    Yaml(yaml::Node),
    /// A Corefile. Boxed: it is much larger than the others.
    Corefile(Box<Corefile>),
    /// Directives for a Corefile that imports them.
    CorefilePart,
    /// A systemd unit or a drop-in for one.
    Unit(Vec<unit_file::Entry>),
    /// Variables for a unit.
    Environment(Vec<Variable>),
    /// A snap's file of arguments, as words.
    Arguments(Vec<Traced>),
    /// `resolved.conf`, `NetworkManager.conf` and their drop-ins.
    Settings(Vec<ini::Entry>),
    /// The configuration of nginx.
    Nginx(Vec<Statement>),
    /// The configuration of `HAProxy`.
    Haproxy(Vec<Statement>),
}

/// A document that is none: where that shows, and why.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Broken {
    /// Where reading stopped.
    pub at: At,
    /// What was found, without a full stop. Not safe to print.
    pub message: String,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// Documents of kinds that rules look at, in file order; one inside
    /// another one follows it.
    pub documents: Vec<Document>,
    /// What cannot be parsed, in file order.
    pub broken: Vec<Broken>,
}

impl Deref for Document {
    type Target = Body;

    fn deref(&self) -> &Body {
        &self.body
    }
}

impl Body {
    /// The bytes of the file that a span of this document stands for.
    pub fn at(&self, span: Span) -> At {
        At {
            file: self.file,
            span: self.layers.outer(span),
        }
    }

    /// Whether another file has it in it, as a `ConfigMap` does.
    pub fn is_embedded(&self) -> bool {
        self.layers != Layers::default()
    }

    /// Whether it is the value of a key of an object, as in a `ConfigMap`, and no file that is
    /// put onto a machine: those have the path of a directory.
    pub fn is_of_object(&self) -> bool {
        let own = self.path.strip_prefix(&self.source.name);
        let key = own.map(|it| it.trim_start_matches('/'));
        self.is_embedded() && !self.is_of_script && key.is_some_and(|it| !it.contains('/'))
    }

    /// The bytes under a span of this document.
    pub fn bytes(&self, span: Span) -> &[u8] {
        span.slice(&self.source.bytes)
    }

    /// The bytes of a scalar without its quotes, if they are its text as it is.
    pub fn literal(&self, node: &yaml::Node) -> Option<Span> {
        let scalar = node.as_scalar()?;
        let quotes = match scalar.style {
            yaml::Style::SingleQuoted | yaml::Style::DoubleQuoted => 1,
            _ => 0,
        };
        let start = node.span.start as usize + quotes;
        let inside = Span::new(start, start + scalar.text.len());
        let is_whole = inside.end as usize + quotes == node.span.end as usize;
        (is_whole && self.bytes(inside) == scalar.text.as_bytes()).then_some(inside)
    }

    /// The bytes of the file that a span of this document stands for, if they
    /// are the same bytes.
    pub fn at_literal(&self, span: Span) -> Option<At> {
        Some(self.change(span, "")?.at)
    }

    /// A change of this document as one of the file. `None`: the bytes do not
    /// stand there as they are, so that nobody can tell what to write.
    pub fn change(&self, span: Span, text: impl Into<String>) -> Option<Change> {
        let text = with_line_ends_of(&self.source.bytes, text.into());
        let (span, text) = self.layers.change(span, text)?;
        let file = self.file;
        let at = At { file, span };
        Some(Change { at, text })
    }

    /// Takes the line away in which `span` begins, with its newline.
    pub fn without_line(&self, span: Span) -> Option<Change> {
        let bytes = &self.source.bytes;
        let start = (span.start as usize).min(bytes.len());
        let before = bytes.get(..start)?;
        let first = before.iter().rposition(|&byte| byte == b'\n');
        let first = first.map_or(0, |newline| newline + 1);
        let rest = bytes.get(start..)?;
        let newline = rest.iter().position(|&byte| byte == b'\n');
        let end = newline.map_or(bytes.len(), |newline| start + newline + 1);
        let line = self.layers.whole_line(Span::new(first, end))?;
        let file = self.file;
        let at = At { file, span: line };
        let text = String::new();
        Some(Change { at, text })
    }
}

impl Document {
    /// The root of a YAML document.
    pub fn yaml(&self) -> Option<&yaml::Node> {
        match &self.syntax {
            Syntax::Yaml(root) => Some(root),
            _ => None,
        }
    }
}

/// The text with its lines ended as those of `bytes` are.
fn with_line_ends_of(bytes: &[u8], text: String) -> String {
    if !text.contains('\n') {
        return text;
    }
    let text = text.replace("\r\n", "\n");
    let first = memchr::memchr(b'\n', bytes);
    let before = first.and_then(|at| bytes.get(at.checked_sub(1)?));
    if before == Some(&b'\r') {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}
