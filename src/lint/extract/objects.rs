//! Objects of Kubernetes in a YAML document.

use crate::config::manifest::template_spec;
use crate::config::yaml::{Kind, Node};
use crate::lint::document::{At, Document};
use crate::lint::facts::{DnsPod, Network, Service, Text};
use crate::lint::subject::Workload;

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
    let is_dns =
        is_kube_dns(object) || matches!(name, "kube-dns" | "coredns" | "rke2-coredns-rke2-coredns");
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
    (!addresses.is_empty()).then(|| Service {
        name: name.to_owned(),
        addresses,
    })
}

/// The pods of the cluster's DNS: those with the label `k8s-app: kube-dns`.
pub(super) fn dns_pod(document: &Document, object: &Node) -> Option<DnsPod> {
    let spec = pod_spec(object)?;
    let template = object.at(&["spec", "template"]);
    let is_dns = is_kube_dns(object) || template.is_some_and(is_kube_dns);
    let workload = Workload {
        document,
        kind: kind(object),
        object,
        spec,
    };
    is_dns.then(|| DnsPod {
        label: workload.label(),
        at: workload.place(),
        policy: workload.policy(),
        host_network: workload.get("hostNetwork").and_then(Node::kind) == Some(Kind::Bool(true)),
        image: coredns_image(document, spec),
    })
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

/// The networks of pods and Services that an object says.
///
/// Source: kubernetes `cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go: Networking`;
/// kubernetes-sigs/kind `pkg/apis/config/v1alpha4/types.go: Networking`;
/// kubernetes/kube-proxy `config/v1alpha1/types.go: KubeProxyConfiguration`.
pub(super) fn networks(document: &Document, object: &Node) -> Vec<(Network, At)> {
    let paths: &[(&[&str], bool)] = match kind(object) {
        "ClusterConfiguration" | "Cluster" => &[
            (&["networking", "podSubnet"], false),
            (&["networking", "serviceSubnet"], true),
        ],
        "KubeProxyConfiguration" => &[(&["clusterCIDR"], false)],
        _ => &[],
    };
    let networks = paths.iter().flat_map(|(path, is_of_services)| {
        let written = object.at(path).and_then(|it| text(document, it));
        let written = written.map_or((String::new(), At::default()), |it| (it.text, it.at));
        let parts = written.0.split(',').map(str::to_owned).collect::<Vec<_>>();
        let parsed = parts
            .into_iter()
            .filter_map(|it| Network::parse(&it, *is_of_services));
        parsed.map(move |it| (it, written.1))
    });
    networks.collect()
}

/// Whether it has the label that the DNS of every cluster has.
fn is_kube_dns(object: &Node) -> bool {
    object.word(&["metadata", "labels", "k8s-app"]) == Some("kube-dns")
}
