//! The resolv.conf that the kubelet and the runtime write for a pod.
//!
//! The kubelet makes lists of words from its own file, its settings and the
//! pod's spec, cuts them, and hands them to the runtime, which writes them.
//! Each word keeps where it comes from.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.

mod admission;
pub mod arguments;
pub mod host_name;
pub mod kubelet_file;
pub mod limits;
mod lists;
mod options;
pub mod rules;
mod runtime;

use std::net::IpAddr;

use crate::config::manifest::PodSpec;
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::effective::{Defaults, Inputs, effective};
use crate::kubelet::{self, Found, Kubelet, Origin, Refusal, Running, Version};
use crate::text::{Place, Placed};

pub use admission::is_search;
pub use host_name::host_name;
pub use limits::{Dropped, Limit};
pub use rules::{Limits, Rules, Runtime, RuntimeKind};

/// The cluster's domain where nothing else is said, as kubeadm sets it.
pub const DEFAULT_CLUSTER_DOMAIN: &str = "cluster.local";
/// The cluster's DNS where nothing else is said: the tenth address of
/// kubeadm's default service range.
pub const DEFAULT_CLUSTER_DNS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 96, 0, 10));

/// What makes a pod's file, apart from the pod.
#[derive(Clone, Debug)]
pub struct Makers<'a> {
    /// The kubelet; the rules of the newest version count if it has none.
    pub kubelet: &'a Kubelet,
    /// The file that its `resolvConf` names. Not asked for if that is empty.
    pub file: KnownFile<'a>,
    /// The addresses of its `--node-ip`; without one it does not know any.
    pub node_ips: &'a [IpAddr],
    /// The runtime.
    pub runtime: Runtime,
    /// The node's own `/etc/resolv.conf`, which some runtimes copy.
    pub node_file: KnownFile<'a>,
}

/// A file of the node, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub enum KnownFile<'a> {
    /// It was read.
    Read(&'a ResolvConf),
    /// It is not there, or a link leads nowhere.
    Missing,
    /// It is not known; the reason, or what to do, without a full stop.
    Unknown(&'a str),
}

/// Which pod it is.
#[derive(Clone, Copy, Debug)]
pub struct PodId<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name, if known; only a message has it.
    pub name: Option<&'a str>,
    /// Its uid, if known; only a message has it.
    pub uid: Option<&'a str>,
}

/// A pod's resolv.conf.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PodFile {
    /// The file, byte for byte.
    pub bytes: Vec<u8>,
    /// Its name servers, in order; not all need be addresses.
    pub servers: Vec<Word>,
    /// Its search domains, in order.
    pub searches: Vec<Word>,
    /// Its options as `name` or `name:value`.
    pub options: Vec<Word>,
    /// Whether the kubelet draws the order of the options; here they are in
    /// the order in which they were first named.
    pub draws_options: bool,
    /// What did not fit, name servers first.
    pub dropped: Vec<Dropped>,
    /// The events that announce it, in order.
    pub events: Vec<Event>,
    /// What else an engineer should know.
    pub remarks: Vec<Remark>,
    /// Why it can be that the pod gets something else: the kubelet's file or a
    /// setting of it is not known. Without a full stop.
    pub incomplete: Option<String>,
}

/// Something worth knowing of a pod's file. `render` has the words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Remark {
    /// Something of the node could not be read: a sentence without a full stop.
    Unread(String),
    /// Something about the kubelet.
    Kubelet(kubelet::Remark),
    /// The kubelet still has what its files said when it was started.
    NotRestarted(Running),
    /// The file of another pod is taken for the kubelet's file.
    OfPod {
        /// Its path.
        path: String,
        /// Which pod's it is.
        origin: Origin,
    },
    /// What the node itself tells of versions: each with the file that tells it.
    Versions {
        /// That of the kubelet.
        kubelet: Option<(Version, String)>,
        /// That of the runtime.
        runtime: Option<(RuntimeKind, Version, String)>,
    },
    /// Nothing says what the cluster's DNS is: [`DEFAULT_CLUSTER_DNS`].
    AssumedDns,
    /// Nothing says what its domain is: [`DEFAULT_CLUSTER_DOMAIN`].
    AssumedDomain,
    /// The version of the kubelet decides, and not all of it is known.
    AssumedVersion {
        /// What is known of it: the newest that fits is assumed.
        known: Option<Version>,
        /// One that does something else.
        other: Version,
    },
    /// Of several pods in a manifest the first one counts.
    FirstOf {
        /// It.
        first: String,
        /// The others; never empty.
        others: Vec<String>,
    },
    /// The kubelet passes over this keyword of its file.
    Ignored(Placed<&'static str>),
    /// It hands over nothing, and this runtime writes an empty file.
    Empty(RuntimeKind),
    /// It hands over nothing, and this runtime copies the node's own file.
    Copied(RuntimeKind),
}

/// A word of a pod's file.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Word {
    /// Its bytes, without white space.
    pub text: Vec<u8>,
    /// Where it comes from.
    pub origin: WordOrigin,
}

impl Word {
    fn new(text: impl Into<Vec<u8>>, origin: WordOrigin) -> Self {
        let text = text.into();
        Self { text, origin }
    }
}

/// Where a word of a pod's file comes from.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum WordOrigin {
    /// The kubelet's file, at this word.
    KubeletFile(Place),
    /// The node's own file, which the runtime copied, at this word.
    NodeFile(Place),
    /// `clusterDNS`.
    ClusterDns,
    /// `clusterDomain`.
    ClusterDomain,
    /// The pod's `dnsConfig`.
    DnsConfig,
    /// The kubelet itself: `ndots:5`, loopback servers for an empty
    /// `resolvConf`.
    Kubelet,
}

