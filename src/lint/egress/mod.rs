//! What the egress of network policies lets out to the cluster's DNS.
//!
//! Read is what decides that in the policies of Kubernetes, Cilium and Calico.
//! What nobody can tell from the policy alone, as where other labels are,
//! counts as let out.

mod calico;
mod cilium;
mod kubernetes;
mod peer;

use crate::config::manifest::template;
use crate::config::yaml::Node;
use crate::order::Order as _;

/// A policy with egress.
#[derive(Debug)]
pub struct Policy<'n> {
    /// Whose pods.
    pub pods: Pods,
    /// Whether its pods are let out where a policy says so, and nowhere else.
    /// Another one only adds to what policies let out.
    pub is_closing: bool,
    /// What of the rules lets queries out: the ports of the first one, else all of them.
    pub place: &'n Node,
    /// How far queries over UDP come.
    pub udp: Reach<'n>,
    /// The same over TCP.
    pub tcp: Reach<'n>,
    /// Whether it lets its pods reach others whose addresses they look up.
    pub calls_names: bool,
    /// The rule for names, which Cilium knows only from answers that it sees.
    pub names: Option<&'n Node>,
    /// Whether Cilium sees the answers.
    pub watches_dns: bool,
}

/// How far the queries of a policy's pods come; more is greater.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'n> {
    /// No rule is about DNS.
    LeftOut,
    /// A rule is, and the pods of DNS are not what it names.
    Misses(Trap, &'n Node),
    /// To pods that are chosen by their labels.
    Pods(&'n Node),
    /// To the server, wherever it is.
    Anywhere,
}

/// Why a rule for DNS does not reach it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Trap {
    /// It chooses pods of the policy's own namespace.
    OwnNamespace,
    /// It chooses kube-system by a label that no program writes.
    NameLabel,
    /// It chooses pods by a label that is misspelled.
    Label,
    /// It has the port of the Service, and the pods have another one.
    PortOfService,
    /// It chooses all pods of a namespace in which the cluster's DNS mostly is not; it, or
    /// a server of somebody's own, can be there.
    OtherNamespace,
}

/// The pods that a policy is for.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Pods {
    /// Their namespace. `None`: all, or it is not written.
    pub namespace: Option<String>,
    /// The labels that they must have, in order. Conditions of other kinds are
    /// left out.
    pub labels: Vec<(String, String)>,
}

/// What a policy lets out to DNS, for other policies about the same pods.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct LetOut {
    /// Whose pods.
    pub pods: Pods,
    /// Whether over UDP.
    pub udp: bool,
    /// Whether over TCP.
    pub tcp: bool,
    /// [`Policy::watches_dns`]
    pub watches_dns: bool,
}

impl LetOut {
    /// What a policy may let out that was not read: everything.
    pub fn anything() -> Self {
        Self {
            pods: Pods::default(),
            udp: true,
            tcp: true,
            watches_dns: true,
        }
    }
}

impl Reach<'_> {
    fn rank(self) -> u8 {
        match self {
            Self::LeftOut => 0,
            Self::Misses(..) => 1,
            Self::Pods(_) => 2,
            Self::Anywhere => 3,
        }
    }

    /// Whether DNS answers.
    pub fn is_let_out(self) -> bool {
        // Somebody can have written the label, or have the cluster's DNS there.
        matches!(
            self,
            Self::Pods(_)
                | Self::Anywhere
                | Self::Misses(Trap::NameLabel | Trap::OtherNamespace, _)
        )
    }

    fn best(all: impl IntoIterator<Item = Self>) -> Self {
        let best = all.into_iter().max_by_key(|it| it.rank());
        best.unwrap_or(Self::LeftOut)
    }
}

impl Pods {
    /// Whether one pod can be among both: no label would have two values.
    pub fn can_meet(&self, other: &Self) -> bool {
        let is_same = match (&self.namespace, &other.namespace) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let is_other = |(key, value): &(String, String)| {
            other.labels.iter().any(|it| it.0 == *key && it.1 != *value)
        };
        is_same && !self.labels.iter().any(is_other)
    }

    /// Whether pods with these labels, which are all that they have, are among those
    /// that `self` chooses. A tool can write a namespace that is not there: with labels to
    /// go by it can be the same one.
    pub fn choose(&self, pods: &Self) -> bool {
        let is_same = self.namespace == pods.namespace
            || !self.labels.is_empty() && (self.namespace.is_none() || pods.namespace.is_none());
        is_same && self.labels.iter().all(|it| pods.labels.contains(it))
    }

    /// Whether they are servers of DNS themselves.
    pub fn are_dns(&self) -> bool {
        self.labels.iter().any(|it| peer::mentions_dns(&it.1))
    }
}

