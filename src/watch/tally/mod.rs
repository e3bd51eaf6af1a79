//! Running counts of a capture, in bounded memory.

mod names;
mod servers;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, SocketAddr};

use crate::name::Name;
use crate::watch::fault::{Fault, Pair, Wrong};
use crate::watch::keys::Question;
use crate::watch::lookup::{Exchange, Lookup, Sent};
use crate::watch::map::Map;

pub use self::names::QuestionTally;
pub(super) use self::names::{EntryTally, NameTally, Names, Questions};
pub(super) use self::servers::{ServerTally, Servers};

/// So many losses are kept one by one.
const MAX_LOSSES: usize = 4096;

/// So many suspects of a loop are kept.
const MAX_SUSPECTS: usize = 1024;

/// So many names of multicast DNS are told apart.
const MAX_LOCAL: usize = 256;

/// So many sendings of one question are compared: a lookup that asked again has
/// several.
const MAX_NEAR: usize = 8;

/// Who sends the same question on does so within this time, in nanoseconds.
const SENT_ON: i64 = 20_000_000;

/// So many servers of each fault are told apart.
const MAX_FAULTY: usize = 1024;

/// So many packets are named with a finding.
pub(super) const MAX_PACKETS: usize = 8;

/// A sending that nobody answered.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    pub(super) server: SocketAddr,
    /// The name of the query.
    pub(super) name: Name,
    pub(super) qtype: u16,
    pub(super) sent: Sent,
    pub(super) sendings: u32,
    pub(super) pair: Pair,
    pub(super) edns: Option<u16>,
    pub(super) is_tcp: bool,
    /// The answer was seen, but the program asked again.
    pub(super) is_ignored: bool,
    /// An answer came later, from another address.
    pub(super) late_from: Option<SocketAddr>,
    /// The size of an answer whose other fragments are missing, in bytes.
    pub(super) incomplete: Option<u32>,
    /// How long the lookup took in all, in nanoseconds.
    pub(super) lookup_took: i64,
}

/// Something that went wrong, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    pub(super) times: u64,
    /// The packets of the first ones, in order.
    pub(super) packets: Vec<u64>,
    /// The name of the first one.
    pub(super) name: Option<Name>,
}

/// Keeps the first packets of a finding, whichever lookup ends first. Whether this is
/// the first of all.
pub(super) fn keep_first(packets: &mut Vec<u64>, packet: u64) -> bool {
    let at = packets.partition_point(|it| *it < packet);
    let is_new = packets.get(at) != Some(&packet);
    if is_new && at < MAX_PACKETS {
        packets.truncate(MAX_PACKETS - 1);
        packets.insert(at, packet);
    }
    is_new && at == 0
}

impl Count {
    pub(super) fn add(&mut self, count: u64, packet: u64, name: &Name) {
        self.times += count;
        if keep_first(&mut self.packets, packet) {
            self.name = Some(name.clone());
        }
    }
}

/// What is kept with a key; `None`: there is no room for one more.
fn bounded<K: Ord, V: Default>(map: &mut BTreeMap<K, V>, key: K) -> Option<&mut V> {
    let is_full = map.len() >= MAX_FAULTY;
    match map.entry(key) {
        Entry::Occupied(known) => Some(known.into_mut()),
        Entry::Vacant(_) if is_full => None,
        Entry::Vacant(place) => Some(place.insert(V::default())),
    }
}

/// All counts of a capture.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) lookups: u64,
    pub(super) broken: u64,
    pub(super) queries: u64,
    pub(super) unanswered: u64,
    /// Queries to which an answer may still have come after the end.
    pub(super) open: u64,
    pub(super) servers: Servers,
    pub(super) names: Names,
    pub(super) questions: Questions,
    /// The first ones, by packet and number: one packet can hold several queries.
    pub(super) losses: BTreeMap<(u64, u64), Loss>,
    lost: u64,
    /// Lost sendings that are not among the losses, for want of room.
    pub(super) only_counted: u64,
    /// Truncated answers without a connection: by client and server.
    pub(super) no_tcp: BTreeMap<IpAddr, Count>,
    pub(super) no_connection: BTreeMap<IpAddr, (Count, u64)>,
    /// Queries whose connection the server ended before an answer, by server.
    pub(super) closed: BTreeMap<IpAddr, Count>,
    pub(super) wrong_source: BTreeMap<(IpAddr, IpAddr), Count>,
    pub(super) duplicates: BTreeMap<IpAddr, Count>,
    pub(super) mismatched: BTreeMap<IpAddr, Count>,
    pub(super) suspects: Vec<Suspect>,
    /// The last sendings of a question to a server that were not answered.
    unanswered_now: Map<(SocketAddr, Question), Vec<(Sent, SocketAddr)>>,
    /// Names below `.local`, and of one label, that were asked for as they are.
    pub(super) local: BTreeMap<Name, Count>,
    /// Lookups by client.
    pub(super) clients: Map<IpAddr, u64>,
    /// The longest lookup, in nanoseconds.
    pub(super) slowest: i64,
}