/// An event that the kubelet records, always a Warning.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Event {
    /// What it is about.
    pub object: Object,
    /// `DNSConfigForming`…
    pub reason: &'static str,
    /// The message, safe to print.
    pub message: String,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Object {
    /// The node.
    Node,
    /// The pod.
    Pod,
}

/// Why there is no such file, or no such pod.
#[derive(Clone, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum PodError {
    /// The file that it would be made of is not known.
    #[error("{what}: {why}")]
    Unknown {
        /// What the pod gets.
        what: Undecided,
        /// Why that is not known, or what to do.
        why: String,
    },
    /// The API server does not take such a pod.
    #[error("the API server refuses the pod: {0}")]
    Refused(String),
    /// The pod stays in `ContainerCreating`.
    #[error("the pod would not start: {0}")]
    NotStarted(String),
    /// There is no kubelet that could start it.
    #[error("no pod starts: {0}")]
    NoKubelet(Refusal),
    /// The namespace is none.
    #[error("\"{0}\" is no namespace: lower-case letters, digits and '-', at most 63")]
    Namespace(String),
    /// The host name with its domain is too long, so that the pod does not start.
    #[error("the pod would not start: its host name {0} has more than 64 characters")]
    LongHostName(String),
}

/// What a pod gets whose file is not known.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, thiserror::Error)]
pub enum Undecided {
    /// The kubelet's file, by its policy.
    #[error("a pod with dnsPolicy Default gets the kubelet's own file")]
    Default,
    /// The same, by the host network.
    #[error(
        "on the host network dnsPolicy ClusterFirst is the same as Default, and the pod gets the \
         kubelet's own file (ClusterFirstWithHostNet would use the cluster's DNS)"
    )]
    HostNetwork,
    /// The cluster's DNS, or the kubelet's file.
    #[error("whether the kubelet has clusterDNS, which this pod would get, is not known")]
    ClusterDns,
    /// The kubelet's file, as there is no cluster's DNS.
    #[error(
        "without clusterDNS dnsPolicy ClusterFirst is the same as Default, and the pod gets the \
         kubelet's own file"
    )]
    NoClusterDns,
    /// An empty file or the node's, by the version of containerd.
    #[error(
        "the kubelet hands over no servers, searches and options: containerd before 1.6.34 and \
         1.7.20 copies the node's own /etc/resolv.conf, newer ones write an empty file"
    )]
    Containerd,
    /// The file that Docker makes.
    #[error(
        "the kubelet hands over no servers, searches and options, and Docker leaves the file that \
         it made itself"
    )]
    Docker,
    /// The node's own file.
    #[error(
        "the kubelet hands over no servers, searches and options, and the runtime copies the \
         node's own /etc/resolv.conf"
    )]
    NodeFile,
    /// A part of it.
    #[error("not every byte of the pod's file is known")]
    Bytes,
}

/// The file of a pod with this spec.
///
/// # Errors
///
/// The pod would not be taken or would not start; a file that decides is not
/// known; the namespace is none.
pub fn pod_file(pod: &PodSpec, id: PodId<'_>, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let rules = Rules::of_kubelet(makers.kubelet);
    admission::check(pod, &rules)?;
    if let Some(reason) = &makers.kubelet.stops {
        return Err(PodError::NoKubelet(reason.clone()));
    }
    let mut file = lists::make(pod, id, makers, &rules)?;
    limits::cut(&mut file, rules.limits);
    runtime::write(file, makers)
}

/// The newest of the versions where rules changed whose kubelet would do
/// something else with this pod than the one that was assumed does: the newest,
/// or the last release of a minor version of which no more is known. `None`:
/// there is none, or the version is known.
pub fn first_other(pod: &PodSpec, id: PodId<'_>, makers: &Makers<'_>) -> Option<Version> {
    let assumed = makers.kubelet.version;
    let can_be = |it: &Version| match assumed {
        None => true,
        Some(known) => known == Version::minor(it.major, it.minor),
    };
    let outcome = |version| {
        let kubelet = Kubelet {
            version,
            ..makers.kubelet.clone()
        };
        let makers = Makers {
            kubelet: &kubelet,
            ..makers.clone()
        };
        pod_file(pod, id, &makers).map(|file| file.bytes)
    };
    let changed = rules::LAST_BEFORE_CHANGES.into_iter().filter(can_be);
    let expected = outcome(assumed);
    changed
        .map(Some)
        .find(|&version| outcome(version) != expected)
        .flatten()
}

/// A kubelet as kubeadm sets one up, for questions without a node.
pub fn assumed_kubelet() -> Kubelet {
    let defaults = Defaults {
        cluster_dns: vec![DEFAULT_CLUSTER_DNS],
        cluster_domain: DEFAULT_CLUSTER_DOMAIN.to_owned(),
        ..Defaults::default()
    };
    let inputs = Inputs {
        defaults,
        ..Inputs::default()
    };
    effective(Found::Named, inputs)
}

impl PodError {
    /// Whether it is because the kubelet's own file is not known, or cannot be
    /// handed over.
    pub fn is_about_kubelet_file(&self) -> bool {
        match self {
            Self::NotStarted(_) | Self::LongHostName(_) => true,
            Self::Unknown { what, .. } => matches!(
                what,
                Undecided::Default | Undecided::HostNetwork | Undecided::NoClusterDns
            ),
            Self::Refused(_) | Self::NoKubelet(_) | Self::Namespace(_) => false,
        }
    }

    /// Whether it is an answer: there would be no such pod.
    pub fn is_answer(&self) -> bool {
        match self {
            Self::Refused(_) | Self::NotStarted(_) | Self::NoKubelet(_) | Self::LongHostName(_) => {
                true
            }
            Self::Unknown { .. } | Self::Namespace(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
