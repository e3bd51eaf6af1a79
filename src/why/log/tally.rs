//! What is counted while a log is read.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::AddAssign;

use super::clients::Clients;
use super::frequent::Frequent;
use super::lookups::{Lookups, Wasted};
use super::name::{Labels, hash_of};
use super::negative::Negative;
use super::periods::Periods;
use super::query::{Query, Rcode};
use super::time::MINUTE;
use super::{MAX_HEAD, MAX_PASTED, MAX_QUOTED};
use crate::check_loop::log::{Shown, SightingKind};
use crate::histogram::Histogram;

/// At least so many names are kept.
const NAMES: usize = 1 << 14;
/// At least so many zones are kept.
const ZONES: usize = 1 << 11;
/// So many upstream servers are kept by their address.
const MAX_SERVERS: usize = 256;

/// An answer that took longer waited for a first upstream server in vain:
/// `forward` asks the next one then.
///
/// Source: `CoreDNS`, plugin/pkg/proxy/connect.go `readTimeout`.
const SLOW: u64 = 2_000_000_000;

/// What a log, or several, have shown.
#[derive(Debug)]
pub struct Tally {
    /// Lines of any kind.
    pub(super) lines: u64,
    pub(super) queries: u64,
    pub(super) waste: u64,
    pub(super) rcodes: [u64; Rcode::ALL.len()],
    /// Queries by type, and those of them that got no record.
    pub(super) records: [u64; 3],
    pub(super) failed: [u64; 3],
    pub(super) clients: Clients,
    pub(super) names: Frequent<NameCount>,
    pub(super) zones: Frequent<ZoneCount>,
    pub(super) lookups: Lookups,
    pub(super) times: Histogram,
    /// Replies that were cut to what the client takes over UDP.
    pub(super) truncated: u64,
    /// By the server that answered, where the format says it.
    pub(super) upstreams: Frequent<Histogram>,
    /// Answers that took longer than [`SLOW`].
    pub(super) slow: u64,
    pub(super) timeouts: Silent,
    pub(super) sightings: BTreeMap<SightingKind, Lines>,
    pub(super) minutes: Periods<Minute>,
    /// First and last time.
    pub(super) span: Option<(i64, i64)>,
    /// Greetings, each of which is a start, and the version.
    pub(super) starts: u64,
    pub(super) reloads: u64,
    pub(super) version: Option<(u32, u32, u32)>,
    /// Lines before `--since` or after `--until`.
    pub(super) outside: u64,
    /// Lines that were to be judged by their time and have none.
    pub(super) timeless: u64,
    /// Logs, and pods in them.
    pub(super) sources: u64,
    /// The bit of the pod whose line is read.
    pub(super) pod: u32,
    /// The first lines of a log as long as none is about a query.
    pub(super) head: String,
    wasted: Vec<Wasted>,
}

/// What is counted of a name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NameCount {
    /// Queries for this very name.
    pub(super) queries: u64,
    /// Those that got no record.
    pub(super) failed: u64,
    /// Queries with search domains behind it, of lookups that succeeded elsewhere.
    pub(super) waste: u64,
    /// Of these, those of lookups that succeeded with a search domain behind
    /// the name.
    pub(super) searched: u64,
    /// How many labels it has.
    pub(super) labels: u8,
    /// Queries for A to which it did not exist.
    pub(super) denied: u64,
    /// How often that was otherwise than for the query for A before.
    pub(super) turns: u64,
    /// The pods that were asked for A, a bit each, and those where the name was there: another
    /// pod has another cache.
    pub(super) asked: u32,
    pub(super) there: u32,
}

/// What is counted of a zone.
#[derive(Clone, Debug, Default)]
pub(super) struct ZoneCount {
    pub(super) rcodes: [u64; Rcode::ALL.len()],
    pub(super) times: Histogram,
    pub(super) slow: u64,
    /// Queries for A and for AAAA that got an error or nothing.
    pub(super) broken: [u64; 2],
    pub(super) negative: Negative,
}

/// Time-outs by upstream server.
#[derive(Clone, Debug, Default)]
pub(super) struct Silent {
    /// Of at most [`MAX_SERVERS`].
    pub(super) all: BTreeMap<SocketAddr, Timeouts>,
    /// Those of servers for which there was no room.
    pub(super) beyond: u64,
}

