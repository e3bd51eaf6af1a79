//! What rules look at: documents with their meaning at hand.

use std::borrow::Cow;

use crate::config::corefile::{self, Corefile};
use crate::config::ini;
use crate::config::resolv_conf::{Line, ResolvConf, Word};
use crate::config::statements::Statement;
use crate::config::yaml::{Kind, Node};
use crate::kubelet::configuration::Ignored;
use crate::kubelet::flags::Name;
use crate::kubelet::layers::Given;
use crate::lint::document::{At, Document, FileId};
use crate::lint::facts::{KubeletForm, Resolver, Setting, Text};
use crate::lint::options::Role;
use crate::text::Span;

/// A file in the syntax of resolv.conf.
#[derive(Clone, Copy, Debug)]
pub struct ResolverFile<'d> {
    /// The document.
    pub document: &'d Document,
    /// Its lines and words.
    pub conf: &'d ResolvConf,
    /// Those of its lines that say something, in order.
    pub entries: &'d [Entry<'d>],
    /// What the kubelet takes from it.
    pub read: &'d Resolver,
    /// Who reads it.
    pub role: Role,
    /// The setting that names it for the kubelet, if one was given.
    pub named_by: Option<&'d Setting>,
}

/// A line of a resolv.conf that says something: it is neither empty nor a
/// comment.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'d> {
    /// The line.
    pub line: Line<'d>,
    /// Its first word, whatever it is.
    pub keyword: Word<'d>,
}

/// A text that sets something of a kubelet.
#[derive(Clone, Copy, Debug)]
pub struct KubeletText<'d> {
    /// The document.
    pub document: &'d Document,
    /// What kind of text it is.
    pub form: KubeletForm,
    /// What it sets, in order, repeats kept.
    pub settings: &'d [Setting],
}

/// A kubelet, put together from all that was given of it.
#[derive(Clone, Debug, Default)]
pub struct Kubelet<'w> {
    /// The files it is made from: its configuration, drop-ins, units.
    pub files: Vec<FileId>,
    /// Where its configuration begins, else its first text.
    pub at: Option<At>,
    /// The path of its configuration, else of its first text.
    pub path: &'w str,
    /// Whether its configuration was given: without it, what is not set can be
    /// set there.
    pub has_configuration: bool,
    /// Whether its environment has [`crate::kubelet::effective::DROP_IN_GATE`].
    pub has_drop_in_gate: bool,
    /// What sets each key.
    pub given: Given<Cow<'w, Setting>>,
    /// Settings that it does not take, and why.
    pub ignored: Vec<(&'w Setting, Ignored)>,
}

/// A Corefile.
#[derive(Clone, Copy, Debug)]
pub struct CorefileText<'d> {
    /// The document.
    pub document: &'d Document,
    /// Its blocks.
    pub corefile: &'d Corefile,
}

/// A pod, or something with a pod template.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'d> {
    /// The document.
    pub document: &'d Document,
    /// `Pod`, `Deployment`…
    pub kind: &'d str,
    /// The object.
    pub object: &'d Node,
    /// The spec of its pods.
    pub spec: &'d Node,
}

/// An object of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Object<'d> {
    /// The document.
    pub document: &'d Document,
    /// The object.
    pub object: &'d Node,
}

/// A `resolved.conf` or `NetworkManager.conf`.
#[derive(Clone, Copy, Debug)]
pub struct SettingsText<'d> {
    /// The document.
    pub document: &'d Document,
    /// Its lines.
    pub entries: &'d [ini::Entry],
}

/// A configuration of nginx or `HAProxy`.
#[derive(Clone, Copy, Debug)]
pub struct DaemonText<'d> {
    /// The document.
    pub document: &'d Document,
    /// Its directives or sections, with those of their blocks.
    pub statements: &'d [Statement],
}

impl<'d> DaemonText<'d> {
    /// The `index`-th word of a directive; empty if there is none, or it is not UTF-8.
    pub fn word(&self, statement: &Statement, index: usize) -> &'d str {
        let span = statement.words.get(index).copied().unwrap_or_default();
        let bytes = self.document.body.bytes(span);
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Where a word stands.
    pub fn at(&self, span: Span) -> At {
        self.document.at(span)
    }
}

impl<'d> Entry<'d> {
    /// The lines that say something, in order.
    pub fn all(conf: &'d ResolvConf) -> Vec<Self> {
        let entries = conf.lines().filter_map(|line| {
            let keyword = line.words().next()?;
            let is_comment = matches!(keyword.bytes.first(), Some(b'#' | b';'));
            (!is_comment).then_some(Self { line, keyword })
        });
        entries.collect()
    }

