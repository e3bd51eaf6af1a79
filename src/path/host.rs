//! What is known of a node, or of another network namespace.

use crate::node::kernel::ConntrackCounters;
use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::address::is_within;
use crate::path::What;
use crate::rules::Rules;
use crate::rules::conntrack::Entry;

/// All that the evaluator may know of the network namespace whose rules a
/// packet meets. `None`: it was not seen, so nothing follows from it; an empty
/// list: there is none.
#[derive(Debug, Default)]
pub struct Host {
    /// How much of the rules is known.
    pub known: RulesKnown,
    /// Rules, sets and IPVS services, from the texts of the node's tools.
    pub rules: Rules,
    /// Addresses of the namespace's links.
    pub addresses: Option<Vec<Address>>,
    /// Its links.
    pub links: Option<Vec<Link>>,
    /// Routes of all tables, but those of the table `local`, which follow from
    /// the addresses.
    pub routes: Option<Vec<Route>>,
    /// `ip rule`, in their order.
    pub policies: Option<Vec<Policy>>,
    /// Neighbours: what is known of who is there.
    pub neighbours: Option<Vec<Neighbour>>,
    /// Values of `/proc/sys` by their names with dots, as `sysctl` writes them:
    /// `net.ipv4.ip_forward`. One that is not in it was not seen.
    pub sysctls: BTreeMap<String, String>,
    /// The connection tracking table.
    pub conntrack: Option<Conntrack>,
    /// Lists of `xt_recent`, with the addresses on them. One that is not in it
    /// was not seen.
    pub recent: BTreeMap<Box<str>, Vec<IpAddr>>,
    /// Names of pods by their addresses: `kube-system/coredns-5d78c9869d-abcde`.
    pub pods: BTreeMap<IpAddr, String>,
    /// What the kubelet has pods ask, `clusterDNS`: addresses of Services, or of a
    /// node's cache.
    pub cluster_dns: Option<Vec<IpAddr>>,
    /// Those of DNS pods in which no socket takes UDP packets to their port 53.
    pub deaf: Vec<IpAddr>,
    /// The network namespaces of DNS pods: one that is not among them was not read.
    pub inside: Vec<Self>,
    /// Sockets that listen on the node itself, for DNS: address (unspecified:
    /// all), port, protocol. `None`: not seen.
    pub listeners: Option<Vec<(IpAddr, u16, super::Protocol)>>,
}

/// How much of the rules of a network namespace is known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RulesKnown {
    /// Texts that somebody chose: what is missing is taken to be empty, and said.
    #[default]
    Chosen,
    /// All that there are.
    All,
    /// There can be others, so no answer is sure.
    Part,
}

/// An address of a link.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    /// The address itself.
    pub ip: IpAddr,
    /// Bits of its network.
    pub prefix: u8,
    /// The link's name.
    pub link: Box<str>,
}

/// A network device.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Link {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub kind: LinkKind,
    /// Whether it is up.
    pub is_up: bool,
    /// Whether something is at its other end: a cable, the up peer of a veth.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub has_carrier: bool,
    /// Its MTU in bytes; 0: not seen.
    pub mtu: u32,
    /// The bridge or bond that it belongs to, by index.
    pub master: Option<u32>,
    /// The number of its other end, in whatever network namespace that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<u32>,
    /// Whether its bridge sends a packet back through the port that it came from.
    pub hairpin: Option<bool>,
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
const fn is_true(it: &bool) -> bool {
    *it
}

impl Link {
    /// Why no packet passes this link; `None`: packets pass, as far as is known.
    pub fn why_dead(&self) -> Option<What> {
        let name = || (*self.name).into();
        match (self.is_up, self.has_carrier) {
            (false, _) => Some(What::LinkDown(name())),
            (true, false) => Some(What::NoCarrier(name())),
            (true, true) => None,
        }
    }

    /// Whether it is of this kind: `bridge`, `veth`.
    pub fn is_a(&self, kind: &str) -> bool {
        matches!(&self.kind, LinkKind::Named(own) if &**own == kind)
    }
}

/// What a link is; in JSON `loopback`, empty, or as `ip -d link` names it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// The loopback device.
    Loopback,
    /// A hardware device, or one of a kind without a name.
    #[serde(rename = "")]
    Device,
    /// One of a named kind: `bridge`, `veth`, `dummy`, `vxlan`, `wireguard`.
    #[serde(untagged)]
    Named(Box<str>),
}

/// What a route does; in JSON the word of `ip route`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteKind {
    /// Sends on.
    Unicast,
    /// Delivers here.
    Local,
    /// Refuses: `blackhole`, in silence.
    Blackhole,
    /// Refuses: `unreachable`, with ICMP host unreachable.
    Unreachable,
    /// Refuses: `prohibit`, with ICMP administratively prohibited.
    Prohibit,
    /// Goes on with the next policy: `throw`.
    Throw,
    /// Another kind, which sends no packet of ours.
    #[serde(other)]
    Other,
}

/// A route.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Route {
    /// Its table: 254 is `main`.
    pub table: u32,
    /// What it does.
    pub kind: RouteKind,
    /// Its network; a default route has the unspecified address and 0 bits.
    pub destination: IpAddr,
    /// Bits of the network.
    pub prefix: u8,
    /// The next router; `None`: the destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The link's name.
    pub link: Option<Box<str>>,
    /// The source address that it prefers.
    pub source: Option<IpAddr>,
    /// Smaller is better.
    pub metric: u32,
}

impl Route {
    /// Whether the address is in its network.
    pub fn covers(&self, ip: IpAddr) -> bool {
        is_within(ip, self.destination, self.prefix.into())
    }
}

/// A rule of the routing policy (`ip rule`).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Policy {
    /// Its order.
    pub priority: u32,
    /// Sources that it is about, with the bits of the network.
    pub from: Option<(IpAddr, u8)>,
    /// Destinations that it is about.
    pub to: Option<(IpAddr, u8)>,
    /// Value and mask of the packet's mark.
    pub mark: Option<(u32, u32)>,
    /// The link that the packet came in through.
    pub in_link: Option<Box<str>>,
    /// The table that is asked.
    pub table: u32,
    /// What it does with packets in the place of asking a table: it refuses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses: Option<RouteKind>,
    /// Whether it has a condition that kdns does not know, or turns one around.
    pub is_odd: bool,
}

/// Who is there on a link.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// The address.
    pub ip: IpAddr,
    /// The link's name.
    pub link: Box<str>,
    /// `Some(true)`: it answers; `Some(false)`: the kernel asked in vain
    /// (`FAILED`, `INCOMPLETE`).
    pub answers: Option<bool>,
}

/// The connection tracking table.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Conntrack {
    /// How many there are (`nf_conntrack_count`).
    pub count: Option<u64>,
    /// How many there can be (`nf_conntrack_max`).
    pub max: Option<u64>,
    /// What went wrong since the node started, over all CPUs.
    pub counters: Option<ConntrackCounters>,
    /// Its entries, as far as they were read.
    pub entries: Vec<Entry>,
}
