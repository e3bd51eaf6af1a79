//! Whether what a rule names can be the cluster's DNS.

use std::net::IpAddr;

use super::{Reach, Trap};
use crate::config::yaml::Node;

/// The port of DNS and those of its pods in known clusters: the port of the
/// pods counts, not that of the Service.
///
/// Source: openshift/cluster-dns-operator `pkg/manifests/assets/dns/daemonset.yaml`;
/// gardener/gardener `pkg/component/networking/coredns`.
const PORTS: [u16; 4] = [53, OPENSHIFT_PORT, 8053, 1053];
const OPENSHIFT_PORT: u16 = 5353;
const OPENSHIFT: &str = "openshift-dns";

/// What of the ports of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ports {
    /// It names none: all are let out.
    All,
    /// That of DNS is among them.
    Dns {
        /// Whether it can be another one than 53.
        is_of_pods: bool,
    },
    /// It is not.
    Others,
}

/// Exactly the port of DNS, or few around it.
const PORT_53: Ports = Ports::Dns { is_of_pods: false };

impl Ports {
    /// Those from the first to the last.
    pub(super) fn between(first: u16, last: u16) -> Self {
        let mut known = PORTS.iter().filter(|it| (first..=last).contains(it));
        match known.clone().next() {
            None => Self::Others,
            Some(_) => Self::Dns {
                is_of_pods: known.any(|it| *it != PORTS[0]),
            },
        }
    }

    /// A port by its name, which is taken for the right one where it can be.
    pub(super) fn named(name: &str) -> Self {
        if mentions_dns(name) || is_open(name) || name.contains("domain") {
            Self::Dns { is_of_pods: true }
        } else {
            Self::Others
        }
    }

    /// Both together.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Dns { is_of_pods: one }, Self::Dns { is_of_pods: other }) => Self::Dns {
                is_of_pods: one || other,
            },
            (Self::Others, known) | (known, Self::Others) => known,
        }
    }

    /// Where a rule of its own is for DNS, whom it names is taken for a server.
    pub(super) fn elsewhere<'n>(self) -> Reach<'n> {
        match self {
            Self::Dns { .. } => Reach::Anywhere,
            Self::All | Self::Others => Reach::LeftOut,
        }
    }
}

/// The namespaces of the pods that a rule names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Namespace<'n> {
    /// That of the policy, if it is known.
    Own(Option<&'n str>),
    /// All, or those with what can be anything.
    Any,
    /// The one with this name.
    Named(&'n str),
    /// kube-system by the label `name`.
    NameLabel,
    /// Some, by labels.
    Labelled,
}

/// Whether the labels that a rule asks for can be those of DNS pods.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Labels {
    /// It asks for none, or for what any pod can have.
    Any,
    /// They are those of the cluster's DNS.
    OfDns,
    /// They are nearly those of the cluster's DNS, and nobody's.
    Misspelled,
    /// They can be those of some server of DNS.
    Open,
    /// They are those of something else.
    Others,
}

impl Labels {
    /// What these keys and values say together.
    pub(super) fn from_pairs<'v>(pairs: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let mut found = Self::Any;
        for (key, value) in pairs {
            if DNS_PODS.iter().any(|it| value.contains(it)) {
                return Self::OfDns;
            }
            if key == DNS_LABEL && strsim::osa_distance(value, DNS_PODS[0]) == 1 {
                found = Self::Misspelled;
            } else if mentions_dns(value) || is_open(value) {
                found = Self::Open;
            } else if found == Self::Any {
                found = Self::Others;
            }
        }
        found
    }
}

/// The label by which the Service of a cluster's DNS chooses its pods, and their namespace.
pub(super) const DNS_LABEL: &str = "k8s-app";
pub(super) const DNS_NAMESPACE: &str = "kube-system";

/// How the pods of a cluster's DNS are called in their labels.
const DNS_PODS: [&str; 4] = ["kube-dns", "coredns", "node-local-dns", "nodelocaldns"];

