//! Objects of Kubernetes in a YAML document.

use crate::config::yaml::{Kind, Node};
use crate::lint::document::Document;
use crate::lint::facts::{DnsPod, Service, Text};
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
    let kind = object.get("kind").and_then(Node::as_scalar);
    kind.map_or("", |it| it.text.as_str())
}

/// The spec of the pods that an object makes.
pub fn pod_spec(object: &Node) -> Option<&Node> {
    let path: &[&str] = match kind(object) {
        "" => return None,
        "Pod" => &["spec"],
        "PodTemplate" => &["template", "spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    let spec = path.iter().try_fold(object, |node, key| node.get(key))?;
    // Other kinds can keep something else in a template.
    (kind(object) == "Pod" || spec.get("containers").is_some()).then_some(spec)
}

/// The Service of the cluster's DNS: by its name or its label in kube-system.
pub(super) fn dns_service(document: &Document, object: &Node) -> Option<Service> {
    if kind(object) != "Service" {
        return None;
    }
    let name = name(object);
    let is_dns =
        is_kube_dns(object) || matches!(name, "kube-dns" | "coredns" | "rke2-coredns-rke2-coredns");
    let spec = object.get("spec").filter(|_| is_dns)?;
    let mut addresses: Vec<Text> = spec
        .get("clusterIP")
        .and_then(|it| text(document, it))
        .into_iter()
        .collect();
    let more = spec
        .get("clusterIPs")
        .and_then(Node::as_sequence)
        .unwrap_or_default();
    for address in more.iter().filter_map(|it| text(document, it)) {
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
    let template = object.get("spec").and_then(|it| it.get("template"));
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
    let containers = spec.get("containers").and_then(Node::as_sequence)?;
    let images = containers.iter().filter_map(|it| it.get("image"));
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

fn name(object: &Node) -> &str {
    let name = object.get("metadata").and_then(|it| it.get("name"));
    name.and_then(Node::as_scalar)
        .map_or("", |it| it.text.as_str())
}

/// Whether it has the label that the DNS of every cluster has.
fn is_kube_dns(object: &Node) -> bool {
    let labels = object.get("metadata").and_then(|it| it.get("labels"));
    let app = labels
        .and_then(|it| it.get("k8s-app"))
        .and_then(Node::as_scalar);
    app.is_some_and(|it| it.text == "kube-dns")
}
