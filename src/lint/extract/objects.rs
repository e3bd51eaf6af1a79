//! Objects of Kubernetes in a YAML document.

use crate::config::manifest::template_spec;
use crate::config::yaml::{Kind, Node};
use crate::kubelet::Version;
use crate::lint::document::{At, Document};
use crate::lint::egress;
use crate::lint::facts::{DnsPod, Network, Service, Text};
use crate::lint::subject::Workload;
use crate::text::has_placeholder;

use super::text;

/// Lists in lists deeper than this are not opened.
const MAX_LISTS: usize = 4;

/// The objects of a document: itself, or the items of a list.
pub fn objects(root: &Node) -> Vec<&Node> {
    let mut objects = Vec::new();
    collect(root, 0, &mut objects);
    objects
}

fn collect<'n>(object: &'n Node, lists: usize, objects: &mut Vec<&'n Node>) {
    let items = object.get("items").and_then(Node::as_sequence);
    match items.filter(|_| kind(object).ends_with("List") && lists < MAX_LISTS) {
        Some(items) => items.iter().for_each(|it| collect(it, lists + 1, objects)),
        None => objects.push(object),
    }
}

pub(super) fn kind(object: &Node) -> &str {
    object.word(&["kind"]).unwrap_or_default()
}

/// The spec of the pods that an object makes.
pub(super) fn pod_spec(object: &Node) -> Option<&Node> {
    let spec = template_spec(kind(object), object)?;
    // Other kinds can keep something else in a template.
    (kind(object) == "Pod" || spec.get("containers").is_some()).then_some(spec)
}

/// The Service of the cluster's DNS: by its name or its label in kube-system.
pub(super) fn dns_service(document: &Document, object: &Node) -> Option<Service> {
    if kind(object) != "Service" {
        return None;
    }
    let name = object.word(&["metadata", "name"]).unwrap_or_default();
    let is_dns = has_label(object, "kube-dns")
        || matches!(name, "kube-dns" | "coredns" | "rke2-coredns-rke2-coredns");
    let spec = object.get("spec").filter(|_| is_dns)?;
    let mut addresses: Vec<Text> = spec
        .get("clusterIP")
        .and_then(|it| text(document, it))
        .into_iter()
        .collect();
    let more = spec.items(&["clusterIPs"]).iter();
    for address in more.filter_map(|it| text(document, it)) {
        if addresses.iter().all(|it| it.text != address.text) {
            addresses.push(address);
        }
    }
    addresses.retain(|it| it.address().is_some());
    Some(Service {
        name: name.to_owned(),
        addresses,
        pods: egress::chosen(object),
    })
}

/// A headless Service whose pods have names when they are ready only.
pub(super) fn headless(object: &Node) -> Option<(Option<String>, String)> {
    let (kind, spec) = (kind(object), object.get("spec")?);
    let is_headless = kind == "Service" && spec.word(&["clusterIP"]) == Some("None");
    let early = spec.get("publishNotReadyAddresses").and_then(Node::kind);
    let text = |key| object.word(&["metadata", key]).map(str::to_owned);
    (is_headless && early != Some(Kind::Bool(true))).then_some(())?;
    Some((text("namespace"), text("name")?))
}

/// The pods of the cluster's DNS, those with the label `k8s-app: kube-dns`, and those of
/// another CoreDNS.
pub(super) fn dns_pod(document: &Document, object: &Node) -> Option<DnsPod> {
    let spec = pod_spec(object)?;
    let template = object.at(&["spec", "template"]);
    let has = |name| has_label(object, name) || template.is_some_and(|it| has_label(it, name));
    let is_clusters = has("kube-dns");
    let workload = Workload {
        document,
        kind: kind(object),
        object,
        spec,
    };
    let image = coredns_image(document, spec);
    (is_clusters || has("coredns") || image.as_ref().is_some_and(is_server)).then(|| DnsPod {
        label: workload.label(),
        at: workload.place(),
        policy: workload.policy(),
        host_network: workload.get("hostNetwork").and_then(Node::kind) == Some(Kind::Bool(true)),
        image,
        is_clusters,
    })
}

/// What of the services of Docker Compose is a CoreDNS.
///
/// Source: compose-spec/compose-spec, `05-services.md`.
pub(super) fn composed(document: &Document, root: &Node) -> Vec<DnsPod> {
    let services = root.get("services").and_then(Node::as_mapping);
    let images = services.unwrap_or_default().iter();
    let images = images.filter_map(|it| text(document, it.value.get("image")?));
    images.filter(is_server).map(of_image).collect()
}

/// A CoreDNS of which only the image is known.
fn of_image(image: Text) -> DnsPod {
    DnsPod {
        label: String::new(),
        at: image.at,
        policy: None,
        host_network: false,
        image: Some(image),
        is_clusters: false,
    }
}