/// How far a rule for these pods lets queries come.
pub(super) fn pods<'n>(
    namespace: Namespace<'_>,
    labels: Labels,
    ports: Ports,
    node: &'n Node,
) -> Reach<'n> {
    let is_their_namespace = matches!(
        namespace,
        Namespace::Own(Some(DNS_NAMESPACE)) | Namespace::Named(DNS_NAMESPACE)
    );
    let reached = match labels {
        Labels::Others => ports.elsewhere(),
        Labels::Misspelled if is_their_namespace => Reach::Misses(Trap::Label, node),
        _ => Reach::Pods(node),
    };
    match namespace {
        Namespace::Own(Some(own)) if is_dns_namespace(own) => reached,
        Namespace::Own(_) => match (labels, ports) {
            (Labels::OfDns, _) | (Labels::Any, Ports::Dns { .. }) => {
                Reach::Misses(Trap::OwnNamespace, node)
            }
            _ => ports.elsewhere(),
        },
        Namespace::Any => reached,
        Namespace::NameLabel => match reached {
            Reach::LeftOut => Reach::LeftOut,
            _ => Reach::Misses(Trap::NameLabel, node),
        },
        Namespace::Named(OPENSHIFT) if ports == PORT_53 => Reach::Misses(Trap::PortOfService, node),
        Namespace::Named(name) if is_dns_namespace(name) => reached,
        Namespace::Named(name) if is_open(name) => Reach::Anywhere,
        Namespace::Named(_) if labels == Labels::Any && ports == PORT_53 => {
            Reach::Misses(Trap::OtherNamespace, node)
        }
        Namespace::Named(_) | Namespace::Labelled => ports.elsewhere(),
    }
}

/// How far a rule that names nobody lets queries of a namespace come: those of the cluster's
/// own programs are in clusters of OpenShift only.
pub(super) fn anybody<'n>(own: Option<&str>, ports: Ports, node: &'n Node) -> Reach<'n> {
    let is_openshift = own.is_some_and(|it| it.starts_with("openshift-"));
    if is_openshift && ports == PORT_53 {
        return Reach::Misses(Trap::PortOfService, node);
    }
    Reach::Anywhere
}

/// How far a rule for a range of addresses lets queries come: a short prefix
/// can have the pods' or the node's addresses in it.
pub(super) fn range<'n>(cidr: &str, has_exceptions: bool, ports: Ports) -> Reach<'n> {
    const SHORT: u8 = 16;
    let prefix = cidr.split_once('/').and_then(|it| it.1.parse::<u8>().ok());
    match prefix {
        None if cidr.parse::<IpAddr>().is_err() => Reach::Anywhere,
        Some(0) if has_exceptions => ports.elsewhere(),
        Some(..=SHORT) => Reach::Anywhere,
        _ => ports.elsewhere(),
    }
}

/// Whether a range is everything outside: what is called there has a name.
pub(super) fn is_world(cidr: &str) -> bool {
    matches!(cidr, "0.0.0.0/0" | "::/0")
}

fn is_dns_namespace(name: &str) -> bool {
    name == DNS_NAMESPACE || mentions_dns(name)
}

/// Whether a word can be said of a server of DNS.
pub(super) fn mentions_dns(word: &str) -> bool {
    word.to_ascii_lowercase().contains("dns")
}

/// Whether a tool writes something else in its place before it counts.
pub(super) fn is_open(word: &str) -> bool {
    word.contains(['$', '{', '}', '<', '>', '%']) || word.contains("__")
}

/// A label without the source that Cilium lets be written before it.
///
/// Source: cilium/cilium `pkg/labels/labels.go: ParseSelectLabel`.
pub(super) fn label(key: &str) -> &str {
    let bare = ["k8s:", "any:"].iter();
    let mut bare = bare.filter_map(|it| key.strip_prefix(it));
    bare.next().unwrap_or(key)
}
