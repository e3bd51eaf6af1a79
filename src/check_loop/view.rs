//! Which name servers a DNS server finds in a file: the files that pods have
//! now, and those that the kubelet would write.

use std::net::{IpAddr, SocketAddr};

use super::facts::Unknown;
use super::quote::{self, quote};
use super::report::Proof;
use crate::address::DNS_PORT;
use crate::config::manifest::{DnsPolicy, PodSpec};
use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::{Kubelet, Origin, Setting};
use crate::loopback::name_servers;
use crate::node::{HostFile, Node, Pod, is_cluster_dns};
use crate::pod::{KnownFile, Makers, PodId, Word, WordOrigin, pod_file};
use crate::text::{Source, Span, escaped};

/// The file that every program of a pod reads.
pub(super) const RESOLV_CONF: &str = "/etc/resolv.conf";

/// A server that a file lists, and what says so.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Listed {
    pub(super) to: SocketAddr,
    pub(super) proof: Vec<Proof>,
}

/// The servers of a file; an error says why they are not known.
pub(super) type View = Result<Vec<Listed>, Unknown>;

/// What a pod's DNS servers come from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Policy {
    /// The cluster's DNS: `ClusterFirst`, `ClusterFirstWithHostNet`.
    Cluster,
    /// The kubelet's file: `Default`, and `ClusterFirst` on the host network.
    Host,
    /// The pod's own `dnsConfig`, under `None`.
    Own,
    /// Its file is neither what the kubelet would write nor one of the node's,
    /// and its name is none that installers give.
    Unknown,
}

/// The servers that a pod has now.
pub(super) fn now(pod: &Pod) -> View {
    match pod.own_file() {
        Some(conf) => Ok(listed(conf)),
        None => Err(Unknown::PodFile(pod.label())),
    }
}

/// The servers that a pod would get now; of a pod with the usual policy of DNS
/// servers, `Default`, if none is given.
pub(super) fn next(node: &Node, pod: Option<&Pod>) -> View {
    if let Some(pod) = pod.filter(|it| it.mounts_resolv_conf()) {
        return now(pod);
    }
    let Some(kubelet) = &node.kubelet else {
        return Err(Unknown::NoKubelet);
    };
    let policy = pod.map_or(Policy::Host, |pod| policy(node, pod));
    if let (Policy::Own, Some(pod)) = (policy, pod) {
        return now(pod);
    }
    if let (Policy::Unknown, Some(pod)) = (policy, pod) {
        return Err(Unknown::DnsPolicy(pod.label()));
    }
    written(node, kubelet, pod, policy)
}

/// The servers that the kubelet would write for a pod of this policy.
fn written(node: &Node, kubelet: &Kubelet, pod: Option<&Pod>, policy: Policy) -> View {
    if let (Origin::Unread(reason), Policy::Host) = (&kubelet.resolv_conf.origin, policy) {
        return Err(Unknown::ResolvConf(reason.clone()));
    }
    let spec = PodSpec {
        dns_policy: match policy {
            Policy::Cluster => DnsPolicy::ClusterFirstWithHostNet,
            Policy::Host | Policy::Own | Policy::Unknown => DnsPolicy::Default,
        },
        host_network: pod.is_some_and(|pod| pod.host_network == Some(true)),
        ..PodSpec::default()
    };
    let namespace = pod.and_then(|pod| pod.namespace.as_deref());
    let id = PodId {
        namespace: namespace.unwrap_or("kube-system"),
        name: pod.and_then(|pod| pod.name.as_deref()),
        uid: pod.and_then(|pod| pod.uid.as_deref()),
    };
    let makers = Makers {
        kubelet,
        file: seen(node.kubelet_file.as_ref(), NOT_READ),
        node_ips: &[],
        runtime: node.runtime.runtime,
        node_file: seen(node.node_file.as_ref(), "that file was not read"),
    };
    match pod_file(&spec, id, &makers) {
        Ok(file) => Ok(file
            .servers
            .iter()
            .filter_map(|it| of_word(node, kubelet, it))
            .collect()),
        Err(error) => Err(Unknown::Pod(error)),
    }
}