/// The versions of a CoreDNS in variables of Ansible and values of charts, as images:
/// `coredns_version: 1.3.1`, `coredns: {image: coredns/coredns, tag: 1.3.1}`.
pub(super) fn in_variables(document: &Document, root: &Node) -> Vec<DnsPod> {
    let mut images = Vec::new();
    let own = root.span.slice(&document.source.bytes);
    if memchr::memmem::find(own, b"coredns").is_some() {
        let place = Place::Elsewhere;
        add_versions(document, root, place, VARIABLES_DEEP, &mut images);
    }
    images.into_iter().map(of_image).collect()
}

/// Variables are not deeper in others.
const VARIABLES_DEEP: usize = 5;

/// Where a mapping of variables stands.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Place {
    Elsewhere,
    /// Under `coredns`.
    Own,
    /// Under `coredns` and `image`.
    Image,
    /// Somewhere under a key that names it.
    Below,
}

impl Place {
    fn under(self, key: &str) -> Self {
        match (self, key) {
            (_, "coredns") => Self::Own,
            (Self::Own, "image") => Self::Image,
            (Self::Elsewhere, key) if !key.contains("coredns") => Self::Elsewhere,
            _ => Self::Below,
        }
    }
}

fn add_versions(
    document: &Document,
    node: &Node,
    place: Place,
    deep: usize,
    images: &mut Vec<Text>,
) {
    // The version of a chart is its own.
    let variables = node.as_mapping().filter(|_| node.get("chart").is_none());
    for entry in variables.filter(|_| deep > 0).unwrap_or_default() {
        let key = entry.key.as_scalar().map_or("", |it| it.text.as_str());
        let key = key.to_ascii_lowercase();
        if key.contains("chart") {
            continue;
        }
        let under = place.under(&key);
        let Some(mut value) = text(document, &entry.value) else {
            add_versions(document, &entry.value, under, deep - 1, images);
            continue;
        };
        if tells_version(node, place, &key, deep + 1 == VARIABLES_DEEP) {
            value.text.insert_str(0, "coredns:");
        }
        let is_known = Version::find(&value.text).is_some() && !has_placeholder(&value.text);
        if under != Place::Elsewhere && is_known && is_server(&value) {
            images.push(value);
        }
    }
}

/// Whether a key has the version of CoreDNS itself: that of what it comes with, of what
/// is to be done with it or of a repository of charts is another.
fn tells_version(node: &Node, place: Place, key: &str, is_outer: bool) -> bool {
    let named = ["image", "repository", "repo", "name"];
    let named = named.iter().find_map(|it| node.word(&[it]));
    let named = named.filter(|it| !has_placeholder(it));
    let repositories = ["repo", "repository", "repoURL", "repo_url"];
    let has_repository = || repositories.iter().any(|it| node.get(it).is_some());
    let is_told = || is_outer || named.is_some_and(|it| it.contains('/'));
    match key.replace(['_', '-'], "").as_str() {
        "corednsversion" | "corednstag" | "corednsimagetag" => true,
        _ if named.is_some_and(|it| !is_called_so(it)) => false,
        "tag" => matches!(place, Place::Own | Place::Image),
        "version" if place == Place::Own => !has_repository() && is_told(),
        "version" => place == Place::Image,
        _ => false,
    }
}

/// Whether an image is called as CoreDNS's own.
fn is_server(image: &Text) -> bool {
    is_called_so(&image.text)
}

fn is_called_so(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    name.ends_with("coredns")
}

/// The image of the first container that is a CoreDNS.
fn coredns_image(document: &Document, spec: &Node) -> Option<Text> {
    let containers = spec.items(&["containers"]).iter();
    let images = containers.filter_map(|it| it.get("image"));
    let mut images = images.filter_map(|it| text(document, it));
    images.find(|it| it.text.contains("coredns"))
}

/// The mode that a configuration of kube-proxy sets.
pub(super) fn proxy_mode(document: &Document, object: &Node) -> Option<Text> {
    let mode = object
        .get("mode")
        .filter(|_| kind(object) == "KubeProxyConfiguration")?;
    text(document, mode)
}

