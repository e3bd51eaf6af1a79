//! Who asks.

use super::frequent::{ByHash, kept};
use super::lookups::Who;
use super::name::hash_of;
use super::query::{Query, Record};
use super::search::Search;

/// More clients are counted together.
const MAX_CLIENTS: usize = 1 << 16;

/// So many names are kept of a client for which search domains were tried in
/// vain.
const MAX_BASES: usize = 16;

/// The clients of a log, numbered as they are seen.
#[derive(Debug, Default)]
pub(super) struct Clients {
    numbers: ByHash<u32>,
    pub(super) all: Vec<Client>,
    /// Queries of those for whom there was no room.
    pub(super) beyond: u64,
    /// The last one, who often asks again.
    last: Option<(u64, u32)>,
}

/// A client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) address: Box<[u8]>,
    pub(super) queries: u64,
    pub(super) waste: u64,
    /// Of it, what `ndots:2` would save.
    pub(super) saved: u64,
    /// Queries by type.
    pub(super) records: [u64; 3],
    pub(super) search: Search,
    pub(super) habits: Habits,
    /// Bases, hashed, of the most waste.
    pub(super) bases: Vec<(u64, u64)>,
    /// The name, hashed, that was asked for before the last one.
    pub(super) before: u64,
    last: Option<Last>,
}

/// The query before.
#[derive(Clone, Copy, Debug)]
struct Last {
    name: u64,
    record: Record,
    port: u16,
    id: Option<u16>,
}

/// What tells resolvers apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Habits {
    /// A and AAAA for a name that came from one port.
    same_port: u32,
    /// The same from two.
    two_ports: u32,
    /// From one port, the id of AAAA a little higher than that of A: musl makes ids
    /// of the nanoseconds of the clock.
    near_ids: u32,
    /// Queries with EDNS, by what they take: 1232 bytes, and another number.
    edns_1232: u32,
    edns_other: u32,
    plain: u32,
}

/// Which resolver a client has, as far as its queries tell.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Resolver {
    /// glibc's.
    Glibc,
    /// musl's.
    Musl,
    /// One of these two.
    GlibcOrMusl,
    /// Go's own.
    Go,
    /// c-ares.
    CAres,
}

/// Pairs that must be seen before a resolver is named.
const MIN_PAIRS: u32 = 6;

/// A and AAAA of one lookup in musl are made one after the other, within so many
/// nanoseconds.
///
/// Source: musl, `src/network/res_mkquery.c`: the id is made of `tv_nsec`.
const NEAR_IDS: u16 = 8192;

impl Habits {
    fn take(&mut self, query: &Query<'_>, before: Option<Last>, name: u64) {
        match query.size {
            0 => {}
            // Header, name, type and class, and nothing more.
            size if size as usize == query.name.len() + 17 => self.plain += 1,
            _ if query.buffer == 1232 => self.edns_1232 += 1,
            _ => self.edns_other += 1,
        }
        let Some(before) = before.filter(|it| it.name == name && it.record != query.record) else {
            return;
        };
        if query.port == 0 || query.record == Record::Other || before.record == Record::Other {
            return;
        }
        if before.port != query.port {
            self.two_ports += 1;
            return;
        }
        self.same_port += 1;
        if let (Some(one), Some(other)) = (before.id, query.id) {
            let is_a_first = before.record == Record::A;
            let (a, aaaa) = if is_a_first {
                (one, other)
            } else {
                (other, one)
            };
            let distance = aaaa.wrapping_sub(a);
            self.near_ids += u32::from(distance > 0 && distance < NEAR_IDS);
        }
    }

