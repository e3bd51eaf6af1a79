//! From the bytes of a file to its documents.

mod conflict;
mod parts;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use self::conflict::{MERGE, refusal};
use self::parts::{filled_in, parts_of, syntax, units_of};
use crate::config::resolv_conf::ResolvConf;
use crate::config::traced::Traced;
use crate::config::yaml;
use crate::config::{corefile, haproxy_cfg, ini, nginx_conf};
use crate::kubelet::distribution;
use crate::lint::document::{At, Body, Broken, Document, Documents, FileId, Syntax};
use crate::lint::embedded::{Layer, Layers};
use crate::lint::form::Form;
use crate::lint::inner::heredoc::{self, Written};
use crate::lint::inner::terraform::{self, Held};
use crate::lint::inner::{self, Content, Inner, ansible, decode, mime, operations, provisioner};
use crate::lint::look::MAX_DOCUMENT;
use crate::lint::recognise;
use crate::text::{Source, Span, merge_conflicts};

/// Texts in texts deeper than this are not opened.
const MAX_LAYERS: usize = 4;

/// The documents of a file. Total: any bytes give a result, none for what is
/// not recognised. `form` overrides what it is recognised as.
pub fn documents(file: FileId, source: &Arc<Source>, form: Option<Form>) -> Documents {
    let mut reader = Reader {
        file,
        found: Documents::default(),
    };
    let form = form.or_else(|| recognise::form(&source.name, &source.bytes, true));
    if let Some(form) = form {
        let text = Embedded {
            source: Arc::clone(source),
            path: source.name.clone(),
            layers: Layers::default(),
            depth: 0,
            is_of_script: false,
            is_template: false,
            is_open: false,
            is_partial: recognise::is_part(&source.name),
            gaps: Arc::default(),
            condition: None,
        };
        let is_whole = matches!(form, Form::Corefile | Form::Nginx | Form::Haproxy);
        match merge_conflicts(&source.bytes).find(|_| is_whole) {
            Some(mark) => reader.broken(&text, mark, MERGE.to_owned()),
            None => reader.read_embedded(&text, form),
        }
    }
    reader.found
}

struct Reader {
    file: FileId,
    found: Documents,
}

/// A text and how it stands in its file.
#[derive(Clone)]
struct Embedded {
    source: Arc<Source>,
    path: String,
    layers: Layers,
    depth: usize,
    /// Whether a script writes it.
    is_of_script: bool,
    /// Whether something is put into it.
    is_template: bool,
    /// Whether a tool puts something into it that is not known here.
    is_open: bool,
    /// Whether it is the plain parts of a template.
    is_partial: bool,
    /// The bytes of the file where something of the template was left out.
    gaps: Arc<[Span]>,
    /// Which bytes of the file it is read for, if they stand under a condition.
    condition: Option<Span>,
}

impl Reader {
    fn read_embedded(&mut self, text: &Embedded, form: Form) {
        let source = || Source::clone(&text.source);
        let syntax = match form {
            Form::Yaml => return self.yaml(text),
            Form::Mime => return self.parts(text),
            Form::Script => return self.script(text),
            Form::Terraform => return self.terraform(text),
            Form::Wide => return self.unread(text),
            Form::Arguments => Syntax::Arguments(snap_arguments(text)),
            Form::ResolvConf => Syntax::ResolvConf(ResolvConf::parse(source())),
            Form::Corefile => {
                let parts = if corefile::is_template(&text.source.bytes) {
                    parts_of(text)
                } else if recognise::is_filled_in(&text.source.name) {
                    vec![filled_in(text)]
                } else {
                    Vec::new()
                };
                for text in parts.iter().chain([text]) {
                    let source = Source::clone(&text.source);
                    let parsed = Box::new(corefile::parse(source, &[]));
                    self.add(text, Syntax::Corefile(parsed));
                }
                return;
            }
            Form::CorefilePart => Syntax::CorefilePart,
            Form::Unit | Form::Environment => {
                for part in &units_of(text) {
                    self.add(part, syntax(part, form));
                }
                return;
            }
            Form::Settings => Syntax::Settings(ini::entries(&text.source.bytes)),
            Form::Nginx => Syntax::Nginx(nginx_conf::parse(&text.source, 0).statements),
            Form::Haproxy => Syntax::Haproxy(haproxy_cfg::parse(&text.source, 0)),
        };
        self.add(text, syntax);
    }

    fn parts(&mut self, text: &Embedded) {
        if text.depth >= MAX_LAYERS {
            return;
        }
        let parts = mime::parts(&text.source.bytes);
        for (inner, form) in parts.iter().filter_map(|it| part(text, it)) {
            self.read_embedded(&inner, form);
        }
    }

