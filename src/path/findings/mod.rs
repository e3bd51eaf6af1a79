//! What is wrong on the way of a packet, with evidence.

mod cache;
mod connections;
mod links;
mod policies;
mod proxies;
mod services;

pub use cache::CacheFinding;
pub(in crate::path) use cache::is_cached;
pub use connections::ConnectionFinding;
pub use links::LinkFinding;
pub use policies::{PolicyFinding, PolicyMaker};
pub use proxies::{Proxy, ProxyFinding};
pub use services::{Bypass, ServiceFinding};

use std::net::IpAddr;

use super::{Host, Link, Route, RouteKind, Tree};
use crate::finding::Severity;
use crate::node::kernel::ConntrackCounters;
use crate::order::Order as _;
use crate::text::Place;

/// Something that is wrong, or worth knowing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// How bad it is, here.
    pub severity: Severity,
    /// What it is.
    pub fact: Fact,
    /// What shows it, the most telling first; can be empty.
    pub evidence: Vec<Evidence>,
}

/// Something that was read and shows a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Evidence {
    /// Where it is written; line 0: it is no line of a text.
    pub place: Place,
    /// What is written there, safe to print.
    pub words: String,
}

/// What a finding is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Fact {
    /// The connection tracking table.
    Connection(ConnectionFinding),
    /// Bridges and lengths of packets.
    Link(LinkFinding),
    /// NodeLocal DNSCache.
    Cache(CacheFinding),
    /// A rule that drops what should pass.
    Policy(PolicyFinding),
    /// Rules of more than one hand.
    Proxy(ProxyFinding),
    /// An address of Services.
    Service(ServiceFinding),
}

/// What is known beside the node itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'a> {
    /// How long the node has run, in seconds.
    pub uptime: Option<u64>,
    /// Counters of connections, read a moment before those of the node.
    pub before: Option<ConntrackCounters>,
    /// The network namespace of the client, where it is its own.
    pub client: Option<&'a Host>,
    /// The text that entries of the connection tracking table stand in, safe to
    /// print; `None`: the kernel said them.
    pub table: Option<&'a str>,
}

/// All that is wrong, the worst first.
pub fn find(host: &Host, trees: &[Tree], around: Around<'_>) -> Vec<Finding> {
    let mut found = policies::find(host, trees);
    found.extend(connections::find(host, trees, around));
    found.extend(links::find(host, trees, around));
    found.extend(cache::find(host, trees));
    found.extend(proxies::find(host));
    found.extend(services::find(host, trees));
    found.extend(services::half_led(trees));
    found.order_by_key(|it| std::cmp::Reverse(it.severity));
    found
}

impl Finding {
    const fn new(severity: Severity, fact: Fact, evidence: Vec<Evidence>) -> Self {
        Self {
            severity,
            fact,
            evidence,
        }
    }

    /// Whether it says why these packets, or their answers, are lost.
    pub fn explains(&self, tree: &Tree) -> bool {
        let is_asked = |ip: IpAddr| tree.packet.destination == ip;
        let ends_at = |ip: IpAddr| tree.outcomes.iter().any(|it| it.address == ip);
        let is_why = match &self.fact {
            Fact::Service(ServiceFinding::Elsewhere { asked, .. }) => is_asked(*asked),
            Fact::Service(ServiceFinding::WithoutPort { asked, .. }) => is_asked(asked.ip()),
            Fact::Service(
                ServiceFinding::PassedBy { service, .. } | ServiceFinding::Empty { service },
            ) => is_asked(service.address),
            Fact::Cache(
                CacheFinding::LinkMissing { address } | CacheFinding::Silent { address, .. },
            ) => is_asked(*address),
            Fact::Policy(
                PolicyFinding::Forward { endpoint, .. }
                | PolicyFinding::NetworkPolicy { endpoint, .. },
            )
            | Fact::Link(LinkFinding::Bridge { endpoint, .. }) => ends_at(*endpoint),
            _ => false,
        };
        is_why && self.severity == Severity::Error
    }
}

impl Evidence {
    const fn new(place: Place, words: String) -> Self {
        Self { place, words }
    }

    /// The value of a setting: `net.ipv4.ip_forward = 1`.
    fn setting(name: &str, value: &str) -> Self {
        Self::new(Place::nowhere("sysctl"), format!("{name} = {value}"))
    }
}

/// The table that is asked last, and mostly alone.
const MAIN: u32 = 254;

/// The route to an address among those of the table `main`.
fn route_to(host: &Host, ip: IpAddr) -> Option<&Route> {
    let routes = host.routes.iter().flatten();
    let own = routes.filter(|it| it.table == MAIN && it.kind == RouteKind::Unicast);
    let fits = own.filter(|it| it.covers(ip));
    fits.min_by_key(|it| (std::cmp::Reverse(it.prefix), it.metric))
}

/// The link through which packets to an address leave.
fn link_to(host: &Host, ip: IpAddr) -> Option<&Link> {
    let name = route_to(host, ip)?.link.as_ref()?;
    host.links.iter().flatten().find(|it| it.name == *name)
}
