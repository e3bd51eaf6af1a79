//! What a capture shows to be wrong, each with its evidence.

mod losses;
mod names;
mod servers;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::finding::Severity;
use crate::histogram::Histogram;
use crate::name::Name;
use crate::node::kernel::ConntrackCounters;
use crate::order::Order as _;
use crate::packet::Unreachable;
use crate::text::ordered;
use crate::watch::name::of_wire;
use crate::watch::tally::{Count, MAX_PACKETS, Tally, zone};

/// Something that is wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub what: What,
    /// How bad it is.
    pub severity: Severity,
    /// How often it was seen.
    pub count: u64,
    /// The server that it is about.
    pub server: Option<SocketAddr>,
    /// The name that it is about, or the first of them.
    pub name: Option<Name>,
    /// The numbers of the first packets that show it.
    pub packets: Vec<u64>,
}

/// What is wrong, with what was counted.
#[derive(Clone, Debug)]
pub enum What {
    /// Queries without an answer.
    Unanswered {
        /// Sendings to the server.
        of: u64,
        /// How many were for A, AAAA, other types.
        types: [u64; 3],
        /// How many were the first and the second of a pair whose other half was
        /// answered.
        pair: [u64; 2],
        /// How many answers were seen that the program did not get.
        ignored: u64,
        /// The longest lookup among them, in nanoseconds.
        slowest: i64,
    },
    /// One query of a pair was lost, the other answered.
    ConntrackRace {
        /// How many of the lost ones were the second of their pair.
        second: u64,
        /// Whether the node's counters show it.
        evidence: Evidence,
        /// The longest lookup among them, in nanoseconds.
        slowest: i64,
    },
    /// The server never answers.
    ServerSilent,
    /// An ICMP error came back.
    ServerClosed(Unreachable),
    /// The server answers over TCP only.
    UdpSilent {
        /// Queries over TCP that it answered.
        tcp: u64,
    },
    /// Large answers do not arrive.
    LargeRepliesLost {
        /// The largest answer over UDP that did arrive, in bytes.
        largest: u32,
        /// The UDP payload size that the lost queries allowed, in bytes.
        edns: Option<u16>,
        /// Datagrams of which fragments are missing.
        incomplete: u64,
        /// The size of the answer as it came over TCP, if it did.
        over_tcp: Option<u32>,
    },
    /// A truncated answer, and nobody asked over TCP.
    TruncatedNoTcp,
    /// A truncated answer, and the server takes no connection.
    TcpRefused {
        /// How many were refused; the others got no answer.
        refused: u64,
    },
    /// The server ends connections without an answer.
    TcpClosed,
    /// The server takes long, whatever it is asked.
    SlowServer(Times),
    /// A server takes long for one zone.
    SlowZone {
        /// For this zone.
        times: Times,
        /// The median of all others, in nanoseconds.
        others: i64,
    },
    /// The server answers with an error: the response code.
    ServerFails {
        /// The code.
        rcode: u8,
        /// Responses of the server in all.
        of: u64,
    },
    /// One server says that a name does not exist, another one knows it.
    ServersDisagree {
        /// The one that says so.
        denies: IpAddr,
        /// The one that knows it.
        answers: IpAddr,
    },
    /// An entry of the search list answers for everything.
    Wildcard {
        /// The address that all get.
        address: Option<IpAddr>,
        /// What was asked for.
        names: Vec<Name>,
        /// Whether the search list was read off the queries.
        is_inferred: bool,
    },
    /// Most queries are for names that the search list made and nobody has.
    SearchWaste {
        /// Queries in all.
        of: u64,
        /// By entry of the list.
        entries: Vec<(Name, u64)>,
        /// By name, the most wasteful first.
        names: Vec<(Name, u64)>,
    },
    /// The same name again and again within its time to live.
    NoCache {
        /// Lookups of it.
        lookups: u64,
        /// How many of them a cache would have answered.
        saved: u64,
        /// Its time to live, in seconds.
        ttl: u32,
        /// From the first to the last, in nanoseconds.
        span: i64,
    },
    /// A exists, AAAA fails.
    AaaaFails {
        /// The code; `None`: no answer.
        rcode: Option<u8>,
        /// How many names there are below which zones, the most first.
        zones: Vec<(Name, u64)>,
    },
    /// Answers come from another address.
    WrongSource {
        /// That address.
        from: IpAddr,
    },
    /// Packets came twice.
    Duplicates,
    /// Answers that are for another question or port.
    Mismatched,
    /// A name of multicast DNS goes to a server.
    MdnsLeak,
    /// A query comes back.
    Loop,
}

