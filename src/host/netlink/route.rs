//! Links, addresses, routes, policies and neighbours, as `ip` shows them.
//!
//! Source: rtnetlink(7).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::Parseable;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteType, RouteVia,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleFlags, RuleMessage};
use nix::libc;
use nix::sys::socket::SockProtocol;

use super::link::{Peer, link};
use super::{Netlink, NetlinkError};
use crate::path::{Address, Link, Neighbour, Policy, Route, RouteKind};

/// A socket to the part of the kernel that knows links and routes.
#[derive(Debug)]
pub struct RouteSocket {
    netlink: Netlink,
    /// Names of links by their numbers.
    names: BTreeMap<u32, Box<str>>,
    /// Their other ends.
    peers: BTreeMap<u32, Peer>,
}

/// The table of a node's own addresses.
const LOCAL: u32 = 255;

impl RouteSocket {
    /// Opens one in this thread's network namespace, and reads its links.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn open() -> Result<(Self, Vec<Link>), NetlinkError> {
        let what = "links";
        let netlink = Netlink::open(SockProtocol::NetlinkRoute, what)?;
        let both = list(&netlink, what, libc::RTM_GETLINK, 16, link)?;
        let peers = both
            .iter()
            .filter_map(|(it, peer)| Some((it.index, (*peer)?)))
            .collect();
        let links: Vec<Link> = both.into_iter().map(|it| it.0).collect();
        let names = links.iter().map(|it| (it.index, it.name.clone())).collect();
        Ok((
            Self {
                netlink,
                names,
                peers,
            },
            links,
        ))
    }

    /// The other ends of links, by the links' own numbers.
    pub fn peers(&self) -> &BTreeMap<u32, Peer> {
        &self.peers
    }

    /// The addresses of the links.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn addresses(&self) -> Result<Vec<Address>, NetlinkError> {
        let address = |message: &AddressMessage| self.address(message);
        list(&self.netlink, "addresses", libc::RTM_GETADDR, 8, address)
    }

    /// The routes, but those of the table `local`.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn routes(&self) -> Result<Vec<Route>, NetlinkError> {
        let route = |message: &RouteMessage| Some(self.hops(message));
        let lists = list(&self.netlink, "routes", libc::RTM_GETROUTE, 12, route)?;
        let mut routes = lists.concat();
        routes.retain(|it| it.table != LOCAL);
        Ok(routes)
    }

    /// The rules of the routing policy, in their order.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn policies(&self) -> Result<Vec<Policy>, NetlinkError> {
        list(
            &self.netlink,
            "routing policies",
            libc::RTM_GETRULE,
            12,
            policy,
        )
    }

    /// Who was looked for on the links.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn neighbours(&self) -> Result<Vec<Neighbour>, NetlinkError> {
        let neighbour = |message: &NeighbourMessage| self.neighbour(message);
        list(
            &self.netlink,
            "neighbours",
            libc::RTM_GETNEIGH,
            12,
            neighbour,
        )
    }

    fn name(&self, index: u32) -> Box<str> {
        self.names
            .get(&index)
            .cloned()
            .unwrap_or_else(|| format!("#{index}").into())
    }

    fn address(&self, message: &AddressMessage) -> Option<Address> {
        // Of a link between two, `Address` is the other one's.
        let own = message.attributes.iter().find_map(|it| match it {
            AddressAttribute::Local(ip) => Some(*ip),
            _ => None,
        });
        let ip = own.or_else(|| {
            message.attributes.iter().find_map(|it| match it {
                AddressAttribute::Address(ip) => Some(*ip),
                _ => None,
            })
        })?;
        let link = self.name(message.header.index);
        Some(Address {
            ip,
            prefix: message.header.prefix_len,
            link,
        })
    }

    /// A route for each of its next hops.
    fn hops(&self, message: &RouteMessage) -> Vec<Route> {
        let header = &message.header;
        let unspecified = match header.address_family {
            AddressFamily::Inet => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            AddressFamily::Inet6 => IpAddr::from(Ipv6Addr::UNSPECIFIED),
            _ => return Vec::new(),
        };
        // Of several next hops each has flags of its own.
        let is_dead = header.flags.contains(RouteFlags::Dead);
        let mut route = Route {
            table: header.table.into(),
            kind: kind(header.kind),
            destination: unspecified,
            prefix: header.destination_prefix_length,
            gateway: None,
            link: None,
            source: None,
            metric: 0,
        };
        let mut hops = Vec::new();
        for attribute in &message.attributes {
            match attribute {
                RouteAttribute::Table(table) => route.table = *table,
                RouteAttribute::Destination(it) => {
                    route.destination = ip(it).unwrap_or(unspecified);
                }
                RouteAttribute::PrefSource(it) => route.source = ip(it),
                RouteAttribute::Priority(metric) => route.metric = *metric,
                RouteAttribute::MultiPath(them) => hops.extend(them),
                other => self.hop(&mut route, other),
            }
        }
        if hops.is_empty() {
            return if is_dead { Vec::new() } else { vec![route] };
        }
        let hops = hops.into_iter().map(|hop| {
            let link = Some(self.name(hop.interface_index));
            let mut one = Route {
                link,
                ..route.clone()
            };
            hop.attributes.iter().for_each(|it| self.hop(&mut one, it));
            one
        });
        hops.collect()
    }

    /// What an attribute says about the next hop.
    fn hop(&self, route: &mut Route, attribute: &RouteAttribute) {
        match attribute {
            RouteAttribute::Gateway(it) => route.gateway = ip(it),
            RouteAttribute::Via(RouteVia::Inet(it)) => route.gateway = Some((*it).into()),
            RouteAttribute::Via(RouteVia::Inet6(it)) => route.gateway = Some((*it).into()),
            RouteAttribute::Oif(index) => route.link = Some(self.name(*index)),
            _ => {}
        }
    }

    fn neighbour(&self, message: &NeighbourMessage) -> Option<Neighbour> {
        let ip = message.attributes.iter().find_map(|it| match it {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(ip)) => Some(IpAddr::from(*ip)),
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(ip)) => Some(IpAddr::from(*ip)),
            _ => None,
        })?;
        let answers = match message.header.state {
            NeighbourState::Reachable | NeighbourState::Permanent | NeighbourState::Noarp => {
                Some(true)
            }
            NeighbourState::Failed => Some(false),
            NeighbourState::Incomplete if is_asked_again(message) => Some(false),
            // It did answer, but not lately.
            _ => None,
        };
        let link = self.name(message.header.ifindex);
        Some(Neighbour { ip, link, answers })
    }
}

