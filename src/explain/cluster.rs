//! What names mean in a Kubernetes cluster.
//!
//! Source: Kubernetes "DNS for Services and Pods" and the DNS specification
//! <https://github.com/kubernetes/dns/blob/master/docs/specification.md>.

use std::collections::BTreeSet;

use crate::address::inet_aton;
use crate::name::Name;
use crate::resolver;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use crate::text::{escaped, ordered};

/// A search path as the kubelet writes it for `ClusterFirst`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cluster {
    /// The pod's namespace.
    pub namespace: String,
    /// The cluster domain, without a final dot.
    pub domain: String,
}

/// What a name would be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Meaning {
    /// `SERVICE.NAMESPACE.svc.DOMAIN`
    Service {
        /// Name of the service.
        service: String,
        /// Its namespace.
        namespace: String,
    },
    /// `POD.SERVICE.NAMESPACE.svc.DOMAIN`: a pod of a headless service.
    HeadlessPod {
        /// Host name of the pod.
        pod: String,
        /// Name of the service.
        service: String,
        /// Its namespace.
        namespace: String,
    },
    /// `_PORT._PROTO.SERVICE.NAMESPACE.svc.DOMAIN`: SRV records.
    Port {
        /// Name of the port, without `_`.
        port: String,
        /// Name of the service.
        service: String,
        /// Its namespace.
        namespace: String,
    },
    /// `ADDRESS.NAMESPACE.pod.DOMAIN`
    PodAddress,
    /// In the cluster domain, where no such record can be.
    Nothing,
    /// Outside of the cluster domain.
    External,
}

/// Last labels that are top-level domains rather than namespaces: those of
/// RFC 1591 and 2 letters. `dev`, `app` and `prod` are both, and more often
/// namespaces here.
const TOP_LEVEL: &[&str] = &[
    "arpa", "biz", "cloud", "com", "edu", "gov", "info", "int", "mil", "net", "org",
];

impl Cluster {
    /// The cluster of the scenario's search path: `NAMESPACE.svc.DOMAIN`,
    /// `svc.DOMAIN` and `DOMAIN` are in it. As glibc reads it, or musl or Go
    /// where glibc does not see it.
    pub fn find(scenario: &Scenario) -> Option<Self> {
        let readers = ["glibc", "musl", "go"].into_iter();
        readers
            .filter_map(resolver::find)
            .find_map(|resolver| Self::from_reading(&resolver.reading(scenario)))
    }

    fn from_reading(reading: &Reading<'_>) -> Option<Self> {
        let entries: Vec<String> = reading
            .search
            .iter()
            .map(|entry| {
                String::from_utf8_lossy(&entry.value)
                    .trim_end_matches('.')
                    .to_owned()
            })
            .collect();
        let known: BTreeSet<&str> = ordered(entries.iter().map(String::as_str));
        entries.iter().find_map(|entry| {
            let (namespace, domain) = entry.split_once(".svc.")?;
            let rest = [format!("svc.{domain}"), domain.to_owned()];
            let is_path =
                !namespace.is_empty() && rest.iter().all(|it| known.contains(it.as_str()));
            is_path.then(|| Self {
                namespace: namespace.to_owned(),
                domain: domain.to_owned(),
            })
        })
    }

    /// What `name` would be.
    pub fn meaning(&self, name: &Name) -> Meaning {
        let Some(inside) = labels_before(name, &self.domain) else {
            return Meaning::External;
        };
        let of_names = |label: &&[u8]| label.iter().copied().all(is_of_names);
        if !inside.iter().all(of_names) {
            return Meaning::Nothing;
        }
        let labels = inside.into_iter().map(std::str::from_utf8);
        let labels: Vec<&str> = labels.filter_map(Result::ok).collect();
        let owned = |label: &str| label.to_owned();
        match labels.as_slice() {
            [service, namespace, "svc"] => Meaning::Service {
                service: owned(service),
                namespace: owned(namespace),
            },
            [port, proto, service, namespace, "svc"]
                if port.starts_with('_') && proto.starts_with('_') =>
            {
                Meaning::Port {
                    port: port.trim_start_matches('_').to_owned(),
                    service: owned(service),
                    namespace: owned(namespace),
                }
            }
            [pod, service, namespace, "svc"] => Meaning::HeadlessPod {
                pod: owned(pod),
                service: owned(service),
                namespace: owned(namespace),
            },
            [_, _, "pod"] => Meaning::PodAddress,
            _ => Meaning::Nothing,
        }
    }