/// Where objects of a kind say the networks of pods, or of Services (`true`). Those of
/// no kind are of Talos, talhelper, k3s, rke2, RKE and kubespray, and values of Cilium's chart.
///
/// Source: kubernetes `cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go: Networking`;
/// kubernetes-sigs/kind `pkg/apis/config/v1alpha4/types.go: Networking`;
/// kubernetes-sigs/cluster-api `api/core/v1beta1/cluster_types.go: ClusterNetwork`;
/// kubernetes/kube-proxy `config/v1alpha1/types.go: KubeProxyConfiguration`;
/// k0sproject/k0s `pkg/apis/k0s/v1beta1/network.go`; siderolabs/talos
/// `pkg/machinery/config/types/v1alpha1: ClusterNetworkConfig`; k3s-io/k3s
/// `pkg/cli/cmds/server.go`; projectcalico/api `pkg/apis/projectcalico/v3/ippool.go`;
/// tigera/operator `api/v1/installation_types.go: IPPool`; cilium/cilium
/// `install/kubernetes/cilium/values.yaml`, `operator/option/config.go`; kubernetes/kops
/// `pkg/apis/kops/cluster.go: ClusterSpec`; kubernetes-sigs/kubespray
/// `roles/kubespray_defaults/defaults/main/main.yml`; rancher/rke `types/rke_types.go`;
/// budimanjojo/talhelper `pkg/config/config.go`.
const NETWORKS: [(&str, &[&str], bool); 31] = [
    ("ClusterConfiguration", &["networking", "podSubnet"], false),
    (
        "ClusterConfiguration",
        &["networking", "serviceSubnet"],
        true,
    ),
    ("Cluster", &["networking", "podSubnet"], false),
    ("Cluster", &["networking", "serviceSubnet"], true),
    (
        "Cluster",
        &["spec", "clusterNetwork", "pods", "cidrBlocks"],
        false,
    ),
    (
        "Cluster",
        &["spec", "clusterNetwork", "services", "cidrBlocks"],
        true,
    ),
    ("Cluster", &["spec", "podCIDR"], false),
    ("Cluster", &["spec", "serviceClusterIPRange"], true),
    ("KubeProxyConfiguration", &["clusterCIDR"], false),
    ("ClusterConfig", &["spec", "network", "podCIDR"], false),
    ("ClusterConfig", &["spec", "network", "serviceCIDR"], true),
    ("", &["cluster", "network", "podSubnets"], false),
    ("", &["cluster", "network", "serviceSubnets"], true),
    ("", &["cluster-cidr"], false),
    ("", &["service-cidr"], true),
    ("IPPool", &["spec", "cidr"], false),
    (
        "Installation",
        &["spec", "calicoNetwork", "ipPools", "cidr"],
        false,
    ),
    ("CiliumPodIPPool", &["spec", "ipv4", "cidrs"], false),
    ("CiliumPodIPPool", &["spec", "ipv6", "cidrs"], false),
    ("ConfigMap", &["data", "cluster-pool-ipv4-cidr"], false),
    ("ConfigMap", &["data", "cluster-pool-ipv6-cidr"], false),
    (
        "",
        &["ipam", "operator", "clusterPoolIPv4PodCIDRList"],
        false,
    ),
    (
        "",
        &["ipam", "operator", "clusterPoolIPv6PodCIDRList"],
        false,
    ),
    ("", &["clusterPodNets"], false),
    ("", &["clusterSvcNets"], true),
    ("", &["kube_pods_subnet"], false),
    ("", &["kube_pods_subnet_ipv6"], false),
    ("", &["kube_service_addresses"], true),
    ("", &["kube_service_addresses_ipv6"], true),
    ("", &["services", "kube-controller", "cluster_cidr"], false),
    (
        "",
        &["services", "kube-controller", "service_cluster_ip_range"],
        true,
    ),
];

/// The networks of pods and Services that an object says.
pub(super) fn networks(document: &Document, object: &Node) -> Vec<(Network, At)> {
    let own = kind(object);
    // The values of a chart say the same as a file of them.
    let values_at: &[&str] = match own {
        "HelmRelease" => &["spec", "values"],
        "Application" => &["spec", "source", "helm", "valuesObject"],
        _ => &[],
    };
    let Some(object) = object.at(values_at) else {
        return Vec::new();
    };
    let own = if values_at.is_empty() { own } else { "" };
    // Others have pools of addresses, too.
    let version = object.word(&["apiVersion"]).unwrap_or_default();
    if own == "IPPool" && !version.contains("projectcalico.org/") {
        return Vec::new();
    }
    let mut networks = Vec::new();
    for (_, path, is_of_services) in NETWORKS.iter().filter(|it| it.0 == own) {
        for written in values(object, path)
            .into_iter()
            .filter_map(|it| text(document, it))
        {
            let parts = written.text.split(',');
            let parsed = parts.filter_map(|it| Network::parse(it, *is_of_services));
            networks.extend(parsed.map(|it| (it, written.at)));
        }
    }
    networks
}

/// The values at a path of keys, of every item where there is a list.
fn values<'n>(node: &'n Node, path: &[&str]) -> Vec<&'n Node> {
    let items = |it: &'n Node| it.as_sequence().map_or(vec![it], |it| it.iter().collect());
    let mut found = items(node);
    for key in path {
        let next = found.iter().filter_map(|it| it.get(key));
        found = next.flat_map(items).collect();
    }
    found
}

/// Whether it says by its label what it is: the DNS of every cluster is `kube-dns`.
fn has_label(object: &Node, name: &str) -> bool {
    object.word(&["metadata", "labels", "k8s-app"]) == Some(name)
}
