//! From the bytes of a file to its documents.

use std::sync::Arc;

use crate::config::resolv_conf::ResolvConf;
use crate::config::yaml::{self, Node};
use crate::config::{corefile, env_file, ini, unit_file};
use crate::lint::document::{At, Broken, Document, Documents, FileId, Syntax};
use crate::lint::embedded::{Layer, Layers};
use crate::lint::recognise::{self, Form};
use crate::text::{Source, Span};

/// Texts in texts deeper than this are not opened.
const MAX_LAYERS: usize = 4;

/// The documents of a file. Total: any bytes give a result, none for what is
/// not recognised. `form` overrides what it is recognised as.
pub fn documents(file: FileId, source: &Arc<Source>, form: Option<Form>) -> Documents {
    let mut reader = Reader {
        file,
        found: Documents::default(),
    };
    let form = form.or_else(|| recognise::form(&source.name, &source.bytes));
    if let Some(form) = form {
        let text = Embedded {
            source: Arc::clone(source),
            path: source.name.clone(),
            layers: Layers::default(),
            depth: 0,
        };
        reader.read(&text, form);
    }
    reader.found
}

struct Reader {
    file: FileId,
    found: Documents,
}

/// A text and how it stands in its file.
struct Embedded {
    source: Arc<Source>,
    path: String,
    layers: Layers,
    depth: usize,
}

impl Reader {
    fn read(&mut self, text: &Embedded, form: Form) {
        let source = || Source::clone(&text.source);
        let syntax = match form {
            Form::Yaml => return self.yaml(text),
            Form::ResolvConf => Syntax::ResolvConf(ResolvConf::parse(source())),
            Form::Corefile => Syntax::Corefile(Box::new(corefile::parse(source(), &[]))),
            Form::Unit => Syntax::Unit(unit_file::entries(&text.source.bytes, 0)),
            Form::Environment => Syntax::Environment(env_file::variables(&text.source.bytes, 0)),
            Form::Settings => Syntax::Settings(ini::entries(&text.source)),
        };
        self.add(text, syntax);
    }

    fn add(&mut self, text: &Embedded, syntax: Syntax) {
        self.found.documents.push(Document {
            file: self.file,
            source: Arc::clone(&text.source),
            path: text.path.clone(),
            layers: text.layers.clone(),
            syntax,
        });
    }

    fn yaml(&mut self, text: &Embedded) {
        for document in yaml::documents(&text.source) {
            match document.root {
                Ok(root) => {
                    let inside = inner_texts(&root, 0);
                    let inside: Vec<(Embedded, Form)> = inside
                        .into_iter()
                        .filter(|_| text.depth < MAX_LAYERS)
                        .filter_map(|(path, node, form)| embedded(text, &path, node, form))
                        .collect();
                    self.add(text, Syntax::Yaml(root));
                    for (text, form) in &inside {
                        self.read(text, *form);
                    }
                }
                Err(error) => {
                    let span = Span {
                        start: error.at,
                        end: error.at,
                    };
                    let at = At {
                        file: self.file,
                        span: text.layers.outer(span),
                    };
                    self.found.broken.push(Broken {
                        at,
                        message: error.message,
                    });
                }
            }
        }
    }
}

/// The text that a scalar holds.
fn embedded(
    outer: &Embedded,
    path: &str,
    node: &Node,
    form: Option<Form>,
) -> Option<(Embedded, Form)> {
    let scalar = node.as_scalar()?;
    let bytes = scalar.text.as_bytes();
    // As if the file were a directory: what is in one file is near.
    let path = format!("{}/{}", outer.path, path.trim_start_matches('/'));
    let form = form.or_else(|| recognise::form(&path, bytes))?;
    let layer = Layer::of_scalar(&outer.source.bytes, node)?;
    let source = Source {
        name: outer.source.name.clone(),
        bytes: bytes.to_vec(),
    };
    let inner = Embedded {
        source: Arc::new(source),
        path,
        layers: outer.layers.within(layer),
        depth: outer.depth + 1,
    };
    Some((inner, form))
}

/// A value that holds a text: its path, the value, what it is if that is said.
type Inner<'n> = (String, &'n Node, Option<Form>);

/// Lists in lists deeper than this are not opened.
const MAX_LISTS: usize = 4;

/// The values of an object that hold texts of ours.
fn inner_texts(object: &Node, lists: usize) -> Vec<Inner<'_>> {
    let kind = object.get("kind").and_then(Node::as_scalar);
    let kind = kind.map_or("", |it| it.text.as_str());
    if let (true, Some(items)) = (kind.ends_with("List") && lists < MAX_LISTS, items(object)) {
        return items
            .iter()
            .flat_map(|it| inner_texts(it, lists + 1))
            .collect();
    }
    if kind == "ConfigMap" {
        return config_map(object);
    }
    write_files(object)
}

fn items(object: &Node) -> Option<&[Node]> {
    object.get("items")?.as_sequence()
}

/// The texts of a ConfigMap: its keys are names of files.
fn config_map(object: &Node) -> Vec<Inner<'_>> {
    let entries = object.get("data").and_then(Node::as_mapping);
    let texts = entries.unwrap_or_default().iter().filter_map(|entry| {
        let key = entry.key.as_scalar()?;
        let is_text = entry
            .value
            .as_scalar()
            .is_some_and(|it| !it.text.is_empty());
        is_text.then(|| (key.text.clone(), &entry.value, None))
    });
    texts.collect()
}

/// The files that cloud-init writes.
///
/// Source: cloud-init `cloudinit/config/cc_write_files.py`.
fn write_files(object: &Node) -> Vec<Inner<'_>> {
    let files = object.get("write_files").and_then(Node::as_sequence);
    let files = files.unwrap_or_default().iter().filter_map(|file| {
        // Other encodings are not the text itself.
        if file
            .get("encoding")
            .and_then(Node::as_scalar)
            .is_some_and(|it| it.text != "text/plain")
        {
            return None;
        }
        let path = file.get("path")?.as_scalar()?.text.clone();
        Some((path, file.get("content")?, None))
    });
    files.collect()
}