/// What helps where the kubelet's file is not known.
const NOT_READ: &str = "that file was not read (--node-file stands in for it)";

fn seen<'f>(file: Option<&'f HostFile>, not_read: &'f str) -> KnownFile<'f> {
    match file.map(|file| &file.content) {
        Some(Ok(conf)) => KnownFile::Read(conf),
        Some(Err(unread)) if unread.is_missing => KnownFile::Missing,
        Some(Err(unread)) => KnownFile::Unknown(&unread.reason),
        None => KnownFile::Unknown(not_read),
    }
}

/// A name server that the kubelet would write; `None`: no address, so that
/// nobody asks it.
fn of_word(node: &Node, kubelet: &Kubelet, word: &Word) -> Option<Listed> {
    let shown = escaped(&word.text);
    let conf = ResolvConf::parse(Source::new(
        "",
        [b"nameserver ", word.text.as_slice()].concat(),
    ));
    let (ip, _) = name_servers(&conf).next()?;
    let path = escaped(kubelet.resolv_conf.value.as_bytes());
    let resolv_conf = || origin(node, &kubelet.resolv_conf, &path);
    let proof: Vec<Proof> = match &word.origin {
        WordOrigin::KubeletFile(place) => {
            let line = quote(node, place, &shown);
            resolv_conf().into_iter().chain([line]).collect()
        }
        WordOrigin::NodeFile(place) => vec![quote(node, place, &shown)],
        WordOrigin::ClusterDns | WordOrigin::ClusterDomain => {
            let address = ip.to_string();
            origin(node, &kubelet.cluster_dns, &address)
                .into_iter()
                .collect()
        }
        WordOrigin::Kubelet | WordOrigin::DnsConfig => resolv_conf().into_iter().collect(),
    };
    Some(Listed {
        to: SocketAddr::new(ip, DNS_PORT),
        proof,
    })
}

/// The servers of a file of the node.
pub(super) fn of_file(file: &HostFile) -> View {
    match &file.content {
        Ok(conf) => Ok(listed(conf)),
        Err(unread) => Err(Unknown::Unread(unread.reason.clone())),
    }
}

/// Every server of the file, each with its line: from its first word to the
/// end of the server's.
pub(super) fn listed(conf: &ResolvConf) -> Vec<Listed> {
    let mut lines = conf.lines().peekable();
    let line = |(ip, span): (IpAddr, Span)| {
        while lines.next_if(|it| it.span().end < span.end).is_some() {}
        let first = lines.peek().and_then(|it| it.words().next());
        let start = first.map_or(span.start, |it| it.span.start);
        let words = Span {
            start,
            end: span.end,
        };
        let proof = Proof {
            place: conf.place_of(start),
            text: escaped(conf.bytes(words)),
        };
        Listed {
            to: SocketAddr::new(ip, DNS_PORT),
            proof: vec![proof],
        }
    };
    name_servers(conf).map(line).collect()
}

/// What stands where a setting was made; `value` is what it has from there.
pub(super) fn origin<T>(node: &Node, setting: &Setting<T>, value: &str) -> Option<Proof> {
    match &setting.origin {
        Origin::File(place) => Some(quote(node, place, value)),
        Origin::Argument { pid, argument } => Some(quote::argument(node, *pid, argument)),
        Origin::BuiltIn | Origin::Option(_) | Origin::Pod(_) | Origin::Unread(_) => None,
    }
}

