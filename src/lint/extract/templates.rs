//! Specs of pods in objects of any kind: pod templates of custom resources, and
//! what values of charts say of pods.

use crate::config::manifest::{DnsPolicy, KINDS, template_spec};
use crate::config::yaml::{Entry, Node, Value};

use super::objects::{kind, pod_spec};
use crate::text::nearest::nearest;

/// What policies begin with, whatever is meant: `ClusterFirstWithHostNetwork`.
const CLUSTER_FIRST: &str = "ClusterFirst";
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
        collect(object, 0, &mut specs);
    }
    specs
}

fn collect<'n>(node: &'n Node, depth: usize, specs: &mut Vec<&'n Node>) {
    if depth > MAX_DEPTH || specs.len() >= MAX_SPECS {
        return;
    }
    match &node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter().for_each(|it| collect(it, depth + 1, specs)),
        Value::Mapping(entries) => {
            let is_spec = is_pod_spec(node);
            specs.extend(is_spec.then_some(node));
            // What values of a chart say of one pod stands beside those of others.
            if is_spec && node.get("containers").is_some() {
                return;
            }
            let values = entries.iter().map(|it| &it.value);
            values.for_each(|it| collect(it, depth + 1, specs));
        }
    }
}

/// Whether a word is a policy, or is meant to be one.
fn is_meant(word: &str) -> bool {
    let begins = word.get(..CLUSTER_FIRST.len());
    let all = || DnsPolicy::ALL.iter().map(|it| it.0);
    begins.is_some_and(|it| it.eq_ignore_ascii_case(CLUSTER_FIRST))
        || all().any(|it| it.eq_ignore_ascii_case(word))
        || nearest(word, all().filter(|it| it.starts_with(CLUSTER_FIRST))).is_some()
}

/// Whether a key like `dnsPolicy` has a policy that nothing else has, or one like
/// `dnsConfig` has lists that nothing else has.
fn has_misspelled_field(node: &Node) -> bool {
    let mut entries = node.as_mapping().unwrap_or_default().iter();
    entries.any(|it| {
        let key = it.key.as_scalar().map_or("", |it| it.text.as_str());
        let is_like = |right| key != right && strsim::osa_distance(key, right) <= 2;
        let policy = it.value.as_scalar();
        let is_policy = policy.is_some_and(|it| it.text.starts_with(CLUSTER_FIRST));
        let is_list = |it: &Entry| {
            let key = it.key.as_scalar().map_or("", |it| it.text.as_str());
            matches!(key, "nameservers" | "searches" | "options")
                && it.value.as_sequence().is_some()
        };
        let lists = it.value.as_mapping().unwrap_or_default();
        is_policy && is_like("dnsPolicy")
            || !lists.is_empty()
                && lists.iter().all(is_list)
                && is_like("dnsConfig")
                && !key.contains('_')
    })
}

fn is_pod_spec(node: &Node) -> bool {
    let is_container = |it: &Node| it.word(&["name"]).is_some() && it.word(&["image"]).is_some();
    let has_containers = || node.items(&["containers"]).iter().any(is_container);
    let has_policy = || {
        // Charts that write it so want the same words, other programs have others.
        let own = node.word(&["dns_policy"]);
        let own = own.filter(|it| it.starts_with("Cluster") && DnsPolicy::named(it).is_none());
        let policy = node.word(&["dnsPolicy"]);
        policy.or(own).is_some_and(is_meant)
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
        lists
            .iter()
            .any(|it| !node.items(&["dnsConfig", it]).is_empty())
    };
    has_policy() || has_config() || has_containers() || has_misspelled_field(node)
}