/// Whether a neighbour whose link address is not known yet is asked for it a second time or
/// later, which is a second after the first. The kernel's count begins with
/// `ucast_solicit`, 3 (`__neigh_event_send`).
fn is_asked_again(message: &NeighbourMessage) -> bool {
    let probes = message.attributes.iter().find_map(|it| match it {
        NeighbourAttribute::Probes(probes) => Some(*probes),
        _ => None,
    });
    probes.is_some_and(|it| it > 4)
}

/// The list that a message of this type, with a header of this length, asks for.
fn list<M: Parseable<[u8]>, T>(
    netlink: &Netlink,
    what: &'static str,
    kind: u16,
    header: usize,
    item: impl Fn(&M) -> Option<T>,
) -> Result<Vec<T>, NetlinkError> {
    let mut items = Vec::new();
    let mut is_garbled = false;
    netlink.dump(what, kind, &vec![0; header], &mut |message| {
        match message.map(|(_, body)| M::parse(body)) {
            None => items.clear(),
            Some(Ok(message)) => items.extend(item(&message)),
            // Half a list would say that what is missing is not there.
            Some(Err(_)) => is_garbled = true,
        }
        true
    })?;
    if is_garbled {
        return Err(NetlinkError::Garbled(what));
    }
    Ok(items)
}

