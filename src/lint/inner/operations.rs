//! Patches in the form of RFC 6902: what they write into the spec of pods, as
//! an object.
//!
//! Source: RFC 6902, sections 4.1 and 4.3; kubernetes-sigs/kustomize
//! `api/types/kustomization.go: Patch`.

use crate::config::yaml::{Entry, Node, Value};

/// What stands for a policy that only the patched object tells.
const UNSEEN: &str = "${unseen}";

/// The keys of a pod's spec that say something of its DNS.
const KEYS: [&str; 3] = ["dnsPolicy", "dnsConfig", "hostNetwork"];

/// The lists of a `dnsConfig`.
const LISTS: [&str; 3] = ["nameservers", "searches", "options"];

/// What stands before `dnsConfig` in a path, and the list of it that the path is about, or
/// an item of.
fn list_of(path: &str) -> Option<(&str, &str)> {
    let (parent, rest) = path.rsplit_once("/dnsConfig/")?;
    Some((parent, rest.split_once('/').map_or(rest, |it| it.0)))
}

fn has(entries: &[Entry], key: &str) -> bool {
    let mut keys = entries.iter().filter_map(|it| it.key.as_scalar());
    keys.any(|it| it.text == key)
}

/// Adds a list, or an item of one, to those that are there.
fn add(config: &mut Vec<Entry>, key: Node, value: &Node) {
    let items = match value.as_sequence() {
        Some(items) => items.to_vec(),
        None => vec![value.clone()],
    };
    let name = |it: &Node| it.as_scalar().map(|it| it.text.clone());
    let wanted = name(&key);
    let known = config.iter_mut().find(|it| name(&it.key) == wanted);
    match known.map(|it| &mut it.value.value) {
        Some(Value::Sequence(known)) => known.extend(items),
        _ => config.push(Entry {
            key,
            value: Node::new(value.span, Value::Sequence(items)),
        }),
    }
}

/// The pod that a list of operations makes of nothing, with what it writes into
/// the spec of pods. `None`: it is no such list, writes nothing of DNS, or
/// changes parts of what was not seen.
pub fn object(root: &Node) -> Option<Node> {
    let items = root.as_sequence().filter(|it| !it.is_empty())?;
    let (mut spec, mut config): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    for item in items {
        let (operation, path) = (item.word(&["op"])?, item.word(&["path"])?);
        let Some((parent, key)) = path.rsplit_once('/') else {
            continue;
        };
        let is_written = matches!(operation, "add" | "replace");
        let value = || item.get("value").filter(|_| is_written);
        let written = item.get("path")?.span;
        if let Some((parent, list)) = list_of(path) {
            (parent.ends_with("/spec") && LISTS.contains(&list)).then_some(())?;
            add(&mut config, Node::plain(written, list), value()?);
            continue;
        }
        if KEYS.iter().any(|it| parent.contains(it)) {
            return None;
        }
        if !KEYS.contains(&key) || !parent.ends_with("spec") {
            continue;
        }
        let value = value()?.clone();
        let key = Node::plain(written, key);
        spec.push(Entry { key, value });
    }
    let policies = spec.iter().filter_map(|it| it.value.as_scalar());
    let needs_config = policies.clone().any(|it| it.text == "None");
    let is_whole = has(&spec, "dnsConfig");
    if spec.is_empty() && config.is_empty() || needs_config && !is_whole {
        return None;
    }
    if !config.is_empty() {
        // What the whole has beside these was not seen.
        (!is_whole).then_some(())?;
        let key = Node::plain(root.span, "dnsConfig");
        let value = Node::new(root.span, Value::Mapping(config));
        spec.push(Entry { key, value });
    }
    if !has(&spec, "dnsPolicy") {
        let key = Node::plain(root.span, "dnsPolicy");
        let value = Node::plain(root.span, UNSEEN);
        spec.push(Entry { key, value });
    }
    let made = |entries| Node::new(root.span, Value::Mapping(entries));
    let kind = Entry {
        key: Node::plain(root.span, "kind"),
        value: Node::plain(root.span, "Pod"),
    };
    let spec = Entry {
        key: Node::plain(root.span, "spec"),
        value: made(spec),
    };
    Some(made(vec![kind, spec]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::yaml;
    use crate::text::Source;

    fn said(operations: &str) -> Option<String> {
        let documents = yaml::documents(&Source::new("patch.yaml", operations));
        let pod = object(documents.first()?.root.as_ref().ok()?)?;
        let items = pod.items(&["spec", "dnsConfig", "options"]);
        let names = items.iter().filter_map(|it| it.word(&["name"]));
        let names: Vec<&str> = names.collect();
        let policy = pod.word(&["spec", "dnsPolicy"])?;
        Some(format!("{policy} {}", names.join(" ")))
    }

    #[test]
    fn what_is_added_to_lists_is_seen() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(said(text).as_deref(), expected, "{text}");
        };
        let add =
            "- {op: add, path: /spec/dnsConfig/options/-, value: {name: ndots, value: '1'}}\n";
        check(add, Some("${unseen} ndots"));
        let more = "- {op: add, path: /spec/dnsConfig/options, value: [{name: edns0}]}\n";
        check(&format!("{more}{add}"), Some("${unseen} edns0 ndots"));
        let policy = "- {op: add, path: /spec/dnsPolicy, value: None}\n";
        check(&format!("{policy}{add}"), None);
        check(&add.replace("op: add", "op: remove"), None);
        check(&add.replace("/spec/", "/data/"), None);
        check(&add.replace("options/", "optionz/"), None);
        let first = "- {op: add, path: /spec/dnsPolicy, value: Default}\n";
        check(&format!("{first}{add}"), Some("Default ndots"));
    }
}
