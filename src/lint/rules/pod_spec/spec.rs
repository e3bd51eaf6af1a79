//! What several rules ask of the spec of a pod.

use std::net::IpAddr;

use crate::config::manifest::{DnsConfig, DnsPolicy, PodSpec};
use crate::config::resolv_conf::ResolvConf;
use crate::config::yaml::{Kind, Node, Style};
use crate::lint::context::Context;
use crate::lint::document::Change;
use crate::lint::facts::Text;
use crate::lint::subject::Workload;
use crate::pod::{self, KnownFile, Makers, PodFile, PodId, Runtime};
use crate::text::Source;

/// An entry of `dnsConfig.options`.
#[derive(Clone, Copy, Debug)]
pub(super) struct DnsOption<'d> {
    /// The entry.
    pub(super) node: &'d Node,
    /// What stands behind `name`, if anything does.
    pub(super) name: Option<&'d Node>,
    /// What stands behind `value`, if anything does.
    pub(super) value: Option<&'d Node>,
}

impl DnsOption<'_> {
    /// Its name, if it is a text.
    pub(super) fn name(&self) -> &str {
        text_of(self.name).unwrap_or_default()
    }

    /// Its value, if it is a text.
    pub(super) fn value(&self) -> Option<&str> {
        text_of(self.value)
    }
}

fn text_of(node: Option<&Node>) -> Option<&str> {
    let node = node?;
    let scalar = node.as_scalar()?;
    (node.kind() == Some(Kind::Text)).then_some(scalar.text.as_str())
}

/// The entries of a list in `dnsConfig`.
pub(super) fn list<'d>(workload: &Workload<'d>, key: &str) -> &'d [Node] {
    workload.spec.items(&["dnsConfig", key])
}

/// The options of `dnsConfig`.
pub(super) fn options<'d>(workload: &Workload<'d>) -> impl Iterator<Item = DnsOption<'d>> {
    let present = |node: &'d Node, key: &str| node.get(key).filter(|it| !it.is_null());
    let entries = list(workload, "options").iter();
    entries.map(move |node| DnsOption {
        node,
        name: present(node, "name"),
        value: present(node, "value"),
    })
}

/// The containers, those that run first included.
pub(super) fn containers<'d>(workload: &Workload<'d>) -> impl Iterator<Item = &'d Node> {
    let lists = ["initContainers", "containers"].into_iter();
    lists.flat_map(|key| workload.spec.items(&[key]))
}

/// A text of a mapping: `image` of a container.
pub(super) fn field<'d>(node: &'d Node, key: &str) -> &'d str {
    text_of(node.get(key)).unwrap_or_default()
}

/// Where the pod's name servers come from. `None`: the policy is none.
pub(super) fn policy(workload: &Workload<'_>) -> Option<DnsPolicy> {
    workload
        .policy()
        .map_or(Some(DnsPolicy::default()), |it| DnsPolicy::named(&it.text))
}

/// What decides about the pod's resolver. `None`: the policy is none.
pub(super) fn spec(workload: &Workload<'_>) -> Option<PodSpec> {
    let texts = |key| {
        let texts = workload.dns_config(key).into_iter();
        texts.map(|it| it.text).collect()
    };
    Some(PodSpec {
        dns_policy: policy(workload)?,
        host_network: workload.host_network().is_some(),
        dns_config: Some(DnsConfig {
            nameservers: texts("nameservers"),
            searches: texts("searches"),
            options: Vec::new(),
        }),
        ..PodSpec::default()
    })
}

/// Whether the pod asks the cluster's DNS.
pub(super) fn asks_cluster_dns(workload: &Workload<'_>) -> bool {
    spec(workload).is_some_and(|it| it.uses_cluster_dns())
}