/// The same question from another socket, while a server still owed its answer.
#[derive(Clone, Debug)]
pub(super) struct Suspect {
    pub(super) server: SocketAddr,
    pub(super) client: SocketAddr,
    pub(super) name: Name,
    pub(super) qtype: u16,
    pub(super) packets: [u64; 2],
}

impl Tally {
    /// Counts a lookup that has ended, with what is wrong in it; `entries` are those
    /// of its client's search list, which its resolver is known to try if it `is_given`.
    pub(super) fn add(
        &mut self,
        lookup: &Lookup,
        faults: &[Fault],
        (entries, is_given): (&[Name], bool),
    ) {
        self.lookups += 1;
        self.broken += u64::from(!faults.is_empty());
        let took = lookup.took().unwrap_or_default();
        self.slowest = self.slowest.max(took);
        let clients = self.clients.len();
        if let Some(count) = self.clients.get_mut(&lookup.client) {
            *count += 1;
        } else if clients < 4096 {
            self.clients.insert(lookup.client, 1);
        }
        for (index, exchange) in lookup.exchanges.iter().enumerate() {
            let is_faulty = faults.iter().any(|it| it.exchange == index);
            self.open += u64::from(!exchange.is_settled() && !is_faulty);
            self.queries += exchange.sendings() as u64;
            self.servers.add(exchange);
            self.questions.add(exchange);
            if exchange.reply.is_none() {
                self.suspect(exchange);
            }
            self.leaks(lookup, exchange, (entries, is_given));
        }
        self.names.add(lookup, entries);
        for fault in faults {
            if let Some(exchange) = lookup.exchanges.get(fault.exchange) {
                self.fault(exchange, &fault.what, took);
            }
        }
    }

    fn fault(&mut self, exchange: &Exchange, what: &Wrong, took: i64) {
        if let Some(server) = self.servers.server(exchange.server) {
            server.fault(exchange, what);
        }
        let (server, name) = (exchange.server.ip(), &exchange.name);
        let packet = exchange.first.packet;
        let add = |counts: &mut BTreeMap<IpAddr, Count>, times: u32| {
            if let Some(count) = bounded(counts, server) {
                count.add(times.into(), packet, name);
            }
        };
        match what {
            Wrong::Lost { sendings, pair } => {
                self.unanswered += u64::from(*sendings);
                self.lose(exchange, *sendings, *pair, false, took);
            }
            Wrong::Ignored { .. } => self.lose(exchange, 1, Pair::None, true, took),
            Wrong::NoConnection { is_refused } => {
                if let Some((count, refused)) = bounded(&mut self.no_connection, server) {
                    count.add(1, packet, name);
                    *refused += u64::from(*is_refused);
                }
            }
            Wrong::NoTcp => add(&mut self.no_tcp, 1),
            Wrong::WrongSource(from) => {
                let at = exchange.wrong_source().map_or(packet, |it| it.1.packet);
                if let Some(count) = bounded(&mut self.wrong_source, (server, from.ip())) {
                    count.add(1, at, name);
                }
            }
            Wrong::Duplicates(count) => add(&mut self.duplicates, *count),
            Wrong::Mismatched(count) => add(&mut self.mismatched, *count),
            Wrong::Broken => add(&mut self.closed, 1),
            Wrong::Unreachable(_) | Wrong::Failure(_) => {}
        }
    }

