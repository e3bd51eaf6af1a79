//! Links that lose what the rules let pass: bridges that pass them by, and
//! lengths that do not fit.

use std::net::IpAddr;

use super::{Around, Evidence, Fact, Finding, link_to};
use crate::finding::Severity;
use crate::path::{Host, Kind, Link, Outcome, Start, Tree};
use crate::text::Place;

/// What is wrong with links.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LinkFinding {
    /// The client and an endpoint are ports of one bridge, which passes answers
    /// on without the rules that give them back the address that was asked.
    Bridge {
        /// The bridge.
        bridge: Box<str>,
        /// The endpoint.
        endpoint: IpAddr,
        /// The pod there.
        pod: Option<String>,
        /// Whether the module with the setting is not there at all.
        is_missing: bool,
        /// The setting.
        setting: &'static str,
    },
    /// Packets as long as the client's link takes do not fit a link behind it.
    Narrow {
        /// The client's link.
        from: Box<str>,
        /// Its MTU.
        from_mtu: u32,
        /// The link behind it.
        to: Box<str>,
        /// Its MTU.
        to_mtu: u32,
        /// The endpoint that is reached through it.
        endpoint: IpAddr,
    },
    /// A reply of the usual EDNS size does not fit.
    Small {
        /// The link.
        link: Box<str>,
        /// Its MTU.
        mtu: u32,
        /// The length of the largest usual reply as an IP packet.
        needed: u32,
    },
}

/// The size that servers and resolvers have agreed upon: with IPv6 it just fits
/// the smallest MTU that IPv6 allows.
///
/// Source: DNS flag day 2020; RFC 9715.
const EDNS: u32 = 1232;

/// Headers before a reply.
const HEADERS_4: u32 = 28;
const HEADERS_6: u32 = 48;

pub(super) fn find(host: &Host, trees: &[Tree], around: Around<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for tree in trees {
        let ends = tree.outcomes.iter().filter(|it| it.kind == Kind::Endpoint);
        for outcome in ends {
            let one = bridge(host, tree, outcome);
            let both = one.into_iter().chain(length(host, tree, outcome, around));
            for finding in both {
                if !found.iter().any(|it| is_alike(it, &finding)) {
                    found.push(finding);
                }
            }
        }
    }
    found
}

/// Whether it says the same of another endpoint behind the same link.
fn is_alike(one: &Finding, other: &Finding) -> bool {
    use LinkFinding::{Bridge, Narrow, Small};
    match (&one.fact, &other.fact) {
        (Fact::Link(Bridge { bridge: one, .. }), Fact::Link(Bridge { bridge: other, .. }))
        | (Fact::Link(Narrow { to: one, .. }), Fact::Link(Narrow { to: other, .. }))
        | (Fact::Link(Small { link: one, .. }), Fact::Link(Small { link: other, .. })) => {
            one == other
        }
        _ => false,
    }
}

/// Answers that cross a bridge without its rules.
fn bridge(host: &Host, tree: &Tree, outcome: &Outcome) -> Option<Finding> {
    let packet = &tree.packet;
    let is_translated = outcome.address != packet.destination && !outcome.masqueraded;
    if !is_translated || packet.start == Start::Host {
        return None;
    }
    let (to, back) = (
        link_to(host, outcome.address)?,
        link_to(host, packet.source)?,
    );
    if !to.is_a("bridge") || to.index != back.index {
        return None;
    }
    let setting = match packet.destination {
        IpAddr::V4(_) => "net.bridge.bridge-nf-call-iptables",
        IpAddr::V6(_) => "net.bridge.bridge-nf-call-ip6tables",
    };
    // Where no setting was seen at all, this one was not looked for.
    let value = host.sysctls.get(setting).map(String::as_str);
    let is_seen = !host.sysctls.is_empty();
    if !is_seen || value.is_some_and(|it| it != "0") {
        return None;
    }
    let evidence = match value {
        Some(value) => Evidence::setting(setting, value),
        None => Evidence::new(
            Place::nowhere("/proc/sys/net/bridge"),
            "is not there: the module br_netfilter is not loaded".to_owned(),
        ),
    };
    let fact = LinkFinding::Bridge {
        bridge: to.name.clone(),
        endpoint: outcome.address,
        pod: outcome.pod.clone(),
        is_missing: value.is_none(),
        setting,
    };
    Some(Finding::new(
        Severity::Error,
        Fact::Link(fact),
        vec![evidence],
    ))
}

