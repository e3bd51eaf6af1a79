//! From the parser's events to the tree.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use crate::config::yaml::{
    Document, Entry, MAX_ALIASED_NODES, MAX_DEPTH, Node, Scalar, Style, Text, Value, YamlError,
};
use crate::text::{self, Span};

/// Reads documents from one place of the text to its end or the first error.
pub(super) struct Builder<'t> {
    text: &'t Text,
    /// Offset of the byte from which the parser counts.
    from: usize,
    /// Where the document that is being read begins.
    start: usize,
    open: Vec<Frame>,
    root: Option<Node>,
    anchors: BTreeMap<usize, Node>,
    aliased: usize,
}

/// A list or mapping that is not closed yet.
struct Frame {
    start: usize,
    /// Where the last value in it ends.
    end: usize,
    anchor: usize,
    tag: Option<Box<str>>,
    content: Content,
}

/// What the list or mapping has so far.
enum Content {
    Sequence(Vec<Node>),
    /// With the key whose value is still to come.
    Mapping(Vec<Entry>, Option<Node>),
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t Text, from: usize) -> Self {
        Self {
            text,
            from,
            start: from,
            open: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            aliased: 0,
        }
    }

    /// Appends the documents up to the end, or up to and with the first one
    /// that is broken; the error is then where that one begins.
    pub(super) fn run(mut self, documents: &mut Vec<Document>) -> Result<(), usize> {
        let text = self.text.yaml.get(self.from..).unwrap_or_default();
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let done = match event {
                Ok((event, span)) => {
                    let start = self.offset(span.start);
                    let end = self.offset(span.end);
                    self.take(event, start, end, documents)
                }
                Err(error) => Err(YamlError {
                    at: text::offset(self.offset(*error.marker())),
                    message: error.info().to_owned(),
                }),
            };
            if let Err(error) = done {
                documents.push(Document {
                    start: text::offset(self.start),
                    root: Err(error),
                });
                return Err(self.start);
            }
        }
        Ok(())
    }

    fn offset(&self, marker: Marker) -> usize {
        self.text.offset(self.from, marker.index())
    }

    fn take(
        &mut self,
        event: Event<'_>,
        start: usize,
        end: usize,
        documents: &mut Vec<Document>,
    ) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(_) => {
                self.start = start;
                self.anchors.clear();
                self.aliased = 0;
                Ok(())
            }
            Event::DocumentEnd => {
                documents.extend(self.root.take().map(|root| Document {
                    start: text::offset(self.start),
                    root: Ok(root),
                }));
                self.start = end;
                Ok(())
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(start, end, anchor, tag, Content::Sequence(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                let content = Content::Mapping(Vec::new(), None);
                self.open(start, end, anchor, tag, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            Event::Scalar(text, style, anchor, tag) => {
                if style == ScalarStyle::Plain && text.starts_with(':') && self.is_in_brackets() {
                    let message = "in brackets a value cannot begin with a colon without quotes";
                    return Err(error(start, message.to_owned()));
                }
                let value = Value::Scalar(Scalar {
                    text: text.into_owned(),
                    style: style_of(style),
                });
                let start = self.after_properties(start, end, anchor > 0 || tag.is_some());
                let end = self.closing_quote(start, end, style);
                let node = Node {
                    span: Span::new(start, end),
                    tag: tag_text(tag),
                    value,
                };
                self.place(node, anchor)
            }
            Event::Alias(anchor) => self.alias(anchor, start, end),
            Event::Nothing | Event::StreamStart | Event::StreamEnd => Ok(()),
        }
    }

    /// Whether a list or mapping around begins with a bracket. There a colon
    /// always parts a key from its value for Go's decoder.
    ///
    /// Source: kubernetes-sigs/yaml `goyaml.v2/scannerc.go`: `yaml_parser_fetch_next_token`.
    fn is_in_brackets(&self) -> bool {
        let bytes = self.text.yaml.as_bytes();
        let mut starts = self.open.iter().map(|it| bytes.get(it.start));
        starts.any(|it| matches!(it, Some(b'[' | b'{')))
    }

    /// Where a value begins whose place the parser gives with its anchor and tag.
    fn after_properties(&self, start: usize, end: usize, has_some: bool) -> usize {
        let mut rest = self.text.yaml.get(start..end).unwrap_or_default();
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

    /// Where a quoted scalar ends: the parser counts blanks and a comment
    /// behind it in.
    fn closing_quote(&self, start: usize, end: usize, style: ScalarStyle) -> usize {
        let quote = match style {
            ScalarStyle::DoubleQuoted => b'"',
            ScalarStyle::SingleQuoted => b'\'',
            _ => return end,
        };
        let text = self.text.yaml.as_bytes().get(start..end);
        let mut bytes = text.unwrap_or_default().iter().enumerate().peekable();
        if bytes.next().is_none_or(|it| *it.1 != quote) {
            return end;
        }
        while let Some((at, &byte)) = bytes.next() {
            if byte == b'\\' && quote == b'"' {
                bytes.next();
            } else if byte == quote {
                let is_doubled = quote == b'\'' && bytes.next_if(|it| *it.1 == quote).is_some();
                if !is_doubled {
                    return start + at + 1;
                }
            }
        }
        end
    }

    fn open(
        &mut self,
        start: usize,
        end: usize,
        anchor: usize,
        tag: Option<std::borrow::Cow<'_, Tag>>,
        content: Content,
    ) -> Result<(), YamlError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(error(
                start,
                format!("more than {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.open.push(Frame {
            start,
            end,
            anchor,
            tag: tag_text(tag),
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
            tag: frame.tag,
            value,
        };
        self.place(node, frame.anchor)
    }

    /// Puts a finished value where it belongs.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.end = frame.end.max(node.span.end as usize);
        match &mut frame.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping(entries, key) => match key.take() {
                None => *key = Some(node),
                Some(key) if is_merge(&key) => merge(entries, node)?,
                Some(key) => entries.push(Entry { key, value: node }),
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, start: usize, end: usize) -> Result<(), YamlError> {
        let Some(node) = self.anchors.get(&anchor) else {
            let message = "the alias stands inside the value that it names".to_owned();
            return Err(error(start, message));
        };
        let (nodes, depth) = measure(node);
        self.aliased += nodes;
        if self.aliased > MAX_ALIASED_NODES {
            let message = format!("aliases repeat more than {MAX_ALIASED_NODES} values");
            return Err(error(start, message));
        }
        if self.open.len() + depth > MAX_DEPTH {
            return Err(error(
                start,
                format!("more than {MAX_DEPTH} levels of nesting"),
            ));
        }
        let node = Node {
            span: Span::new(start, end),
            ..node.clone()
        };
        self.place(node, 0)
    }
}

/// Whether a key brings in the entries of its value: `<<` without quotes.
///
/// Source: kubernetes-sigs/yaml `goyaml.v2/resolve.go`: `isMerge`.
fn is_merge(key: &Node) -> bool {
    let scalar = key.as_scalar();
    let is_plain = scalar.is_some_and(|it| it.text == "<<" && it.style == Style::Plain);
    is_plain && matches!(key.tag.as_deref(), None | Some(MERGE | "!"))
}

const MERGE: &str = "tag:yaml.org,2002:merge";

/// Appends the entries that a value brings in: of several mappings those of
/// the first one last, since the last of repeated keys counts.
///
/// Source: kubernetes-sigs/yaml `goyaml.v2/decode.go`: `merge`.
fn merge(entries: &mut Vec<Entry>, value: Node) -> Result<(), YamlError> {
    let at = value.span.start as usize;
    let mappings = match value.value {
        Value::Sequence(items) => items,
        _ => vec![value],
    };
    for mapping in mappings.into_iter().rev() {
        let Value::Mapping(merged) = mapping.value else {
            let message = "a merge key (<<) needs a mapping or a list of mappings".to_owned();
            return Err(error(at, message));
        };
        entries.extend(merged);
    }
    Ok(())
}

fn error(at: usize, message: String) -> YamlError {
    YamlError {
        at: text::offset(at),
        message,
    }
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
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    }
}

fn tag_text(tag: Option<std::borrow::Cow<'_, Tag>>) -> Option<Box<str>> {
    tag.map(|tag| format!("{}{}", tag.handle, tag.suffix).into())
}
