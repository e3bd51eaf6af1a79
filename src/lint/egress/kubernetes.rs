//! `NetworkPolicy` of Kubernetes.
//!
//! Source: kubernetes/api `networking/v1/types.go`.

use super::peer::{self, Labels, Namespace, Ports};
use super::{Pods, Policy, Reach, labels, namespace, reaches};
use crate::config::yaml::Node;

pub(super) fn policy(object: &Node) -> Option<Policy<'_>> {
    let spec = object.get("spec")?;
    let types = spec.items(&["policyTypes"]);
    let is_type = |it: &Node| it.as_scalar().is_some_and(|it| it.text == "Egress");
    if !types.is_empty() && !types.iter().any(is_type) {
        return None;
    }
    let egress = spec.get("egress")?;
    let rules = egress.as_sequence().filter(|it| !it.is_empty())?;
    let own = namespace(object);
    let (udp, tcp, place) = reaches(egress, &["ports"], |it, over| reach(it, own, over));
    Some(Policy {
        pods: Pods {
            namespace: own.map(str::to_owned),
            labels: labels(spec.get("podSelector")),
        },
        is_closing: true,
        place,
        udp,
        tcp,
        calls_names: rules.iter().flat_map(|it| it.items(&["to"])).any(has_name),
        names: None,
        watches_dns: false,
    })
}

/// Whether a peer is one whose address is looked up.
fn has_name(peer: &Node) -> bool {
    let range = peer.word(&["ipBlock", "cidr"]);
    range.is_none_or(peer::is_world)
}

fn reach<'n>(rule: &'n Node, own: Option<&str>, protocol: &str) -> Reach<'n> {
    let ports = ports(rule, protocol);
    if ports == Ports::Others {
        return Reach::LeftOut;
    }
    let peers = rule.items(&["to"]);
    if peers.is_empty() {
        return peer::anybody(own, ports, rule);
    }
    Reach::best(peers.iter().map(|it| peer_reach(it, own, ports)))
}

fn ports(rule: &Node, protocol: &str) -> Ports {
    let ports = rule.items(&["ports"]);
    if ports.is_empty() {
        return Ports::All;
    }
    let ports = ports
        .iter()
        .filter(|it| it.word(&["protocol"]).unwrap_or("TCP") == protocol);
    let known = ports.map(|port| {
        let Some(first) = port.word(&["port"]) else {
            return Ports::All;
        };
        let Ok(first) = first.parse() else {
            return Ports::named(first);
        };
        let last = port.word(&["endPort"]).and_then(|it| it.parse().ok());
        Ports::between(first, last.unwrap_or(first))
    });
    known.fold(Ports::Others, Ports::or)
}

fn peer_reach<'n>(peer: &'n Node, own: Option<&str>, ports: Ports) -> Reach<'n> {
    if let Some(block) = peer.get("ipBlock") {
        let has_exceptions = !block.items(&["except"]).is_empty();
        let cidr = block.word(&["cidr"]).unwrap_or_default();
        return peer::range(cidr, has_exceptions, ports);
    }
    let asked = labels(peer.get("podSelector"));
    let asked = Labels::from_pairs(asked.iter().map(|it| (&*it.0, &*it.1)));
    let namespace = match peer.get("namespaceSelector") {
        None => Namespace::Own(own),
        Some(selector) => namespace_of(selector),
    };
    peer::pods(namespace, asked, ports, peer)
}

/// The label that the API server writes.
///
/// Source: kubernetes/api `core/v1/well_known_labels.go: LabelMetadataName`.
const NAME: &str = "kubernetes.io/metadata.name";

fn namespace_of(selector: &Node) -> Namespace<'_> {
    let words = selector.get("matchLabels").and_then(Node::as_mapping);
    let words = words.unwrap_or_default();
    let has_expressions = !selector.items(&["matchExpressions"]).is_empty();
    let of = |key: &str| selector.get("matchLabels").and_then(|it| it.word(&[key]));
    let is_telling =
        |word: &str| word == "kube-system" || peer::mentions_dns(word) || peer::is_open(word);
    let values = words.iter().filter_map(|it| it.value.as_scalar());
    if let Some(name) = of(NAME) {
        Namespace::Named(name)
    } else if words.is_empty() || has_expressions {
        Namespace::Any
    } else if words.len() == 1 && of("name") == Some("kube-system") {
        Namespace::NameLabel
    } else if values.into_iter().any(|it| is_telling(&it.text)) {
        Namespace::Any
    } else {
        Namespace::Labelled
    }
}
