//! What does something to a packet.

use std::net::IpAddr;

use super::packet::Protocol;

/// What does something to a packet. `render` has the words; names are safe to print.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    /// A rule, a policy or a Service of IPVS, as it is written.
    Rule(Box<str>),
    /// Nobody answers for this address on its link.
    Silent(IpAddr),
    /// No pod of the node has the address, and its bridge leads to nobody else.
    NoPod(IpAddr, Box<str>),
    /// This link is down.
    LinkDown(Box<str>),
    /// This link is up and has no carrier.
    NoCarrier(Box<str>),
    /// The same in the pod's own network.
    InPod(Box<Self>),
    /// This rule of the pod's own network namespace refuses it.
    PodRule(Box<str>),
    /// Nobody listens there.
    NobodyListens(IpAddr, u16, Protocol),
    /// This setting is 0: the node forwards nothing.
    NoForwarding(&'static str),
    /// There is no route to this address.
    NoRoute(IpAddr),
    /// A route of this kind (`blackhole`) refuses the address.
    RouteRefuses(IpAddr, &'static str),
    /// A rule of `ip rule` of this kind does.
    PolicyRefuses(IpAddr, &'static str),
    /// It comes in through this link, and the route to its sender leads out elsewhere.
    SenderElsewhere(Box<str>, IpAddr),
    /// The same, and there is no route to its sender.
    SenderUnrouted(Box<str>, IpAddr),
    /// The table of connections is full of entries that are kept.
    TableFull,
    /// Its sender's own routes do not let it leave, in the system's word.
    NotSent(Box<str>),
    /// It leaves through a link whose other end is not in the node's network namespace.
    Elsewhere,
    /// A loopback address is the asker itself.
    Loopback,
}
