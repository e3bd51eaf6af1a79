//! The resolv.conf and the host name that the kubelet gives a pod which one
//! has in mind.
//!
//! Only policies that do not hand the node's own servers to the pod are
//! written here; the others need the kubelet's file, and say so.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go` and
//! `pkg/kubelet/kubelet_pods.go: GeneratePodHostNameAndDomain`; the form of
//! the file is containerd's `parseDNSOptions` (CRI-O writes the same).

use std::net::IpAddr;

use crate::config::manifest::{DnsConfig, DnsOption, DnsPolicy, PodSpec};
use crate::text::escaped;

/// The cluster's domain where nothing else is said, as kubeadm sets it.
pub const DEFAULT_CLUSTER_DOMAIN: &str = "cluster.local";
/// The cluster's DNS where nothing else is said: the tenth address of
/// kubeadm's default service range.
pub const DEFAULT_CLUSTER_DNS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 96, 0, 10));

/// What the kubelet knows about its cluster.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cluster {
    /// `clusterDNS`, in order.
    pub dns: Vec<IpAddr>,
    /// `clusterDomain`, used as it is; empty: no search domains of the cluster.
    pub domain: String,
    /// The search list of the kubelet's file, which follows the cluster's.
    pub host_search: Vec<String>,
    /// How much fits a file.
    pub limits: Limits,
}

/// How much the kubelet lets into a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Name servers.
    pub servers: usize,
    /// Search domains.
    pub searches: usize,
    /// Characters of the search list, blanks between domains included.
    pub search_chars: usize,
}

/// A pod's resolv.conf before it is written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PodFile {
    /// Name servers, in order.
    pub servers: Vec<String>,
    /// Search domains, in order.
    pub searches: Vec<String>,
    /// Options as `name` or `name:value`. The kubelet writes those of a pod
    /// with options of its own in any order; here they are in that of the
    /// manifest.
    pub options: Vec<String>,
    /// What did not fit, name servers first.
    pub cut: Vec<Cut>,
}

/// Something that did not fit the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cut {
    /// A name server after the last one that fits.
    Server(String),
    /// A search domain after the last one that fits.
    Search(String),
    /// A search domain that is longer than a domain name can be.
    LongSearch(String),
}

/// Why there is no such file, or no such pod.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PodError {
    /// `dnsPolicy: Default`.
    #[error(
        "a pod with dnsPolicy Default gets the kubelet's own file: give the file that the \
         kubelet's resolvConf names with --file"
    )]
    DefaultPolicy,
    /// `dnsPolicy: ClusterFirst` with `hostNetwork: true`.
    #[error(
        "on the host network dnsPolicy ClusterFirst is the same as Default, and the pod gets the \
         kubelet's own file: give the file that the kubelet's resolvConf names with --file \
         (ClusterFirstWithHostNet would use the cluster's DNS)"
    )]
    HostNetwork,
    /// The cluster has no DNS.
    #[error(
        "without clusterDNS dnsPolicy ClusterFirst is the same as Default, and the pod gets the \
         kubelet's own file: give the file that the kubelet's resolvConf names with --file"
    )]
    NoClusterDns,
    /// `dnsPolicy: None` without name servers, which the API server refuses.
    #[error("dnsPolicy None needs at least one name server in dnsConfig")]
    NoServers,
    /// The namespace is none.
    #[error("\"{0}\" is no namespace: lower-case letters, digits and '-', at most 63")]
    Namespace(String),
    /// The host name with its domain is too long, so that the pod does not start.
    #[error("the pod would not start: its host name {0} has more than 64 characters")]
    LongHostName(String),
}

impl Limits {
    /// Since Kubernetes 1.26, by default (gate `ExpandedDNSConfig`).
    pub const EXPANDED: Self = Self {
        servers: 3,
        searches: 32,
        search_chars: 2048,
    };
    /// Up to Kubernetes 1.25.
    pub const LEGACY: Self = Self {
        servers: 3,
        searches: 6,
        search_chars: 256,
    };
}

impl Default for Cluster {
    /// kubeadm's defaults, without search domains of the node.
    fn default() -> Self {
        Self {
            dns: vec![DEFAULT_CLUSTER_DNS],
            domain: DEFAULT_CLUSTER_DOMAIN.to_owned(),
            host_search: Vec::new(),
            limits: Limits::EXPANDED,
        }
    }
}

/// The file of a pod with this spec.
///
/// # Errors
///
/// The pod gets the kubelet's file; there are no name servers; the namespace
/// is none.
pub fn pod_file(pod: &PodSpec, namespace: &str, cluster: &Cluster) -> Result<PodFile, PodError> {
    let config = pod.dns_config.as_ref();
    match pod.dns_policy {
        DnsPolicy::Default => Err(PodError::DefaultPolicy),
        DnsPolicy::ClusterFirst if pod.host_network => Err(PodError::HostNetwork),
        DnsPolicy::ClusterFirst | DnsPolicy::ClusterFirstWithHostNet => {
            cluster_first(namespace, cluster, config)
        }
        DnsPolicy::None => {
            let file = PodFile::default().with(config).cut(cluster.limits);
            if file.servers.is_empty() {
                return Err(PodError::NoServers);
            }
            Ok(file)
        }
    }
}

