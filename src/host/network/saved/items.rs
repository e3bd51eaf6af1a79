//! The items of a line: each as it is written, and back.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::node::kernel::ConntrackCounters;
use crate::path::{Conntrack, Link, LinkKind, Policy, Route, RouteKind};
use crate::rules::conntrack::{Entry, Tuple};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LinkLine {
    index: u32,
    name: String,
    /// `loopback`, empty, or as `ip -d link` names it.
    kind: String,
    is_up: bool,
    mtu: u32,
    master: Option<u32>,
    hairpin: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct RouteLine {
    table: u32,
    kind: String,
    destination: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
    link: Option<String>,
    source: Option<IpAddr>,
    metric: u32,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct PolicyLine {
    priority: u32,
    from: Option<(IpAddr, u8)>,
    to: Option<(IpAddr, u8)>,
    mark: Option<(u32, u32)>,
    in_link: Option<String>,
    table: u32,
    is_odd: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ConntrackLine {
    count: Option<u64>,
    max: Option<u64>,
    /// `insert_failed`, `drop`, `early_drop`.
    counters: Option<(u64, u64, u64)>,
    entries: Vec<EntryLine>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct EntryLine {
    protocol: u8,
    timeout: Option<u32>,
    state: Option<String>,
    /// Source and destination with their ports.
    original: (IpAddr, u16, IpAddr, u16),
    reply: (IpAddr, u16, IpAddr, u16),
    is_unreplied: bool,
    is_assured: bool,
    mark: u32,
    zone: u16,
}

/// Words of kinds of routes, as `ip route` has them.
const KINDS: [(RouteKind, &str); 7] = [
    (RouteKind::Unicast, "unicast"),
    (RouteKind::Local, "local"),
    (RouteKind::Blackhole, "blackhole"),
    (RouteKind::Unreachable, "unreachable"),
    (RouteKind::Prohibit, "prohibit"),
    (RouteKind::Throw, "throw"),
    (RouteKind::Other, "other"),
];

pub(super) fn link_line(link: &Link) -> LinkLine {
    let kind = match &link.kind {
        LinkKind::Loopback => "loopback".to_owned(),
        LinkKind::Device => String::new(),
        LinkKind::Named(kind) => kind.to_string(),
    };
    LinkLine {
        index: link.index,
        name: link.name.to_string(),
        kind,
        is_up: link.is_up,
        mtu: link.mtu,
        master: link.master,
        hairpin: link.hairpin,
    }
}

pub(super) fn link(line: LinkLine) -> Link {
    let kind = match line.kind.as_str() {
        "loopback" => LinkKind::Loopback,
        "" => LinkKind::Device,
        kind => LinkKind::Named(kind.into()),
    };
    Link {
        index: line.index,
        name: line.name.into(),
        kind,
        is_up: line.is_up,
        mtu: line.mtu,
        master: line.master,
        hairpin: line.hairpin,
    }
}

pub(super) fn route_line(route: &Route) -> RouteLine {
    let kind = KINDS
        .iter()
        .find(|it| it.0 == route.kind)
        .map_or("other", |it| it.1);
    RouteLine {
        table: route.table,
        kind: kind.to_owned(),
        destination: route.destination,
        prefix: route.prefix,
        gateway: route.gateway,
        link: route.link.as_ref().map(ToString::to_string),
        source: route.source,
        metric: route.metric,
    }
}

pub(super) fn route(line: RouteLine) -> Route {
    let kind = KINDS.iter().find(|it| it.1 == line.kind);
    Route {
        table: line.table,
        kind: kind.map_or(RouteKind::Other, |it| it.0),
        destination: line.destination,
        prefix: line.prefix,
        gateway: line.gateway,
        link: line.link.map(Into::into),
        source: line.source,
        metric: line.metric,
    }
}

pub(super) fn policy_line(policy: &Policy) -> PolicyLine {
    PolicyLine {
        priority: policy.priority,
        from: policy.from,
        to: policy.to,
        mark: policy.mark,
        in_link: policy.in_link.as_ref().map(ToString::to_string),
        table: policy.table,
        is_odd: policy.is_odd,
    }
}

pub(super) fn policy(line: PolicyLine) -> Policy {
    Policy {
        priority: line.priority,
        from: line.from,
        to: line.to,
        mark: line.mark,
        in_link: line.in_link.map(Into::into),
        table: line.table,
        is_odd: line.is_odd,
    }
}

pub(super) fn conntrack_line(conntrack: &Conntrack) -> ConntrackLine {
    let counters = conntrack.counters;
    let side = |it: &Tuple| {
        (
            it.source,
            it.source_port,
            it.destination,
            it.destination_port,
        )
    };
    let entry = |it: &Entry| EntryLine {
        protocol: it.protocol,
        timeout: it.timeout,
        state: it.state.as_ref().map(ToString::to_string),
        original: side(&it.original),
        reply: side(&it.reply),
        is_unreplied: it.is_unreplied,
        is_assured: it.is_assured,
        mark: it.mark,
        zone: it.zone,
    };
    ConntrackLine {
        count: conntrack.count,
        max: conntrack.max,
        counters: counters.map(|it| (it.insert_failed, it.drop, it.early_drop)),
        entries: conntrack.entries.iter().map(entry).collect(),
    }
}

pub(super) fn conntrack(line: ConntrackLine) -> Conntrack {
    let side = |(source, source_port, destination, destination_port)| Tuple {
        source,
        destination,
        source_port,
        destination_port,
    };
    let entry = |it: EntryLine| Entry {
        protocol: it.protocol,
        timeout: it.timeout,
        state: it.state.map(Into::into),
        original: side(it.original),
        reply: side(it.reply),
        is_unreplied: it.is_unreplied,
        is_assured: it.is_assured,
        mark: it.mark,
        zone: it.zone,
        line: 0,
    };
    Conntrack {
        count: line.count,
        max: line.max,
        counters: line
            .counters
            .map(|(insert_failed, drop, early_drop)| ConntrackCounters {
                insert_failed,
                drop,
                early_drop,
                ..ConntrackCounters::default()
            }),
        entries: line.entries.into_iter().map(entry).collect(),
    }
}
