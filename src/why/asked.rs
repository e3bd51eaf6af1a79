//! Who has an address that a message names.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::address::{self, DNS_PORT};
use crate::loopback::owners::{self, Reach};
use crate::node::Node;

/// A server that a message names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Asked {
    /// Its address.
    pub address: SocketAddr,
    /// Who has it.
    pub kind: Kind,
    /// Whether a node's files say so; else it is what the address usually is.
    pub is_known: bool,
}

/// Who has an address, as far as it tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// A loopback address: a stub on the same machine, or in the same pod.
    Loopback,
    /// Docker's embedded DNS server, 127.0.0.11.
    Docker,
    /// A cache on the node, on a link-local address: NodeLocal DNSCache and the like.
    NodeLocal,
    /// A Service: the cluster's DNS.
    Service,
    /// A pod.
    Pod,
    /// The node itself.
    Node,
    /// The resolver of a cloud's network.
    Provider,
    /// Tailscale's 100.100.100.100.
    Tailscale,
    /// Another private address: a server of one's own network, or a node.
    Private,
    /// An address of the internet.
    Public,
}

impl Asked {
    /// Whether documentation uses the address, and nobody has it (RFC 3849, RFC 5737, RFC 9637).
    pub fn is_example(&self) -> bool {
        match self.address.ip() {
            IpAddr::V4(it) => it.is_documentation(),
            IpAddr::V6(it) => {
                matches!(it.segments(), [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..])
            }
        }
    }
}

impl Kind {
    /// Every kind, with its word in the catalogue.
    pub const WORDS: [(&'static str, Self); 10] = [
        ("loopback", Self::Loopback),
        ("docker", Self::Docker),
        ("nodelocal", Self::NodeLocal),
        ("service", Self::Service),
        ("pod", Self::Pod),
        ("node", Self::Node),
        ("provider", Self::Provider),
        ("tailscale", Self::Tailscale),
        ("private", Self::Private),
        ("public", Self::Public),
    ];

    /// The kind of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        let mut words = Self::WORDS.iter();
        words.find(|it| it.0 == word).map(|it| it.1)
    }
}

/// Who has the address; on a node its files tell.
pub fn asked(address: SocketAddr, node: Option<&Node>) -> Asked {
    let ip = address.ip().to_canonical();
    let known = node.and_then(|node| known(ip, node));
    Asked {
        address,
        kind: known.unwrap_or_else(|| usual(ip)),
        is_known: known.is_some(),
    }
}

/// What the files of a node say.
fn known(ip: IpAddr, node: &Node) -> Option<Kind> {
    if ip.is_loopback() {
        return None;
    }
    let services = node.kubelet.iter().flat_map(|it| &it.cluster_dns.value);
    if services.copied().any(|it| it == ip) && !address::is_link_local(ip) {
        return Some(Kind::Service);
    }
    if node.addresses.contains(&ip) && !address::is_link_local(ip) {
        return Some(Kind::Node);
    }
    let mut pods = node.pods.iter();
    pods.any(|it| it.addresses.contains(&ip))
        .then_some(Kind::Pod)
}

/// What the address usually is.
fn usual(ip: IpAddr) -> Kind {
    if ip == IpAddr::V4(Ipv4Addr::new(127, 0, 0, 11)) {
        return Kind::Docker;
    }
    if ip.is_loopback() || ip.is_unspecified() {
        return Kind::Loopback;
    }
    let owner = owners::possible(ip).next();
    match owner.map(|it| (it.id, it.reach)) {
        Some((_, Reach::Cloud)) => return Kind::Provider,
        Some((_, Reach::Node)) => return Kind::NodeLocal,
        Some(("tailscale", _)) => return Kind::Tailscale,
        _ => {}
    }
    match ip {
        IpAddr::V4(it) if ALIBABA.contains(&it) => Kind::Provider,
        IpAddr::V4(it) if is_usual_service(it) => Kind::Service,
        IpAddr::V4(it) if is_within(it, &POD_NETWORKS) => Kind::Pod,
        _ if address::is_private(ip) || is_shared(ip) => Kind::Private,
        _ => Kind::Public,
    }
}

/// Alibaba Cloud's resolvers (its documentation of `PrivateZone`).
const ALIBABA: [Ipv4Addr; 2] = [
    Ipv4Addr::new(100, 100, 2, 136),
    Ipv4Addr::new(100, 100, 2, 138),
];

/// Service networks that are the default of an installer, with the length of
/// their prefixes: kubeadm and kind, k3s and rke2, `MicroK8s`, kubespray,
/// `OpenShift`, EKS (two), `DigitalOcean`.
const SERVICE_NETWORKS: [(Ipv4Addr, u32); 8] = [
    (Ipv4Addr::new(10, 96, 0, 0), 12),
    (Ipv4Addr::new(10, 43, 0, 0), 16),
    (Ipv4Addr::new(10, 152, 183, 0), 24),
    (Ipv4Addr::new(10, 233, 0, 0), 18),
    (Ipv4Addr::new(172, 30, 0, 0), 16),
    (Ipv4Addr::new(172, 20, 0, 0), 16),
    (Ipv4Addr::new(10, 100, 0, 0), 16),
    (Ipv4Addr::new(10, 245, 0, 0), 16),
];

/// The same of pods: kubeadm with flannel and kind, k3s, `OpenShift`, kubespray,
/// kops.
const POD_NETWORKS: [(Ipv4Addr, u32); 5] = [
    (Ipv4Addr::new(10, 244, 0, 0), 16),
    (Ipv4Addr::new(10, 42, 0, 0), 16),
    (Ipv4Addr::new(10, 128, 0, 0), 14),
    (Ipv4Addr::new(10, 233, 64, 0), 18),
    (Ipv4Addr::new(100, 96, 0, 0), 11),
];

