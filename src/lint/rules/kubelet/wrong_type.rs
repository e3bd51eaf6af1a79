#![doc = include_str!("wrong_type.md")]

use crate::config::yaml::{Entry, Kind, Node};
use crate::kubelet::address;
use crate::lint::document::{Change, Document};
use crate::lint::rules::kubelet::common::{entries, key};
use crate::lint::rules::prelude::*;

pub(super) fn check(text: &KubeletText<'_>, _: &Context<'_>, report: &mut Report) {
    let document = text.document;
    for name in ["resolvConf", "clusterDNS", "clusterDomain"] {
        let last = given(text).iter().rfind(|it| key(it) == name);
        let Some(value) = last.map(|it| &it.value).filter(|it| !it.is_null()) else {
            continue;
        };
        match (name, value.as_sequence()) {
            ("clusterDNS", Some(items)) => {
                let is_wrong = |it: &&Node| !it.is_null() && it.kind() != Some(Kind::Text);
                for item in items.iter().filter(is_wrong) {
                    add(document, item, "an entry of clusterDNS", "a text", report);
                }
            }
            ("clusterDNS", None) => list(document, value, report),
            _ if value.kind() == Some(Kind::Text) => {}
            _ => add(document, value, name, "a text", report),
        }
    }
}

/// The entries of a configuration, also of one that nodeadm hands to the kubelet as it is.
///
/// Source: awslabs/amazon-eks-ami `nodeadm/internal/kubelet/config.go: writeKubeletConfig`.
fn given<'d>(text: &KubeletText<'d>) -> &'d [Entry] {
    let root = text.document.yaml();
    let root = root.filter(|it| it.word(&["kind"]) == Some("NodeConfig"));
    let config = root.and_then(|it| it.at(&["spec", "kubelet", "config"]));
    config.map_or_else(|| entries(text), |it| it.as_mapping().unwrap_or_default())
}

fn add(document: &Document, value: &Node, name: &str, wanted: &str, report: &mut Report) {
    let scalar = value.as_scalar().map(|it| it.text.as_str());
    if scalar.is_some_and(has_placeholder) || is_of_template(document, value) {
        return;
    }
    let found = value.described();
    let finding = report
        .add(
            document.at(value.span),
            format!("{name} is {found} here and not {wanted}"),
        )
        .note("the kubelet does not start with this file");
    let Some(text) = scalar else {
        return;
    };
    finding.help(format!("write it in quotes: \"{text}\""));
    // Only a domain is likely to be meant as it stands there.
    if name == "clusterDomain" && value.tag.is_none() {
        let change = quoted(document, value, &format!("\"{text}\""));
        finding.fix("write it in quotes", [change]);
    }
}

/// A `clusterDNS` that is no list.
fn list(document: &Document, value: &Node, report: &mut Report) {
    let scalar = value.as_scalar().map_or("", |it| &it.text);
    if has_placeholder(scalar) || is_of_template(document, value) {
        return;
    }
    let found = value.described();
    let servers: Vec<&str> = scalar.split(',').map(str::trim).collect();
    let finding = report
        .add(
            document.at(value.span),
            format!("clusterDNS is {found} here and not a list"),
        )
        .note("the kubelet does not start with this file");
    if !servers
        .iter()
        .all(|it| address::parse_address(it).is_some())
    {
        finding.help("write a list: clusterDNS: [10.96.0.10]");
        return;
    }
    // In brackets a text with colons is safe only in quotes.
    let texts: Vec<String> = servers.iter().map(|it| format!("\"{it}\"")).collect();
    let list = format!("[{}]", texts.join(", "));
    finding.help(format!("write a list: clusterDNS: {list}"));
    if value.tag.is_none() {
        let change = quoted(document, value, &list);
        finding.fix("write a list", [change]);
    }
}

/// Whether a template stands there: `{{.Name}}` is a mapping to YAML, `[[Name]]` a list.
fn is_of_template(document: &Document, value: &Node) -> bool {
    std::str::from_utf8(document.bytes(value.span)).is_ok_and(has_placeholder)
}

/// A value with quotes in place of another one.
fn quoted(document: &Document, value: &Node, text: &str) -> Option<Change> {
    document.literal(value)?;
    document.change(value.span, text)
}
