//! One setting of a kubelet, as YAML has it.

use crate::config::traced::Traced;
use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::configuration::{DROP_INS, Role, taken};
use crate::kubelet::flags::{self, Name};
use crate::lint::document::{At, Document};
use crate::lint::extract::flags::key;
use crate::lint::extract::text;
use crate::lint::facts::{Key, Setting, Text};

/// The entries of a `KubeletConfiguration` that a kubelet takes in one version
/// or another, and the internal key `resolverConfig`.
pub(super) fn configuration(document: &Document, root: &Node) -> Vec<Setting> {
    let role = if is_drop_in(&document.path) {
        Role::DropIn
    } else {
        Role::Main
    };
    let entries = root.as_mapping().unwrap_or_default().iter();
    let settings = entries.filter_map(|entry| {
        let written = entry.key.as_scalar()?.text.as_str();
        let mut versions = [None, Some(DROP_INS)].into_iter();
        let name = versions.find_map(|it| taken(written, role, it, false)?.ok());
        let internal = (written == "resolverConfig").then_some(Name::ResolvConf);
        setting(document, key(name.or(internal)?)?, entry)
    });
    settings.collect()
}

/// Whether a configuration lies below a folder of drop-ins: `kubelet.conf.d/`.
pub(super) fn is_drop_in(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').any(|it| it.strip_suffix(".d").is_some())
}

pub(super) fn setting(document: &Document, key: Key, entry: &Entry) -> Option<Setting> {
    let written = text(document, &entry.key)?;
    let texts = |nodes: &[Node]| -> Vec<Text> {
        let is_text = |it: &&Node| it.kind() == Some(Kind::Text);
        let texts = nodes.iter().filter(is_text);
        texts.filter_map(|it| text(document, it)).collect()
    };
    let values = match (key, entry.value.as_sequence()) {
        (Key::ClusterDns, Some(items)) => texts(items),
        (Key::ClusterDns, None) => Vec::new(),
        _ => texts(std::slice::from_ref(&entry.value)),
    };
    let is_null = entry.value.is_null();
    // A null can have no bytes of its own.
    let at = if is_null {
        written.at
    } else {
        document.at(entry.value.span)
    };
    Some(Setting {
        key,
        written,
        values,
        at,
        is_flag: false,
        is_null,
        literal: literal(document, &entry.value),
    })
}

/// Where the text of a scalar stands as it is.
fn literal(document: &Document, node: &Node) -> Option<At> {
    document.at_literal(document.literal(node)?)
}

/// A flag as a name and a value.
pub(super) fn argument(document: &Document, name: &Node, value: &Node) -> Option<Setting> {
    let written = text(document, name)?;
    let value = text(document, value)?;
    let argument = format!("--{}={}", written.text, value.text);
    flag(written, &value, &argument)
}

pub(super) fn flag(written: Text, value: &Text, argument: &str) -> Option<Setting> {
    let argument = Traced::untraced(argument.as_bytes());
    let flag = flags::read(&[argument]).flags.into_iter().next()?;
    let key = key(flag.name)?;
    let one = |text: &str| Text {
        text: text.to_owned(),
        at: value.at,
    };
    let values = match key {
        Key::ClusterDns => flag.servers().map(|it| one(it.1)).collect(),
        _ => vec![one(&flag.value)],
    };
    Some(Setting {
        key,
        written,
        values,
        at: value.at,
        is_flag: true,
        is_null: false,
        literal: None,
    })
}
