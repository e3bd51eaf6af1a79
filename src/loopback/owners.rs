//! Who usually answers on which address: the table.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::is_link_local;

/// Who usually has an address.
#[derive(Debug, Eq, PartialEq)]
pub struct Owner {
    /// A short name for machines.
    pub id: &'static str,
    /// Who it is, as the end of `127.0.0.53 is …`.
    pub who: &'static str,
    /// Whether `who` names no program.
    pub is_vague: bool,
    /// From where the address is what it is.
    pub reach: Reach,
    /// Where its own servers are written in the syntax of resolv.conf, the
    /// best file first.
    pub upstream_files: &'static [&'static str],
    /// Where they are else; `None`: it is an upstream server itself.
    pub elsewhere: Option<Elsewhere>,
    pub(super) at: At,
    /// Parts of comments that it or its helpers write.
    pub(super) headers: &'static [&'static str],
    /// Files of its own that `/etc/resolv.conf` can be a link to.
    pub(super) linked_files: &'static [&'static str],
    /// Files that confirm it by being there.
    pub(super) own_files: &'static [&'static str],
    /// Whether its servers stand in a comment of the file that lists it.
    pub(super) has_ext_servers: bool,
}

/// From where an address is what it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// Each network namespace has its own.
    Loopback,
    /// The node and its pods.
    Node,
    /// A link: the machines on it, or only this one.
    Link,
    /// The provider's network.
    Cloud,
    /// Only the machine that it runs on, as a rule.
    Machine,
}

/// Where the servers of an owner can be seen when no file lists them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Elsewhere {
    /// In its own configuration.
    Configuration,
    /// In its Corefile.
    Corefile,
    /// In Docker's `--dns` or the host's file.
    Docker,
    /// A command of its own shows them: `resolvectl dns`.
    Command(&'static str),
    /// In Windows.
    Windows,
}

/// Which addresses an owner has.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum At {
    /// These.
    Each(&'static [IpAddr]),
    /// Any of 127.0.0.0/8, and `::1`.
    AnyLoopback,
    /// Any of 169.254.0.0/16 and `fe80::/10`.
    AnyLinkLocal,
}

/// Who can have the address, the likeliest first. Addresses that reach this
/// host by another name (0.0.0.0) are to be given as what they reach.
pub fn possible(address: IpAddr) -> impl Iterator<Item = &'static Owner> {
    let exact = OWNERS
        .iter()
        .filter(move |owner| matches!(owner.at, At::Each(list) if list.contains(&address)));
    let range = OWNERS.iter().filter(move |owner| match owner.at {
        At::Each(_) => false,
        At::AnyLoopback => address.is_loopback(),
        At::AnyLinkLocal => is_link_local(address),
    });
    exact.chain(range)
}

const fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

