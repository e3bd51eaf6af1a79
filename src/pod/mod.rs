//! The resolv.conf that the kubelet and the runtime write for a pod.
//!
//! The kubelet makes lists of words from its own file, its settings and the
//! pod's spec, cuts them, and hands them to the runtime, which writes them.
//! Each word keeps where it comes from.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.

mod admission;
pub mod host_name;
pub mod kubelet_file;
pub mod limits;
mod options;
pub mod rules;
mod runtime;

use std::collections::HashSet;
use std::net::IpAddr;

use crate::config::manifest::{DnsConfig, DnsPolicy, PodSpec};
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::{Found, Kubelet, Origin, Setting};
use crate::text::{Place, escaped};

pub use host_name::host_name;
use kubelet_file::HostDns;
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
    pub file: Seen<'a>,
    /// The addresses of its `--node-ip`; without one it does not know any.
    pub node_ips: &'a [IpAddr],
    /// The runtime.
    pub runtime: Runtime,
    /// The node's own `/etc/resolv.conf`, which some runtimes copy.
    pub node_file: Seen<'a>,
}

/// A file of the node, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
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
    /// What else an engineer should know. Whole sentences without a full stop.
    pub remarks: Vec<String>,
    /// Why search domains of the kubelet's file can be missing here.
    pub incomplete: Option<String>,
}

/// A word of a pod's file.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Word {
    /// Its bytes, without white space.
    pub text: Vec<u8>,
    /// Where it comes from.
    pub origin: WordOrigin,
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
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PodError {
    /// The file that it would be made of is not known.
    #[error("{what}: {why}")]
    Unknown {
        /// What the pod gets.
        what: &'static str,
        /// Why that is not known, or what to do.
        why: String,
    },
    /// The API server does not take such a pod.
    #[error("the API server refuses the pod: {0}")]
    Refused(String),
    /// The pod stays in `ContainerCreating`.
    #[error("the pod would not start: {0}")]
    NotStarted(String),
    /// The namespace is none.
    #[error("\"{0}\" is no namespace: lower-case letters, digits and '-', at most 63")]
    Namespace(String),
    /// The host name with its domain is too long, so that the pod does not start.
    #[error("the pod would not start: its host name {0} has more than 64 characters")]
    LongHostName(String),
}

