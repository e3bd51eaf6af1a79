//! Which pods serve DNS, and whom.

use super::{Container, Pod};
use crate::text::Source;

/// Whether the pod looks like a DNS server: by the names of its containers and
/// processes, or because a Corefile is mounted into it.
pub fn is_dns_server(pod: &Pod) -> bool {
    let mut containers = pod.containers.iter();
    !pod.corefiles.is_empty()
        || containers.any(|it| is_dns_name(&it.name))
        || pod.processes.iter().any(|it| is_dns_name(&it.comm))
}

/// Namespaces in which the cluster's DNS runs: everybody's, `OpenShift`'s.
pub(crate) const DNS_NAMESPACES: [&str; 2] = ["kube-system", "openshift-dns"];

/// Whether the pod is in a namespace in which the cluster's DNS runs, or it is
/// not known in which, and it is not one of NodeLocal DNSCache.
pub fn is_cluster_dns(pod: &Pod) -> bool {
    let namespace = pod.namespace.as_deref();
    namespace.is_none_or(|it| DNS_NAMESPACES.contains(&it)) && !is_node_cache(pod)
}

/// Whether the pod is one of NodeLocal DNSCache.
pub fn is_node_cache(pod: &Pod) -> bool {
    let name = pod.name.as_deref().unwrap_or_default();
    let is_image = |it: &Container| {
        let image = it.image.as_ref();
        image.is_some_and(|it| it.contains("node-cache"))
    };
    let is_base = |it: &Source| it.name.ends_with("/Corefile.base");
    let mut containers = pod.containers.iter();
    containers.any(|it| it.name == "node-cache" || is_image(it))
        || pod.processes.iter().any(|it| it.comm == "node-cache")
        || name.starts_with("node-local-dns")
        || name.starts_with("nodelocaldns")
        || pod.corefiles.iter().any(is_base)
}

/// Whether a container or process of this name looks like a DNS server.
/// `external-dns` writes into zones and answers nobody.
pub fn is_dns_name(name: &str) -> bool {
    let servers = [
        "node-cache",
        "unbound",
        "named",
        "bind9",
        "pdns_recursor",
        "blocky",
    ];
    servers.contains(&name) || name.contains("dns") && !name.contains("external-dns")
}
