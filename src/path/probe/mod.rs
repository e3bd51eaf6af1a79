//! What a probe asks for real, and what its answers say.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::{Kind, Protocol, Tree};
use crate::order::Order as _;

mod troubles;

pub use troubles::Trouble;

/// What is asked.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Question {
    /// The version of the server's software (`version.bind`, class CH), without
    /// EDNS: most servers answer or refuse it by themselves. `CoreDNS` forwards it
    /// (`EnableChaos` in its core/dnsserver/server.go).
    Version,
    /// A message of opcode STATUS (RFC 1035, section 4.1.1), which nobody forwards:
    /// `CoreDNS` answers NOTIMP (`defaultMsgAcceptFunc` of miekg/dns 1.1.50), dnsmasq
    /// 2.90 REFUSED. systemd-resolved 252 does not answer it.
    Status,
    /// The keys of the root, with EDNS and so many bytes: a long reply, of which
    /// as much comes as is allowed. Most servers ask another one for them.
    Keys(u16),
}

/// The same long reply in three lengths: the first one always fits.
const QUESTIONS: [Question; 5] = [
    Question::Version,
    Question::Status,
    Question::Keys(512),
    Question::Keys(1400),
    Question::Keys(4096),
];

/// A question that is sent.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ask {
    /// To whom.
    pub to: SocketAddr,
    /// Over what.
    pub protocol: Protocol,
    /// What.
    pub question: Question,
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
        /// Whether it breaks a rule, or ends before it should.
        is_malformed: bool,
    },
    /// The reply came from another address than was asked.
    Elsewhere(SocketAddr),
    /// The system's word, as an errno: connection refused, host unreachable.
    Error(i32),
    /// The same of a packet that this machine did not send.
    NotSent(i32),
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
            for question in questions(protocol) {
                let ask = Ask {
                    to,
                    protocol,
                    question,
                };
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
    wanted.order_by_key(|(ask, _)| (ask.question, ask.protocol));
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
fn questions(protocol: Protocol) -> impl Iterator<Item = Question> {
    let is_wanted =
        move |it: &Question| protocol == Protocol::Udp || !matches!(it, Question::Keys(512 | 1400));
    QUESTIONS.into_iter().filter(is_wanted)
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
    found.order();
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
        row.after.order();
    }
    rows.into_values().collect()
}

/// What a probe has seen.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ProbeSeen {
    /// What came of each question.
    pub rows: Vec<Row>,
    /// What is wrong.
    pub troubles: Vec<Trouble>,
    /// Whether there were more addresses than the packets were enough for.
    pub is_cut: bool,
}

impl ProbeSeen {
    /// What came of the questions of a plan for these trees.
    pub fn from_answers(trees: &[Tree], plan: &Plan, asked: &[Asked]) -> Self {
        let rows = rows(asked);
        let is_cut = plan.is_cut || asked.len() < plan.asks.len();
        Self {
            troubles: troubles::troubles(trees, &rows),
            rows,
            is_cut,
        }
    }
}