    fn script(&mut self, text: &Embedded) {
        if text.depth >= MAX_LAYERS {
            return;
        }
        let bytes = &text.source.bytes;
        // Of workflows.
        let has_expression = memchr::memmem::find(bytes, b"${{").is_some();
        for written in heredoc::texts(bytes, text.is_template || has_expression) {
            self.written(text, written);
        }
    }

    fn terraform(&mut self, text: &Embedded) {
        for held in terraform::held(&text.source.bytes) {
            match held {
                Held::Text(written) => self.written(text, written),
                Held::Provisioner(block) => {
                    let found = provisioner::text(&block).filter(|_| text.depth < MAX_LAYERS);
                    let Some((mut inner, form)) = found.and_then(|it| embedded(text, &it)) else {
                        continue;
                    };
                    inner.is_of_script = true;
                    inner.is_template = heredoc::has_mark(&inner.source.bytes);
                    self.read_embedded(&inner, form);
                }
                Held::Object(root, is_partial) => {
                    // What stands there is no YAML, and cannot be changed as such.
                    let whole = Span::new(0, text.source.bytes.len());
                    let inner = Embedded {
                        layers: text.layers.within(Layer::slice(whole).fixed()),
                        is_template: true,
                        is_partial: text.is_partial || is_partial,
                        ..text.clone()
                    };
                    self.object(&inner, root);
                }
            }
        }
    }

    fn written(&mut self, outer: &Embedded, written: Written) {
        let path = &written.path;
        let inner = within(
            outer,
            path,
            &written.bytes,
            written.layer,
            Some(written.form),
        );
        let Some((mut inner, form)) = inner else {
            return;
        };
        inner.is_of_script = true;
        inner.is_template |= written.is_open;
        inner.is_partial |= written.is_partial;
        let before = self.found.broken.len();
        self.read_embedded(&inner, form);
        if inner.is_template || !written.is_final {
            // What it becomes can be whole.
            self.found.broken.truncate(before);
        }
    }

    /// Go's YAML would read it; other tools than the kubelet do not.
    fn unread(&mut self, text: &Embedded) {
        let message = "it is UTF-16; write the file as UTF-8".to_owned();
        self.broken(text, Span::new(0, 2), message);
    }

    fn broken(&mut self, text: &Embedded, span: Span, message: String) {
        let at = At {
            file: self.file,
            span: text.layers.outer(span),
        };
        self.found.broken.push(Broken { at, message });
    }

    fn add(&mut self, text: &Embedded, syntax: Syntax) {
        let body = Body {
            file: self.file,
            source: Arc::clone(&text.source),
            path: text.path.clone(),
            layers: text.layers.clone(),
            is_of_script: text.is_of_script,
            is_partial: text.is_partial,
            gaps: Arc::clone(&text.gaps),
            condition: text.condition,
        };
        self.found.documents.push(Document {
            body,
            syntax,
            imported: Vec::new(),
        });
    }

    fn yaml(&mut self, text: &Embedded) {
        let mut whole = BTreeSet::new();
        let mut is_broken = false;
        let conflicts: LazyCell<Vec<Span>, _> =
            LazyCell::new(|| merge_conflicts(&text.source.bytes).collect());
        for document in yaml::wanted_documents(&text.source, &|it| is_wanted(text, it)) {
            match document.root {
                Ok(root) => {
                    whole.insert(document.start);
                    self.object(text, root);
                }
                Err(error) => {
                    is_broken = true;
                    let (span, message) = refusal(error, document.start, &conflicts);
                    self.broken(text, span, message);
                }
            }
        }
        let is_long = text.source.bytes.len() > MAX_DOCUMENT;
        if is_broken && !is_long && !text.is_partial && conflicts.is_empty() {
            self.plain_parts(text, &whole);
        }
    }

    /// What stands in a template whatever it is rendered with, and where conditions are
    /// met, but for documents that were read as they are.
    fn plain_parts(&mut self, text: &Embedded, read: &BTreeSet<u32>) {
        let before = self.found.broken.len();
        for part in parts_of(text) {
            for document in yaml::wanted_documents(&part.source, &|it| is_wanted(text, it)) {
                if let Ok(root) = document.root
                    && !read.contains(&document.start)
                {
                    self.object(&part, root);
                }
            }
        }
        self.found.broken.truncate(before);
    }

