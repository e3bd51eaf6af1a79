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

/// The pod that a list of operations makes of nothing, with what it writes into
/// the spec of pods. `None`: it is no such list, writes nothing of DNS, or
/// changes parts of what was not seen.
pub fn object(root: &Node) -> Option<Node> {
    let items = root.as_sequence().filter(|it| !it.is_empty())?;
    let mut spec: Vec<Entry> = Vec::new();
    for item in items {
        let (operation, path) = (item.word(&["op"])?, item.word(&["path"])?);
        let Some((parent, key)) = path.rsplit_once('/') else {
            continue;
        };
        if KEYS.iter().any(|it| parent.contains(it)) {
            return None;
        }
        if !KEYS.contains(&key) || !parent.ends_with("spec") {
            continue;
        }
        let is_written = matches!(operation, "add" | "replace");
        let value = item.get("value").filter(|_| is_written)?;
        let written = item.get("path")?.span;
        let key = Node::plain(written, key);
        let value = value.clone();
        spec.push(Entry { key, value });
    }
    let has = |wanted: &str| {
        let mut keys = spec.iter().filter_map(|it| it.key.as_scalar());
        keys.any(|it| it.text == wanted)
    };
    let is_whole = has("dnsConfig");
    let policies = spec.iter().filter_map(|it| it.value.as_scalar());
    let needs_config = policies.clone().any(|it| it.text == "None");
    if spec.is_empty() || needs_config && !is_whole {
        return None;
    }
    if !has("dnsPolicy") {
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