/// How sure it is that the connection table of the kernel lost a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// Its counters rose meanwhile by so much.
    Seen(ConntrackCounters),
    /// There are no counters.
    Likely,
}

/// How long answers took, in nanoseconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Times {
    /// Half of them took no longer.
    pub median: i64,
    /// 99 of 100 took no longer.
    pub most: i64,
    /// How many there were.
    pub count: u64,
}

impl Times {
    pub(in crate::watch) fn from_histogram(histogram: &Histogram) -> Self {
        let within = |share| histogram.percentile(share).unwrap_or_default();
        Self {
            median: i64::try_from(within(0.5)).unwrap_or(i64::MAX),
            most: i64::try_from(within(0.99)).unwrap_or(i64::MAX),
            count: histogram.total(),
        }
    }
}

impl What {
    /// The code of such findings.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unanswered { .. } => "unanswered",
            Self::ConntrackRace { .. } => "conntrack-race",
            Self::ServerSilent => "server-silent",
            Self::ServerClosed(_) => "server-closed",
            Self::UdpSilent { .. } => "udp-silent",
            Self::LargeRepliesLost { .. } => "large-replies-lost",
            Self::TruncatedNoTcp => "truncated-no-tcp",
            Self::TcpRefused { .. } => "tcp-refused",
            Self::TcpClosed => "tcp-closed",
            Self::SlowServer(_) => "slow-server",
            Self::SlowZone { .. } => "slow-zone",
            Self::ServerFails { .. } => "server-fails",
            Self::ServersDisagree { .. } => "servers-disagree",
            Self::Wildcard { .. } => "wildcard",
            Self::SearchWaste { .. } => "search-waste",
            Self::NoCache { .. } => "no-cache",
            Self::AaaaFails { .. } => "aaaa-fails",
            Self::WrongSource { .. } => "wrong-source",
            Self::Duplicates => "duplicates",
            Self::Mismatched => "mismatched-replies",
            Self::MdnsLeak => "mdns-leak",
            Self::Loop => "loop",
        }
    }
}

/// What findings are made from.
pub(super) struct Known<'k> {
    pub(super) tally: &'k Tally,
    /// What the node's connection table lost meanwhile, if it is known.
    pub(super) conntrack: Option<ConntrackCounters>,
    /// Whether search lists were read off the queries.
    pub(super) is_inferred: bool,
}

/// All that is wrong, the worst first.
pub(super) fn all(known: &Known<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let looping = losses::add(known, &mut found);
    servers::add(known, &mut found);
    names::add(known, &mut found);
    // What goes round does so often, and with whatever errors end it.
    let is_of_loop = |it: &Finding| {
        let name = it.name.as_ref().map(|it| it.as_wire().to_ascii_lowercase());
        !matches!(it.what, What::Loop) && name.is_some_and(|it| looping.contains(&it))
    };
    found.retain(|it| !is_of_loop(it));
    found.order_by(|one, other| {
        let rank = |it: &Finding| (Reverse(it.severity), Reverse(it.count));
        rank(one).cmp(&rank(other))
    });
    found
}

/// How many names there are below which zones, the most first.
fn zones<'n>(names: impl Iterator<Item = &'n Name>) -> Vec<(Name, u64)> {
    let lower: BTreeSet<Vec<u8>> = ordered(names.map(|it| it.as_wire().to_ascii_lowercase()));
    let mut zones: BTreeMap<&[u8], u64> = BTreeMap::new();
    for name in &lower {
        *zones.entry(zone(name)).or_default() += 1;
    }
    let zones = zones
        .into_iter()
        .map(|(zone, names)| (of_wire(zone), names));
    let mut zones: Vec<(Name, u64)> = zones.collect();
    zones.order_by_key(|it| Reverse(it.1));
    zones
}

impl Finding {
    fn new(what: What, severity: Severity, count: u64) -> Self {
        Self {
            what,
            severity,
            count,
            server: None,
            name: None,
            packets: Vec::new(),
        }
    }

    fn from_count(what: What, severity: Severity, count: &Count) -> Self {
        Self::new(what, severity, count.times)
            .about(count.name.as_ref())
            .shown_by(count.packets.iter().copied())
    }

    fn at(mut self, server: SocketAddr) -> Self {
        self.server = Some(server);
        self
    }

    fn about(mut self, name: Option<&Name>) -> Self {
        self.name = name.cloned();
        self
    }

    fn shown_by(mut self, packets: impl IntoIterator<Item = u64>) -> Self {
        self.packets = packets.into_iter().take(MAX_PACKETS).collect();
        self
    }
}
