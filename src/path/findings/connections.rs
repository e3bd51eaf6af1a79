//! What is wrong in the connection tracking table.

use std::net::{IpAddr, SocketAddr};

use super::{Around, Evidence, Fact, Finding};
use crate::finding::Severity;
use crate::node::kernel::ConntrackCounters;
use crate::path::{Conntrack, Host, Kind, Protocol, Tree, Verdict};
use crate::rules::conntrack::{Entry, Tuple};
use crate::text::Place;

/// What is wrong with connections.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConnectionFinding {
    /// No connection fits any more, or few do.
    Full {
        /// How many there are.
        count: u64,
        /// How many fit.
        max: u64,
    },
    /// Packets are lost in the table while it is looked at.
    Losing(ConntrackCounters),
    /// Packets were lost in it since the node has started.
    Lost {
        /// How many.
        counters: ConntrackCounters,
        /// How many an hour lost a race, if it is known how long the node has run.
        races_an_hour: Option<u64>,
    },
    /// Entries send what comes from the same port to an endpoint that is gone.
    Stale {
        /// How many.
        count: usize,
        /// How many of them are the client's own.
        own: usize,
        /// Whom clients ask.
        service: SocketAddr,
        /// Where the first of them leads.
        endpoint: SocketAddr,
    },
    /// Entries are older than the Service, or than its rules: what comes from
    /// the same port is not translated at all.
    Untranslated {
        /// How many.
        count: usize,
        /// How many of them are the client's own.
        own: usize,
        /// Whom clients ask.
        service: SocketAddr,
    },
}

/// From so many of a hundred on it is nearly full.
const NEARLY_FULL: u64 = 90;

/// Races lost in an hour on average, over the whole time that the node has run:
/// one a minute.
const WORTH_A_WORD: u64 = 60;

/// So many entries are shown.
const SHOWN: usize = 3;

pub(super) fn find(host: &Host, trees: &[Tree], around: Around<'_>) -> Vec<Finding> {
    let Some(conntrack) = &host.conntrack else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(full(conntrack));
    found.extend(lost(conntrack, around));
    for tree in trees
        .iter()
        .filter(|it| it.packet.protocol == Protocol::Udp)
    {
        found.extend(entries(conntrack, tree, around));
    }
    found
}

fn full(conntrack: &Conntrack) -> Option<Finding> {
    let (count, max) = conntrack.count.zip(conntrack.max)?;
    if max == 0 || count < max.saturating_mul(NEARLY_FULL) / 100 {
        return None;
    }
    Some(Finding::new(
        Severity::error_if(count >= max),
        Fact::Connection(ConnectionFinding::Full { count, max }),
        vec![
            Evidence::setting("net.netfilter.nf_conntrack_count", &count.to_string()),
            Evidence::setting("net.netfilter.nf_conntrack_max", &max.to_string()),
        ],
    ))
}

fn lost(conntrack: &Conntrack, around: Around<'_>) -> Option<Finding> {
    let counters = conntrack.counters?;
    let evidence = vec![Evidence::new(
        Place::nowhere("conntrack -S"),
        format!(
            "insert_failed={} drop={} early_drop={}",
            counters.insert_failed, counters.drop, counters.early_drop
        ),
    )];
    let risen = around.before.map(|it| counters.since(it));
    if let Some(risen) = risen.filter(|it| it.lost() + it.early_drop > 0) {
        let fact = Fact::Connection(ConnectionFinding::Losing(risen));
        return Some(Finding::new(Severity::Warning, fact, evidence));
    }
    let hours = around.uptime.map(|it| it / 3600);
    let races_an_hour = hours.and_then(|it| counters.insert_failed.checked_div(it));
    let are_many = races_an_hour.is_some_and(|it| it >= WORTH_A_WORD);
    let was_full = counters.drop > 0 || counters.early_drop > 0;
    let fact = Fact::Connection(ConnectionFinding::Lost {
        counters,
        races_an_hour,
    });
    let severity = if are_many {
        Severity::Warning
    } else {
        Severity::Info
    };
    (are_many || was_full).then_some(Finding::new(severity, fact, evidence))
}