/// Links on the way that are too small.
fn length(host: &Host, tree: &Tree, outcome: &Outcome, around: Around<'_>) -> Vec<Finding> {
    let packet = &tree.packet;
    let Some(way) = link_to(host, outcome.address).filter(|it| it.mtu > 0) else {
        return Vec::new();
    };
    let own = around.client.and_then(|it| link_of(it, packet.source));
    let from = match packet.start {
        Start::Host => Some(way),
        _ => own.or_else(|| link_to(host, packet.source)),
    };
    let from = from.filter(|it| it.mtu > 0);
    let mut inside = host.inside.iter();
    let server = inside.find_map(|it| link_of(it, outcome.address));
    let sends = |port: &&Link| server.is_none_or(|it| it.mtu == 0 || it.mtu > port.mtu);
    let ports = [
        port(host, outcome.address, server),
        port(host, packet.source, own).filter(sends),
    ];
    let ports = ports.into_iter().flatten();
    let to = ports.fold(way, |to, it| if it.mtu < to.mtu { it } else { to });
    let mut found = Vec::new();
    if let Some(from) = from.filter(|it| it.mtu > to.mtu) {
        let fact = LinkFinding::Narrow {
            from: from.name.clone(),
            from_mtu: from.mtu,
            to: to.name.clone(),
            to_mtu: to.mtu,
            endpoint: outcome.address,
        };
        let evidence = vec![mtu(to), mtu(from)];
        found.push(Finding::new(Severity::Warning, Fact::Link(fact), evidence));
    }
    let headers = if outcome.address.is_ipv4() {
        HEADERS_4
    } else {
        HEADERS_6
    };
    let needed = EDNS + headers;
    let smallest = from.into_iter().chain([way]).min_by_key(|it| it.mtu);
    if let Some(link) = smallest.filter(|it| it.mtu < needed) {
        let fact = LinkFinding::Small {
            link: link.name.clone(),
            mtu: link.mtu,
            needed,
        };
        let evidence = vec![mtu(link)];
        found.push(Finding::new(Severity::Warning, Fact::Link(fact), evidence));
    }
    found
}

/// The port of a bridge that loses long packets of the pod that has the address, and those for
/// it: it takes less than the pod's `own` link, which then sends no fragments that fit.
///
/// Source: Linux `include/linux/netdevice.h: __is_skb_forwardable`, which `drivers/net/veth.c` and
/// `net/bridge/br_forward.c: br_dev_queue_push_xmit` call.
fn port<'h>(host: &'h Host, ip: IpAddr, own: Option<&Link>) -> Option<&'h Link> {
    let own = own.filter(|it| it.is_a("veth"))?;
    let bridge = link_to(host, ip)?.index;
    // Numbers of links are those of a network namespace, so each must name the other.
    let is_its =
        |it: &Link| own.peer == Some(it.index) && it.peer.is_none_or(|peer| peer == own.index);
    let is_it = |it: &&Link| it.is_a("veth") && is_its(it) && it.master == Some(bridge);
    let port = host.links.iter().flatten().find(is_it)?;
    (0 < port.mtu && port.mtu < own.mtu).then_some(port)
}

fn mtu(link: &Link) -> Evidence {
    Evidence::new(
        Place::nowhere("link"),
        format!("{} mtu {}", link.name, link.mtu),
    )
}

/// The link that has the address.
fn link_of(host: &Host, ip: IpAddr) -> Option<&Link> {
    let address = host.addresses.iter().flatten().find(|it| it.ip == ip)?;
    host.links
        .iter()
        .flatten()
        .find(|it| it.name == address.link)
}