/// The file that the kubelet would write, on a node whose own file has no
/// search list: what does not fit into it fits into none.
pub(super) fn pod_file(workload: &Workload<'_>, context: &Context<'_>) -> Option<PodFile> {
    let near = workload.document.file;
    let mut kubelet = pod::assumed_kubelet();
    kubelet.version = context.kubelet_version();
    if let Some(own) = context.node().and_then(|it| it.kubelet.as_ref()) {
        kubelet.expanded_dns = own.expanded_dns.clone();
    }
    let known: Vec<IpAddr> = context
        .cluster_dns(near)
        .iter()
        .map(|it| it.value)
        .collect();
    if !known.is_empty() {
        kubelet.cluster_dns.value = known;
    }
    if let Some(domain) = context.cluster_domain(near) {
        kubelet.cluster_domain.value = domain.value;
    }
    let empty = ResolvConf::parse(Source::default());
    let makers = Makers {
        kubelet: &kubelet,
        file: KnownFile::Read(&empty),
        node_ips: &[],
        runtime: context
            .node()
            .map_or_else(Runtime::default, |it| it.runtime.runtime),
        node_file: KnownFile::Read(&empty),
    };
    let metadata = workload.object.get("metadata");
    let namespace = metadata.map(|it| field(it, "namespace"));
    let id = PodId {
        namespace: namespace.filter(|it| !it.is_empty()).unwrap_or("default"),
        name: None,
        uid: None,
    };
    pod::pod_file(&spec(workload)?, id, &makers).ok()
}

/// Writes another text in place of a scalar, its quotes kept. `None`: it does
/// not stand there as it is, but as an alias or with escapes.
pub(super) fn rewritten(workload: &Workload<'_>, node: &Node, text: &str) -> Option<Change> {
    let scalar = node.as_scalar()?;
    let quote = match scalar.style {
        Style::SingleQuoted => "'",
        Style::DoubleQuoted => "\"",
        Style::Plain => "",
        Style::Block => return None,
    };
    let written = format!("{quote}{}{quote}", scalar.text);
    let is_written = workload.document.bytes(node.span) == written.as_bytes();
    let change = || {
        let text = format!("{quote}{text}{quote}");
        workload.document.change(node.span, text)
    };
    is_written.then(change).flatten()
}

/// Whether only a network that is nobody's own has such an address: it is
/// never that of the cluster's DNS.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(it) => {
            let [first, second, ..] = it.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            let is_special = it.is_loopback() || it.is_link_local() || it.is_unspecified();
            let is_test = first == 198 && (18..20).contains(&second);
            !(it.is_private()
                || it.is_documentation()
                || is_shared
                || is_special
                || is_test
                || first >= 224)
        }
        IpAddr::V6(it) => {
            let [first, second, ..] = it.segments();
            let is_documentation = first == 0x2001 && second == 0xdb8;
            first & 0xe000 == 0x2000 && !is_documentation
        }
    }
}

/// The names of Services with their namespaces, `web.shop.svc…`, that the
/// containers are told to call.
pub(super) fn service_names(workload: &Workload<'_>) -> Vec<(String, Text)> {
    let mut called = called_hosts(workload);
    called.retain(|it| is_service(&it.0));
    called
}

/// The names of hosts that the containers are told to call: those of URLs, and
/// what has a port behind it, in arguments and variables.
pub(super) fn called_hosts(workload: &Workload<'_>) -> Vec<(String, Text)> {
    let mut texts = Vec::new();
    for container in containers(workload) {
        for key in ["command", "args"] {
            texts.extend(container.items(&[key]));
        }
        let values = container.items(&["env"]).iter();
        texts.extend(values.filter_map(|it| it.get("value")));
    }
    let mut found = Vec::new();
    for text in texts.into_iter().filter_map(|it| workload.text(it)) {
        let words = text.text.split([' ', '\n', '\t', ',', ';', '=', '"', '\'']);
        let names: Vec<String> = words.filter_map(called_host).collect();
        found.extend(names.into_iter().map(|name| (name, text.clone())));
    }
    found
}

