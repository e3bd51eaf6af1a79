//! What became of names.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::net::IpAddr;

use crate::histogram::Histogram;
use crate::name::Name;
use crate::order::Order as _;
use crate::watch::keys::Question;
use crate::watch::lookup::{Exchange, Lookup};
use crate::watch::map::Map;
use crate::watch::name::{hash, of_wire, same};
use crate::watch::tally::keep_first;

pub use super::servers::QuestionTally;

/// So many questions are told apart.
const MAX_QUESTIONS: usize = 8192;

/// So many names that programs asked for are told apart.
const MAX_NAMES: usize = 4096;

/// So many servers of a question.
const MAX_SERVERS: usize = 8;

/// So many entries of search lists.
const MAX_ENTRIES: usize = 64;

const SECOND: i64 = 1_000_000_000;

/// What was said about every question.
#[derive(Debug, Default)]
pub(in crate::watch) struct Questions {
    pub(in crate::watch) all: Map<Question, QuestionTally>,
}

/// What became of a name that programs asked for.
#[derive(Clone, Debug, Default)]
pub(in crate::watch) struct NameTally {
    pub(in crate::watch) name: Name,
    pub(in crate::watch) lookups: u64,
    pub(in crate::watch) queries: u64,
    /// Queries for other names of the list, before the one that ended it.
    pub(in crate::watch) wasted: u64,
    /// How long its lookups took.
    pub(in crate::watch) times: Histogram,
    /// The families asked for: A alone, AAAA alone, both.
    pub(in crate::watch) families: [u64; 3],
    pub(in crate::watch) is_absolute: bool,
}

/// What became of an entry of the search list.
#[derive(Clone, Debug, Default)]
pub(in crate::watch) struct EntryTally {
    pub(in crate::watch) entry: Name,
    pub(in crate::watch) queries: u64,
    pub(in crate::watch) wasted: u64,
    pub(in crate::watch) denied: u64,
    /// The address that all names with a dot had; `None`: not the same one.
    pub(in crate::watch) address: Option<IpAddr>,
    pub(in crate::watch) differs: bool,
    /// Names with a dot that were found below it; the first few.
    pub(in crate::watch) found: BTreeSet<Name>,
    pub(in crate::watch) packets: Vec<u64>,
}

/// All names that programs asked for.
#[derive(Debug, Default)]
pub(in crate::watch) struct Names {
    /// By their hash, whatever their case.
    pub(in crate::watch) all: Map<u64, NameTally>,
    pub(in crate::watch) entries: Vec<EntryTally>,
    /// Wasted queries in all.
    pub(in crate::watch) wasted: u64,
    /// Lookups that went on after a name of the list.
    pub(in crate::watch) searched: u64,
}

impl Questions {
    pub(super) fn add(&mut self, exchange: &Exchange) {
        if exchange.qtype == 0 {
            return;
        }
        let is_full = self.all.len() >= MAX_QUESTIONS;
        let tally = match self.all.entry(exchange.question()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) if !is_full => {
                place.insert(QuestionTally::from_exchange(exchange))
            }
            Entry::Vacant(_) => return,
        };
        tally.span.1 = tally.span.1.max(exchange.first.time);
        let server = exchange.server.ip();
        let known = tally.servers.iter().position(|it| it.0 == server);
        let place = known.unwrap_or(tally.servers.len());
        if known.is_none() && place < MAX_SERVERS {
            tally.servers.push((server, [0; 4]));
        }
        let kind = match exchange.reply {
            Some(it) if it.is_truncated() => return,
            Some(it) if it.is_found() => 0,
            Some(it) if it.is_failure() => 2,
            Some(_) => 1,
            None => 3,
        };
        if let Some((_, counts)) = tally.servers.get_mut(place)
            && let Some(count) = counts.get_mut(kind)
        {
            *count += 1;
            let error = exchange.reply.filter(|it| it.rcode != 0);
            if let Some(key) = error.map(|it| (server, it.rcode)) {
                match tally.errors.iter_mut().find(|it| it.0 == key) {
                    Some((_, count)) => *count += 1,
                    None => tally.errors.push((key, 1)),
                }
            }
        }
        keep_first(&mut tally.packets, exchange.first.packet);
        if let Some(took) = exchange.took() {
            tally.took = (tally.took.0.saturating_add(took), tally.took.1 + 1);
        }
        if let Some(reply) = exchange.reply {
            tally.largest = tally.largest.max(reply.size);
            if reply.is_found() || tally.sample.is_none_or(|it| !it.is_found()) {
                tally.sample = Some(reply);
            }
            if let crate::watch::reply::Answer::Found { address, ttl } = reply.answer {
                tally.address = tally.address.or(address);
                tally.cache(exchange.first.time, ttl);
            }
        }
    }

    /// What was said about a question.
    pub(in crate::watch) fn get(&self, name: &Name, qtype: u16) -> Option<&QuestionTally> {
        let name = hash(name.as_wire());
        self.all.get(&Question { name, qtype })
    }
}

