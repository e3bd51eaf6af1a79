//! The lists of words that the kubelet makes, before anything is cut.
//!
//! Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::config::manifest::{DnsConfig, DnsPolicy, PodSpec};
use crate::kubelet::{Kubelet, Origin};
use crate::pod::admission::is_label;
use crate::pod::kubelet_file::{self, FileError, HostDns};
use crate::pod::rules::Rules;
use crate::pod::{
    Event, KnownFile, Makers, Object, PodError, PodFile, PodId, Remark, Undecided, Word,
    WordOrigin, limits, options,
};
use crate::text::escaped;

/// The lists, the events on the way to them, and remarks.
pub(super) fn make(
    pod: &PodSpec,
    id: PodId<'_>,
    makers: &Makers<'_>,
    rules: &Rules,
) -> Result<PodFile, PodError> {
    let mut file = PodFile::default();
    let base = base(pod, id, makers.kubelet, &mut file.events);
    let host = host_dns(&base, makers, rules, &mut file)?;
    file.incomplete = file
        .incomplete
        .or_else(|| guessed(&base, pod, makers.kubelet));
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
    Ok(file)
}

/// What a pod's list of servers is made of.
enum Base {
    Cluster,
    /// What to say when the kubelet's file is needed and not known.
    Host(Undecided),
    None,
}

/// Source: `getPodDNSType`, `GetPodDNS`.
fn base(pod: &PodSpec, id: PodId<'_>, kubelet: &Kubelet, events: &mut Vec<Event>) -> Base {
    match pod.dns_policy {
        DnsPolicy::None => Base::None,
        DnsPolicy::Default => Base::Host(Undecided::Default),
        DnsPolicy::ClusterFirst if pod.host_network => Base::Host(Undecided::HostNetwork),
        DnsPolicy::ClusterFirst | DnsPolicy::ClusterFirstWithHostNet
            if kubelet.cluster_dns.value.is_empty() =>
        {
            if matches!(kubelet.cluster_dns.origin, Origin::Unread(_)) {
                return Base::Host(Undecided::ClusterDns);
            }
            missing_cluster_dns(id, events);
            Base::Host(Undecided::NoClusterDns)
        }
        DnsPolicy::ClusterFirst | DnsPolicy::ClusterFirstWithHostNet => Base::Cluster,
    }
}

/// Why a setting that counts is only a guess.
fn guessed(base: &Base, pod: &PodSpec, kubelet: &Kubelet) -> Option<String> {
    let origins: &[&Origin] = match base {
        Base::None => &[],
        Base::Cluster => &[
            &kubelet.cluster_dns.origin,
            &kubelet.cluster_domain.origin,
            &kubelet.resolv_conf.origin,
        ],
        // Without clusterDNS it would get the cluster's.
        Base::Host(_) if pod.uses_cluster_dns() => {
            &[&kubelet.cluster_dns.origin, &kubelet.resolv_conf.origin]
        }
        Base::Host(_) => &[&kubelet.resolv_conf.origin],
    };
    origins.iter().find_map(|origin| match origin {
        Origin::Unread(reason) => Some(reason.clone()),
        _ => None,
    })
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
        KnownFile::Read(conf) => {
            let host = kubelet_file::read_kubelet_file(conf, rules)
                .map_err(|error| PodError::NotStarted(unreadable(&error)))?;
            let has_domain = !makers.kubelet.cluster_domain.value.is_empty();
            let event = limits::check_host(path, &host.searches, has_domain, rules.limits);
            file.events.extend(event);
            if !matches!(base, Base::None) {
                let ignored = host.ignored.iter().cloned().map(Remark::Ignored);
                file.remarks.extend(ignored);
            }
            Ok(host)
        }
        KnownFile::Missing => {
            let path = escaped(path.as_bytes());
            Err(PodError::NotStarted(format!(
                "open {path}: no such file or directory (the kubelet's resolvConf; no pod of the \
                 node would start)"
            )))
        }
        KnownFile::Unknown(why) => match *base {
            Base::None => Ok(HostDns::default()),
            Base::Cluster => {
                file.incomplete = Some(format!(
                    "the search domains of the kubelet's file follow those of the cluster; {why}"
                ));
                Ok(HostDns::default())
            }
            Base::Host(what) => Err(PodError::Unknown {
                what,
                why: why.to_owned(),
            }),
        },
    }
}

fn unreadable(error: &FileError) -> String {
    let place = match error {
        FileError::EmptyNameserver(place) => format!(" ({place})"),
        FileError::TooLong => String::new(),
    };
    format!(
        "{error}{place}: the kubelet takes the whole file for an error, and no pod of the node \
         would start"
    )
}

/// What the kubelet gives out when its `resolvConf` is empty: a server for
/// each of its addresses, and the root.
fn loopback(node_ips: &[IpAddr]) -> HostDns {
    let word = |text: &str| Word::new(text, WordOrigin::Kubelet);
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
    let servers = kubelet.cluster_dns.value.iter();
    file.servers = servers
        .map(|ip| Word::new(ip.to_string(), WordOrigin::ClusterDns))
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
            let of_cluster = of_cluster.map(|text| Word::new(text, WordOrigin::ClusterDomain));
            without_repeats(of_cluster.into_iter().chain(host_searches))
        }
    };
    file.options = vec![Word::new("ndots:5", WordOrigin::Kubelet)];
    Ok(())
}

/// A DNS label as RFC 1123 has it.
fn check_namespace(namespace: &str) -> Result<(), PodError> {
    if namespace.len() <= 63 && is_label(namespace.as_bytes(), false) {
        return Ok(());
    }
    Err(PodError::Namespace(escaped(namespace.as_bytes())))
}

/// Adds what `dnsConfig` has. Repeats fall out only if there is one.
///
/// Source: `appendDNSConfig`.
fn append(file: &mut PodFile, config: &DnsConfig) {
    let word = |text: &String| Word::new(text.as_str(), WordOrigin::DnsConfig);
    let servers = std::mem::take(&mut file.servers);
    file.servers = without_repeats(
        servers
            .into_iter()
            .chain(config.nameservers.iter().map(word)),
    );
    let searches = std::mem::take(&mut file.searches);
    file.searches = without_repeats(searches.into_iter().chain(config.searches.iter().map(word)));
    file.options = options::merged(std::mem::take(&mut file.options), &config.options);
    file.draws_options = file.options.len() > 1;
}

fn without_repeats(words: impl Iterator<Item = Word>) -> Vec<Word> {
    let mut known = HashSet::new();
    words.filter(|it| known.insert(it.text.clone())).collect()
}
