//! Resources of Terraform's provider for Kubernetes: blocks as the object that they
//! make, with the names that Kubernetes has.
//!
//! Source: hashicorp/terraform-provider-kubernetes `kubernetes/schema_pod_spec.go`,
//! `schema_pod_template.go`, `structures_pod.go`; hashicorp/hcl `hclsyntax/spec.md`,
//! "Structural Elements".

use crate::config::manifest::DnsPolicy;
use crate::config::yaml::{Entry, Node, Style, Value};
use crate::lint::inner::hcl::Reader;
use crate::text::Span;

/// Resources that make pods, and their kinds.
const KINDS: [(&str, &str); 8] = [
    ("pod", "Pod"),
    ("deployment", "Deployment"),
    ("daemonset", "DaemonSet"),
    ("daemon_set", "DaemonSet"),
    ("stateful_set", "StatefulSet"),
    ("replication_controller", "ReplicationController"),
    ("job", "Job"),
    ("cron_job", "CronJob"),
];

/// Blocks of which each is an item of a list, and the name of that list.
const LISTS: [(&str, &str); 6] = [
    ("container", "containers"),
    ("init_container", "initContainers"),
    ("option", "options"),
    ("toleration", "tolerations"),
    ("volume", "volumes"),
    ("env", "env"),
];

/// Deeper blocks are not read.
const MAX_DEPTH: usize = 32;

impl Reader<'_> {
    /// The object of a resource, behind the word `resource`. `None`: it is none of these,
    /// or not all of it can be read.
    pub(super) fn resource(&mut self) -> Option<Node> {
        let start = self.at;
        let of_kubernetes = self.label()?;
        let name = of_kubernetes.strip_prefix("kubernetes_")?;
        let name = ["_v1", "_v1beta1"]
            .iter()
            .find_map(|it| name.strip_suffix(it))
            .unwrap_or(name);
        let kind = KINDS.iter().find(|it| it.0 == name)?.1;
        self.label()?;
        self.blanks();
        (self.peek()? == b'{').then_some(())?;
        let mut entries = self.block(0)?;
        let at = Span::new(start, self.at);
        entries.insert(
            0,
            Entry {
                key: Node::plain(at, "kind"),
                value: Node::plain(at, kind),
            },
        );
        Some(Node::new(at, Value::Mapping(entries)))
    }

    /// The arguments of a module, behind its word, with the names that Kubernetes has.
    pub(super) fn module(&mut self) -> Option<Node> {
        let start = self.at;
        self.label()?;
        self.blanks();
        (self.peek()? == b'{').then_some(())?;
        let mut entries = self.block(0)?;
        // Other modules have other words there.
        let is_meant = |it: &Entry| {
            let text = |it: &Node| it.as_scalar().map(|it| it.text.clone()).unwrap_or_default();
            text(&it.key) != "dnsPolicy" || DnsPolicy::is_meant_first(&text(&it.value))
        };
        entries.retain(is_meant);
        without_corefiles(&mut entries, self.bytes);
        let at = Span::new(start, self.at);
        Some(Node::new(at, Value::Mapping(entries)))
    }

    /// A label of a block, in quotes.
    pub(super) fn label(&mut self) -> Option<String> {
        self.blanks();
        (self.peek()? == b'"').then_some(())?;
        match self.string()? {
            Value::Scalar(it) => Some(it.text),
            _ => None,
        }
    }

    /// What stands between braces: attributes and blocks.
    pub(super) fn block(&mut self, depth: usize) -> Option<Vec<Entry>> {
        (depth <= MAX_DEPTH).then_some(())?;
        self.at += 1;
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            self.blanks();
            let start = self.at;
            if self.peek()? == b'}' {
                self.at += 1;
                return Some(entries);
            }
            let name = String::from_utf8_lossy(self.word()).into_owned();
            (!name.is_empty()).then_some(())?;
            let named = Span::new(start, self.at);
            self.blanks();
            if self.peek()? == b'=' {
                self.at += 1;
                let mut value = self.value(0);
                // The provider has texts there, whatever is written.
                if name == "value"
                    && let Value::Scalar(it) = &mut value.value
                {
                    it.style = Style::DoubleQuoted;
                }
                entries.push(Entry {
                    key: Node::plain(named, &camel(&name)),
                    value,
                });
                continue;
            }
            // What a `dynamic` block makes, and how often, is not known.
            (name != "dynamic").then_some(())?;
            (self.peek()? == b'{').then_some(())?;
            let opened = self.at;
            let inside = Value::Mapping(self.block(depth + 1)?);
            let node = Node::new(Span::new(opened, self.at), inside);
            add(&mut entries, &name, named, node);
        }
    }
}

