//! Over what packets go. Rules are made up for UDP over IPv4, and put into the
//! words of others.

use std::net::{IpAddr, SocketAddr};

use kdns::path::Protocol;

use crate::iptables::SETS;
use crate::lots::Lots;

/// A transport and a family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Dialect {
    pub(crate) is_tcp: bool,
    pub(crate) is_six: bool,
}

/// Hosts, by their addresses of both families.
const HOSTS: [(&str, &str); 10] = [
    ("10.96.0.10", "fd96::a"),
    ("10.96.0.11", "fd96::b"),
    ("10.244.1.5", "fd44:1::5"),
    ("10.244.2.6", "fd44:2::6"),
    ("10.244.3.7", "fd44:3::7"),
    ("10.244.0.7", "fd44::7"),
    ("10.244.0.1", "fd44::1"),
    ("172.31.0.10", "fd31::10"),
    ("172.31.0.11", "fd31::11"),
    ("127.0.0.1", "::1"),
];

/// Networks and ranges, before their hosts are looked for.
const NETWORKS: [(&str, &str); 8] = [
    ("10.244.0.0/255.255.0.255", "fd44::/ffff::ff"),
    (
        "10.244.1.0-10.244.2.255",
        "fd44:1::-fd44:2:ffff:ffff:ffff:ffff:ffff:ffff",
    ),
    ("10.244.0.1-10.244.0.9", "fd44::1-fd44::9"),
    ("10.96.0.0/12", "fd96::/16"),
    ("10.244.0.0/24", "fd44::/32"),
    ("10.244.2.0/24", "fd44:2::/32"),
    ("10.244.0.0/16", "fd44::/16"),
    ("10.244.0.0/23", "fd44::/31"),
];

/// What is called otherwise with IPv6.
const WORDS: [(&str, &str); 10] = [
    ("-m ttl --ttl-lt", "-m hl --hl-lt"),
    ("icmp-host-unreachable", "icmp6-addr-unreachable"),
    ("icmp-admin-prohibited", "icmp6-adm-prohibited"),
    ("icmp-port-unreachable", "icmp6-port-unreachable"),
    ("icmp host-unreachable", "icmpv6 addr-unreachable"),
    ("ip protocol", "meta l4proto"),
    ("ip ttl", "ip6 hoplimit"),
    ("ip saddr", "ip6 saddr"),
    ("ip daddr", "ip6 daddr"),
    ("ipv4_addr", "ipv6_addr"),
];

impl Dialect {
    pub(crate) const ALL: [Self; 4] = [
        Self::new(false, false),
        Self::new(true, false),
        Self::new(false, true),
        Self::new(true, true),
    ];

    const fn new(is_tcp: bool, is_six: bool) -> Self {
        Self { is_tcp, is_six }
    }

    pub(crate) fn drawn(lots: &mut Lots) -> Self {
        *lots.pick(&Self::ALL)
    }

    pub(crate) fn protocol(self) -> Protocol {
        if self.is_tcp {
            Protocol::Tcp
        } else {
            Protocol::Udp
        }
    }

    /// The length of the first packet: of a question of so many bytes, or of a
    /// SYN with the options that Linux sends.
    pub(crate) fn length(self, question: usize) -> u16 {
        let ip = if self.is_six { 40 } else { 20 };
        let rest = if self.is_tcp { 40 } else { 8 + question };
        ip + u16::try_from(rest).unwrap()
    }

    /// The address of a host.
    pub(crate) fn ip(self, four: &str) -> IpAddr {
        let host = HOSTS.iter().find(|it| it.0 == four).unwrap();
        let text = if self.is_six { host.1 } else { host.0 };
        text.parse().unwrap()
    }

    pub(crate) fn at(self, four: &str, port: u16) -> SocketAddr {
        (self.ip(four), port).into()
    }

    /// The sets, under names of this dialect.
    pub(crate) fn sets(self) -> String {
        let is_list = |it: &str| it.starts_with("create ") && it.contains(" hash:");
        let line = |it: &str| {
            let family = if self.is_six && is_list(it) {
                " family inet6"
            } else {
                ""
            };
            format!("{it}{family}\n")
        };
        let all: String = SETS.lines().map(line).collect();
        self.put(&all)
    }

    /// Rules in this dialect.
    pub(crate) fn put(self, rules: &str) -> String {
        let mut text = rules.to_owned();
        if self.is_tcp {
            text = text
                .replace("udp", "\u{0}")
                .replace("tcp", "udp")
                .replace('\u{0}', "tcp");
        }
        let prefix = match (self.is_tcp, self.is_six) {
            (false, false) => return text,
            (true, false) => " ST-",
            (false, true) => " S6-",
            (true, true) => " S6T-",
        };
        text = text.replace(" S-", prefix);
        if !self.is_six {
            return text;
        }
        text = text.replace("/32", "/128");
        for (four, six) in NETWORKS {
            text = text.replace(four, six);
        }
        for (four, six) in HOSTS {
            text = text.replace(&format!("{four}:"), &format!("[{six}]:"));
            text = text.replace(four, six);
        }
        for (four, six) in WORDS {
            text = text.replace(four, six);
        }
        text.replace("table ip ", "table ip6 ")
    }
}