impl Policy<'_> {
    /// What others must know of it; `None`: it lets nothing out to DNS.
    fn let_out(self) -> Option<LetOut> {
        let (udp, tcp) = (self.udp.is_let_out(), self.tcp.is_let_out());
        (udp || tcp).then_some(LetOut {
            pods: self.pods,
            udp,
            tcp,
            watches_dns: self.watches_dns,
        })
    }
}

/// The policies that an object is which close its pods' egress; none: it is
/// something else, or forbids everything on purpose.
pub fn closing(object: &Node) -> impl Iterator<Item = Policy<'_>> {
    policies(object).into_iter().filter(|it| it.is_closing)
}

/// How far the rules of an egress let queries come over UDP and TCP, and
/// [`Policy::place`]; `ports` is the way to the ports of a rule.
fn reaches<'n>(
    egress: &'n Node,
    ports: &[&str],
    reach: impl Fn(&'n Node, &str) -> Reach<'n>,
) -> (Reach<'n>, Reach<'n>, &'n Node) {
    let rules = egress.as_sequence().unwrap_or_default();
    let over = |protocol| Reach::best(rules.iter().map(|it| reach(it, protocol)));
    let lets_out = |it: &&'n Node| {
        ["UDP", "TCP"]
            .iter()
            .any(|over| reach(it, over).is_let_out())
    };
    let rule = rules.iter().find(lets_out);
    let place = rule.map_or(egress, |it| it.at(ports).unwrap_or(it));
    (over("UDP"), over("TCP"), place)
}

/// What an object lets out to DNS as network policies, closing ones or not.
pub fn let_out(object: &Node) -> impl Iterator<Item = LetOut> {
    let all = policies(object).into_iter().filter_map(Policy::let_out);
    all.chain(encrypted(object))
}

fn policies(object: &Node) -> Vec<Policy<'_>> {
    let kind = object.word(&["kind"]).unwrap_or_default();
    let version = object.word(&["apiVersion"]).unwrap_or_default();
    let group = version.split('/').next().unwrap_or_default();
    match (group, kind) {
        ("networking.k8s.io", "NetworkPolicy") => kubernetes::policy(object).into_iter().collect(),
        ("cilium.io", "CiliumNetworkPolicy") => cilium::policies(object, false),
        ("cilium.io", "CiliumClusterwideNetworkPolicy") => cilium::policies(object, true),
        (calico::GROUP | calico::STORED, "NetworkPolicy") => {
            calico::policy(object, false).into_iter().collect()
        }
        (calico::GROUP | calico::STORED, "GlobalNetworkPolicy") => {
            calico::policy(object, true).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What a policy may let out whose values are encrypted: everything.
///
/// Source: getsops/sops `stores/stores.go: SopsMetadataKey`.
fn encrypted(object: &Node) -> Option<LetOut> {
    object.get("sops")?;
    object.at(&["spec", "podSelector"])?;
    Some(LetOut::anything())
}

/// The namespace that an object says it is in.
fn namespace(object: &Node) -> Option<&str> {
    let namespace = object.word(&["metadata", "namespace"])?;
    (!namespace.is_empty() && !peer::is_open(namespace)).then_some(namespace)
}

/// The pods that an object is or makes, with all of their labels.
pub fn pods(object: &Node) -> Option<Pods> {
    let kind = object.word(&["kind"])?;
    let pod = template(kind, object)?;
    pod.items(&["spec", "containers"]).first()?;
    Some(Pods {
        namespace: namespace(object).map(str::to_owned),
        labels: written(pod.at(&["metadata", "labels"])),
    })
}

/// The pods that a rule means by the label of a cluster's DNS.
pub fn meant(peer: &Node) -> Pods {
    let mut labels = labels(peer.get("podSelector").or(Some(peer)));
    labels.retain(|it| it.0 == peer::DNS_LABEL);
    let namespace = Some(peer::DNS_NAMESPACE.to_owned());
    Pods { namespace, labels }
}

/// The pods that a Service chooses.
pub fn chosen(service: &Node) -> Pods {
    Pods {
        namespace: namespace(service).map(str::to_owned),
        labels: written(service.at(&["spec", "selector"])),
    }
}

/// The labels of a selector, in order.
fn labels(selector: Option<&Node>) -> Vec<(String, String)> {
    written(selector.and_then(|it| it.get("matchLabels")))
}

fn written(labels: Option<&Node>) -> Vec<(String, String)> {
    let labels = labels.and_then(Node::as_mapping);
    let labels = labels.unwrap_or_default().iter();
    let mut labels: Vec<(String, String)> = labels
        .filter_map(|it| {
            let (key, value) = (it.key.as_scalar()?, it.value.as_scalar()?);
            Some((peer::label(&key.text).to_owned(), value.text.clone()))
        })
        .collect();
    labels.order();
    labels
}

#[cfg(test)]
mod tests;
