//! What a probe asks for real, and what its answers say.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::findings::{ConnectionFinding, Fact, LinkFinding};
use super::{Kind, Protocol, Tree};

/// How long a reply may be.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Size {
    /// The server's own version (`version.bind`, class CH), without EDNS: a short
    /// reply, if only a refusal, for which it needs no other server.
    Short,
    /// The keys of the root, with EDNS and so many bytes: a long reply, of which
    /// as much comes as is allowed.
    UpTo(u16),
}

/// The same long reply in three lengths: the first one always fits.
const SIZES: [Size; 4] = [
    Size::Short,
    Size::UpTo(512),
    Size::UpTo(1400),
    Size::UpTo(4096),
];

/// A question that is sent.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ask {
    /// To whom.
    pub to: SocketAddr,
    /// Over what.
    pub protocol: Protocol,
    /// What for.
    pub size: Size,
}

/// What came of a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// The question.
    pub ask: Ask,
    /// The port that it was sent from; `None`: it was not sent.
    pub port: Option<u16>,
    /// How long it took until this.
    pub after: Duration,
    /// What came.
    pub came: Came,
}

/// What can come of a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Came {
    /// A reply.
    Reply {
        /// Its length.
        bytes: usize,
        /// Its response code: 0 is NOERROR.
        rcode: u16,
        /// Whether it says that it was cut.
        is_truncated: bool,
    },
    /// The reply came from another address than was asked.
    Elsewhere(SocketAddr),
    /// The system's word, as an errno: connection refused, host unreachable.
    Error(i32),
    /// Nothing.
    Silence,
    /// A connection was made, and then nothing came: packets arrive, and the
    /// server does not answer.
    Connected,
}

/// How often the Service is asked with each size over UDP, each time from
/// another port: a lot that sends one of thirty queries astray is drawn.
const PORTS: usize = 30;
/// And over TCP.
const CONNECTIONS: usize = 5;
/// How often an endpoint is asked in each way.
const TIMES: usize = 3;

/// Packets that a question takes at most: over TCP three to connect and to ask,
/// three to acknowledge and to end.
fn packets(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Udp => 1,
        Protocol::Tcp => 6,
    }
}

/// A Service or another destination, and those who should answer for it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Plan {
    /// What is sent, in this order.
    pub asks: Vec<Ask>,
    /// Addresses that are not asked, or less often than they should be: there
    /// are more than the packets are enough for.
    pub is_cut: bool,
}

/// What to ask so that at most so many packets are sent, only to addresses of
/// the trees: everybody once before anybody twice.
pub fn plan(trees: &[Tree], most: usize) -> Plan {
    let mut wanted: Vec<(Ask, usize)> = Vec::new();
    for tree in trees {
        let protocol = tree.packet.protocol;
        let service = SocketAddr::new(tree.packet.destination, tree.packet.port);
        let often = if protocol == Protocol::Udp {
            PORTS
        } else {
            CONNECTIONS
        };
        let mut add = |to: SocketAddr, times: usize| {
            for size in sizes(protocol) {
                let ask = Ask { to, protocol, size };
                if wanted.iter().all(|it| it.0 != ask) {
                    wanted.push((ask, times));
                }
            }
        };
        add(service, often);
        for to in endpoints(tree) {
            add(to, TIMES);
        }
    }
    // Short ones first: they tell who is alive.
    wanted.sort_by_key(|(ask, _)| (ask.size, ask.protocol));
    let mut plan = Plan::default();
    let mut left = most;
    for round in 0..PORTS {
        for (ask, _) in wanted.iter().filter(|it| round < it.1) {
            match left.checked_sub(packets(ask.protocol)) {
                Some(rest) => {
                    left = rest;
                    plan.asks.push(*ask);
                }
                None => plan.is_cut = true,
            }
        }
    }
    plan
}

/// Over TCP a long reply has one length.
fn sizes(protocol: Protocol) -> impl Iterator<Item = Size> {
    let is_wanted =
        move |it: &Size| protocol == Protocol::Udp || !matches!(it, Size::UpTo(512 | 1400));
    SIZES.into_iter().filter(is_wanted)
}

/// Where the packets of a tree end if nothing goes wrong, each once.
fn endpoints(tree: &Tree) -> Vec<SocketAddr> {
    let ends = tree.outcomes.iter();
    let ends = ends.filter(|it| {
        matches!(
            it.kind,
            Kind::Endpoint | Kind::Local | Kind::Drop | Kind::NoRoute
        )
    });
    let mut found: Vec<SocketAddr> = ends
        .map(|it| SocketAddr::new(it.address, it.port))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// All that came of one question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// The question.
    pub ask: Ask,
    /// How often it was sent.
    pub times: usize,
    /// How often a reply came.
    pub answered: usize,
    /// How long replies took, the shortest first.
    pub after: Vec<Duration>,
    /// The longest reply, in bytes.
    pub bytes: usize,
    /// What came in place of replies, each once, with how often.
    pub others: Vec<(Came, usize)>,
    /// The ports from which nothing came back.
    pub lost_ports: Vec<u16>,
}

/// What came, by question, in the order in which they were first asked.
fn rows(asked: &[Asked]) -> Vec<Row> {
    let mut rows: BTreeMap<Ask, Row> = BTreeMap::new();
    for one in asked {
        let row = rows.entry(one.ask).or_insert_with(|| Row {
            ask: one.ask,
            times: 0,
            answered: 0,
            after: Vec::new(),
            bytes: 0,
            others: Vec::new(),
            lost_ports: Vec::new(),
        });
        row.times += 1;
        if let Came::Reply { bytes, .. } = one.came {
            row.answered += 1;
            row.after.push(one.after);
            row.bytes = row.bytes.max(bytes);
            continue;
        }
        row.lost_ports.extend(one.port);
        match row.others.iter_mut().find(|it| it.0 == one.came) {
            Some((_, count)) => *count += 1,
            None => row.others.push((one.came.clone(), 1)),
        }
    }
    for row in rows.values_mut() {
        row.after.sort_unstable();
    }
    rows.into_values().collect()
}