fn kind(kind: RouteType) -> RouteKind {
    match kind {
        RouteType::Unicast => RouteKind::Unicast,
        RouteType::Local => RouteKind::Local,
        RouteType::BlackHole => RouteKind::Blackhole,
        RouteType::Unreachable => RouteKind::Unreachable,
        RouteType::Prohibit => RouteKind::Prohibit,
        RouteType::Throw => RouteKind::Throw,
        _ => RouteKind::Other,
    }
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(ip) => Some((*ip).into()),
        RouteAddress::Inet6(ip) => Some((*ip).into()),
        _ => None,
    }
}

fn refusal(action: RuleAction) -> Option<RouteKind> {
    match action {
        RuleAction::Blackhole => Some(RouteKind::Blackhole),
        RuleAction::Unreachable => Some(RouteKind::Unreachable),
        RuleAction::Prohibit => Some(RouteKind::Prohibit),
        _ => None,
    }
}

fn policy(message: &RuleMessage) -> Option<Policy> {
    let header = &message.header;
    if !matches!(header.family, AddressFamily::Inet | AddressFamily::Inet6) {
        return None;
    }
    let mut policy = Policy {
        priority: 0,
        from: None,
        to: None,
        mark: None,
        in_link: None,
        table: header.table.into(),
        refuses: refusal(header.action),
        is_odd: header.flags.contains(RuleFlags::Invert) || header.tos != 0,
    };
    policy.is_odd |= header.action != RuleAction::ToTable && policy.refuses.is_none();
    let (mut value, mut mask) = (None, None);
    for attribute in &message.attributes {
        match attribute {
            RuleAttribute::Priority(it) => policy.priority = *it,
            RuleAttribute::Source(ip) => policy.from = Some((*ip, header.src_len)),
            RuleAttribute::Destination(ip) => policy.to = Some((*ip, header.dst_len)),
            RuleAttribute::Table(table) => policy.table = *table,
            RuleAttribute::Iifname(name) => policy.in_link = Some(name.as_str().into()),
            RuleAttribute::FwMark(it) => value = Some(*it),
            RuleAttribute::FwMask(it) => mask = Some(*it),
            // Who made it; and one that suppresses nothing.
            RuleAttribute::Protocol(_) | RuleAttribute::SuppressPrefixLen(u32::MAX) => {}
            _ => policy.is_odd = true,
        }
    }
    policy.mark = value.map(|it| (it, mask.unwrap_or(u32::MAX)));
    Some(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_is_there() {
        let (socket, links) = RouteSocket::open().unwrap();
        let found = links
            .iter()
            .find(|it| it.kind == crate::path::LinkKind::Loopback)
            .unwrap();
        assert_eq!((found.name.as_ref(), found.index), ("lo", 1));
        // A network namespace of a test may have no address yet, but has policies.
        let policies = socket.policies().unwrap();
        assert!(policies.iter().any(|it| it.table == 254), "{policies:?}");
        for own in socket.addresses().unwrap() {
            assert!(links.iter().any(|it| it.name == own.link), "{own:?}");
        }
        let routes = socket.routes().unwrap();
        assert!(routes.iter().all(|it| it.table != LOCAL), "{routes:?}");
        socket.neighbours().unwrap();
    }

    #[test]
    fn a_neighbour_is_silent_only_when_it_was_asked_twice() {
        let (socket, _) = RouteSocket::open().unwrap();
        let answers = |state, probes| {
            let mut message = NeighbourMessage::default();
            message.header.state = state;
            let ip = Ipv4Addr::new(10, 0, 0, 9);
            message.attributes = vec![
                NeighbourAttribute::Destination(NeighbourAddress::Inet(ip)),
                NeighbourAttribute::Probes(probes),
            ];
            socket.neighbour(&message).unwrap().answers
        };
        assert_eq!(answers(NeighbourState::Incomplete, 4), None);
        assert_eq!(answers(NeighbourState::Incomplete, 5), Some(false));
        assert_eq!(answers(NeighbourState::Failed, 6), Some(false));
        assert_eq!(answers(NeighbourState::Stale, 4), None);
    }
}