/// Time-outs of one upstream server.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeouts {
    pub(super) count: u64,
    pub(super) minutes: Periods<u64>,
    /// The one name that all were for; for HINFO CoreDNS asks by itself.
    pub(super) name: Option<String>,
}

impl Silent {
    /// Adds to what is counted of a server.
    pub(super) fn add(&mut self, server: SocketAddr, more: Timeouts) {
        if self.all.len() >= MAX_SERVERS && !self.all.contains_key(&server) {
            self.beyond = self.beyond.saturating_add(more.count);
            return;
        }
        let own = self.all.entry(server).or_default();
        if own.count == 0 {
            own.name = more.name;
        } else if own.name != more.name {
            own.name = None;
        }
        own.count = own.count.saturating_add(more.count);
        own.minutes.merge(more.minutes);
    }
}

/// Log lines of one kind.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) count: u64,
    /// The first of them, and where it is.
    pub(super) text: String,
    pub(super) place: (String, u64),
}

/// What is counted of some minutes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Minute {
    /// Queries.
    pub queries: u64,
    /// Those that got no record.
    pub failed: u64,
}

impl AddAssign for Minute {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.failed += other.failed;
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            lines: 0,
            queries: 0,
            waste: 0,
            rcodes: [0; Rcode::ALL.len()],
            records: [0; 3],
            failed: [0; 3],
            clients: Clients::default(),
            names: Frequent::new(NAMES),
            zones: Frequent::new(ZONES),
            lookups: Lookups::default(),
            times: Histogram::default(),
            truncated: 0,
            upstreams: Frequent::new(MAX_SERVERS),
            slow: 0,
            timeouts: Silent::default(),
            sightings: BTreeMap::new(),
            minutes: Periods::default(),
            span: None,
            starts: 0,
            reloads: 0,
            version: None,
            outside: 0,
            timeless: 0,
            sources: 0,
            pod: 1,
            head: String::new(),
            wasted: Vec::new(),
        }
    }
}

fn count(counts: &mut [u64], index: usize) {
    if let Some(count) = counts.get_mut(index) {
        *count += 1;
    }
}

impl Tally {
    /// The whole text, if it is as short as what people paste; of a DNS server's own lines
    /// that is less, and then none may be about a query.
    pub fn pasted(&self) -> Option<&str> {
        let is_server = self.own_lines() * 2 > self.head.lines().count();
        let most = if is_server { MAX_QUOTED } else { MAX_PASTED };
        let is_whole = self.head.len() < MAX_HEAD && self.outside == 0;
        let is_short = (1..=most).contains(&self.lines);
        let is_text = self.queries == 0 || !is_server;
        (is_text && is_whole && is_short).then_some(&self.head)
    }

    /// How many lines of the text that was read first are such as a DNS server logs.
    pub fn own_lines(&self) -> usize {
        const WORDS: [&str; 7] = [
            "[ERROR]", "[FATAL]", "[INFO]", "plugin/", "CoreDNS-", "linux/", "A IN ",
        ];
        let own = |line: &&str| WORDS.iter().any(|it| line.contains(it));
        self.head.lines().filter(own).count()
    }

    /// Whether lines were left out for their time.
    pub fn is_cut(&self) -> bool {
        self.outside > 0
    }

    /// Counts a query.
    pub(super) fn query(&mut self, query: &Query<'_>, time: Option<i64>) {
        let labels = Labels::new(query.name);
        self.queries += 1;
        count(&mut self.rcodes, query.rcode as usize);
        count(&mut self.records, query.record as usize);
        if query.is_probe() {
            return;
        }
        let is_failed = self.zone(query, &labels);
        if is_failed {
            count(&mut self.failed, query.record as usize);
        }
        let text = query.name.strip_suffix(b".").unwrap_or(query.name);
        let name = self.names.add(labels.hash(), text, 1);
        name.queries += 1;
        name.failed += u64::from(is_failed);
        name.existence(query, self.pod);
        name.labels = u8::try_from(labels.count).unwrap_or(u8::MAX);
        self.truncated += u64::from(query.is_truncated);
        self.timing(query);
        if let Some(time) = time {
            self.minute(time, is_failed);
        }
        if let Some(client) = self.clients.number(query.client) {
            self.lookup(client, query, &labels, is_failed);
        }
    }

