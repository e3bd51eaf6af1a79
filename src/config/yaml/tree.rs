//! From the parser's events to the tree.

use std::collections::BTreeMap;

use libyaml_safer::{Encoding, Event, EventData, Parser, ScalarStyle};

use crate::config::yaml::input::{Pieces, Text};
use crate::config::yaml::merge::{NO_MAPPING, is_merge, merge};
use crate::config::yaml::{
    BEHIND, Document, Entry, Kind, MAX_ALIASED_NODES, MAX_DEPTH, Node, Scalar, Style, Value,
    YamlError,
};
use crate::text::{self, Span};

/// Reads the documents of a part of the text, up to the first error.
pub(super) struct Builder<'t> {
    text: &'t Text,
    /// Offset of the byte from which the parser counts.
    from: usize,
    /// Where the part ends.
    to: usize,
    /// Where the document that is being read begins.
    start: usize,
    open: Vec<Frame>,
    root: Option<Node>,
    /// What each anchor names; `None`: the value that it names is still open.
    anchors: BTreeMap<String, Option<Node>>,
    aliased: usize,
}

/// A list or mapping that is not closed yet.
struct Frame {
    start: usize,
    /// Where the last value in it ends.
    end: usize,
    properties: Properties,
    content: Content,
}

/// What stands before a value.
#[derive(Default)]
struct Properties {
    anchor: Option<String>,
    tag: Option<Box<str>>,
}

/// What the list or mapping has so far.
enum Content {
    Sequence(Vec<Node>),
    /// With the key whose value is still to come.
    Mapping(Vec<Entry>, Option<Node>),
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t Text, part: Span) -> Self {
        let from = (part.start as usize).max(text.start);
        Self {
            text,
            from,
            to: part.end as usize,
            start: from,
            open: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            aliased: 0,
        }
    }

    /// Appends the documents up to the end, or up to and with the first one
    /// that is broken.
    pub(super) fn run(mut self, documents: &mut Vec<Document>) {
        let before = documents.len();
        let mut parser = Parser::new();
        parser.set_encoding(Encoding::Utf8);
        parser.set_input(Pieces::new(self.part()));
        loop {
            let done = match parser.parse() {
                Ok(event) if event.data == EventData::StreamEnd => return,
                Ok(event) => self.take(event, documents),
                Err(error) => Err(self.refusal(&error)),
            };
            if let Err(mut error) = done {
                if documents.len() > before {
                    BEHIND.clone_into(&mut error.message);
                }
                documents.push(Document {
                    start: text::offset(self.start),
                    root: Err(error),
                });
                return;
            }
        }
    }

    fn part(&self) -> &'t str {
        let part = self.text.yaml.get(self.from..self.to);
        part.unwrap_or_default()
    }

    fn refusal(&self, error: &libyaml_safer::Error) -> YamlError {
        let place = |mark: libyaml_safer::Mark| self.offset(mark.index);
        let stopped = error.problem_mark().map(place);
        // What is never closed is found at the end: it is wrong where it begins.
        let end = self.from + self.part().trim_end().len();
        let is_inside = |at: &usize| *at < end;
        let begun = || error.context_mark().map(place);
        let at = stopped.filter(is_inside).or_else(begun).or(stopped);
        let message = match error.context() {
            Some(context) => format!("{context}, {}", error.problem()),
            None => error.problem().to_owned(),
        };
        self::error(at.unwrap_or(self.start), message)
    }

    /// The byte of the text at which the parser counts `index`.
    fn offset(&self, index: u64) -> usize {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.from.saturating_add(index).min(self.to)
    }

    fn take(&mut self, event: Event, documents: &mut Vec<Document>) -> Result<(), YamlError> {
        let start = self.offset(event.start_mark.index);
        let end = self.offset(event.end_mark.index);
        match event.data {
            EventData::DocumentStart { .. } => {
                self.start = start;
                self.anchors.clear();
                self.aliased = 0;
                Ok(())
            }
            EventData::DocumentEnd { .. } => {
                documents.extend(self.root.take().map(|root| Document {
                    start: text::offset(self.start),
                    root: Ok(root),
                }));
                self.start = end;
                Ok(())
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                let properties = properties(anchor, tag);
                self.open(start, end, properties, Content::Sequence(Vec::new()))
            }
            EventData::MappingStart { anchor, tag, .. } => {
                let content = Content::Mapping(Vec::new(), None);
                self.open(start, end, properties(anchor, tag), content)
            }
            EventData::SequenceEnd | EventData::MappingEnd => self.close(start, end),
            EventData::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => {
                let style = style_of(style);
                let properties = properties(anchor, tag);
                let start = self.after_properties(start, end, &properties);
                if style == Style::Plain && self.text.is_hidden_tag(start) {
                    return Err(error(start, "a tag needs a blank behind it"));
                }
                if style == Style::Plain && value.contains('?') && self.is_in_brackets() {
                    return Err(error(start, "in brackets a text with ? needs quotes"));
                }
                let text = self.text.shown(value, style, start, end);
                let value = Value::Scalar(Scalar {
                    text: self.without_added_newline(text, style, end),
                    style,
                });
                let node = Node {
                    span: Span::new(start, end.max(start)),
                    tag: properties.tag,
                    value,
                };
                self.place(node, properties.anchor)
            }
            EventData::Alias { anchor } => self.alias(&anchor, start, end),
            EventData::StreamStart { .. } | EventData::StreamEnd => Ok(()),
        }
    }

    /// Whether a list or mapping around begins with a bracket: there `?` begins
    /// a key wherever it stands.
    ///
    /// Source: go-yaml `v2/scannerc.go: yaml_parser_scan_plain_scalar`.
    fn is_in_brackets(&self) -> bool {
        let bytes = self.text.yaml.as_bytes();
        let mut starts = self.open.iter().map(|it| bytes.get(it.start));
        starts.any(|it| matches!(it, Some(b'[' | b'{')))
    }

    /// A block at the end of a text that has no newline there has none either.
    fn without_added_newline(&self, mut text: String, style: Style, end: usize) -> String {
        let yaml = &self.text.yaml;
        // Only there, as the last line can be all of the text.
        let has_last_line = || {
            let last = yaml.rsplit('\n').next().unwrap_or_default();
            !last.trim().is_empty()
        };
        if style == Style::Block && end >= yaml.len() && has_last_line() {
            text.truncate(text.strip_suffix('\n').map_or(text.len(), str::len));
        }
        text
    }

    /// Where a value begins whose place the parser gives with its anchor and tag.
    fn after_properties(&self, start: usize, end: usize, properties: &Properties) -> usize {
        let mut rest = self.text.yaml.get(start..end).unwrap_or_default();
        let has_some = properties.anchor.is_some() || properties.tag.is_some();
        while has_some && rest.starts_with(['&', '!', '#']) {
            let ends: &[char] = if rest.starts_with('#') {
                &['\n']
            } else {
                &[' ', '\t', '\r', '\n']
            };
            let end = rest.find(ends).unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or_default().trim_start();
        }
        end - rest.len()
    }

    fn open(
        &mut self,
        start: usize,
        end: usize,
        properties: Properties,
        content: Content,
    ) -> Result<(), YamlError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(start));
        }
        if let Some(anchor) = &properties.anchor {
            self.anchors.insert(anchor.clone(), None);
        }
        let start = self.after_properties(start, self.text.yaml.len(), &properties);
        self.open.push(Frame {
            start,
            end: end.max(start),
            properties,
            content,
        });
        Ok(())
    }

    fn close(&mut self, start: usize, end: usize) -> Result<(), YamlError> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        // The end of a block has no text of its own, a bracket has.
        let end = if end > start { end } else { frame.end };
        let value = match frame.content {
            Content::Sequence(items) => Value::Sequence(items),
            Content::Mapping(entries, _) => Value::Mapping(entries),
        };
        let node = Node {
            span: Span::new(frame.start, end.max(frame.start)),
            tag: frame.properties.tag,
            value,
        };
        self.place(node, frame.properties.anchor)
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, node: Node, anchor: Option<String>) -> Result<(), YamlError> {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, Some(node.clone()));
        }
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.end = frame.end.max(node.span.end as usize);
        match &mut frame.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping(entries, key) => match key.take() {
                None => *key = Some(checked_key(node)?),
                Some(key) if is_merge(&key) => merge(entries, node)?,
                Some(key) => entries.push(Entry { key, value: node }),
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: &str, start: usize, end: usize) -> Result<(), YamlError> {
        let unknown = || error(start, format!("no anchor before it is named &{anchor}"));
        let named = self.anchors.get(anchor).ok_or_else(unknown)?;
        let inside = || error(start, "the alias stands inside the value that it names");
        let node = named.as_ref().ok_or_else(inside)?;
        let (nodes, depth) = measure(node);
        self.aliased += nodes;
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases repeat more than {MAX_ALIASED_NODES} values");
            return Err(error(start, message));
        }
        if self.open.len() + depth > MAX_DEPTH {
            return Err(too_deep(start));
        }
        // A list that is named is none of mappings, whatever it holds.
        let holder = self.open.last().map(|it| &it.content);
        let is_merged = matches!(holder, Some(Content::Mapping(_, Some(key))) if is_merge(key));
        if is_merged && !matches!(node.value, Value::Mapping(_)) {
            return Err(error(start, NO_MAPPING));
        }
        let node = Node {
            span: Span::new(start, end),
            ..node.clone()
        };
        self.place(node, None)
    }
}

