//! YAML, and JSON with it, as a small tree with the place of every key and
//! value, repeated keys kept.
//!
//! The tree says what stands in the file and decides nothing: scalars keep
//! their text and style, and [`Scalar::kind`] tells what the kubelet and
//! kubectl take them for. Reading never fails as a whole: a document that is
//! broken is one error with its place, and the next one goes on.

mod input;
mod merge;
mod scalar;
mod tree;

use memchr::memmem;
use serde::de::IgnoredAny;

use crate::config::yaml::input::Text;
use crate::config::yaml::scalar::plain_kind;
use crate::config::yaml::tree::Builder;
use crate::text::{Source, Span};

pub use crate::config::yaml::scalar::first_line_of_block;

/// Deeper nesting is an error.
pub const MAX_DEPTH: usize = 128;
/// What is wrong with what stands behind a document that has ended, with no
/// `---` before it: Go's decoder does not look at it.
pub const BEHIND: &str = "the document has ended before this: Kubernetes reads nothing of it";
/// More nodes than this that aliases repeat in one document are an error.
pub const MAX_ALIASED_NODES: usize = 10_000;

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Where it begins: its `---`, or its first value.
    pub start: u32,
    /// Its value; an empty document is a null.
    pub root: Result<Node, YamlError>,
}

/// Why a document is no YAML, and where that shows.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// Offset of the byte at which reading stopped.
    pub at: u32,
    /// What was found.
    pub message: String,
}

/// A value with its place. An alias is a copy of what it stands for: its own
/// place is that of the alias, the places in it are those of the anchor.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value stands.
    pub span: Span,
    /// The tag before it, written out: `tag:yaml.org,2002:str`, `!x`.
    pub tag: Option<Box<str>>,
    /// The value.
    pub value: Value,
}

/// What a value is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text, number, boolean or null.
    Scalar(Scalar),
    /// A list, in order.
    Sequence(Vec<Node>),
    /// Keys with values, in file order, repeats kept. What a merge key (`<<`)
    /// brings in stands in its place.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key, nearly always a scalar.
    pub key: Node,
    /// What stands behind it.
    pub value: Node,
}

/// A scalar as it is written, escapes and folding undone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scalar {
    /// Its text.
    pub text: String,
    /// How it is written.
    pub style: Style,
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Without quotes: may be a number, boolean or null.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|` or `>` and lines below.
    Block,
}

/// What the kubelet and kubectl take a scalar for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// `true`, `yes`, `on` and their like.
    Bool(bool),
    /// An integer or a fraction.
    Number,
    /// Everything else.
    Text,
}

/// The documents of `source`, in order. Total: any bytes give a result.
pub fn documents(source: &Source) -> Vec<Document> {
    wanted_documents(source, &|_| true)
}

/// Those of its documents whose bytes are `wanted`: the others need not be parsed.
pub fn wanted_documents(source: &Source, wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Document> {
    let mut parts = parts(&source.bytes);
    parts.retain(|it| wanted(it.slice(&source.bytes)));
    let mut documents = Vec::new();
    if parts.is_empty() {
        return documents;
    }
    let text = Text::new(&source.bytes);
    for part in parts {
        Builder::new(&text, part).run(&mut documents);
    }
    for document in &mut documents {
        if let Some(error) = text.error_in(document) {
            document.root = Err(error);
        }
    }
    documents
}

/// Where the documents stand, each from its `---`, or the directives before it,
/// to the next one; values of JSON in a row are documents, too.
pub fn parts(bytes: &[u8]) -> Vec<Span> {
    if let Some(values) = json_values(bytes) {
        return values;
    }
    let mut starts = vec![0];
    let lines = memmem::find_iter(bytes, b"\n---").map(|it| it + 1);
    for at in std::iter::once(0).chain(lines) {
        let (before, line) = bytes.split_at(at);
        let after = line.strip_prefix(b"---");
        if after.is_some_and(|it| it.first().is_none_or(u8::is_ascii_whitespace)) {
            starts.push(at - length_of_directives(before));
        }
    }
    starts.dedup();
    let length = bytes.len();
    let ends = starts.iter().skip(1).chain([&length]);
    let parts = starts.iter().zip(ends);
    parts.map(|(start, end)| Span::new(*start, *end)).collect()
}

/// How much of the end of a text is directives: lines that begin with `%`, and what stands
/// behind the first of them, blank lines and comments.
fn length_of_directives(text: &[u8]) -> usize {
    let (mut length, mut directives) = (0, 0);
    for line in text.split_inclusive(|&it| it == b'\n').rev() {
        length += line.len();
        match line.first() {
            Some(b'%') => directives = length,
            Some(b'#') => {}
            _ if line.trim_ascii().is_empty() => {}
            _ => break,
        }
    }
    directives
}

/// The values of a text that is two or more of them, and nothing else.
///
/// Source: kubernetes `staging/src/k8s.io/apimachinery/pkg/util/yaml/decoder.go:
/// YAMLOrJSONDecoder`.
fn json_values(bytes: &[u8]) -> Option<Vec<Span>> {
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    is_json.then_some(())?;
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    let (mut spans, mut start) = (Vec::new(), 0);
    while let Some(value) = values.next() {
        value.ok()?;
        spans.push(Span::new(start, values.byte_offset()));
        start = values.byte_offset();
    }
    (spans.len() > 1).then_some(spans)
}

