//! DNS servers as the search for loops sees them: who listens where, in which
//! network namespace, and forwards to what.
//!
//! Each kind of server has a file here that makes such a value of its
//! configuration.

pub mod coredns;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::text::{Place, Placed};

/// A DNS server of the node or of a pod.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DnsServer {
    /// Which program.
    pub program: Program,
    /// What people call it: `dnsmasq (process 812)`, `CoreDNS (pod
    /// kube-system/coredns-5d78c9869d-abcde)`.
    pub label: String,
    /// In which network namespace it listens and sends.
    pub network: Network,
    /// Where it listens. Empty: not known.
    pub listens: Vec<Listen>,
    /// What it does with the names of each zone, the most special zone first:
    /// the first that a name lies in counts. What lies in none is answered,
    /// or refused, without asking.
    pub forwards: Vec<Forward>,
    /// Whether it notices that it loops and says so: CoreDNS's `loop` for the
    /// zone `.`, dnsmasq's `--dns-loop-detect`.
    pub notices_loops: bool,
    /// What it does that cannot be told from its configuration. Whole
    /// sentences without a full stop.
    pub unknown: Vec<String>,
}

/// The programs that are told apart.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Program {
    /// CoreDNS, also as AKS LocalDNS.
    CoreDns,
    /// NodeLocal DNSCache.
    NodeCache,
    /// dnsmasq, also NetworkManager's and that of old kube-dns.
    Dnsmasq,
    /// unbound.
    Unbound,
    /// BIND's named.
    Named,
    /// systemd-resolved.
    SystemdResolved,
    /// Something else that listens.
    Other,
}

/// A network namespace.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Network {
    /// The node's own.
    Node,
    /// A pod's, by the pod's key (`Pod::key`).
    Pod(String),
}

/// Where a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listen {
    /// The address; `None`: any address of its network namespace.
    pub address: Option<IpAddr>,
    /// The port.
    pub port: u16,
    /// Where that is written or seen.
    pub evidence: Evidence,
}

/// What tells that a server listens.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// Its configuration.
    Configuration(Place),
    /// It is what the program does unless told otherwise.
    Default,
    /// The socket itself, in this file: `/proc/812/net/udp`.
    Socket(String),
}

/// What a server does with the names of a zone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Forward {
    /// The zone, lower case, with its final dot: `.`, `corp.example.`.
    pub zone: String,
    /// To whom, in the order of the configuration. Empty: it answers, or
    /// refuses, the names of this zone without asking.
    pub to: Vec<Placed<Target>>,
    /// Which of them is asked.
    pub policy: Policy,
}

/// To whom a server forwards.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// This address and port.
    Address(SocketAddr),
    /// The name servers of this file in resolv.conf syntax, as the server
    /// itself sees the file system.
    File(String),
    /// Something that is not followed: a host name, TLS with a name. As
    /// written, safe to print.
    Other(String),
}

/// Which of several servers is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Policy {
    /// Any, by lot, and another one when it fails.
    Random,
    /// One after the other.
    RoundRobin,
    /// The first, and the next one only when it fails.
    Sequential,
    /// All, or any: the program does not promise.
    Unknown,
}

impl Program {
    /// The program's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreDns => "CoreDNS",
            Self::NodeCache => "NodeLocal DNSCache",
            Self::Dnsmasq => "dnsmasq",
            Self::Unbound => "unbound",
            Self::Named => "named",
            Self::SystemdResolved => "systemd-resolved",
            Self::Other => "a DNS server",
        }
    }
}

/// `/etc/dnsmasq.conf:3:1`, `/proc/812/net/udp`.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(place) => place.fmt(f),
            Self::Default => f.write_str("its default"),
            Self::Socket(file) => f.write_str(file),
        }
    }
}
