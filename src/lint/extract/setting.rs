//! One setting of a kubelet, as YAML has it.

use crate::config::traced::Traced;
use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::flags;
use crate::lint::document::{At, Document};
use crate::lint::extract::flags::key;
use crate::lint::extract::text;
use crate::lint::facts::{Key, Setting, Text};

/// The entries of a `KubeletConfiguration`, the internal key `resolverConfig`
/// among them: which ones count depends on the version.
pub(super) fn configuration(document: &Document, root: &Node) -> Vec<Setting> {
    let entries = root.as_mapping().unwrap_or_default().iter();
    let settings = entries.filter_map(|entry| {
        let key = match entry.key.as_scalar()?.text.as_str() {
            "resolvConf" | "resolverConfig" => Key::ResolvConf,
            "clusterDNS" => Key::ClusterDns,
            "clusterDomain" => Key::ClusterDomain,
            _ => return None,
        };
        setting(document, key, entry)
    });
    settings.collect()
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
        Key::ClusterDns => flag
            .value
            .split(',')
            .filter(|it| !it.is_empty())
            .map(one)
            .collect(),
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