/// A key that an object of JSON can have.
///
/// Source: sigs.k8s.io/yaml `yaml.go: convertToJSONableObject`, go-yaml
/// `v2/decode.go: isStringMap`.
fn checked_key(key: Node) -> Result<Node, YamlError> {
    let what = match key.kind() {
        None => key.described(),
        Some(Kind::Null) => "null",
        Some(_) => return Ok(key),
    };
    let message = format!("a key is {what}: what holds braces is quoted");
    Err(error(key.span.start as usize, message))
}

fn too_deep(at: usize) -> YamlError {
    error(at, format!("more than {MAX_DEPTH} levels of nesting"))
}

pub(super) fn error(at: usize, message: impl Into<String>) -> YamlError {
    let (at, message) = (text::offset(at), message.into());
    YamlError { at, message }
}

/// How many nodes a value has, itself included, and how deep it is.
fn measure(node: &Node) -> (usize, usize) {
    let children = match &node.value {
        Value::Scalar(_) => return (1, 0),
        Value::Sequence(items) => items.iter().map(measure).collect::<Vec<_>>(),
        Value::Mapping(entries) => entries
            .iter()
            .flat_map(|entry| [measure(&entry.key), measure(&entry.value)])
            .collect(),
    };
    let nodes = children.iter().map(|(nodes, _)| nodes).sum::<usize>();
    let depth = children.iter().map(|(_, depth)| *depth).max();
    (nodes + 1, depth.unwrap_or_default() + 1)
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        _ => Style::Plain,
    }
}

fn properties(anchor: Option<String>, tag: Option<String>) -> Properties {
    Properties {
        anchor,
        tag: tag.map(String::into_boxed_str),
    }
}