/// Entries that lead elsewhere than a packet of today.
fn entries(conntrack: &Conntrack, tree: &Tree, around: Around<'_>) -> Vec<Finding> {
    let packet = &tree.packet;
    let service = SocketAddr::new(packet.destination, packet.port);
    let Some(endpoints) = endpoints(tree).filter(|it| !it.contains(&service)) else {
        return Vec::new();
    };
    let is_its = |it: &&Entry| {
        it.protocol == packet.protocol.number() && destination(&it.original) == service
    };
    let own: Vec<&Entry> = conntrack.entries.iter().filter(is_its).collect();
    let is_untranslated = |it: &Entry| source(&it.reply) == service;
    let is_stale = |it: &Entry| !is_untranslated(it) && !endpoints.contains(&source(&it.reply));
    let mut found = Vec::new();
    let stale: Vec<&Entry> = own.iter().copied().filter(|it| is_stale(it)).collect();
    if let Some(first) = stale.first() {
        let fact = ConnectionFinding::Stale {
            count: stale.len(),
            own: of_client(&stale, packet.source),
            service,
            endpoint: source(&first.reply),
        };
        found.push(finding(&stale, fact, around));
    }
    let untranslated: Vec<&Entry> = own.into_iter().filter(|it| is_untranslated(it)).collect();
    if !untranslated.is_empty() {
        let fact = ConnectionFinding::Untranslated {
            count: untranslated.len(),
            own: of_client(&untranslated, packet.source),
            service,
        };
        found.push(finding(&untranslated, fact, around));
    }
    found
}

/// Where packets of today end; `None`: not all of that is known.
fn endpoints(tree: &Tree) -> Option<Vec<SocketAddr>> {
    let is_known = !matches!(
        tree.verdict,
        Verdict::Unknown | Verdict::OtherProxy | Verdict::NoRule
    );
    let is_certain = tree
        .outcomes
        .iter()
        .all(|it| it.depends_on.is_empty() && it.kind != Kind::Unknown);
    let ends = tree
        .outcomes
        .iter()
        .map(|it| SocketAddr::new(it.address, it.port));
    (is_known && is_certain).then(|| ends.collect())
}

fn of_client(entries: &[&Entry], client: IpAddr) -> usize {
    entries
        .iter()
        .filter(|it| it.original.source == client)
        .count()
}

/// A client that waits for an answer that does not come is broken now.
fn finding(entries: &[&Entry], fact: ConnectionFinding, around: Around<'_>) -> Finding {
    let text = around.table.unwrap_or("connections");
    let is_waiting = entries.iter().any(|it| it.is_unreplied);
    let evidence = entries.iter().take(SHOWN).map(|it| {
        Evidence::new(
            Place {
                line: it.line as usize,
                ..Place::nowhere(text)
            },
            words(it),
        )
    });
    Finding::new(
        Severity::error_if(is_waiting),
        Fact::Connection(fact),
        evidence.collect(),
    )
}

/// An entry as `conntrack -L` shows it, without what does not count.
fn words(entry: &Entry) -> String {
    let side = |it: &Tuple| {
        let (from, to) = (it.source, it.destination);
        format!(
            "src={from} dst={to} sport={} dport={}",
            it.source_port, it.destination_port
        )
    };
    let protocol = if entry.protocol == Protocol::Tcp.number() {
        "tcp"
    } else {
        "udp"
    };
    let left = entry.timeout.map(|it| format!(" {it}")).unwrap_or_default();
    let unreplied = if entry.is_unreplied {
        " [UNREPLIED]"
    } else {
        ""
    };
    let (original, reply) = (side(&entry.original), side(&entry.reply));
    format!("{protocol}{left} {original}{unreplied} {reply}")
}

fn source(tuple: &Tuple) -> SocketAddr {
    SocketAddr::new(tuple.source, tuple.source_port)
}

fn destination(tuple: &Tuple) -> SocketAddr {
    SocketAddr::new(tuple.destination, tuple.destination_port)
}
