//! What was counted, in order.

use std::net::SocketAddr;
use std::ops::AddAssign;

use super::advice::{self, Advice};
use super::clients::{Client, Resolver};
use super::frequent::Slot;
use super::periods::Periods;
use super::query::Rcode;
use super::tally::{Minute, NameCount, Tally};
use super::{Pods, Settings};
use crate::check_loop::log::SightingKind;
use crate::histogram::Histogram;
use crate::order::Order as _;
use crate::text::{escaped, excerpt};

/// So many rows of a list are kept.
pub(super) const MAX_ROWS: usize = 100;

/// Queries over time have at most so many periods: twelve hours by the minute.
pub(super) const MAX_PERIODS: usize = 720;
/// The same of all time-outs together: with these a report is some 300 KiB long, and
/// `report merge` takes 4 MiB.
pub(super) const MAX_TIMEOUT_PERIODS: usize = 2880;

/// Texts are cut behind so many bytes: a client has up to 32 of them. No name is
/// longer, but where a log writes its bytes as `\DDD`.
const MAX_TEXT: usize = 255;

/// What logs say.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Lines of any kind.
    pub lines: u64,
    /// Lines that are about a query.
    pub queries: u64,
    /// Queries whose name was a candidate of a lookup that succeeded under another.
    pub waste: Waste,
    /// By what they came to, those that are there.
    pub rcodes: Vec<(Rcode, u64)>,
    /// Queries for A, for AAAA and for others.
    pub records: [u64; 3],
    /// Those who ask most, at most 100.
    pub clients: Row<ClientRow>,
    /// The names that are asked for most, or in vain most, at most 100.
    pub names: Row<NameRow>,
    /// The zones of most queries, at most 100.
    pub zones: Row<ZoneRow>,
    /// How long answers took.
    pub latency: Latency,
    /// Servers that did not answer, the worst first; `error` are the time-outs of
    /// those for which there was no room.
    pub timeouts: Row<TimeoutRow>,
    /// Lines that show errors, by their kind, the strongest first.
    pub sightings: Vec<Sighting>,
    /// Queries over time, at most 720 periods.
    pub minutes: Periods<Minute>,
    /// First and last time, in nanoseconds since 1970; `None`: no line has one.
    pub span: Option<(i64, i64)>,
    /// The version of `CoreDNS` that greets last.
    pub version: Option<(u32, u32, u32)>,
    /// What follows.
    pub advice: Vec<Advice>,
}

/// How many queries were for nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Waste {
    /// So many.
    Known(u64),
    /// The log has only those queries that failed: their lookups may have
    /// succeeded or not.
    Unknown,
}

/// The first of many.
#[derive(Clone, Debug)]
pub struct Row<T> {
    /// Those that are shown, by their number.
    pub first: Vec<T>,
    /// How many there are; at least, if `error` is not 0.
    pub all: u64,
    /// At most so much is missing from each count.
    pub error: u64,
}

impl<T> Row<T> {
    /// How many more there are; at least, if `error` is not 0.
    pub fn left_out(&self) -> u64 {
        self.all.saturating_sub(self.first.len() as u64)
    }
}

/// A client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientRow {
    /// Its address, safe to print.
    pub address: String,
    /// `NAMESPACE/NAME`.
    pub pod: Option<String>,
    /// Its queries.
    pub queries: u64,
    /// Those for nothing.
    pub waste: u64,
    /// Of them, what `ndots:2` would save.
    pub saved: u64,
    /// Which resolver its queries look like.
    pub resolver: Option<Resolver>,
    /// Names for which most were for nothing, with their number; safe to print.
    pub names: Vec<(String, u64)>,
    /// Of its names, those that have two dots and were found with a search domain.
    pub breaks: Vec<String>,
}