    /// Whether the first word is this one.
    pub fn is(self, keyword: &str) -> bool {
        self.keyword.bytes == keyword.as_bytes()
    }

    /// The words behind the first one.
    pub fn values(self) -> impl Iterator<Item = Word<'d>> {
        self.line.words().skip(1)
    }
}

impl<'d> ResolverFile<'d> {
    /// The lines that begin with a keyword, in order.
    pub fn lines(&self, keyword: &'static str) -> impl DoubleEndedIterator<Item = Entry<'d>> {
        let entries = self.entries.iter().copied();
        entries.filter(move |it| it.is(keyword))
    }

    /// The whole file, for what is missing in it.
    pub fn at(&self) -> At {
        self.document.at(Span::default())
    }
}

impl<'w> Kubelet<'w> {
    /// Takes a setting, which beats those that were taken before it from texts
    /// of its kind.
    pub(super) fn set(&mut self, setting: Cow<'w, Setting>) {
        if setting.is_flag {
            self.given.flag(setting.key, setting);
        } else {
            self.given.file(setting.key, setting);
        }
    }

    /// The setting of a key that counts; `None`: the default, or something
    /// that was not given.
    pub fn setting(&self, key: Name) -> Option<&Setting> {
        self.given.counting(key).map(Cow::as_ref)
    }

    /// The settings of a key, the weakest first.
    pub fn settings(&self, key: Name) -> impl DoubleEndedIterator<Item = &Setting> {
        self.given.all(key).map(Cow::as_ref)
    }

    /// The path in `resolvConf`; `None`: the default, [`crate::kubelet::choice::NODE_FILE`].
    pub fn resolv_conf(&self) -> Option<&Text> {
        self.setting(Name::ResolvConf)?.value()
    }
}

impl CorefileText<'_> {
    /// The bytes of the file at which a word stands: of the Corefile's own, or
    /// of one that it imports.
    pub fn at(&self, at: corefile::At) -> Option<At> {
        let Some(index) = at.source.checked_sub(1) else {
            return Some(self.document.at(at.span));
        };
        let (file, layers) = self.document.imported.get(index)?;
        let (file, span) = (*file, layers.outer(at.span));
        Some(At { file, span })
    }
}

impl<'d> Object<'d> {
    /// Its kind; empty: it says none.
    pub fn kind(&self) -> &'d str {
        self.word(&["kind"])
    }

    /// The text at a path of keys; empty where there is none.
    pub fn word(&self, path: &[&str]) -> &'d str {
        self.object.word(path).unwrap_or_default()
    }

    /// The value at a path of keys, if it is not null.
    pub fn get(&self, path: &[&str]) -> Option<&'d Node> {
        self.object.at(path).filter(|it| !it.is_null())
    }

    /// Where a value stands.
    pub fn at(&self, node: &Node) -> At {
        self.document.at(node.span)
    }
}

impl<'d> Workload<'d> {
    /// `Deployment web`, safe to print only after escaping.
    pub fn label(&self) -> String {
        match self.object.word(&["metadata", "name"]) {
            Some(name) => format!("{} {name}", self.kind),
            None => self.kind.to_owned(),
        }
    }

    /// A value of the pods' spec, if it is not null.
    pub fn get(&self, key: &str) -> Option<&'d Node> {
        self.spec.get(key).filter(|it| !it.is_null())
    }

    /// `dnsPolicy` as written, if it is a text.
    pub fn policy(&self) -> Option<Text> {
        let text = self.text(self.get("dnsPolicy")?)?;
        Some(text).filter(|it| !it.text.is_empty())
    }

    /// The value of `hostNetwork`, if it is true.
    pub fn host_network(&self) -> Option<&'d Node> {
        let node = self.get("hostNetwork")?;
        (node.kind() == Some(Kind::Bool(true))).then_some(node)
    }

    /// The texts of a list in `dnsConfig`: `nameservers`, `searches`.
    pub fn dns_config(&self, key: &str) -> Vec<Text> {
        let items = self.spec.items(&["dnsConfig", key]);
        items.iter().filter_map(|it| self.text(it)).collect()
    }

    /// A scalar that is a text, with its place.
    pub fn text(&self, node: &Node) -> Option<Text> {
        let scalar = node.as_scalar()?;
        (node.kind() == Some(Kind::Text)).then(|| Text {
            text: scalar.text.clone(),
            at: self.at(node),
        })
    }

    /// Where a value stands.
    pub fn at(&self, node: &Node) -> At {
        self.document.at(node.span)
    }

    /// Where it says what it is: the value of `kind`.
    pub fn place(&self) -> At {
        self.at(self.object.get("kind").unwrap_or(self.object))
    }
}