/// The file of a pod in `namespace` with policy `ClusterFirst`, not on the host
/// network.
///
/// # Errors
///
/// The cluster has no DNS; the namespace is none.
pub fn cluster_first(
    namespace: &str,
    cluster: &Cluster,
    config: Option<&DnsConfig>,
) -> Result<PodFile, PodError> {
    check_namespace(namespace)?;
    if cluster.dns.is_empty() {
        return Err(PodError::NoClusterDns);
    }
    let domain = cluster.domain.as_str();
    let mut searches = Vec::new();
    if !domain.is_empty() {
        searches.push(format!("{namespace}.svc.{domain}"));
        searches.push(format!("svc.{domain}"));
        searches.push(domain.to_owned());
    }
    searches.extend(cluster.host_search.iter().cloned());
    let file = PodFile {
        servers: cluster.dns.iter().map(IpAddr::to_string).collect(),
        searches: without_repeats(searches),
        options: vec!["ndots:5".to_owned()],
        cut: Vec::new(),
    };
    Ok(file.with(config).cut(cluster.limits))
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

impl PodFile {
    /// The bytes of the file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |keyword: &str, words: &[String]| {
            if !words.is_empty() {
                text.extend([keyword, " ", &words.join(" "), "\n"]);
            }
        };
        line("search", &self.searches);
        for server in &self.servers {
            line("nameserver", std::slice::from_ref(server));
        }
        line("options", &self.options);
        text
    }

    /// With what `dnsConfig` adds. Repeats fall out only if there is one.
    fn with(mut self, config: Option<&DnsConfig>) -> Self {
        let Some(config) = config else {
            return self;
        };
        self.servers.extend(config.nameservers.iter().cloned());
        self.searches.extend(config.searches.iter().cloned());
        Self {
            servers: without_repeats(self.servers),
            searches: without_repeats(self.searches),
            options: merged(&self.options, &config.options),
            cut: self.cut,
        }
    }

    /// Without what does not fit.
    ///
    /// Source: `formDNSNameserversFitsLimits`, `formDNSSearchFitsLimits`.
    fn cut(mut self, limits: Limits) -> Self {
        let servers = split_after(&mut self.servers, limits.servers);
        self.cut.extend(servers.into_iter().map(Cut::Server));
        let beyond = split_after(&mut self.searches, limits.searches);
        let (fitting, long) = std::mem::take(&mut self.searches)
            .into_iter()
            .partition(|search| search.len() <= MAX_DOMAIN_CHARS);
        self.searches = fitting;
        self.cut.extend(long.into_iter().map(Cut::LongSearch));
        let mut length = 0;
        let kept = self
            .searches
            .iter()
            .take_while(|search| {
                length += search.len() + 1;
                length - 1 <= limits.search_chars
            })
            .count();
        let tail = split_after(&mut self.searches, kept);
        self.cut
            .extend(tail.into_iter().chain(beyond).map(Cut::Search));
        self
    }
}

/// The longest domain that is kept: newer glibc aborts on longer ones.
const MAX_DOMAIN_CHARS: usize = 253;

/// What stands after the first so many.
fn split_after(list: &mut Vec<String>, most: usize) -> Vec<String> {
    list.split_off(most.min(list.len()))
}

fn without_repeats(list: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(list.len());
    for text in list {
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

/// Options by name; the last value of a name counts, an empty one is none.
///
/// Source: `mergeDNSOptions`.
fn merged(base: &[String], added: &[DnsOption]) -> Vec<String> {
    let base = base.iter().map(|option| match option.split_once(':') {
        Some((name, value)) => (name, value),
        None => (option.as_str(), ""),
    });
    let added = added.iter().map(|option| {
        let value = option.value.as_deref().unwrap_or_default();
        (option.name.as_str(), value)
    });
    let mut options: Vec<(&str, &str)> = Vec::new();
    for (name, value) in base.chain(added) {
        match options.iter_mut().find(|(known, _)| *known == name) {
            Some(option) => option.1 = value,
            None => options.push((name, value)),
        }
    }
    let text = |(name, value): (&str, &str)| match value {
        "" => name.to_owned(),
        _ => format!("{name}:{value}"),
    };
    options.into_iter().map(text).collect()
}

/// `10.0.0.3 (name server, too many)`.
impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (text, why) = match self {
            Self::Server(text) => (text, "name server, too many"),
            Self::Search(text) => (text, "search domain, the list is too long"),
            Self::LongSearch(text) => (text, "search domain of more than 253 characters"),
        };
        write!(f, "{} ({why})", escaped(text.as_bytes()))
    }
}

/// What `hostname` prints in a pod named `name`; `None` on the host network,
/// where it is the node's. Pods of a template have more behind the name.
///
/// # Errors
///
/// The name with its domain is too long for the kernel.
pub fn host_name(
    pod: &PodSpec,
    name: &str,
    namespace: &str,
    domain: &str,
) -> Result<Option<String>, PodError> {
    if pod.host_network {
        return Ok(None);
    }
    let name = pod.hostname.as_deref().unwrap_or(name);
    let short = match name.get(..MAX_HOST_NAME_CHARS) {
        Some(start) if name.len() > MAX_HOST_NAME_CHARS => start.trim_end_matches(['-', '.']),
        _ => name,
    };
    match &pod.subdomain {
        Some(subdomain) if pod.hostname_is_fqdn => {
            let full = format!("{short}.{subdomain}.{namespace}.svc.{domain}");
            if full.len() > MAX_FQDN_CHARS {
                return Err(PodError::LongHostName(escaped(full.as_bytes())));
            }
            Ok(Some(full))
        }
        _ => Ok(Some(short.to_owned())),
    }
}

/// Source: `truncatePodHostnameIfNeeded`.
const MAX_HOST_NAME_CHARS: usize = 63;
/// What the kernel takes (`sethostname(2)`). Source: `GeneratePodHostNameAndDomain`.
const MAX_FQDN_CHARS: usize = 64;

#[cfg(test)]
mod tests;