impl Node {
    /// A value without a tag.
    pub const fn new(span: Span, value: Value) -> Self {
        Self {
            span,
            tag: None,
            value,
        }
    }

    /// A plain scalar.
    pub fn plain(span: Span, text: &str) -> Self {
        let text = text.to_owned();
        let style = Style::Plain;
        Self::new(span, Value::Scalar(Scalar { text, style }))
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The values of the list, if it is one.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of the mapping, if it is one.
    pub fn as_mapping(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// What the scalar is taken for; `None` for lists and mappings.
    pub fn kind(&self) -> Option<Kind> {
        let scalar = self.as_scalar()?;
        match self.tag.as_deref() {
            None => Some(scalar.kind()),
            Some("tag:yaml.org,2002:null") => Some(Kind::Null),
            Some("tag:yaml.org,2002:int" | "tag:yaml.org,2002:float") => Some(Kind::Number),
            Some("tag:yaml.org,2002:bool") => Some(plain_kind(&scalar.text)),
            Some(_) => Some(Kind::Text),
        }
    }

    /// Whether there is nothing here: `null`, `~`, an empty value.
    pub fn is_null(&self) -> bool {
        self.kind() == Some(Kind::Null)
    }

    /// The value of `key`: the last one where the key is repeated, as the
    /// decoders of Kubernetes do.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let has = |entry: &&Entry| entry.key.as_scalar().is_some_and(|it| it.text == key);
        let entry = self.as_mapping()?.iter().rfind(has)?;
        Some(&entry.value)
    }

    /// The value at a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text of the scalar at a path of keys, whatever it is taken for.
    pub fn word(&self, path: &[&str]) -> Option<&str> {
        Some(&self.at(path)?.as_scalar()?.text)
    }

    /// The values of the list at a path of keys; none where there is no list.
    pub fn items(&self, path: &[&str]) -> &[Self] {
        let list = self.at(path).and_then(Self::as_sequence);
        list.unwrap_or_default()
    }

    /// What the value is, for people: `a list`, `a number`.
    pub fn described(&self) -> &'static str {
        match (&self.value, self.kind()) {
            (Value::Sequence(_), _) => "a list",
            (Value::Mapping(_), _) => "a mapping",
            (_, Some(Kind::Null)) => "null",
            (_, Some(Kind::Bool(_))) => "a boolean",
            (_, Some(Kind::Number)) => "a number",
            _ => "a text",
        }
    }
}

impl Scalar {
    /// What the scalar is taken for without a tag.
    ///
    /// Source: kubernetes-sigs/yaml `goyaml.v2/resolve.go`; a time stays a text.
    pub fn kind(&self) -> Kind {
        match self.style {
            Style::Plain => plain_kind(&self.text),
            _ => Kind::Text,
        }
    }
}

#[cfg(test)]
mod tests;