/// What a probe has seen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Seen {
    /// What came of each question.
    pub rows: Vec<Row>,
    /// What is wrong.
    pub troubles: Vec<Trouble>,
    /// Whether there were more addresses than the packets were enough for.
    pub is_cut: bool,
}

impl Seen {
    /// What came of the questions of a plan for these trees.
    pub fn of(trees: &[Tree], plan: &Plan, asked: &[Asked]) -> Self {
        let rows = rows(asked);
        let is_cut = plan.is_cut || asked.len() < plan.asks.len();
        Self {
            troubles: troubles(trees, &rows),
            rows,
            is_cut,
        }
    }
}

/// What the answers of a probe say beside each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// Everybody answers when asked directly, and the Service does not, or not
    /// always.
    OnlyService {
        /// The Service.
        service: SocketAddr,
        /// Over what.
        protocol: Protocol,
        /// How many queries got no reply, of how many.
        lost: (usize, usize),
    },
    /// The reply came from another address than was asked.
    Elsewhere {
        /// Who was asked.
        asked: SocketAddr,
        /// Who replied.
        from: SocketAddr,
    },
    /// An endpoint does not answer, or not always.
    Endpoint {
        /// The endpoint.
        endpoint: SocketAddr,
        /// Over what.
        protocol: Protocol,
        /// How many queries got no reply, of how many.
        lost: (usize, usize),
    },
    /// Short replies come, and long ones of this length do not.
    Long {
        /// Who was asked.
        to: SocketAddr,
        /// The shortest length that is lost.
        bytes: u16,
    },
}

impl Trouble {
    /// Whether a finding of this kind makes such a trouble.
    pub fn is_explained_by(&self, fact: &Fact) -> bool {
        let is_full = matches!(
            fact,
            Fact::Connection(ConnectionFinding::Full { .. } | ConnectionFinding::Losing(_))
        );
        match self {
            Self::OnlyService { .. } => match fact {
                Fact::Link(it) => matches!(it, LinkFinding::Bridge { .. }),
                Fact::Connection(it) => !matches!(it, ConnectionFinding::Lost { .. }),
                Fact::Cache(_) | Fact::Proxy(_) | Fact::Policy(_) => true,
            },
            Self::Elsewhere { .. } => matches!(fact, Fact::Link(LinkFinding::Bridge { .. })),
            Self::Endpoint { .. } => is_full || matches!(fact, Fact::Policy(_)),
            Self::Long { .. } => {
                matches!(
                    fact,
                    Fact::Link(LinkFinding::Narrow { .. } | LinkFinding::Small { .. })
                )
            }
        }
    }
}

/// What is wrong, from what came of the questions of a plan for these trees.
fn troubles(trees: &[Tree], rows: &[Row]) -> Vec<Trouble> {
    let mut found = Vec::new();
    for row in rows {
        let elsewhere = row.others.iter().find_map(|it| match it.0 {
            Came::Elsewhere(from) => Some(from),
            _ => None,
        });
        if let Some(from) = elsewhere {
            let trouble = Trouble::Elsewhere {
                asked: row.ask.to,
                from,
            };
            if !found.contains(&trouble) {
                found.push(trouble);
            }
        }
    }
    for tree in trees {
        let protocol = tree.packet.protocol;
        let service = SocketAddr::new(tree.packet.destination, tree.packet.port);
        let lost_of = |to: SocketAddr| {
            let own = rows
                .iter()
                .filter(|it| it.ask.to == to && it.ask.protocol == protocol);
            let short = own.filter(|it| it.ask.size == Size::Short);
            short.fold((0, 0), |(lost, all), it| {
                (lost + it.times - it.answered, all + it.times)
            })
        };
        let mut are_alive = true;
        for endpoint in endpoints(tree).into_iter().filter(|it| *it != service) {
            let lost = lost_of(endpoint);
            if lost.0 > 0 {
                are_alive = false;
                found.push(Trouble::Endpoint {
                    endpoint,
                    protocol,
                    lost,
                });
            }
        }
        let lost = lost_of(service);
        if lost.0 > 0 && are_alive {
            found.push(Trouble::OnlyService {
                service,
                protocol,
                lost,
            });
        }
    }
    found.extend(long(rows));
    found
}

/// Those who answer briefly and not at length.
fn long(rows: &[Row]) -> Vec<Trouble> {
    let mut found: Vec<Trouble> = Vec::new();
    let of = |to: SocketAddr, size| {
        let mut udp = rows
            .iter()
            .filter(|it| it.ask.protocol == Protocol::Udp && it.ask.to == to);
        udp.find(|it| it.ask.size == size)
    };
    for row in rows {
        let Size::UpTo(bytes @ 513..) = row.ask.size else {
            continue;
        };
        // The same question whose reply always fits.
        let control = of(row.ask.to, Size::UpTo(512));
        let is_alive = control.is_some_and(|it| it.times > 0 && it.answered == it.times);
        let is_lost = row.ask.protocol == Protocol::Udp && row.answered * 2 < row.times;
        let is_known = |it: &Trouble| matches!(it, Trouble::Long { to, .. } if *to == row.ask.to);
        if is_alive && is_lost && !found.iter().any(is_known) {
            found.push(Trouble::Long {
                to: row.ask.to,
                bytes,
            });
        }
    }
    found
}