    fn object(&mut self, text: &Embedded, mut root: yaml::Node) {
        if is_test_suite(&root) {
            return;
        }
        if root.as_sequence().is_some() {
            ansible::spread(&mut root);
        }
        let inside: Vec<(Embedded, Form)> = inner::texts(&root)
            .iter()
            .filter(|_| text.depth < MAX_LAYERS)
            .filter_map(|it| embedded(text, it))
            .collect();
        let patched = operations::object(&root);
        self.add(text, Syntax::Yaml(root));
        if let Some(patched) = patched {
            let whole = Span::new(0, text.source.bytes.len());
            let layers = text.layers.within(Layer::slice(whole).fixed());
            let text = text.clone();
            self.add(&Embedded { layers, ..text }, Syntax::Yaml(patched));
        }
        for (text, form) in &inside {
            let before = self.found.broken.len();
            self.read_embedded(text, *form);
            if text.is_open {
                // What it becomes can be whole.
                self.found.broken.truncate(before);
            }
        }
    }
}

/// Whether a document can say anything of ours: of what stands in another one, that is
/// known by its place. Of long ones only those are left that say nothing.
fn is_wanted(text: &Embedded, document: &[u8]) -> bool {
    match text.depth {
        0 if document.len() > MAX_DOCUMENT => false,
        0 if recognise::is_wanted_document(document) => true,
        0 if !recognise::can_have_facts(Form::Yaml, document) => false,
        _ => !recognise::is_schema(document),
    }
}

/// Whether it is a suite of helm-unittest: values and parts of what a chart renders.
///
/// Source: helm-unittest, DOCUMENT.md, "Test Suite".
fn is_test_suite(root: &yaml::Node) -> bool {
    root.items(&["tests"])
        .iter()
        .any(|it| it.get("asserts").is_some())
}

/// The words of a snap's file of arguments.
fn snap_arguments(text: &Embedded) -> Vec<Traced> {
    let variables = distribution::snap_variables(distribution::MICROK8S_ARGUMENTS);
    distribution::arguments_file(&text.source.bytes, 0, &variables)
}

/// A text inside a document, if it is one of ours.
fn embedded(outer: &Embedded, inner: &Inner<'_>) -> Option<(Embedded, Form)> {
    let around = &outer.source.bytes;
    let (bytes, layer) = match &inner.content {
        Content::Scalar(node) => (
            node.as_scalar()?.text.as_bytes(),
            Layer::of_scalar(around, node)?,
        ),
        Content::Decoded(node, bytes) => (bytes.as_slice(), Layer::opaque(node.span)),
        Content::Made(pieces) => (pieces.bytes(), pieces.layer(around)),
    };
    let (text, form) = within(outer, &inner.path, bytes, layer, inner.form)?;
    // Of others nothing can be told before something is put in.
    let has_parts = matches!(
        form,
        Form::Yaml | Form::Corefile | Form::Unit | Form::Environment | Form::Settings
    );
    (has_parts || !inner.is_open).then_some(())?;
    let text = Embedded {
        is_of_script: text.is_of_script || inner.is_part || inner.is_of_task,
        is_open: inner.is_open,
        is_partial: text.is_partial || inner.is_part,
        ..text
    };
    Some((text, form))
}

/// A part of a text of several parts, if it is one of ours.
fn part(outer: &Embedded, part: &mime::Part) -> Option<(Embedded, Form)> {
    let bytes = part.body.slice(&outer.source.bytes);
    let form = mime::form(&part.kind);
    match part.encoding.as_str() {
        "" | "7bit" | "8bit" | "binary" => {
            within(outer, &part.name, bytes, Layer::slice(part.body), form)
        }
        "base64" => {
            let bytes = decode::base64(bytes)?;
            within(outer, &part.name, &bytes, Layer::opaque(part.body), form)
        }
        _ => None,
    }
}

fn within(
    outer: &Embedded,
    path: &str,
    bytes: &[u8],
    layer: Layer,
    form: Option<Form>,
) -> Option<(Embedded, Form)> {
    // As if the file were a directory: what is in one file is near.
    let is_part = recognise::is_part(path);
    let path = format!("{}/{}", outer.path, path.trim_start_matches('/'));
    let by_path = || recognise::form(&path, bytes, false).filter(|_| recognise::can_be(&path));
    let form = form.or_else(by_path)?;
    let source = Source::new(outer.source.name.clone(), bytes);
    let inner = Embedded {
        source: Arc::new(source),
        path,
        layers: outer.layers.within(layer),
        depth: outer.depth + 1,
        is_of_script: outer.is_of_script,
        is_template: outer.is_template,
        is_open: false,
        is_partial: outer.is_partial || is_part,
        gaps: Arc::clone(&outer.gaps),
        condition: outer.condition,
    };
    Some((inner, form))
}
