//! `NetworkPolicy` and `GlobalNetworkPolicy` of Calico.
//!
//! Source: projectcalico/calico `api/pkg/apis/projectcalico/v3/networkpolicy.go`,
//! `globalnetworkpolicy.go`.

use super::peer::{self, Labels, Namespace, Ports};
use super::{Pods, Policy, Reach, namespace, reaches};
use crate::config::yaml::{Kind, Node};

/// The group of the API, and that of the objects in which it is stored.
pub(super) const GROUP: &str = "projectcalico.org";
pub(super) const STORED: &str = "crd.projectcalico.org";

pub(super) fn policy(object: &Node, is_global: bool) -> Option<Policy<'_>> {
    let spec = object.get("spec")?;
    // Such a policy is for interfaces of the node.
    let is_set = |key: &&str| spec.get(key).and_then(Node::kind) == Some(Kind::Bool(true));
    if ["applyOnForward", "preDNAT", "doNotTrack"]
        .iter()
        .any(is_set)
    {
        return None;
    }
    let types = spec.items(&["types"]);
    let is_type = |it: &Node| it.as_scalar().is_some_and(|it| it.text == "Egress");
    if !types.is_empty() && !types.iter().any(is_type) {
        return None;
    }
    let egress = spec.get("egress")?;
    let rules = egress.as_sequence().filter(|it| !it.is_empty())?;
    let own = namespace(object).filter(|_| !is_global);
    let near = if is_global {
        Namespace::Any
    } else {
        Namespace::Own(own)
    };
    let ports = &["destination", "ports"];
    let (udp, tcp, place) = reaches(egress, ports, |it, over| reach(it, near, over));
    Some(Policy {
        pods: Pods {
            namespace: own.map(str::to_owned),
            labels: spec
                .word(&["selector"])
                .and_then(label)
                .into_iter()
                .collect(),
        },
        is_closing: true,
        place,
        udp,
        tcp,
        calls_names: rules.iter().any(|it| is_allowed(it) && has_name(it)),
        names: None,
        watches_dns: false,
    })
}

/// The one label that a selector asks for: `app == 'web'`.
fn label(selector: &str) -> Option<(String, String)> {
    let (key, value) = selector.split_once("==")?;
    let value = value.trim().trim_matches(['\'', '"']);
    let is_plain = |it: &str| !it.is_empty() && !it.contains([' ', '(', '\'', '"', '!']);
    let (key, is_one) = (key.trim(), is_plain(key.trim()) && is_plain(value));
    is_one.then(|| (key.to_owned(), value.to_owned()))
}

fn is_allowed(rule: &Node) -> bool {
    let action = rule.word(&["action"]).unwrap_or_default();
    action.eq_ignore_ascii_case("allow") || action.eq_ignore_ascii_case("pass")
}

/// Whether a rule names somebody whose address is looked up.
fn has_name(rule: &Node) -> bool {
    let Some(destination) = rule.get("destination") else {
        return false;
    };
    let service = destination.word(&["services", "name"]);
    let named = ["selector", "namespaceSelector", "domains"];
    service.is_some_and(|it| it != "kubernetes")
        || named.iter().any(|it| destination.get(it).is_some())
}

fn reach<'n>(rule: &'n Node, near: Namespace<'_>, protocol: &str) -> Reach<'n> {
    let of = rule.word(&["protocol"]).unwrap_or(protocol);
    let number = if protocol == "UDP" { "17" } else { "6" };
    if !is_allowed(rule) || !(of.eq_ignore_ascii_case(protocol) || of == number) {
        return Reach::LeftOut;
    }
    let Some(destination) = rule.get("destination") else {
        return Reach::Anywhere;
    };
    let ports = match (list(destination, "notPorts"), list(destination, "ports")) {
        (Ports::Dns { .. }, _) => Ports::Others,
        (_, ports) => ports,
    };
    if ports == Ports::Others {
        return Reach::LeftOut;
    }
    let word = |key| destination.word(&[key]).filter(|it| !it.is_empty());
    if let Some(service) = destination.word(&["services", "name"]) {
        let is_dns = peer::mentions_dns(service);
        return if is_dns {
            Reach::Pods(destination)
        } else {
            ports.elsewhere()
        };
    }
    let ranges = destination.items(&["nets"]);
    let (selector, spaces) = (word("selector"), word("namespaceSelector"));
    if !ranges.is_empty() {
        let ranges = ranges.iter().filter_map(Node::as_scalar);
        return Reach::best(ranges.map(|it| peer::range(&it.text, false, ports)));
    }
    if destination.get("domains").is_some() {
        return ports.elsewhere();
    }
    if selector.is_none() && spaces.is_none() {
        return Reach::Anywhere;
    }
    let namespace = spaces.map_or(near, namespace_of);
    let asked = selector.map_or(Labels::Any, labels);
    peer::pods(namespace, asked, ports, destination)
}

fn list(destination: &Node, key: &str) -> Ports {
    let ports = destination.items(&[key]);
    if ports.is_empty() {
        return Ports::All;
    }
    let ports = ports.iter().filter_map(Node::as_scalar);
    let known = ports.map(|it| {
        let (first, last) = it.text.split_once(':').unwrap_or((&it.text, &it.text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) => Ports::between(first, last),
            _ => Ports::named(&it.text),
        }
    });
    known.fold(Ports::Others, Ports::or)
}

/// What a selector says in other words than `key == 'value'` can be anything.
fn is_free(selector: &str) -> bool {
    let words = ["!", "not ", "has(", "all()", "contains", "starts", "ends"];
    words.iter().any(|it| selector.contains(it))
}

fn namespace_of(selector: &str) -> Namespace<'_> {
    if selector.contains("kube-system") {
        Namespace::Named("kube-system")
    } else if selector.contains("openshift-dns") {
        Namespace::Named("openshift-dns")
    } else if is_free(selector) || peer::mentions_dns(selector) {
        Namespace::Any
    } else {
        Namespace::Labelled
    }
}

fn labels(selector: &str) -> Labels {
    match Labels::from_pairs([("", selector)]) {
        Labels::Others if is_free(selector) => Labels::Any,
        known => known,
    }
}