impl QuestionTally {
    fn cache(&mut self, time: i64, ttl: u32) {
        self.repeats.0 += 1;
        self.ttl = self.ttl.min(ttl);
        let lives = self
            .cached
            .saturating_add(i64::from(ttl).saturating_mul(SECOND));
        if time < lives {
            self.repeats.1 += 1;
        } else {
            self.cached = time;
        }
    }
}

impl Names {
    /// All of them, those with the largest counts first.
    pub(in crate::watch) fn by(&self, count: fn(&NameTally) -> u64) -> Vec<&NameTally> {
        let mut all: Vec<&NameTally> = self.all.values().collect();
        all.order_by(|one, other| {
            let is_larger = count(other).cmp(&count(one));
            is_larger.then_with(|| one.name.cmp(&other.name))
        });
        all
    }

    pub(super) fn add(&mut self, lookup: &Lookup, entries: &[Name]) {
        let (Some(asked), Some(last)) = (lookup.readings.first(), lookup.exchanges.last()) else {
            return;
        };
        // Of a name that nobody has no query is wasted more than the others.
        let is_found = lookup
            .exchanges
            .iter()
            .any(|it| it.hash == last.hash && it.reply.is_some_and(|it| it.is_found()));
        let mut wasted = 0;
        for exchange in lookup.exchanges.iter().filter(|it| it.hash != asked.hash) {
            let is_denied = exchange.reply.is_some_and(|it| it.is_negative());
            let is_wasted = is_found && exchange.hash != last.hash && is_denied;
            wasted += u64::from(is_wasted) * exchange.sendings() as u64;
            self.entry(&asked.name, exchange, is_wasted, entries);
        }
        self.wasted += wasted;
        self.searched += u64::from(wasted > 0);
        let is_full = self.all.len() >= MAX_NAMES;
        let tally = match self.all.entry(asked.hash) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_full => return,
            Entry::Vacant(place) => place.insert(NameTally {
                name: asked.name.clone(),
                ..NameTally::default()
            }),
        };
        tally.lookups += 1;
        tally.queries += lookup.queries() as u64;
        tally.wasted += wasted;
        tally.is_absolute = asked.is_absolute;
        if let Some(took) = lookup.took() {
            tally.times.add(u64::try_from(took).unwrap_or_default());
        }
        let has = |qtype: u16| lookup.exchanges.iter().any(|it| it.qtype == qtype);
        let family = match (has(1), has(28)) {
            (true, true) => 2,
            (false, true) => 1,
            _ => 0,
        };
        if let Some(count) = tally.families.get_mut(family) {
            *count += 1;
        }
    }

    /// Counts a query for a name that an entry of the list made of `name`.
    fn entry(&mut self, name: &Name, exchange: &Exchange, is_wasted: bool, entries: &[Name]) {
        let wire = exchange.name.as_wire();
        let suffix = wire.get(name.as_wire().len()..).unwrap_or_default();
        if suffix.is_empty() || !entries.iter().any(|it| same(it.as_wire(), suffix)) {
            return;
        }
        let known = self
            .entries
            .iter()
            .position(|it| same(it.entry.as_wire(), suffix));
        if known.is_none() && self.entries.len() >= MAX_ENTRIES {
            return;
        }
        let at = known.unwrap_or(self.entries.len());
        if known.is_none() {
            self.entries.push(EntryTally {
                entry: of_wire(suffix),
                ..EntryTally::default()
            });
        }
        let Some(entry) = self.entries.get_mut(at) else {
            return;
        };
        entry.queries += exchange.sendings() as u64;
        entry.wasted += u64::from(is_wasted) * exchange.sendings() as u64;
        let Some(reply) = exchange.reply.filter(|_| name.labels().nth(1).is_some()) else {
            return;
        };
        entry.denied += u64::from(reply.rcode == 3);
        if let crate::watch::reply::Answer::Found {
            address: Some(address),
            ..
        } = reply.answer
        {
            let is_other = entry
                .address
                .is_some_and(|it| it != address && it.is_ipv4() == address.is_ipv4());
            entry.differs |= is_other;
            entry.address.get_or_insert(address);
            if entry.found.len() < 16 && entry.found.insert(name.clone()) {
                keep_first(&mut entry.packets, reply.packet);
            }
        }
    }
}