/// Leaves out the Corefiles that are heredocs, which are read as such.
fn without_corefiles(entries: &mut Vec<Entry>, bytes: &[u8]) {
    let is_one = |it: &Entry| {
        let key = it.key.as_scalar().map_or("", |it| it.text.as_str());
        key.to_ascii_lowercase().ends_with("corefile")
            && it.value.span.slice(bytes).starts_with(b"<<")
    };
    entries.retain(|it| !is_one(it));
    for entry in entries {
        if let Value::Mapping(more) = &mut entry.value.value {
            without_corefiles(more, bytes);
        }
    }
}

/// Adds a block to those that are there.
fn add(entries: &mut Vec<Entry>, name: &str, named: Span, node: Node) {
    let Some((_, list)) = LISTS.iter().find(|it| it.0 == name) else {
        entries.push(Entry {
            key: Node::plain(named, &camel(name)),
            value: node,
        });
        return;
    };
    let is_it = |it: &&mut Entry| it.key.as_scalar().is_some_and(|it| it.text == *list);
    match entries.iter_mut().find(is_it).map(|it| &mut it.value.value) {
        Some(Value::Sequence(items)) => items.push(node),
        _ => {
            entries.push(Entry {
                key: Node::plain(named, list),
                value: Node::new(node.span, Value::Sequence(vec![node])),
            });
        }
    }
}

/// `dns_policy` as Kubernetes writes it: `dnsPolicy`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        joined.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Option<Node> {
        let mut reader = Reader::new(text.as_bytes());
        reader.resource()
    }

    #[test]
    fn resources_are_objects() {
        let text = "\"kubernetes_deployment_v1\" \"web\" {\n metadata {\n name = \"web\"\n }\n spec {\n template {\n spec {\n\
            dns_policy = \"None\" # why\n dns_config {\n nameservers = [\"10.0.0.53\"]\n option {\n name = \"ndots\"\n value = 2\n }\n\
            option {\n name = \"edns0\"\n }\n }\n container {\n image = var.image\n name = \"a\"\n }\n }\n }\n }\n}\n";
        let object = object(text).unwrap();
        assert_eq!(object.word(&["kind"]), Some("Deployment"));
        assert_eq!(object.word(&["metadata", "name"]), Some("web"));
        let spec = object.at(&["spec", "template", "spec"]).unwrap();
        assert_eq!(spec.word(&["dnsPolicy"]), Some("None"));
        assert_eq!(spec.items(&["dnsConfig", "options"]).len(), 2);
        assert_eq!(spec.items(&["containers"]).len(), 1);
    }

    #[test]
    fn what_is_not_known_is_none() {
        for text in [
            "",
            "\"aws_instance\" \"a\" {}",
            "\"kubernetes_pod\" \"a\"",
            "\"kubernetes_pod\" \"a\" {",
            "\"kubernetes_pod\" \"a\" {\n dynamic \"spec\" {\n }\n}",
            "\"kubernetes_pod\" \"a\" {\n = 1\n}",
        ] {
            assert!(object(text).is_none(), "{text}");
        }
        let deep = format!("\"kubernetes_pod\" \"a\" {{{}", "spec {".repeat(100_000));
        assert!(object(&deep).is_none());
    }
}