/// What a pod's list of servers is made of.
enum Base {
    Cluster,
    /// What to say when the kubelet's file is needed and not known.
    Host(&'static str),
    None,
}

/// The file of a pod with this spec.
///
/// # Errors
///
/// The pod would not be taken or would not start; a file that decides is not
/// known; the namespace is none.
pub fn pod_file(pod: &PodSpec, id: PodId<'_>, makers: &Makers<'_>) -> Result<PodFile, PodError> {
    let rules = Rules::of(makers.kubelet.version);
    admission::check(pod, &rules)?;
    let mut file = PodFile::default();
    let base = base(pod, id, makers.kubelet, &mut file.events);
    let host = host_dns(&base, makers, &rules, &mut file)?;
    match base {
        Base::None => {}
        Base::Cluster => cluster_first(id.namespace, makers.kubelet, host, &mut file)?,
        Base::Host(_) => {
            file.servers = host.servers;
            file.searches = host.searches;
            file.options = host.options;
            file.draws_options = host.draws_options;
        }
    }
    if let Some(config) = &pod.dns_config {
        append(&mut file, config);
    }
    limits::cut(&mut file, rules.limits);
    runtime::write(file, makers)
}

/// Source: `getPodDNSType`, `GetPodDNS`.
fn base(pod: &PodSpec, id: PodId<'_>, kubelet: &Kubelet, events: &mut Vec<Event>) -> Base {
    match pod.dns_policy {
        DnsPolicy::None => Base::None,
        DnsPolicy::Default => {
            Base::Host("a pod with dnsPolicy Default gets the kubelet's own file")
        }
        DnsPolicy::ClusterFirst if pod.host_network => Base::Host(
            "on the host network dnsPolicy ClusterFirst is the same as Default, and the pod gets \
             the kubelet's own file (ClusterFirstWithHostNet would use the cluster's DNS)",
        ),
        DnsPolicy::ClusterFirst | DnsPolicy::ClusterFirstWithHostNet
            if kubelet.cluster_dns.value.is_empty() =>
        {
            missing_cluster_dns(id, events);
            Base::Host(
                "without clusterDNS dnsPolicy ClusterFirst is the same as Default, and the pod \
                 gets the kubelet's own file",
            )
        }
        DnsPolicy::ClusterFirst | DnsPolicy::ClusterFirstWithHostNet => Base::Cluster,
    }
}

/// The event's message names `ClusterFirst` for both policies.
fn missing_cluster_dns(id: PodId<'_>, events: &mut Vec<Event>) {
    let shown = |text: Option<&str>, none: &str| {
        text.map_or_else(|| none.to_owned(), |it| escaped(it.as_bytes()))
    };
    let message = "kubelet does not have ClusterDNS IP configured and cannot create Pod using \
                   \"ClusterFirst\" policy. Falling back to \"Default\" policy.";
    let pod = format!(
        "{}_{}({})",
        shown(id.name, "<name>"),
        escaped(id.namespace.as_bytes()),
        shown(id.uid, "<uid>")
    );
    for (object, message) in [
        (Object::Node, message.to_owned()),
        (Object::Pod, format!("pod: \"{pod}\". {message}")),
    ] {
        events.push(Event {
            object,
            reason: "MissingClusterDNS",
            message,
        });
    }
}

/// What the kubelet takes from its file. It reads that for every pod, so that
/// one which it cannot read stops pods of all policies.
fn host_dns(
    base: &Base,
    makers: &Makers<'_>,
    rules: &Rules,
    file: &mut PodFile,
) -> Result<HostDns, PodError> {
    let path = &makers.kubelet.resolv_conf.value;
    if path.is_empty() {
        return Ok(loopback(makers.node_ips));
    }
    match makers.file {
        Seen::Read(conf) => {
            let host = kubelet_file::read(conf, rules)
                .map_err(|error| PodError::NotStarted(unreadable(&error)))?;
            let has_domain = !makers.kubelet.cluster_domain.value.is_empty();
            let event = limits::check_host(path, &host.searches, has_domain, rules.limits);
            file.events.extend(event);
            if !matches!(base, Base::None) {
                let remark = |it: &crate::text::Placed<&str>| {
                    format!("{}: the kubelet passes over `{}`", it.place, it.value)
                };
                file.remarks.extend(host.ignored.iter().map(remark));
            }
            Ok(host)
        }
        Seen::Missing => {
            let path = escaped(path.as_bytes());
            Err(PodError::NotStarted(format!(
                "open {path}: no such file or directory (the kubelet's resolvConf; no pod of the \
                 node would start)"
            )))
        }
        Seen::Unknown(why) => match *base {
            Base::None => Ok(HostDns::default()),
            Base::Cluster => {
                file.incomplete = Some(why.to_owned());
                Ok(HostDns::default())
            }
            Base::Host(what) => Err(PodError::Unknown {
                what,
                why: why.to_owned(),
            }),
        },
    }
}

fn unreadable(error: &kubelet_file::FileError) -> String {
    let place = match error {
        kubelet_file::FileError::EmptyNameserver(place) => format!(" ({place})"),
        kubelet_file::FileError::TooLong => String::new(),
    };
    format!(
        "{error}{place}: the kubelet takes the whole file for an error, and no pod of the node \
         would start"
    )
}

/// What the kubelet gives out when its `resolvConf` is empty: a server for
/// each of its addresses, and the root.
fn loopback(node_ips: &[IpAddr]) -> HostDns {
    let word = |text: &str| Word {
        text: text.as_bytes().to_vec(),
        origin: WordOrigin::Kubelet,
    };
    let server = |ip: &IpAddr| word(if ip.is_ipv6() { "::1" } else { "127.0.0.1" });
    let mut servers: Vec<Word> = node_ips.iter().map(server).collect();
    if servers.is_empty() {
        servers.push(word("127.0.0.1"));
    }
    HostDns {
        servers,
        searches: vec![word(".")],
        ..HostDns::default()
    }
}

/// Source: `generateSearchesForDNSClusterFirst`: repeats stay if there is no
/// domain.
fn cluster_first(
    namespace: &str,
    kubelet: &Kubelet,
    host: HostDns,
    file: &mut PodFile,
) -> Result<(), PodError> {
    check_namespace(namespace)?;
    let word = |text: String, origin| Word {
        text: text.into_bytes(),
        origin,
    };
    let servers = kubelet.cluster_dns.value.iter();
    file.servers = servers
        .map(|ip| word(ip.to_string(), WordOrigin::ClusterDns))
        .collect();
    // An empty resolvConf has no search domains for these pods.
    let host_searches = match kubelet.resolv_conf.value.as_str() {
        "" => Vec::new(),
        _ => host.searches,
    };
    file.searches = match kubelet.cluster_domain.value.as_str() {
        "" => host_searches,
        domain => {
            let of_cluster = [
                format!("{namespace}.svc.{domain}"),
                format!("svc.{domain}"),
                domain.to_owned(),
            ];
            let of_cluster = of_cluster.map(|text| word(text, WordOrigin::ClusterDomain));
            without_repeats(of_cluster.into_iter().chain(host_searches))
        }
    };
    file.options = vec![word("ndots:5".to_owned(), WordOrigin::Kubelet)];
    Ok(())
}

/// A DNS label as RFC 1123 has it.
fn check_namespace(namespace: &str) -> Result<(), PodError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=63).contains(&namespace.len())
        && namespace.bytes().all(plain)
        && !namespace.starts_with('-')
        && !namespace.ends_with('-');
    if fits {
        Ok(())
    } else {
        Err(PodError::Namespace(escaped(namespace.as_bytes())))
    }
}