/// The host in a word that has a scheme before it or a port behind it.
fn called_host(word: &str) -> Option<String> {
    let (host, has_scheme) = match word.split_once("://") {
        Some((_, rest)) => (rest.rsplit_once('@').map_or(rest, |it| it.1), true),
        None => (word, false),
    };
    let end = host.find([':', '/', '?', '#']).unwrap_or(host.len());
    let (host, rest) = host.split_at_checked(end)?;
    let port = rest.strip_prefix(':').unwrap_or_default();
    let has_port = port.starts_with(|it: char| it.is_ascii_digit());
    let is_label = |it: &str| {
        let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        !it.is_empty() && it.bytes().all(is_inner)
    };
    let is_name = host.trim_end_matches('.').split('.').all(is_label);
    let is_called = has_scheme || has_port;
    (is_called && is_name).then(|| host.to_owned())
}

/// Whether the name of a host is that of a Service, with `svc` in it.
fn is_service(host: &str) -> bool {
    // Every pod can be told this one as the issuer of tokens, which nobody calls.
    let is_api = host.starts_with("kubernetes.default.");
    !is_api && host.split('.').skip(2).any(|it| it == "svc")
}

/// The container, or the toleration, by which a pod is known to start before the
/// cluster's DNS: it brings up nodes or their network.
pub(super) fn starts_first<'w>(workload: &Workload<'w>) -> Option<&'w Node> {
    let is_tolerated = |it: &&Node| field(it, "key") == UNINITIALIZED;
    let mut tolerations = workload.spec.items(&["tolerations"]).iter();
    let container = containers(workload).find(|it| {
        let words = [image_name(field(it, "image")), field(it, "name")];
        words.into_iter().any(is_first)
    });
    container.or_else(|| tolerations.find(is_tolerated))
}

/// The taint of a node that its cloud's controller has not seen.
///
/// Source: kubernetes/kubernetes `staging/src/k8s.io/cloud-provider/api/well_known_taints.go`.
const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

/// The last part of an image's name, without tag and digest.
pub(super) fn image_name(image: &str) -> &str {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split([':', '@']).next().unwrap_or_default()
}

/// Whether an image or container is called as what starts first: controllers of
/// clouds, networks and their addresses, the control plane, DNS on the node.
fn is_first(name: &str) -> bool {
    const PARTS: [&str; 14] = [
        "kube-network-policies",
        "cloud-provider-",
        "cloud-controller-manager",
        "kube-vip",
        "kube-proxy",
        "kube-router",
        "node-cache",
        "node-local-dns",
        "nodelocaldns",
        "calico-node",
        "cilium",
        "flannel",
        "antrea-agent",
        "multus",
    ];
    const NAMES: [&str; 7] = [
        "aws-node",
        "amazon-k8s-cni",
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "weave-kube",
    ];
    let is_part = PARTS.iter().any(|it| name.contains(it));
    is_part || NAMES.contains(&name) || name.strip_suffix("-ccm").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services_are_those_that_are_called() {
        let check = |word: &str, expected: Option<&str>| {
            let found = called_host(word).filter(|it| is_service(it));
            assert_eq!(found.as_deref(), expected, "{word}");
        };
        check("http://web.shop.svc:80/x", Some("web.shop.svc"));
        check("http://u:p@web.shop.svc/", Some("web.shop.svc"));
        check(
            "web.shop.svc.cluster.local:80",
            Some("web.shop.svc.cluster.local"),
        );
        check("web.shop.svc.cluster.local", None);
        check(".svc", None);
        check("http://*.shop.svc", None);
        check("https://kubernetes.default.svc.cluster.local", None);
        check("http://web.example:80", None);
        check("http://$(HOST).shop.svc", None);
    }

    #[test]
    fn what_starts_first_is_known_by_its_name() {
        for (name, expected) in [
            ("kube-network-policies", true),
            ("hcloud-ccm", true),
            ("etcd", true),
            ("etcd-backup", false),
            ("policies", false),
        ] {
            assert_eq!(is_first(name), expected, "{name}");
        }
    }

    #[test]
    fn private_addresses_are_not_public() {
        for (text, expected) in [
            ("8.8.8.8", true),
            ("2606:4700:4700::1111", true),
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("169.254.20.10", false),
            ("fd00::a", false),
            ("198.18.0.1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }
}