    fn lose(&mut self, exchange: &Exchange, sendings: u32, pair: Pair, ignored: bool, took: i64) {
        let loss = Loss {
            server: exchange.server,
            name: exchange.name.clone(),
            qtype: exchange.qtype,
            sent: exchange.first,
            sendings,
            pair,
            edns: exchange.edns,
            is_tcp: exchange.is_tcp(),
            is_ignored: ignored,
            late_from: exchange.wrong_source().map(|it| it.0),
            incomplete: exchange
                .odd
                .as_ref()
                .and_then(|it| it.incomplete)
                .map(|it| it.0),
            lookup_took: took,
        };
        self.losses.insert((loss.sent.packet, self.lost), loss);
        self.lost += 1;
        if self.losses.len() > MAX_LOSSES
            && let Some((_, last)) = self.losses.pop_last()
        {
            self.only_counted += u64::from(last.sendings);
            if let Some(server) = self.servers.server(last.server) {
                server.only_counted += u64::from(last.sendings);
            }
        }
    }

    /// Whether a server was asked the same by another socket at the same time.
    fn suspect(&mut self, exchange: &Exchange) {
        let key = (exchange.server, exchange.question());
        if self.unanswered_now.len() >= MAX_LOSSES {
            self.unanswered_now.clear();
        }
        let known = self.unanswered_now.entry(key).or_default();
        let first = exchange.first;
        let is_near = |it: &&(Sent, SocketAddr)| {
            first.time.abs_diff(it.0.time) < SENT_ON.unsigned_abs() && it.1 != exchange.client
        };
        if let Some((before, _)) = known.iter().rfind(is_near)
            && self.suspects.len() < MAX_SUSPECTS
        {
            self.suspects.push(Suspect {
                server: exchange.server,
                client: exchange.client,
                name: exchange.name.clone(),
                qtype: exchange.qtype,
                packets: [before.packet, first.packet],
            });
        }
        if known.len() >= MAX_NEAR {
            known.remove(0);
        }
        known.push((first, exchange.client));
    }

    /// Names that belong to multicast DNS and went to a server; so do names of one
    /// label for which the search list was not tried.
    fn leaks(
        &mut self,
        lookup: &Lookup,
        exchange: &Exchange,
        (entries, is_given): (&[Name], bool),
    ) {
        const LOCAL: &[u8] = b"\x05local";
        let is_as_is = lookup.readings.first().map(|it| it.hash) == Some(exchange.hash);
        if !is_as_is || self.local.len() >= MAX_LOCAL {
            return;
        }
        let is_host = matches!(exchange.qtype, 1 | 28);
        if is_given && is_host && exchange.name.labels().count() == 1 {
            if lookup.exchanges.iter().all(|it| it.hash == exchange.hash) {
                let count = self.local.entry(exchange.name.clone()).or_default();
                count.add(1, exchange.first.packet, &exchange.name);
            }
            return;
        }
        let zone_of = zone(exchange.name.as_wire());
        let (_, top) = zone_of.split_at(zone_of.len().saturating_sub(LOCAL.len()));
        if !top.eq_ignore_ascii_case(LOCAL) {
            return;
        }
        let is_entry = entries
            .iter()
            .any(|it| zone(it.as_wire()).eq_ignore_ascii_case(zone_of));
        let is_cluster = zone_of.eq_ignore_ascii_case(b"\x07cluster\x05local");
        if !is_entry && !is_cluster {
            let count = self.local.entry(exchange.name.clone()).or_default();
            count.add(1, exchange.first.packet, &exchange.name);
        }
    }
}

/// The last two labels of a name: where it is registered, more or less.
pub(super) fn zone(wire: &[u8]) -> &[u8] {
    let (mut last_but_one, mut last, mut at) = (0, 0, 0);
    while let Some(length) = wire.get(at) {
        (last_but_one, last) = (last, at);
        at += 1 + usize::from(*length);
    }
    wire.get(last_but_one..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_servers_are_bounded() {
        let mut counts = BTreeMap::new();
        for number in (0..2 * MAX_FAULTY).chain([0]) {
            if let Some(count) = bounded(&mut counts, number) {
                *count += 1;
            }
        }
        assert_eq!((counts.len(), counts[&0], counts[&1]), (MAX_FAULTY, 2, 1));
    }
}