    /// Counts a query in its zone. Whether it got no record.
    fn zone(&mut self, query: &Query<'_>, labels: &Labels) -> bool {
        let end = labels.cluster_domain().unwrap_or(2).min(labels.count);
        let text = labels.last(query.name, end);
        let zone = self.zones.add(labels.suffix(end).hash, text, 1);
        count(&mut zone.rcodes, query.rcode as usize);
        if let Some(duration) = query.duration {
            zone.times.add(duration);
            zone.slow += u64::from(is_slow(query, duration));
        }
        match query.rcode {
            Rcode::NoError => zone.negative.is_like(query),
            Rcode::NxDomain => {
                zone.negative.learn(query);
                true
            }
            _ => {
                count(&mut zone.broken, query.record as usize);
                true
            }
        }
    }

    fn timing(&mut self, query: &Query<'_>) {
        let Some(duration) = query.duration else {
            return;
        };
        self.times.add(duration);
        self.slow += u64::from(is_slow(query, duration));
        if let Some(upstream) = query.upstream {
            let times = self.upstreams.add(hash_of(upstream), upstream, 1);
            times.add(duration);
        }
    }

    fn minute(&mut self, time: i64, is_failed: bool) {
        let count = Minute {
            queries: 1,
            failed: u64::from(is_failed),
        };
        self.minutes.add(time.div_euclid(MINUTE), count);
        let (first, last) = self.span.get_or_insert((time, time));
        *first = time.min(*first);
        *last = time.max(*last);
    }

    /// Joins a query with those of the same lookup.
    fn lookup(&mut self, number: u32, query: &Query<'_>, labels: &Labels, is_failed: bool) {
        let Some(client) = self.clients.get_mut(number) else {
            return;
        };
        client.take(query, labels.hash());
        if labels.is_long || labels.count == 0 {
            return;
        }
        let lookups = &mut self.lookups;
        let wasted = &mut self.wasted;
        wasted.clear();
        let record = query.record;
        if is_failed {
            let is_explained = lookups.fail(client.who(number), labels, record, wasted);
            if !is_explained {
                if client.search.is_curious(labels) {
                    let is_open = |hash| lookups.is_open(number, hash);
                    client.search.learn(labels, None, is_open);
                }
                if !lookups.goes_on(client.who(number), labels) {
                    client.search.open(labels);
                }
            }
        } else {
            lookups.answer(client.who(number), labels, record, wasted);
            if wasted.is_empty() && client.search.is_curious(labels) {
                let is_open = |hash| lookups.is_open(number, hash);
                if client.search.learn(labels, Some(client.before), is_open) {
                    lookups.mark(client.who(number), labels, &[record as usize], wasted);
                }
            }
        }
        for &Wasted { role, queries } in wasted.iter() {
            self.waste += queries;
            client.waste(role.base, queries);
            let is_searched = role.suffix.is_some();
            // `ndots:2` asks for names with two dots as they are first.
            if role.labels > 2 && !is_searched {
                client.saved += queries;
            }
            let text = labels.text(query.name, role.labels);
            let name = self.names.add(role.base, text, queries);
            name.waste += queries;
            name.labels = u8::try_from(role.labels).unwrap_or(u8::MAX);
            if is_searched {
                name.searched += queries;
            }
        }
    }

    /// Counts a line that shows an error.
    pub(super) fn shown(
        &mut self,
        shown: &Shown,
        time: Option<i64>,
        place: (&str, u64),
        text: &str,
    ) {
        let times = shown.count as u64;
        let seen = self.sightings.entry(shown.kind).or_insert_with(|| Lines {
            count: 0,
            text: text.to_owned(),
            place: (place.0.to_owned(), place.1),
        });
        seen.count = seen.count.saturating_add(times);
        let Some(server) = shown.server.filter(|_| shown.kind.is_timeout()) else {
            return;
        };
        let error = text.split_once("plugin/errors: ").map_or("", |it| it.1);
        let mut words = error.split(' ').skip(1);
        let name = words.next().filter(|_| words.next() != Some("HINFO:"));
        let mut more = Timeouts {
            count: times,
            minutes: Periods::default(),
            name: name.map(|it| it.trim_end_matches('.').to_owned()),
        };
        if let Some(time) = time {
            more.minutes.add(time.div_euclid(MINUTE), times);
        }
        self.timeouts.add(server, more);
    }
}

/// Whether it was answered, but late.
fn is_slow(query: &Query<'_>, duration: u64) -> bool {
    duration > SLOW && matches!(query.rcode, Rcode::NoError | Rcode::NxDomain)
}