/// A name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameRow {
    /// Without its final dot, safe to print.
    pub name: String,
    /// Queries for it, without a search domain.
    pub queries: u64,
    /// Those that got no record.
    pub failed: u64,
    /// Queries with search domains behind it, of lookups that succeeded otherwise.
    pub waste: u64,
    /// Whether such lookups succeeded with a search domain.
    pub is_searched: bool,
    /// Its dots.
    pub dots: u8,
}

/// A zone: the domain of a cluster, or the last two labels of names.
#[derive(Clone, Debug)]
pub struct ZoneRow {
    /// Its name, safe to print.
    pub zone: String,
    /// Queries.
    pub queries: u64,
    /// By what they came to.
    pub rcodes: Vec<(Rcode, u64)>,
    /// How long they took.
    pub times: Histogram,
    /// Answers over 2 s.
    pub slow: u64,
    /// Queries for A and for AAAA that got an error or nothing.
    pub broken: [u64; 2],
}

/// How long answers took.
#[derive(Clone, Debug)]
pub struct Latency {
    /// All.
    pub all: Histogram,
    /// By the upstream server, where the log says it; safe to print.
    pub upstreams: Row<(String, Histogram)>,
    /// Answers that took over 2 s.
    pub slow: u64,
}

/// A server that did not answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimeoutRow {
    /// Its address.
    pub server: SocketAddr,
    /// How often.
    pub count: u64,
    /// Over time; those of all servers have at most 2,880 periods.
    pub minutes: Periods<u64>,
    /// The one name that all were for, safe to print.
    pub name: Option<String>,
}

/// Lines of one kind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sighting {
    /// Which kind.
    pub kind: SightingKind,
    /// How many.
    pub count: u64,
    /// The first of them, safe to print.
    pub text: String,
    /// Its log, safe to print, and its line, from 1.
    pub place: (String, u64),
}

impl Tally {
    /// What was counted, in order. `settings` are those of the reading.
    pub fn finish(mut self, settings: &Settings, pods: &Pods) -> Summary {
        self.settle();
        let mut summary = Summary {
            lines: self.lines,
            queries: self.queries,
            waste: self.told(settings),
            rcodes: rcodes(&self.rcodes),
            records: self.records,
            clients: self.client_rows(pods),
            names: self.name_rows(),
            zones: self.zone_rows(),
            latency: self.latency(),
            timeouts: self.timeout_rows(),
            sightings: self.sighting_rows(),
            minutes: fitting(&self.minutes, MAX_PERIODS),
            span: self.span,
            version: self.version,
            advice: Vec::new(),
        };
        summary.advice = advice::advise(&summary, &self, settings);
        summary
    }

    /// A log without answers, in which lookups never end, has no answers because
    /// it was told so.
    fn told(&self, settings: &Settings) -> Waste {
        /// Fewer can be as they are by chance.
        const MIN_QUERIES: u64 = 10;
        let answered = self.rcodes.first().copied().unwrap_or_default();
        let is_unended = || self.lookups.waiting(&self.clients) * 10 > self.queries;
        let is_filtered = settings.is_filtered && self.queries > 0;
        if is_filtered || (answered == 0 && self.queries >= MIN_QUERIES && is_unended()) {
            return Waste::Unknown;
        }
        Waste::Known(self.waste)
    }

    fn client_rows(&self, pods: &Pods) -> Row<ClientRow> {
        let mut all: Vec<&Client> = self.clients.all.iter().collect();
        all.sort_unstable_by(|a, b| {
            (b.waste, b.queries, &a.address).cmp(&(a.waste, a.queries, &b.address))
        });
        let first = all.iter().take(MAX_ROWS);
        Row {
            first: first.map(|it| self.client_row(it, pods)).collect(),
            all: all.len() as u64,
            error: self.clients.beyond,
        }
    }