    /// Which of `candidates` somebody who typed `name` most likely means.
    pub fn useful<'n>(
        &self,
        name: &str,
        candidates: impl Iterator<Item = Option<&'n Name>>,
    ) -> Option<usize> {
        let wanted = self.intended(name)?;
        let mut names = candidates.enumerate();
        names.find_map(|(index, candidate)| {
            let text = candidate?.to_string();
            text.eq_ignore_ascii_case(&wanted).then_some(index)
        })
    }

    /// The fully qualified name that `name` most likely stands for; no final
    /// dot. None for an address or `localhost`, which stand for themselves.
    pub fn intended(&self, name: &str) -> Option<String> {
        let bare = name.strip_suffix('.').unwrap_or(name);
        let is_local = bare.eq_ignore_ascii_case("localhost");
        let is_name = bare.split('.').all(|it| it.bytes().all(is_of_names))
            && inet_aton(bare.as_bytes()).is_none();
        if bare.is_empty() || is_local || !is_name {
            return None;
        }
        let of_cluster = Name::from_plain(bare.as_bytes())
            .is_ok_and(|it| labels_before(&it, &self.domain).is_some());
        if name.ends_with('.') || of_cluster {
            return Some(bare.to_owned());
        }
        let labels: Vec<&str> = bare.split('.').collect();
        let Self { namespace, domain } = self;
        Some(match labels.as_slice() {
            [_] => format!("{bare}.{namespace}.svc.{domain}"),
            [.., "svc"] => format!("{bare}.{domain}"),
            // A Service beside the pod, also where the namespace is called as a country.
            [_, own] if own.eq_ignore_ascii_case(namespace) => format!("{bare}.svc.{domain}"),
            _ if is_of_the_world(bare) => bare.to_owned(),
            [_, _] => format!("{bare}.svc.{domain}"),
            [port, proto, _, _] if port.starts_with('_') && proto.starts_with('_') => {
                format!("{bare}.svc.{domain}")
            }
            [port, proto, _] if port.starts_with('_') && proto.starts_with('_') => {
                format!("{bare}.{namespace}.svc.{domain}")
            }
            _ => bare.to_owned(),
        })
    }

    /// Where kube-dns, before CoreDNS, kept a name of the cluster in etcd:
    /// its labels from the right, below `/skydns`.
    pub fn skydns_key(&self, name: &Name) -> Option<String> {
        labels_before(name, &self.domain)?;
        let mut labels: Vec<String> = name.labels().map(escaped).collect();
        labels.reverse();
        Some(format!("/skydns/{}", labels.join("/")))
    }
}

/// Whether a name has a dot and ends, without a final dot, in a top-level domain
/// that is hardly the name of a namespace.
pub fn is_of_the_world(name: &str) -> bool {
    let last = name.rsplit_once('.').map_or("", |(_, last)| last);
    let is_country = last.len() == 2 && last.bytes().all(|it| it.is_ascii_alphabetic());
    is_country || TOP_LEVEL.contains(&last)
}

/// Whether names of services, pods and ports, or host names, can have the byte.
fn is_of_names(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The labels before the domain, if the name ends with that and has others.
fn labels_before<'n>(name: &'n Name, domain: &str) -> Option<Vec<&'n [u8]>> {
    let mut labels: Vec<&[u8]> = name.labels().collect();
    for end in domain.rsplit('.') {
        let is_end = |label: &&[u8]| label.eq_ignore_ascii_case(end.as_bytes());
        labels.pop().filter(is_end)?;
    }
    (!labels.is_empty()).then_some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        Cluster {
            namespace: "default".to_owned(),
            domain: "cluster.local".to_owned(),
        }
    }

    #[test]
    fn names_of_the_cluster_have_a_meaning() {
        let check = |name: &str, expected: &str| {
            let meaning = cluster().meaning(&Name::from_plain(name.as_bytes()).unwrap());
            assert!(
                format!("{meaning:?}").starts_with(expected),
                "{name}: {meaning:?}"
            );
        };
        check(
            "web.default.svc.cluster.local",
            "Service { service: \"web\", namespace: \"default\"",
        );
        check(
            "db-0.db.prod.svc.Cluster.Local",
            "HeadlessPod { pod: \"db-0\"",
        );
        check(
            "_http._tcp.web.default.svc.cluster.local",
            "Port { port: \"http\"",
        );
        check("10-244-1-5.default.pod.cluster.local", "PodAddress");
        check("a.b.c.d.svc.cluster.local", "Nothing");
        check("web.cluster.local", "Nothing");
        check("example.com", "External");
        check("mycluster.local", "External");
        check("::1.default.svc.cluster.local", "Nothing");
    }

    /// A dot inside a label ends nothing.
    #[test]
    fn labels_are_compared_and_not_their_text() {
        let name = |labels: &[&[u8]]| Name::from_labels(labels.iter().copied()).unwrap();
        let inside = name(&[b"a.cluster", b"local"]);
        assert_eq!(cluster().meaning(&inside), Meaning::External);
        assert_eq!(cluster().skydns_key(&inside), None);
        let service = name(&[b"a.web", b"default", b"svc", b"cluster", b"local"]);
        assert_eq!(cluster().meaning(&service), Meaning::Nothing);
        let key = cluster().skydns_key(&service);
        assert_eq!(
            key.as_deref(),
            Some("/skydns/local/cluster/svc/default/a.web")
        );
    }

    #[test]
    fn short_names_stand_for_services_and_public_ones_for_themselves() {
        let check = |name: &str, expected: &str| {
            assert_eq!(
                cluster().intended(name).as_deref(),
                Some(expected),
                "{name}"
            );
        };
        check("web", "web.default.svc.cluster.local");
        check("web.prod", "web.prod.svc.cluster.local");
        check("web.prod.svc", "web.prod.svc.cluster.local");
        check("web.prod.svc.cluster.local", "web.prod.svc.cluster.local");
        check("example.com", "example.com");
        check("heise.de", "heise.de");
        check("api.internal.example.com", "api.internal.example.com");
        check("web.", "web");
        for name in [
            "",
            ".",
            "localhost",
            "LOCALHOST.",
            "127.1",
            "10.0.0.1",
            "::1",
            "a b",
        ] {
            assert_eq!(cluster().intended(name), None, "{name}");
        }
    }

    #[test]
    fn a_namespace_can_be_called_as_a_country() {
        let cluster = Cluster {
            namespace: "ci".to_owned(),
            ..cluster()
        };
        let intended = |name| cluster.intended(name);
        assert_eq!(
            intended("db.ci").as_deref(),
            Some("db.ci.svc.cluster.local")
        );
        assert_eq!(intended("example.de").as_deref(), Some("example.de"));
    }

    #[test]
    fn kube_dns_kept_names_from_the_right() {
        let name = Name::from_plain(b"web.default.svc.cluster.local").unwrap();
        assert_eq!(
            cluster().skydns_key(&name).as_deref(),
            Some("/skydns/local/cluster/svc/default/web")
        );
    }
}
