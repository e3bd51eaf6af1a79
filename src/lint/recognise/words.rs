//! The words without which a text is none of ours, all looked for at once.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use memchr::memmem;

/// Words of which a text can have any.
pub(super) struct Words {
    all: &'static [&'static [u8]],
    /// `None`: the processor cannot look for many at once.
    together: Option<Searcher>,
}

impl Words {
    fn new(all: &'static [&'static [u8]]) -> Self {
        let together = Searcher::new(all);
        Self { all, together }
    }

    /// Whether a text has one of them.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        match &self.together {
            Some(it) => it.find(bytes).is_some(),
            None => self.all.iter().any(|it| memmem::find(bytes, it).is_some()),
        }
    }
}

/// Of what rules are about.
pub(super) static SUBJECTS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
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
        b"configBlock",
        b"rancher/",
        b"coredns",
        b"KubeProxyConfiguration",
        b"proxy_pass",
        b"upstream_dns_",
        b"nodelocaldns",
        b"kube_service_addresses",
        b"kube_pods_subnet",
        b"clusterIP: None",
    ])
});

/// Of what rules ask about other files: parts of names, and how texts are encoded in
/// others.
pub(super) static FACTS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
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
        b"clusterIP: None",
    ])
});