/// What the pod's file was made of, recognised by the file itself: the pod's spec
/// is not on the node. The kubelet gives `ndots:5` and the cluster's search
/// list to pods that use the cluster's DNS, and to no others.
pub(crate) fn policy(node: &Node, pod: &Pod) -> Policy {
    let Some(conf) = pod.own_file() else {
        return Policy::Host;
    };
    let domain = node
        .kubelet
        .as_ref()
        .map(|it| it.cluster_domain.value.as_str());
    let mut has_ndots = false;
    let mut has_search = false;
    for line in conf.lines() {
        let mut words = line.words().map(|word| word.bytes);
        match words.next() {
            Some(b"options") => has_ndots |= words.any(|word| word == b"ndots:5"),
            Some(b"search") => has_search |= words.any(|word| is_of_cluster(word, domain)),
            _ => {}
        }
    }
    if !has_ndots || !has_search {
        let is_host = is_installers(pod) || can_be_handed_over(node, pod, conf);
        return if is_host {
            Policy::Host
        } else {
            Policy::Unknown
        };
    }
    // Any pod can have such a list; the address says whose it is.
    let known = node.kubelet.as_ref().map(|it| &it.cluster_dns.value);
    let first = name_servers(conf).next().map(|(ip, _)| ip);
    match (known, first) {
        (Some(known), Some(first)) if !known.is_empty() && !known.contains(&first) => Policy::Own,
        _ => Policy::Cluster,
    }
}

/// Whether the pod is named as installers name those of the cluster's DNS, to
/// which all of them give `Default`.
fn is_installers(pod: &Pod) -> bool {
    let name = pod.name.as_deref().unwrap_or_default();
    let names = ["coredns-", "kube-dns-", "rke2-coredns-", "dns-default-"];
    is_cluster_dns(pod) && names.iter().any(|it| name.starts_with(it))
}

/// Whether only the pod's name says that it has the kubelet's file: what it has
/// is neither what the kubelet would write nor another file of the node.
pub(crate) fn is_supposed(node: &Node, pod: &Pod) -> bool {
    let is_handed = |conf: &ResolvConf| can_be_handed_over(node, pod, conf);
    policy(node, pod) == Policy::Host && pod.own_file().is_some_and(|it| !is_handed(it))
}

/// Whether the kubelet can have written the file from its own: it would write
/// the same servers or search domains, or they are in another file of the node,
/// which it can have had.
fn can_be_handed_over(node: &Node, pod: &Pod, conf: &ResolvConf) -> bool {
    let Some(kubelet) = &node.kubelet else {
        return true;
    };
    let Ok(expected) = written(node, kubelet, Some(pod), Policy::Host) else {
        return true;
    };
    let addresses = |listed: &[Listed]| -> Vec<IpAddr> {
        let first = listed.iter().take(MAX_SERVERS);
        first.map(|it| it.to.ip()).collect()
    };
    let own = addresses(&listed(conf));
    if own == addresses(&expected) {
        return true;
    }
    let search = searches(conf);
    let kept = |file: &HostFile| file.content.as_ref().ok().cloned();
    let kubelets = node.kubelet_file.as_ref().and_then(kept);
    if !search.is_empty() && kubelets.is_some_and(|it| searches(&it) == search) {
        return true;
    }
    let others = node.node_file.iter().chain(&node.running_file);
    let mut others = others.chain(&node.files).filter_map(kept);
    others.any(|it| addresses(&listed(&it)) == own)
}

/// How many servers the kubelet hands over.
///
/// Source: kubernetes `pkg/apis/core/validation: MaxDNSNameservers`.
const MAX_SERVERS: usize = 3;

/// The search domains of a file, without final dots.
fn searches(conf: &ResolvConf) -> Vec<Vec<u8>> {
    let mut searches = Vec::new();
    for line in conf.lines() {
        let mut words = line.words().map(|word| word.bytes);
        if words.next() == Some(b"search") {
            let without_dot = |it: &[u8]| it.strip_suffix(b".").unwrap_or(it).to_vec();
            searches = words.map(without_dot).collect();
        }
    }
    searches
}

/// Whether the file has the search list that the kubelet writes for the cluster's DNS.
pub(super) fn has_cluster_search(conf: &ResolvConf) -> bool {
    searches(conf).iter().any(|it| is_of_cluster(it, None))
}

/// Whether it is `svc.DOMAIN`.
fn is_of_cluster(search: &[u8], domain: Option<&str>) -> bool {
    let Some(rest) = search.strip_prefix(b"svc.") else {
        return false;
    };
    match domain {
        Some(domain) if !domain.is_empty() => rest == domain.as_bytes(),
        _ => true,
    }
}