    fn client_row(&self, client: &Client, pods: &Pods) -> ClientRow {
        let mut names = Vec::new();
        let mut breaks = Vec::new();
        let mut bases = client.bases.clone();
        bases.sort_unstable_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        for (base, queries) in bases {
            let Some(slot) = self.names.get(base) else {
                continue;
            };
            if breaks_under_two(&slot.value) {
                breaks.push(shown(&slot.text));
            }
            names.push((shown(&slot.text), queries));
        }
        let address = shown(&client.address);
        ClientRow {
            pod: pods.pod_at(&address).map(str::to_owned),
            address,
            queries: client.queries,
            waste: client.waste,
            saved: client.saved,
            resolver: client.habits.resolver(),
            names,
            breaks,
        }
    }

    fn name_rows(&self) -> Row<NameRow> {
        let row = |slot: &Slot<NameCount>| NameRow {
            name: match shown(&slot.text) {
                root if root.is_empty() => ".".to_owned(),
                name => name,
            },
            queries: slot.value.queries,
            failed: slot.value.failed,
            waste: slot.value.waste,
            is_searched: slot.value.searched > 0,
            dots: slot.value.labels.saturating_sub(1),
        };
        let mut sorted = self.names.sorted();
        sorted.order_by_key(|it| std::cmp::Reverse(it.value.waste));
        Row {
            first: sorted.into_iter().take(MAX_ROWS).map(row).collect(),
            all: self.names.len() as u64,
            error: self.names.error(),
        }
    }

    fn zone_rows(&self) -> Row<ZoneRow> {
        let rows = self.zones.sorted().into_iter().take(MAX_ROWS);
        let rows = rows.map(|slot| ZoneRow {
            zone: shown(&slot.text),
            queries: slot.count,
            rcodes: rcodes(&slot.value.rcodes),
            times: slot.value.times.clone(),
            slow: slot.value.slow,
            broken: slot.value.broken,
        });
        Row {
            first: rows.collect(),
            all: self.zones.len() as u64,
            error: self.zones.error(),
        }
    }

    fn latency(&self) -> Latency {
        let upstreams = self.upstreams.sorted().into_iter().take(MAX_ROWS);
        Latency {
            all: self.times.clone(),
            upstreams: Row {
                first: upstreams
                    .map(|it| (shown(&it.text), it.value.clone()))
                    .collect(),
                all: self.upstreams.len() as u64,
                error: self.upstreams.error(),
            },
            slow: self.slow,
        }
    }

    fn timeout_rows(&self) -> Row<TimeoutRow> {
        let all = &self.timeouts.all;
        let most = MAX_TIMEOUT_PERIODS / all.len().max(1);
        let rows = all.iter().map(|(&server, it)| TimeoutRow {
            server,
            count: it.count,
            minutes: fitting(&it.minutes, most),
            name: it.name.clone(),
        });
        let mut rows: Vec<TimeoutRow> = rows.collect();
        rows.order_by_key(|it| std::cmp::Reverse(it.count));
        Row {
            all: rows.len() as u64,
            first: rows,
            error: self.timeouts.beyond,
        }
    }

    fn sighting_rows(&self) -> Vec<Sighting> {
        let rows = self.sightings.iter().map(|(kind, seen)| Sighting {
            kind: *kind,
            count: seen.count,
            text: seen.text.clone(),
            place: seen.place.clone(),
        });
        rows.collect()
    }
}

/// Safe to print, and no longer than a row may be.
fn shown(text: &[u8]) -> String {
    excerpt(escaped(text).as_bytes(), MAX_TEXT)
}

/// Whether musl, which never searches for a name with as many dots as `ndots`,
/// would not find it under `ndots:2`.
fn breaks_under_two(name: &NameCount) -> bool {
    name.searched > 0 && name.labels > 2
}

/// The same counts in at most so many periods.
fn fitting<T: AddAssign + Clone + Default>(counts: &Periods<T>, most: usize) -> Periods<T> {
    let mut counts = counts.clone();
    counts.fit(most);
    counts
}

fn rcodes(counts: &[u64]) -> Vec<(Rcode, u64)> {
    let counts = Rcode::ALL.into_iter().zip(counts.iter().copied());
    counts.filter(|(_, count)| *count > 0).collect()
}