    /// Which resolver has these habits; `None`: too little was seen, or they are
    /// those of several.
    ///
    /// Sources: glibc, `resolv/res_send.c` `send_dg`: one socket for a pair, ids
    /// from random bytes, EDNS with 1200 bytes only on `edns0`; musl,
    /// `src/network/res_msend.c`: one socket, no EDNS; Go, `net/dnsclient_unix.go`
    /// `exchange`: a socket for each query, EDNS with 1232 bytes; c-ares 1.22 on:
    /// one socket for many queries, EDNS with 1232 bytes.
    pub(super) fn resolver(&self) -> Option<Resolver> {
        let pairs = self.same_port + self.two_ports;
        let is_most = |part: u32, all: u32| u64::from(part) * 10 >= u64::from(all) * 9;
        if pairs < MIN_PAIRS {
            return None;
        }
        let queries = self.plain + self.edns_1232 + self.edns_other;
        let is_1232 = queries > 0 && is_most(self.edns_1232, queries);
        if is_most(self.two_ports, pairs) {
            return is_1232.then_some(Resolver::Go);
        }
        if !is_most(self.same_port, pairs) {
            return None;
        }
        if is_1232 {
            return Some(Resolver::CAres);
        }
        if is_most(self.near_ids, self.same_port) {
            return Some(Resolver::Musl);
        }
        // By chance one of eight is near.
        Some(if self.near_ids * 3 < self.same_port {
            Resolver::Glibc
        } else {
            Resolver::GlibcOrMusl
        })
    }

    fn merge(&mut self, other: &Self) {
        self.same_port += other.same_port;
        self.two_ports += other.two_ports;
        self.near_ids += other.near_ids;
        self.edns_1232 += other.edns_1232;
        self.edns_other += other.edns_other;
        self.plain += other.plain;
    }
}

impl Client {
    /// Counts a query.
    pub(super) fn take(&mut self, query: &Query<'_>, name: u64) {
        self.queries += 1;
        if let Some(count) = self.records.get_mut(query.record as usize) {
            *count += 1;
        }
        self.habits.take(query, self.last, name);
        if let Some(last) = self.last.filter(|it| it.name != name) {
            self.before = last.name;
        }
        self.last = Some(Last {
            name,
            record: query.record,
            port: query.port,
            id: query.id,
        });
    }

    /// The client as lookups know it.
    pub(super) fn who(&self, number: u32) -> Who<'_> {
        Who {
            client: number,
            search: &self.search,
            before: self.before,
        }
    }

    /// Counts queries for nothing of lookups of a base.
    pub(super) fn waste(&mut self, base: u64, queries: u64) {
        self.waste += queries;
        if let Some(known) = self.bases.iter_mut().find(|it| it.0 == base) {
            known.1 += queries;
        } else if self.bases.len() < MAX_BASES {
            self.bases.push((base, queries));
        } else if let Some(least) = self.bases.iter_mut().min_by_key(|it| it.1) {
            // As in Space-Saving: the new one takes the place and the count.
            *least = (base, least.1 + queries);
        }
    }
}

impl Clients {
    /// The number of a client; `None`: there is no room for one more.
    #[inline]
    pub(super) fn number(&mut self, address: &[u8]) -> Option<u32> {
        let hash = hash_of(address);
        if let Some((last, number)) = self.last
            && last == hash
        {
            return Some(number);
        }
        let number = match self.numbers.get(&hash) {
            Some(&number) => number,
            None if self.all.len() >= MAX_CLIENTS => {
                self.beyond += 1;
                return None;
            }
            None => self.add(hash, address),
        };
        self.last = Some((hash, number));
        Some(number)
    }

    fn add(&mut self, hash: u64, address: &[u8]) -> u32 {
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.numbers.insert(hash, number);
        self.all.push(Client {
            address: kept(address).into(),
            ..Client::default()
        });
        number
    }

    pub(super) fn get(&self, number: u32) -> Option<&Client> {
        self.all.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Client> {
        self.all.get_mut(number as usize)
    }

    /// Adds the clients of another log; the numbers here of those there.
    pub(super) fn merge(&mut self, others: &Self) -> Vec<u32> {
        self.beyond += others.beyond;
        let number = |other: &Client| {
            let number = self.number(&other.address);
            let Some(own) = number.and_then(|it| self.get_mut(it)) else {
                self.beyond += other.queries;
                return u32::MAX;
            };
            own.queries += other.queries;
            own.waste += other.waste;
            own.saved += other.saved;
            for (own, other) in own.records.iter_mut().zip(other.records) {
                *own += other;
            }
            own.search.merge(&other.search);
            own.habits.merge(&other.habits);
            let waste = own.waste;
            for &(base, queries) in &other.bases {
                own.waste(base, queries);
            }
            own.waste = waste;
            number.unwrap_or(u32::MAX)
        };
        others.all.iter().map(number).collect()
    }
}
