//! Specs of pods in objects of any kind: pod templates of custom resources, and
//! what values of charts say of pods.

use crate::config::manifest::{DnsPolicy, KINDS, template_spec};
use crate::config::yaml::{Entry, Node, Value};

use super::objects::{kind, pod_spec};

/// Deeper values are not looked at.
const MAX_DEPTH: usize = 24;
/// More specs of one object are not looked at.
const MAX_SPECS: usize = 1_000;

/// Kinds that hold something else where a spec of a pod could be seen: schemas,
/// texts, settings of nodes.
const OTHERS: [&str; 6] = [
    "ConfigMap",
    "CustomResourceDefinition",
    "JobList",
    "KubeletConfiguration",
    "Namespace",
    "Secret",
];

/// The specs of the pods that an object makes: that of Kubernetes' own kinds,
/// and in any other object whatever has containers with a name and an image, or
/// says something of the DNS of pods.
pub fn pod_specs(object: &Node) -> Vec<&Node> {
    let kind = kind(object);
    if let Some(spec) = pod_spec(object) {
        return vec![spec];
    }
    // A patch for one has no containers.
    let is_spec =
        |it: &&Node| it.get("dnsPolicy").is_some() || is_pod_spec(it) || has_misspelled_field(it);
    if let Some(spec) = template_spec(kind, object).filter(is_spec) {
        return vec![spec];
    }
    let is_known = kind == "Pod" || KINDS.contains(&kind) || OTHERS.contains(&kind);
    let mut specs = Vec::new();
    if !is_known {
        let is_spec = |it: &Node| is_pod_spec(it) || kind.is_empty() && has_misspelled_field(it);
        collect(object, 0, &is_spec, &mut specs);
    }
    specs
}

fn collect<'n>(
    node: &'n Node,
    depth: usize,
    is_spec: &dyn Fn(&Node) -> bool,
    specs: &mut Vec<&'n Node>,
) {
    if depth > MAX_DEPTH || specs.len() >= MAX_SPECS {
        return;
    }
    match &node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items
            .iter()
            .for_each(|it| collect(it, depth + 1, is_spec, specs)),
        Value::Mapping(entries) => {
            let is_it = is_spec(node);
            specs.extend(is_it.then_some(node));
            // What values of a chart say of one pod stands beside those of others.
            if is_it && node.get("containers").is_some() {
                return;
            }
            let values = entries.iter().map(|it| &it.value);
            values.for_each(|it| collect(it, depth + 1, is_spec, specs));
        }
    }
}

/// Whether a key is this one with a letter too much, missing, or in another place. With
/// other capital letters, marks between its words or an `s` behind it, it can be a chart's own.
pub fn is_misspelled(key: &str, right: &str) -> bool {
    let (plain, right) = (key.to_ascii_lowercase(), right.to_ascii_lowercase());
    plain != right
        && plain.strip_suffix('s') != Some(&right)
        && plain.bytes().all(|it| it.is_ascii_alphabetic())
        && plain.len().abs_diff(right.len()) <= 1
        && strsim::osa_distance(&plain, &right) == 1
}

/// Whether a key like `dnsPolicy` has a policy that nothing else has, or one like
/// `dnsConfig` has lists that nothing else has.
fn has_misspelled_field(node: &Node) -> bool {
    let text = |it: &Node| it.as_scalar().map(|it| it.text.clone()).unwrap_or_default();
    let is_list = |it: &Entry| {
        matches!(
            text(&it.key).as_str(),
            "nameservers" | "searches" | "options"
        ) && it.value.as_sequence().is_some()
    };
    let mut entries = node.as_mapping().unwrap_or_default().iter();
    entries.any(|it| {
        let key = text(&it.key);
        let lists = it.value.as_mapping().unwrap_or_default();
        is_misspelled(&key, "dnsPolicy") && text(&it.value).starts_with("ClusterFirst")
            || is_misspelled(&key, "dnsConfig") && !lists.is_empty() && lists.iter().all(is_list)
    })
}

/// A `dns_policy` that is meant as the policy of a pod, and is none. Of charts only what is
/// meant as a policy counts: other programs have a `dns_policy` of their own.
pub fn misspelled_policy(spec: &Node) -> Option<&Node> {
    let is_wrong = |it: &str| DnsPolicy::is_meant_first(it) && DnsPolicy::named(it).is_none();
    let node = spec.get("dns_policy")?;
    is_wrong(&node.as_scalar()?.text).then_some(node)
}

fn is_pod_spec(node: &Node) -> bool {
    let is_container = |it: &Node| it.word(&["name"]).is_some() && it.word(&["image"]).is_some();
    let has_containers = || node.items(&["containers"]).iter().any(is_container);
    let has_policy = || {
        let policy = node
            .word(&["dnsPolicy"])
            .filter(|it| DnsPolicy::is_meant(it));
        policy.is_some() || misspelled_policy(node).is_some()
    };
    let has_config = || {
        // The second three are misspelled, and no other program's.
        let lists = [
            "nameservers",
            "searches",
            "options",
            "nameserver",
            "search",
            "option",
        ];
        let is_list = |it: &Entry| {
            let key = it.key.as_scalar().map_or("", |it| it.text.as_str());
            let is_known = lists.contains(&key) || is_misspelled(key, "nameservers");
            is_known && it.value.as_sequence().is_some_and(|it| !it.is_empty())
        };
        let config = node.get("dnsConfig").and_then(Node::as_mapping);
        config.is_some_and(|it| it.iter().any(is_list))
    };
    has_policy() || has_config() || has_containers()
}
