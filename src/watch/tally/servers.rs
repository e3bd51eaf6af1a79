//! What each server did.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, SocketAddr};

use crate::histogram::Histogram;
use crate::name::Name;
use crate::packet::Unreachable;
use crate::watch::fault::Wrong;
use crate::watch::lookup::Exchange;
use crate::watch::map::Map;
use crate::watch::name::{hash, of_wire};
use crate::watch::tally::{Count, zone};

/// So many servers are told apart.
const MAX_SERVERS: usize = 1024;

/// So many zones of all servers are told apart.
const MAX_ZONES: usize = 4096;

/// So many kinds of ICMP errors of a server are told apart.
const MAX_KINDS: usize = 8;

/// What one server did.
#[derive(Clone, Debug, Default)]
pub(in crate::watch) struct ServerTally {
    /// Queries over UDP, repeats included, and responses.
    pub(in crate::watch) udp: (u64, u64),
    /// The same over TCP.
    pub(in crate::watch) tcp: (u64, u64),
    /// Sendings that were lost.
    pub(in crate::watch) lost: u64,
    /// Those of them of which no more is known, for want of room.
    pub(in crate::watch) only_counted: u64,
    /// ICMP errors, by kind.
    pub(in crate::watch) errors: Vec<(Unreachable, Count)>,
    /// Responses that say that it cannot or does not want to, by code.
    pub(in crate::watch) failures: BTreeMap<u8, Count>,
    /// How long its responses took.
    pub(in crate::watch) times: Histogram,
    /// The same by zone: by its hash, whatever its case.
    pub(in crate::watch) zones: Map<u64, (Name, Histogram)>,
    /// The largest response over UDP, in bytes.
    pub(in crate::watch) largest: u32,
    /// Those who asked it; not more than a few.
    pub(in crate::watch) clients: Vec<IpAddr>,
}

/// Every server that was asked.
#[derive(Clone, Debug, Default)]
pub(in crate::watch) struct Servers {
    pub(in crate::watch) all: BTreeMap<SocketAddr, ServerTally>,
    /// Zones of all of them.
    zones: usize,
}

impl Servers {
    pub(super) fn server(&mut self, server: SocketAddr) -> Option<&mut ServerTally> {
        if self.all.len() >= MAX_SERVERS && !self.all.contains_key(&server) {
            return None;
        }
        Some(self.all.entry(server).or_default())
    }

    pub(super) fn add(&mut self, exchange: &Exchange) {
        let is_full = self.zones >= MAX_ZONES;
        let Some(server) = self.server(exchange.server) else {
            return;
        };
        let mut new_zones = 0;
        let sides = if exchange.is_tcp() {
            &mut server.tcp
        } else {
            &mut server.udp
        };
        sides.0 += exchange.sendings() as u64;
        sides.1 += u64::from(exchange.reply.is_some());
        if server.clients.len() < 4 && !server.clients.contains(&exchange.client.ip()) {
            server.clients.push(exchange.client.ip());
        }
        if let Some(took) = exchange.took() {
            let took = u64::try_from(took).unwrap_or_default();
            server.times.add(took);
            let zone = zone(exchange.name.as_wire());
            let known = server.zones.len();
            match server.zones.entry(hash(zone)) {
                Entry::Vacant(_) if is_full => {}
                entry => entry
                    .or_insert_with(|| (of_wire(zone), Histogram::default()))
                    .1
                    .add(took),
            }
            new_zones = server.zones.len() - known;
        }
        if let Some(reply) = exchange.reply.filter(|_| !exchange.is_tcp()) {
            server.largest = server.largest.max(reply.size);
        }
        self.zones += new_zones;
    }
}

impl ServerTally {
    /// Counts what is wrong with an exchange, as far as it is the server's.
    pub(super) fn fault(&mut self, exchange: &Exchange, what: &Wrong) {
        match what {
            Wrong::Lost { sendings, .. } => self.lost += u64::from(*sendings),
            Wrong::Ignored { .. } => self.lost += 1,
            Wrong::Unreachable(kind) => {
                let known = self.errors.iter().position(|it| it.0 == *kind);
                let at = known.unwrap_or(self.errors.len());
                if known.is_none() && at < MAX_KINDS {
                    self.errors.push((*kind, Count::default()));
                }
                if let Some((_, count)) = self.errors.get_mut(at) {
                    let sent = exchange.unreachable().map_or(exchange.first, |it| it.1);
                    count.add(1, sent.packet, &exchange.name);
                }
            }
            Wrong::Failure(rcode) => {
                let packet = exchange.reply.map_or(exchange.first.packet, |it| it.packet);
                let count = self.failures.entry(*rcode).or_default();
                count.add(1, packet, &exchange.name);
            }
            _ => {}
        }
    }
}

/// What was said about one question.
#[derive(Clone, Debug)]
pub struct QuestionTally {
    /// The name.
    pub name: Name,
    /// The type.
    pub qtype: u16,
    /// Responses of each server, not more than a few: with records, without,
    /// failures, none.
    pub(in crate::watch) servers: Vec<(IpAddr, [u64; 4])>,
    /// Responses with an error or NXDOMAIN of these servers, by code.
    pub(in crate::watch) errors: Vec<((IpAddr, u8), u64)>,
    /// The first address that was answered.
    pub(in crate::watch) address: Option<IpAddr>,
    /// The last response that had what was asked for, as models see it.
    pub(in crate::watch) sample: Option<crate::watch::reply::Reply>,
    /// How long its responses took in all, and how many came, in nanoseconds.
    pub(in crate::watch) took: (i64, i64),
    /// The shortest time to live, in seconds.
    pub(in crate::watch) ttl: u32,
    /// When a cache would have asked last.
    pub(in crate::watch) cached: i64,
    /// How often it was asked with an answer of records, and how often of these a
    /// cache would have known.
    pub(in crate::watch) repeats: (u64, u64),
    /// The first and last time.
    pub(in crate::watch) span: (i64, i64),
    /// The largest response, in bytes.
    pub(in crate::watch) largest: u32,
    /// Packets of the first ones, in order.
    pub(in crate::watch) packets: Vec<u64>,
}

impl QuestionTally {
    pub(in crate::watch) fn from_exchange(exchange: &Exchange) -> Self {
        Self {
            name: exchange.name.clone(),
            qtype: exchange.qtype,
            servers: Vec::new(),
            errors: Vec::new(),
            address: None,
            sample: None,
            took: (0, 0),
            ttl: u32::MAX,
            cached: i64::MIN,
            repeats: (0, 0),
            span: (exchange.first.time, exchange.first.time),
            largest: 0,
            packets: Vec::new(),
        }
    }

    /// The sum over all servers.
    pub(in crate::watch) fn sum(&self) -> [u64; 4] {
        let mut sum = [0; 4];
        for (_, counts) in &self.servers {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        sum
    }
}
