//! A whole capture, summed up.

use std::net::{IpAddr, SocketAddr};

use crate::name::Name;
use crate::order::Order as _;
use crate::packet::Counters;
use crate::resolver::Resolver;
use crate::watch::End;
use crate::watch::advice::Advice;
use crate::watch::findings::{Finding, Times};
use crate::watch::join::{Joiner, Strays};
use crate::watch::model::Fit;
use crate::watch::search::{Evidence, Search};
use crate::watch::tally::{NameTally, Tally};

/// So many names and servers are listed.
const LISTED: usize = 10;

/// So many parts a bar of latencies has.
pub const BARS: usize = 12;

/// Istio's agent in a pod listens here for DNS.
///
/// Source: <https://istio.io/latest/docs/ops/deployment/application-requirements/>.
const ISTIO_PORT: u16 = 15053;

/// What a capture shows.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whose queries they are.
    pub resolver: Whose,
    /// The search list of the client that asks most.
    pub search: Search,
    /// Whether that was read off the queries.
    pub is_inferred: bool,
    /// What it was read off, if it was and there is one.
    pub evidence: Option<Evidence>,
    /// Lookups that ended.
    pub lookups: u64,
    /// Those in which something went wrong.
    pub broken: u64,
    /// Queries, repeats included.
    pub queries: u64,
    /// Queries without an answer.
    pub unanswered: u64,
    /// Queries to which an answer may still have come after the end.
    pub open: u64,
    /// Packets that the kernel had no room for; `None`: not known.
    pub drops: Option<u64>,
    /// Clients, the one that asks most first, with their lookups.
    pub clients: Vec<(IpAddr, u64)>,
    /// Clients that are asked themselves: they send on what others ask.
    pub forwarders: Vec<IpAddr>,
    /// Servers, the one that is asked most first.
    pub servers: Vec<ServerReport>,
    /// Names, the most queries first.
    pub names: Vec<NameReport>,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What would be better.
    pub advice: Vec<Advice>,
    /// Unanswered queries that were counted, and not looked at, for want of room.
    pub only_counted: u64,
    /// What was seen beside queries and answers.
    pub strays: Strays,
    /// What was read and not understood.
    pub counters: Counters,
    /// The longest lookup, in nanoseconds.
    pub slowest: i64,
}

/// Whose queries they are.
#[derive(Clone, Debug)]
pub enum Whose {
    /// It was said.
    Known(&'static Resolver),
    /// This model fits best.
    Fits(Fit),
    /// No model fits: a forwarder, a program that asks on its own.
    Nobody(Fit),
    /// There are no lookups.
    Unknown,
}

/// What a server did.
#[derive(Clone, Debug)]
pub struct ServerReport {
    /// The server.
    pub server: SocketAddr,
    /// Queries to it, repeats included.
    pub queries: u64,
    /// How many of them nobody answered.
    pub unanswered: u64,
    /// How long its answers took.
    pub times: Times,
    /// The same, counted in parts of a logarithmic scale from 10 µs to 10 s.
    pub bars: Vec<u64>,
    /// Why it is another one than the file names, if that is known.
    pub role: Option<Role>,
}

/// Who answers in the place of a server of the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A mesh's proxy in the pod, to which queries are redirected.
    IstioProxy,
    /// The file does not name it: sockets are balanced (Cilium), or the program
    /// asks whom it likes.
    NotInFile,
}

/// What became of a name.
#[derive(Clone, Debug)]
pub struct NameReport {
    /// The name, as programs asked for it.
    pub name: Name,
    /// Lookups of it.
    pub lookups: u64,
    /// Queries for them.
    pub queries: u64,
    /// How long its lookups took.
    pub times: Times,
    /// The same, counted in parts of a logarithmic scale from 10 µs to 10 s.
    pub bars: Vec<u64>,
}

impl Report {
    /// What was counted.
    pub(super) fn from_tally(tally: &Tally, end: &End, joiner: &Joiner, named: &[IpAddr]) -> Self {
        let mut clients: Vec<(IpAddr, u64)> =
            tally.clients.iter().map(|it| (*it.0, *it.1)).collect();
        clients.order_by_key(|it| (std::cmp::Reverse(it.1), it.0));
        let is_asked = |client: &IpAddr| {
            let own = tally.servers.all.iter().filter(|it| it.0.ip() == *client);
            own.into_iter()
                .any(|it| it.1.udp.1 + it.1.tcp.1 > 0 && !it.1.clients.contains(client))
        };
        Self {
            forwarders: clients.iter().map(|it| it.0).filter(is_asked).collect(),
            clients,
            resolver: Whose::Unknown,
            search: Search::default(),
            is_inferred: false,
            evidence: None,
            lookups: tally.lookups,
            broken: tally.broken,
            queries: tally.queries,
            unanswered: tally.unanswered,
            open: tally.open,
            drops: end.drops,
            servers: servers(tally, named),
            names: names(tally),
            findings: Vec::new(),
            advice: Vec::new(),
            only_counted: tally.only_counted,
            strays: joiner.strays,
            counters: end.counters,
            slowest: tally.slowest,
        }
    }

    /// Whether there was nothing to judge.
    pub fn is_empty(&self) -> bool {
        self.lookups == 0
    }
}

fn servers(tally: &Tally, named: &[IpAddr]) -> Vec<ServerReport> {
    let all = tally.servers.all.iter().map(|(server, it)| ServerReport {
        server: *server,
        queries: it.udp.0 + it.tcp.0,
        unanswered: it.lost,
        times: Times::from_histogram(&it.times),
        bars: it.times.bars(BARS),
        role: match () {
            () if named.is_empty() || named.contains(&server.ip()) => None,
            () if server.port() == ISTIO_PORT => Some(Role::IstioProxy),
            () => Some(Role::NotInFile),
        },
    });
    let mut all: Vec<ServerReport> = all.collect();
    all.order_by_key(|it| (std::cmp::Reverse(it.queries), it.server));
    all.truncate(LISTED);
    all
}

fn names(tally: &Tally) -> Vec<NameReport> {
    let mut all = tally.names.by(|it| it.queries);
    all.truncate(LISTED);
    let report = |it: &NameTally| NameReport {
        name: it.name.clone(),
        lookups: it.lookups,
        queries: it.queries,
        times: Times::from_histogram(&it.times),
        bars: it.times.bars(BARS),
    };
    all.into_iter().map(report).collect()
}
