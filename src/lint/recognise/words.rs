//! The words without which a text is none of ours.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// What looks for words: made once, because it is used on every file.
type Finders = LazyLock<Vec<Finder<'static>>>;

pub(super) static SUBJECTS: Finders = LazyLock::new(|| finders(SUBJECT_WORDS));
pub(super) static FACTS: Finders = LazyLock::new(|| finders(FACT_WORDS));

fn finders(words: &[&'static [u8]]) -> Vec<Finder<'static>> {
    words.iter().map(|it| Finder::new(*it)).collect()
}

/// Words of which a YAML file of ours has one.
const SUBJECT_WORDS: &[&[u8]] = &[
    b"podSubnet",
    b"podCIDR",
    b"PodCIDR",
    b"cidrBlocks",
    b"cluster-cidr",
    b"ipv4-cidr",
    b"IPPool",
    b"ipPools",
    b"KubeletConfiguration",
    b"containers",
    b"dnsPolicy",
    b"dns_policy",
    b"dns_config",
    b"host_network",
    b"dnsConfig",
    b"ndots",
    b"NetworkPolicy",
    b"podSelector",
    b"resolv-conf",
    b"resolvConf",
    b"resolv.conf",
    b"resolved.conf",
    b"NetworkManager",
    b"cluster-d",
    b"Corefile",
    b"clusterDNS",
    b"kube-dns",
    b"kubelet",
    b"nameservers",
    // As a key: misspelled, one of Talos.
    b"nameserver:",
    b"KubeDNSToHost",
    b"hostDNS",
    b"configBlock",
    b"rancher/",
    b"coredns",
    b"KubeProxyConfiguration",
    b"proxy_pass",
    b"haproxy.cfg",
    // Clusters and resolvers of Envoy.
    b"STRICT_DNS",
    b"LOGICAL_DNS",
    b"envoy.cluster.",
    b"dns_resolver",
    b"dns_resolution_config",
    b"upstream_dns_",
    b"nodelocaldns",
    b"dns_mode",
    b"resolvconf_mode",
    b"kube_service_addresses",
    b"kube_pods_subnet",
    b"clusterIP",
    // Misspelled flags.
    b"resolve-conf",
    b"-resolvconf",
];

/// What the flags that rules ask for have in them, also where they are misspelled.
pub const FLAGS: [&[u8]; 6] = [
    b"v-conf",
    b"resolve-conf",
    b"-resolvconf",
    b"resolvconf=",
    b"cluster-d",
    b"dns-cluster-ip",
];

/// Parts of names, and how texts are encoded in others.
const FACT_WORDS: &[&[u8]] = &[
    b"containers",
    b"cidr",
    b"CIDR",
    b"Subnet",
    b"KubeProxyConfiguration",
    b"NetworkPolicy",
    b"podSelector",
    b"ubelet",
    b"kube-dns",
    b"coredns",
    b"Corefile",
    b"resolv",
    b"clusterD",
    b"cluster-d",
    b"nameservers",
    // A misspelled key.
    b"nameserver:",
    b"KubeDNSToHost",
    b"hostDNS",
    b"configBlock",
    b"base64",
    b"b64",
    b"gzip",
    b"data:,",
    b"rancher/",
    b"upstream_dns_",
    b"nodelocaldns",
    b"kube_service_addresses",
    b"kube_pods_subnet",
    b"clusterIP",
];

/// Words of which a part of a template has one, if rules about parts can find something.
pub(super) const SETTINGS: [&[u8]; 13] = [
    b"dnsPolicy",
    // Behind a key that is misspelled.
    b"ClusterFirst",
    b"dnsConfig",
    b"ndots",
    b"resolvConf",
    b"resolverConfig",
    b"resolv-conf",
    b"clusterDNS",
    b"cluster-d",
    b"cluster_dns",
    b"forward ",
    b"proxy ",
    // Behind a plugin that is misspelled.
    b"max_concurrent",
];