/// Adds what `dnsConfig` has. Repeats fall out only if there is one.
///
/// Source: `appendDNSConfig`.
fn append(file: &mut PodFile, config: &DnsConfig) {
    let word = |text: &String| Word {
        text: text.clone().into_bytes(),
        origin: WordOrigin::DnsConfig,
    };
    let servers = std::mem::take(&mut file.servers);
    file.servers = without_repeats(servers.into_iter().chain(config.nameservers.iter().map(word)));
    let searches = std::mem::take(&mut file.searches);
    file.searches = without_repeats(searches.into_iter().chain(config.searches.iter().map(word)));
    file.options = options::merged(std::mem::take(&mut file.options), &config.options);
    file.draws_options = file.options.len() > 1;
}

fn without_repeats(words: impl Iterator<Item = Word>) -> Vec<Word> {
    let mut known = HashSet::new();
    words.filter(|it| known.insert(it.text.clone())).collect()
}

/// A kubelet as kubeadm sets one up, for questions without a node.
pub fn assumed_kubelet() -> Kubelet {
    fn assumed<T>(value: T) -> Setting<T> {
        Setting {
            value,
            origin: Origin::BuiltIn,
            overrode: Vec::new(),
        }
    }
    Kubelet {
        found: Found::Named,
        version: None,
        resolv_conf: assumed("/etc/resolv.conf".to_owned()),
        cluster_dns: assumed(vec![DEFAULT_CLUSTER_DNS]),
        cluster_domain: assumed(DEFAULT_CLUSTER_DOMAIN.to_owned()),
        remarks: Vec::new(),
    }
}

impl PodError {
    /// Whether it is an answer: there would be no such pod.
    pub fn is_answer(&self) -> bool {
        match self {
            Self::Refused(_) | Self::NotStarted(_) | Self::LongHostName(_) => true,
            Self::Unknown { .. } | Self::Namespace(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