/// Docker's own resolver.
///
/// Source: moby `libnetwork/resolver.go`.
pub const DOCKER: IpAddr = v4(127, 0, 0, 11);
const LOCALHOST: &[IpAddr] = &[v4(127, 0, 0, 1), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// What the rows have in common unless they say otherwise.
const UNKNOWN: Owner = Owner {
    id: "",
    who: "",
    is_vague: false,
    reach: Reach::Loopback,
    upstream_files: &[],
    elsewhere: Some(Elsewhere::Configuration),
    at: At::Each(&[]),
    headers: &[],
    linked_files: &[],
    own_files: &[],
    has_ext_servers: false,
};

/// Sources: systemd-resolved.service(8), NetworkManager.conf(5), moby
/// `libnetwork/internal/resolvconf`, kubernetes
/// `cluster/addons/dns/nodelocaldns`, kubespray, Azure/AgentBaker
/// `localdns.sh`, siderolabs/talos `network/hostdns_config.go`, Tailscale's
/// and the clouds' documentation.
static OWNERS: [Owner; 16] = [
    Owner {
        id: "systemd-resolved",
        who: "systemd-resolved on the node",
        at: At::Each(&[v4(127, 0, 0, 53)]),
        headers: &[
            "managed by man:systemd-resolved(8)",
            "belongs to man:systemd-resolved(8)",
        ],
        linked_files: &[
            "/run/systemd/resolve/stub-resolv.conf",
            "/usr/lib/systemd/resolv.conf",
            "/lib/systemd/resolv.conf",
        ],
        own_files: &["/run/systemd/resolve/resolv.conf"],
        upstream_files: &["/run/systemd/resolve/resolv.conf"],
        elsewhere: Some(Elsewhere::Command("resolvectl dns")),
        ..UNKNOWN
    },
    Owner {
        id: "talos-host-dns",
        who: "the host DNS of Talos",
        at: At::Each(&[v4(127, 0, 0, 53)]),
        own_files: &["/system/resolved/resolv.conf"],
        upstream_files: &["/system/resolved/resolv.conf"],
        ..UNKNOWN
    },
    Owner {
        id: "systemd-resolved-proxy",
        who: "systemd-resolved on the node, its listener that only passes queries on",
        at: At::Each(&[v4(127, 0, 0, 54)]),
        own_files: &["/run/systemd/resolve/resolv.conf"],
        upstream_files: &["/run/systemd/resolve/resolv.conf"],
        elsewhere: Some(Elsewhere::Command("resolvectl dns")),
        ..UNKNOWN
    },
    Owner {
        id: "networkmanager-dnsmasq",
        who: "NetworkManager's dnsmasq on the node",
        at: At::Each(&[v4(127, 0, 1, 1)]),
        headers: &["Generated by NetworkManager"],
        own_files: &[
            "/run/NetworkManager/no-stub-resolv.conf",
            "/run/NetworkManager/resolv.conf",
        ],
        upstream_files: &[
            "/run/NetworkManager/no-stub-resolv.conf",
            "/run/NetworkManager/resolv.conf",
        ],
        elsewhere: Some(Elsewhere::Command("nmcli device show")),
        ..UNKNOWN
    },
    Owner {
        id: "docker",
        who: "Docker's embedded DNS server",
        at: At::Each(&[DOCKER]),
        headers: &["Generated by Docker Engine"],
        has_ext_servers: true,
        elsewhere: Some(Elsewhere::Docker),
        ..UNKNOWN
    },
    // The next three share their addresses: without a sign it is any of them.
    Owner {
        id: "local",
        who: "a local DNS server (dnsmasq, unbound, named or another)",
        is_vague: true,
        at: At::Each(LOCALHOST),
        ..UNKNOWN
    },
    Owner {
        id: "networkmanager-dnsmasq",
        who: "NetworkManager's dnsmasq or another local DNS server that NetworkManager knows of",
        at: At::Each(LOCALHOST),
        headers: &["Generated by NetworkManager"],
        upstream_files: &["/run/NetworkManager/no-stub-resolv.conf"],
        elsewhere: Some(Elsewhere::Command("nmcli device show")),
        ..UNKNOWN
    },
    Owner {
        id: "dnsmasq",
        who: "dnsmasq on the node",
        at: At::Each(LOCALHOST),
        own_files: &["/run/dnsmasq/resolv.conf", "/etc/resolv.dnsmasq.conf"],
        upstream_files: &["/run/dnsmasq/resolv.conf", "/etc/resolv.dnsmasq.conf"],
        ..UNKNOWN
    },
    Owner {
        id: "nodelocaldns",
        who: "NodeLocal DNSCache",
        reach: Reach::Node,
        at: At::Each(&[v4(169, 254, 20, 10), v4(169, 254, 25, 10)]),
        elsewhere: Some(Elsewhere::Corefile),
        ..UNKNOWN
    },
    Owner {
        id: "aks-localdns",
        who: "LocalDNS of AKS, a CoreDNS on the node",
        reach: Reach::Node,
        at: At::Each(&[v4(169, 254, 10, 10), v4(169, 254, 10, 11)]),
        elsewhere: Some(Elsewhere::Corefile),
        ..UNKNOWN
    },
    Owner {
        id: "talos-host-dns-pods",
        who: "the host DNS of Talos, for pods",
        reach: Reach::Node,
        at: At::Each(&[
            v4(169, 254, 116, 108),
            IpAddr::V6(Ipv6Addr::new(
                0xfd54, 0x616c, 0x6f73, 0, 0x204f, 0x5320, 0x444e, 0x531,
            )),
        ]),
        own_files: &["/system/resolved/resolv.conf"],
        upstream_files: &["/system/resolved/resolv.conf"],
        ..UNKNOWN
    },
    Owner {
        id: "cloud",
        who: "the resolver of the cloud's network (AWS 169.254.169.253, Google Cloud and Oracle \
              169.254.169.254, Azure 168.63.129.16)",
        reach: Reach::Cloud,
        at: At::Each(&[
            v4(169, 254, 169, 253),
            IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x253)),
            v4(169, 254, 169, 254),
            v4(168, 63, 129, 16),
        ]),
        elsewhere: None,
        ..UNKNOWN
    },
    Owner {
        id: "tailscale",
        who: "Tailscale's MagicDNS, answered by tailscaled on the node",
        reach: Reach::Machine,
        at: At::Each(&[v4(100, 100, 100, 100)]),
        headers: &["generated by tailscale"],
        elsewhere: Some(Elsewhere::Command("tailscale dns status")),
        ..UNKNOWN
    },
    Owner {
        id: "wsl",
        who: "the DNS proxy of Windows under WSL",
        reach: Reach::Machine,
        at: At::Each(&[v4(10, 255, 255, 254)]),
        headers: &["generated by WSL"],
        elsewhere: Some(Elsewhere::Windows),
        ..UNKNOWN
    },
    Owner {
        id: "loopback",
        who: "a local DNS server on a loopback address",
        is_vague: true,
        at: At::AnyLoopback,
        ..UNKNOWN
    },
    Owner {
        id: "link-local",
        who: "a DNS server on a link-local address",
        is_vague: true,
        reach: Reach::Link,
        at: At::AnyLinkLocal,
        ..UNKNOWN
    },
];