/// Installers give the cluster's DNS the tenth address of the Service network.
fn is_usual_service(ip: Ipv4Addr) -> bool {
    let is_tenth = ip.octets()[3] == 10 && (ip.is_private() || is_shared(ip.into()));
    is_within(ip, &SERVICE_NETWORKS) || is_tenth && !is_within(ip, &POD_NETWORKS)
}

/// Whether it is in 100.64.0.0/10 (RFC 6598).
fn is_shared(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(it) if is_within(it, &[(Ipv4Addr::new(100, 64, 0, 0), 10)]))
}

/// Whether installers give this address to the cluster's DNS, or to a cache on each
/// node, and to nothing else: the tenth of a Service network that is a default, and
/// kubespray's third.
pub fn is_of_dns(ip: IpAddr) -> bool {
    let is_service = |ip: Ipv4Addr| match ip.octets() {
        [10, 233, 0, 3] => true,
        [.., 0 | 183, 10] => is_within(ip, &SERVICE_NETWORKS),
        _ => false,
    };
    matches!(ip, IpAddr::V4(it) if is_service(it)) || usual(ip) == Kind::NodeLocal
}

fn is_within(ip: Ipv4Addr, networks: &[(Ipv4Addr, u32)]) -> bool {
    let of = |it: &(Ipv4Addr, u32)| address::is_within(ip.into(), it.0.into(), it.1);
    networks.iter().any(of)
}

/// An address as messages write it: `10.0.0.1`, `10.0.0.1:53`, `10.0.0.1#53`,
/// `[::1]:53`, `::1`, `/10.0.0.1:53` as Java does; the second: whether a port stood there.
pub fn parsed(word: &str) -> Option<(SocketAddr, bool)> {
    let word = word.trim_start_matches('/');
    if let Ok(address) = word.parse::<SocketAddr>() {
        return Some((address, true));
    }
    let (ip, port) = match word.split_once(['#', '@']) {
        Some((ip, port)) => (ip, Some(port.parse().ok()?)),
        None => (word, None),
    };
    let ip = ip.trim_start_matches('[').trim_end_matches(']');
    let ip = ip.split('%').next().unwrap_or_default();
    let ip: IpAddr = ip.parse().ok()?;
    Some((
        SocketAddr::new(ip, port.unwrap_or(DNS_PORT)),
        port.is_some(),
    ))
}

/// Whether it is an IPv4 address of which somebody has hidden numbers, perhaps with
/// its port: `x.x.x.x:53`, `10.xx.*.1`.
pub fn is_masked(word: &str) -> bool {
    let (ip, port) = word.split_once([':', '#']).unwrap_or((word, ""));
    let is_hidden = |c: char| matches!(c, 'x' | 'X' | '*');
    let is_part = |it: &str| {
        let is_number = it.chars().all(|c| c.is_ascii_digit() || is_hidden(c));
        is_number && (1..=3).contains(&it.len())
    };
    let is_port = |c: char| c.is_ascii_digit() || is_hidden(c);
    let parts = ip.split('.');
    parts.clone().count() == 4
        && ip.contains(is_hidden)
        && parts.clone().all(is_part)
        && port.chars().all(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_numbers_are_seen() {
        for (word, expected) in [
            ("x.x.x.x", true),
            ("10.XX.xxx.*:53", true),
            ("172.x.0.10#53", true),
            ("10.0.0.1:53", false),
            ("x.x.x", false),
            ("db.x.y.z", false),
        ] {
            assert_eq!(is_masked(word), expected, "{word}");
        }
    }

    #[test]
    fn examples_are_known() {
        for (word, expected) in [
            ("192.0.2.53:53", true),
            ("2001:db8::53", true),
            ("[3fff:fff::1]:53", true),
            ("3fff:1000::1", false),
            ("8.8.8.8", false),
        ] {
            let (address, _) = parsed(word).unwrap();
            assert_eq!(asked(address, None).is_example(), expected, "{word}");
        }
    }

    #[test]
    fn usual_addresses_are_known() {
        for (word, kind) in [
            ("127.0.0.53:53", Kind::Loopback),
            ("[::1]:53", Kind::Loopback),
            ("127.0.0.11:53", Kind::Docker),
            ("169.254.20.10:53", Kind::NodeLocal),
            ("169.254.25.10", Kind::NodeLocal),
            ("10.96.0.10:53", Kind::Service),
            ("10.100.0.10#53", Kind::Service),
            ("172.20.0.10", Kind::Service),
            ("10.43.0.10:53", Kind::Service),
            ("10.0.0.10:53", Kind::Service),
            ("10.244.1.7:53", Kind::Pod),
            ("169.254.169.253:53", Kind::Provider),
            ("169.254.169.254:53", Kind::Provider),
            ("168.63.129.16:53", Kind::Provider),
            ("100.100.2.136:53", Kind::Provider),
            ("100.100.100.100:53", Kind::Tailscale),
            ("192.168.1.1:53", Kind::Private),
            ("8.8.8.8:53", Kind::Public),
            ("[2001:4860:4860::8888]:53", Kind::Public),
            ("fd00::53", Kind::Private),
        ] {
            let (address, _) = parsed(word).unwrap();
            assert_eq!(asked(address, None).kind, kind, "{word}");
        }
    }
}
