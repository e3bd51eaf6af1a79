//! Settings of one kubelet, as YAML has them.

use crate::config::traced::Traced;
use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::configuration::{DROP_INS, Role, taken};
use crate::kubelet::flags::{self, Name};
use crate::lint::document::Document;
use crate::lint::extract::flags::{is_asked_for, of_flag};
use crate::lint::extract::text;
use crate::lint::facts::{Setting, Text};

/// What a document sets of one kubelet, in order. What is not there sets nothing.
pub(super) struct Made<'d> {
    document: &'d Document,
    /// The settings so far.
    pub(super) settings: Vec<Setting>,
}

impl<'d> Made<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        let settings = Vec::new();
        Self { document, settings }
    }

    /// The entries of a `KubeletConfiguration` that a kubelet takes in one version
    /// or another, and the internal key `resolverConfig`.
    pub(super) fn configuration(mut self, root: Option<&Node>) -> Self {
        let role = if is_drop_in(&self.document.path) {
            Role::DropIn
        } else {
            Role::Main
        };
        for entry in root.and_then(Node::as_mapping).unwrap_or_default() {
            let written = entry.key.as_scalar().map_or("", |it| it.text.as_str());
            let mut versions = [None, Some(DROP_INS)].into_iter();
            let name = versions.find_map(|it| taken(written, role, it, false)?.ok());
            let internal = (written == "resolverConfig").then_some(Name::ResolvConf);
            let key = name.or(internal).filter(|it| is_asked_for(*it));
            self = self.entry(key, Some(entry));
        }
        self
    }

    /// An entry that sets a key.
    pub(super) fn entry(mut self, key: Option<Name>, entry: Option<&Entry>) -> Self {
        let setting = key.zip(entry);
        let setting = setting.and_then(|(key, entry)| setting_of(self.document, key, entry));
        self.settings.extend(setting);
        self
    }

    /// Flags: names with a value or a list of values, a list of names and values, or
    /// a list of flags as they stand on a command line.
    pub(super) fn arguments(mut self, arguments: Option<&Node>) -> Self {
        let entries = arguments.and_then(Node::as_mapping).unwrap_or_default();
        for entry in entries {
            let values = entry.value.as_sequence();
            for value in values.unwrap_or(std::slice::from_ref(&entry.value)) {
                self = self.argument(&entry.key, value);
            }
        }
        for item in arguments.and_then(Node::as_sequence).unwrap_or_default() {
            if let Some(flag) = text(self.document, item) {
                self.settings
                    .extend(flag_of(flag.clone(), &flag, &flag.text));
            } else if let (Some(name), Some(value)) = (item.get("name"), item.get("value")) {
                self = self.argument(name, value);
            }
        }
        self
    }

    fn argument(mut self, name: &Node, value: &Node) -> Self {
        let texts = text(self.document, name).zip(text(self.document, value));
        self.settings.extend(texts.and_then(|(written, value)| {
            let argument = format!("--{}={}", written.text, value.text);
            flag_of(written, &value, &argument)
        }));
        self
    }

    /// An entry that a tool makes this flag of; lists are addresses with commas
    /// between them.
    pub(super) fn flag(mut self, name: &str, entry: Option<&Entry>) -> Self {
        self.settings.extend(entry.and_then(|entry| {
            let written = text(self.document, &entry.key)?;
            let value = text(self.document, &entry.value)?;
            let argument = format!("--{name}={}", value.text);
            flag_of(written, &value, &argument)
        }));
        self
    }

    /// The same of an entry that is called as in a configuration, which it becomes a
    /// part of.
    pub(super) fn text(self, entry: Option<&Entry>) -> Self {
        let key = entry.and_then(|it| it.key.as_scalar());
        let name = match key.map_or("", |it| it.text.as_str()) {
            "resolvConf" => "resolv-conf",
            "clusterDNS" => "cluster-dns",
            "clusterDomain" => "cluster-domain",
            _ => return self,
        };
        self.file(name, entry)
    }

    /// An entry that a tool writes into a configuration, where it says what this flag
    /// does.
    pub(super) fn file(mut self, name: &str, entry: Option<&Entry>) -> Self {
        let before = self.settings.len();
        self = self.flag(name, entry);
        for setting in self.settings.iter_mut().skip(before) {
            setting.is_flag = false;
        }
        self
    }
}

/// Whether a configuration lies below a folder of drop-ins: `kubelet.conf.d/`.
pub(super) fn is_drop_in(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').any(|it| it.strip_suffix(".d").is_some())
}

/// The last entry at a path of keys, of those that stand there themselves.
pub(super) fn entry_at<'n>(root: &'n Node, path: &[&str]) -> Option<&'n Entry> {
    let (name, above) = path.split_last()?;
    let is_it = |it: &&Entry| it.key.as_scalar().is_some_and(|it| it.text == *name);
    root.at(above)?.as_mapping()?.iter().rfind(is_it)
}

fn setting_of(document: &Document, key: Name, entry: &Entry) -> Option<Setting> {
    let written = text(document, &entry.key)?;
    let texts = |nodes: &[Node]| -> Vec<Text> {
        let is_text = |it: &&Node| it.kind() == Some(Kind::Text);
        let texts = nodes.iter().filter(is_text);
        texts.filter_map(|it| text(document, it)).collect()
    };
    let values = match (key, entry.value.as_sequence()) {
        (Name::ClusterDns, Some(items)) => texts(items),
        (Name::ClusterDns, None) => Vec::new(),
        _ => texts(std::slice::from_ref(&entry.value)),
    };
    let is_null = entry.value.is_null();
    // A null can have no bytes of its own.
    let at = if is_null {
        written.at
    } else {
        document.at(entry.value.span)
    };
    let literal = document.literal(&entry.value);
    Some(Setting {
        key,
        written,
        values,
        at,
        is_flag: false,
        is_null,
        literal: literal.and_then(|it| document.at_literal(it)),
    })
}

/// A flag of which only where its value stands is known.
fn flag_of(written: Text, value: &Text, argument: &str) -> Option<Setting> {
    let argument = Traced::untraced(argument.as_bytes());
    let flag = flags::read_flags(&[argument]).flags.into_iter().next()?;
    of_flag(&flag, written, value.at, None, |_, _| value.at)
}
