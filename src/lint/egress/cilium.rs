//! `CiliumNetworkPolicy` and `CiliumClusterwideNetworkPolicy`.
//!
//! Source: cilium/cilium `pkg/policy/api/egress.go`, `pkg/policy/api/l4.go`,
//! `Documentation/security/policy/language.rst`.

use super::peer::{self, Labels, Namespace, Ports};
use super::{Pods, Policy, Reach, labels, namespace, reaches};
use crate::config::yaml::{Kind, Node};

/// The label of a pod's namespace.
const NAMESPACE: &str = "io.kubernetes.pod.namespace";
/// What stands before labels of namespaces.
const OF_NAMESPACE: &str = "io.cilium.k8s.namespace.labels.";

/// Whom rules can name, each a list.
const PEERS: [&str; 8] = [
    "toEndpoints",
    "toEntities",
    "toCIDR",
    "toCIDRSet",
    "toFQDNs",
    "toServices",
    "toGroups",
    "toNodes",
];

pub(super) fn policies(object: &Node, is_cluster_wide: bool) -> Vec<Policy<'_>> {
    let own = namespace(object).filter(|_| !is_cluster_wide);
    let namespace = if is_cluster_wide {
        Namespace::Any
    } else {
        Namespace::Own(own)
    };
    let specs = object
        .get("spec")
        .into_iter()
        .chain(object.items(&["specs"]));
    specs.filter_map(|it| policy(it, own, namespace)).collect()
}

fn policy<'n>(spec: &'n Node, own: Option<&str>, near: Namespace<'_>) -> Option<Policy<'n>> {
    // Other policies are for the node itself.
    let selector = spec.get("endpointSelector")?;
    let egress = spec.get("egress")?;
    let rules = egress.as_sequence().filter(|it| !it.is_empty())?;
    let (udp, tcp, place) = reaches(egress, &["toPorts"], |it, over| reach(it, near, over));
    let mut pods = Pods {
        namespace: own.map(str::to_owned),
        labels: labels(Some(selector)),
    };
    let index = pods.labels.iter().position(|it| it.0 == NAMESPACE);
    if let Some(index) = index {
        pods.namespace = Some(pods.labels.remove(index).1);
    }
    let names = rules.iter().find_map(|it| it.get("toFQDNs"));
    Some(Policy {
        pods,
        is_closing: spec
            .at(&["enableDefaultDeny", "egress"])
            .is_none_or(|it| it.kind() != Some(Kind::Bool(false))),
        place,
        udp,
        tcp,
        calls_names: rules.iter().any(has_name),
        names: names.filter(|it| !it.is_null()),
        watches_dns: rules.iter().any(watches),
    })
}

/// Whether a rule names somebody whose address is looked up.
fn has_name(rule: &Node) -> bool {
    let is_world = |it: &Node| it.as_scalar().is_some_and(|it| it.text == "world");
    let named = ["toEndpoints", "toFQDNs", "toServices"];
    named.iter().any(|it| !rule.items(&[it]).is_empty())
        || rule.items(&["toEntities"]).iter().any(is_world)
}

/// Whether Cilium reads the answers to the queries that a rule lets out.
fn watches(rule: &Node) -> bool {
    let has_rules = |it: &Node| it.at(&["rules", "dns"]).is_some();
    rule.items(&["toPorts"]).iter().any(has_rules)
}

fn reach<'n>(rule: &'n Node, near: Namespace<'_>, protocol: &str) -> Reach<'n> {
    let ports = ports(rule, protocol);
    if ports == Ports::Others {
        return Reach::LeftOut;
    }
    if !PEERS.iter().any(|it| rule.get(it).is_some()) {
        // A rule that names nothing chooses nothing.
        return match rule.get("toPorts") {
            Some(_) => Reach::Anywhere,
            None => Reach::LeftOut,
        };
    }
    let endpoints = rule.items(&["toEndpoints"]).iter();
    let endpoints = endpoints.map(|it| endpoint(it, near, ports));
    let entities = rule.items(&["toEntities"]).iter();
    let entities = entities.map(|it| match it.as_scalar().map(|it| it.text.as_str()) {
        Some("all" | "cluster") => Reach::Anywhere,
        _ => ports.elsewhere(),
    });
    let services = rule.items(&["toServices"]).iter();
    let services = services.map(|it| {
        let is_dns = service(it).is_some_and(peer::mentions_dns);
        if is_dns {
            Reach::Pods(it)
        } else {
            ports.elsewhere()
        }
    });
    // Ranges are for what is outside of the cluster, names, too.
    let outside = ["toCIDR", "toCIDRSet", "toGroups", "toNodes"];
    let outside = outside.iter().flat_map(|it| rule.items(&[it]));
    let outside = outside.map(|_| ports.elsewhere());
    Reach::best(endpoints.chain(entities).chain(services).chain(outside))
}

fn ports(rule: &Node, protocol: &str) -> Ports {
    let lists = rule.items(&["toPorts"]);
    if lists.is_empty() {
        return Ports::All;
    }
    let known = lists
        .iter()
        .flat_map(|list| list.items(&["ports"]))
        .map(|port| {
            let of = port.word(&["protocol"]).unwrap_or("ANY");
            let text = port.word(&["port"]).unwrap_or("0");
            if !of.eq_ignore_ascii_case("any") && of != protocol {
                return Ports::Others;
            }
            match text.parse() {
                Ok(0) => Ports::All,
                Ok(first) => {
                    let last = port.word(&["endPort"]).and_then(|it| it.parse().ok());
                    Ports::between(first, last.unwrap_or(first))
                }
                Err(_) => Ports::named(text),
            }
        });
    known.fold(Ports::Others, Ports::or)
}

/// The name of a Service, or what a selector of Services says first.
fn service(node: &Node) -> Option<&str> {
    node.word(&["k8sService", "serviceName"]).or_else(|| {
        let labels = node.at(&["k8sServiceSelector", "selector", "matchLabels"])?;
        let first = labels.as_mapping()?.first()?;
        Some(first.value.as_scalar()?.text.as_str())
    })
}

fn endpoint<'n>(selector: &'n Node, near: Namespace<'_>, ports: Ports) -> Reach<'n> {
    let all = labels(Some(selector));
    let is_of_namespace = |key: &str| key == NAMESPACE || key.starts_with(OF_NAMESPACE);
    let expressions = selector.items(&["matchExpressions"]).iter();
    let keys = expressions.filter_map(|it| it.word(&["key"]));
    let has_open = keys.map(peer::label).any(is_of_namespace);
    let name = all.iter().find(|it| {
        it.0 == NAMESPACE || it.0.strip_prefix(OF_NAMESPACE) == Some("kubernetes.io/metadata.name")
    });
    let namespace = match name {
        Some((_, name)) => Namespace::Named(name),
        None if has_open || all.iter().any(|it| is_of_namespace(&it.0)) => Namespace::Any,
        None => near,
    };
    let mut own = all.iter().filter(|it| !is_of_namespace(&it.0)).peekable();
    if own.peek().is_some_and(|it| it.0.starts_with("reserved:")) {
        return ports.elsewhere();
    }
    let asked = Labels::from_pairs(own.map(|it| (&*it.0, &*it.1)));
    peer::pods(namespace, asked, ports, selector)
}
