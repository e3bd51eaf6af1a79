//! Which queries belong to one lookup, and which of them were for nothing.
//!
//! Kept is, for each client and name, how many queries failed and wait to be
//! told whether their lookup succeeded under another name. A query that is
//! answered tells it for all candidates that its lookup tried before. Order
//! between clients, between names, and between A and AAAA does not matter.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::clients::Clients;
use super::frequent::Identity;
use super::name::Labels;
use super::query::Record;
use super::search::{Role, Search, Tried};

/// So many clients and names are kept; of those that are forgotten it is not
/// known any more what became of them.
const MAX_ENTRIES: usize = 1 << 19;

/// A and AAAA of one lookup are at most so many queries apart.
const PAIR_WINDOW: u32 = 10_000;

/// A client, by its number, and a name, hashed.
type Key = (u32, u64);

#[derive(Debug, Default)]
pub(super) struct Lookups {
    entries: HashMap<Key, Entry, BuildHasherDefault<Identity>>,
    /// Counts queries.
    clock: u32,
    /// Failed queries that were forgotten.
    pub(super) forgotten: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Queries of each type that failed, and whose lookup is not over.
    open: [u16; 3],
    /// The same after the last candidate failed, too: the lookup failed, unless
    /// the other type or a repetition is answered.
    ended: [u16; 3],
    /// Answers of each type for which not every candidate before was seen.
    bare: [u16; 3],
    /// Types that were answered while those of the other type were not yet.
    answered: [bool; 3],
    seen: u32,
    /// How often it was answered.
    answers: u32,
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'s> {
    /// The client's number.
    pub(super) client: u32,
    pub(super) search: &'s Search,
    /// The name, hashed, that it asked for before this one.
    pub(super) before: u64,
}

/// What an answer says about the queries before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wasted {
    pub(super) role: Role,
    pub(super) queries: u64,
}

/// The other of A and AAAA.
fn sibling(record: Record) -> Option<usize> {
    match record {
        Record::A => Some(Record::Aaaa as usize),
        Record::Aaaa => Some(Record::A as usize),
        Record::Other => None,
    }
}

fn at<T: Copy + Default>(counts: &[T; 3], index: usize) -> T {
    counts.get(index).copied().unwrap_or_default()
}

/// The count of a type.
fn count_of(counts: &mut [u16; 3], index: usize) -> &mut u16 {
    let [a, aaaa, other] = counts;
    match index {
        0 => a,
        1 => aaaa,
        _ => other,
    }
}

impl Entry {
    fn failed(&self, index: usize) -> u16 {
        at(&self.open, index).saturating_add(at(&self.ended, index))
    }

    /// Takes what waits, for a candidate of a lookup that succeeded.
    fn take(&mut self, index: usize, is_as_is: bool) -> u64 {
        let open = std::mem::take(count_of(&mut self.open, index));
        if is_as_is {
            return u64::from(open);
        }
        u64::from(open) + u64::from(std::mem::take(count_of(&mut self.ended, index)))
    }
}

impl Lookups {
    /// A query that got no record. Whether the search domains that are known
    /// explain it: it goes on a lookup, or ends it.
    pub(super) fn fail(
        &mut self,
        who: Who<'_>,
        labels: &Labels,
        record: Record,
        wasted: &mut Vec<Wasted>,
    ) -> bool {
        self.tick();
        let (key, index) = ((who.client, labels.hash()), record as usize);
        let clock = self.clock;
        let entry = self.entries.entry(key).or_default();
        let is_recent = clock.wrapping_sub(entry.seen) < PAIR_WINDOW;
        entry.seen = clock;
        let other = sibling(record).filter(|&it| at(&entry.answered, it));
        if other.is_some() {
            entry.answered = [false; 3];
            if is_recent {
                // The lookup has its answer from the other type.
                self.mark(who, labels, &[index], wasted);
                return true;
            }
        }
        let chain = self.end(who, labels, index);
        let Some(entry) = self.entries.get_mut(&key) else {
            return false;
        };
        match chain {
            Chain::None => {
                // What ended before was another lookup.
                *count_of(&mut entry.ended, index) = 0;
                let open = count_of(&mut entry.open, index);
                *open = open.saturating_add(1);
            }
            // As-is comes first here, and again.
            _ if at(&entry.open, index) > 0 => *count_of(&mut entry.open, index) = 1,
            Chain::Ended => *count_of(&mut entry.ended, index) += 1,
            Chain::Open => *count_of(&mut entry.ended, index) = 1,
        }
        !matches!(chain, Chain::None)
            || (who.search.is_calm() && who.search.is_first(labels))
            || self.goes_on(who, labels)
    }

    /// A query that got a record, or what counts as one.
    pub(super) fn answer(
        &mut self,
        who: Who<'_>,
        labels: &Labels,
        record: Record,
        wasted: &mut Vec<Wasted>,
    ) {
        self.tick();
        let index = record as usize;
        let clock = self.clock;
        let entry = self.entries.entry((who.client, labels.hash())).or_default();
        entry.seen = clock;
        entry.answers = entry.answers.saturating_add(1);
        let other = sibling(record);
        // The other type failed where this one is answered.
        let both = other.filter(|&it| entry.failed(it) > entry.failed(index));
        let is_pair = other.is_some_and(|it| at(&entry.answered, it));
        entry.answered = [false; 3];
        if let Some(answered) = entry.answered.get_mut(index) {
            *answered = !is_pair && both.is_none();
        }
        entry.open = [0; 3];
        entry.ended = [0; 3];
        match both {
            Some(other) => self.mark(who, labels, &[index, other], wasted),
            None => self.mark(who, labels, &[index], wasted),
        }
    }

    /// Everything that was tried before this name was answered.
    pub(super) fn mark(
        &mut self,
        who: Who<'_>,
        labels: &Labels,
        types: &[usize],
        wasted: &mut Vec<Wasted>,
    ) {
        let mut is_bare = false;
        for role in who.search.roles(labels) {
            let (mut queries, mut is_alone, mut is_near) = (0, true, false);
            for Tried { hash, is_nearest } in who.search.before(role) {
                if !is_nearest && !is_near {
                    is_bare = true;
                    break;
                }
                is_alone = false;
                let taken = self.take((who.client, hash), types, false);
                is_near |= taken > 0;
                is_bare |= taken == 0;
                queries += taken;
            }
            // A name that was asked for as it is belongs to this lookup if more of it
            // is there, or if nothing can be, and nothing was in between.
            let is_next = is_alone && role.base == who.before;
            if role.suffix.is_some() && (queries > 0 || is_next) {
                queries += self.take((who.client, role.base), types, true);
            }
            if queries > 0 {
                wasted.push(Wasted { role, queries });
            }
        }
        if is_bare && let Some(entry) = self.entries.get_mut(&(who.client, labels.hash())) {
            for &index in types {
                let bare = count_of(&mut entry.bare, index);
                *bare = bare.saturating_add(1);
            }
        }
    }

    /// Takes what waits of a candidate.
    fn take(&mut self, key: Key, types: &[usize], is_as_is: bool) -> u64 {
        let entry = self.entries.get_mut(&key);
        entry.map_or(0, |entry| {
            types.iter().map(|&it| entry.take(it, is_as_is)).sum()
        })
    }

    /// Ends the lookups of which this name, as-is, is the last candidate.
    fn end(&mut self, who: Who<'_>, labels: &Labels, index: usize) -> Chain {
        let role = Role {
            base: labels.hash(),
            labels: labels.count,
            suffix: None,
        };
        let mut chain = Chain::None;
        for Tried { hash, is_nearest } in who.search.before(role) {
            if !is_nearest && matches!(chain, Chain::None) {
                break;
            }
            let Some(entry) = self.entries.get_mut(&(who.client, hash)) else {
                continue;
            };
            let open = std::mem::take(count_of(&mut entry.open, index));
            let ended = count_of(&mut entry.ended, index);
            if open > 0 {
                *ended = ended.saturating_add(open);
                chain = Chain::Open;
            } else if *ended > 0 && matches!(chain, Chain::None) {
                chain = Chain::Ended;
            }
        }
        chain
    }

    /// Whether a candidate before this one failed.
    pub(super) fn goes_on(&self, who: Who<'_>, labels: &Labels) -> bool {
        let is_open = |hash| self.is_open(who.client, hash);
        let mut roles = who.search.roles(labels).filter(|it| it.suffix.is_some());
        roles.any(|role| {
            let mut before = who.search.before(role);
            before.any(|it| is_open(it.hash)) || is_open(role.base)
        })
    }

    /// Whether queries of this name wait.
    pub(super) fn is_open(&self, client: u32, hash: u64) -> bool {
        let entry = self.entries.get(&(client, hash));
        entry.is_some_and(|it| it.open.iter().any(|&open| open > 0))
    }

    /// Failed queries that wait, of clients whose search domains are known.
    pub(super) fn waiting(&self, clients: &Clients) -> u64 {
        let is_known = |client| clients.get(client).is_some_and(|it| it.search.is_known());
        let waiting = self.entries.iter().filter(|(key, _)| is_known(key.0));
        waiting
            .flat_map(|(_, entry)| entry.open)
            .map(u64::from)
            .sum()
    }

    /// Clients, names hashed, and how often they were answered.
    pub(super) fn answers(&self) -> impl Iterator<Item = (u32, u64, u32)> + '_ {
        let all = self.entries.iter();
        all.map(|(&(client, name), entry)| (client, name, entry.answers))
    }

    fn tick(&mut self) {
        self.clock = self.clock.wrapping_add(1);
        if self.entries.len() >= MAX_ENTRIES {
            self.forget();
        }
    }

    /// Forgets the half that was not seen for longest.
    fn forget(&mut self) {
        let clock = self.clock;
        let mut ages: Vec<u32> = self
            .entries
            .values()
            .map(|it| clock.wrapping_sub(it.seen))
            .collect();
        let middle = ages.len() / 2;
        let (_, &mut limit, _) = ages.select_nth_unstable(middle);
        let mut forgotten = 0;
        self.entries.retain(|_, entry| {
            let stays = clock.wrapping_sub(entry.seen) < limit;
            if !stays {
                forgotten += entry.open.iter().map(|&it| u64::from(it)).sum::<u64>();
            }
            stays
        });
        self.forgotten += forgotten;
    }

    /// Adds what another log has of the same clients; `number` is the number that
    /// a client of it has here.
    #[expect(
        clippy::iter_over_hash_type,
        reason = "sums do not depend on the order"
    )]
    pub(super) fn merge(&mut self, other: &Self, number: impl Fn(u32) -> u32) {
        for (&(client, name), theirs) in &other.entries {
            let entry = self.entries.entry((number(client), name)).or_default();
            for index in 0..3 {
                let add = |to: &mut u16, more| *to = to.saturating_add(more);
                add(count_of(&mut entry.open, index), at(&theirs.open, index));
                add(count_of(&mut entry.ended, index), at(&theirs.ended, index));
                add(count_of(&mut entry.bare, index), at(&theirs.bare, index));
            }
            entry.answers = entry.answers.saturating_add(theirs.answers);
        }
        self.forgotten += other.forgotten;
        if self.entries.len() >= MAX_ENTRIES {
            self.forget();
        }
    }

    /// Lookups whose queries went to several servers, and so into several logs:
    /// answers for which candidates were missing, and queries that still wait.
    /// `search` gives the search domains of a client; `found` gets the client,
    /// the base, hashed, and the number of queries.
    pub(super) fn settle<'s>(
        &mut self,
        search: impl Fn(u32) -> Option<&'s Search>,
        mut found: impl FnMut(u32, u64, u64),
    ) {
        let is_bare = |entry: &Entry| entry.bare.iter().any(|&it| it > 0);
        let bare = self.entries.iter().filter(|(_, entry)| is_bare(entry));
        let mut bare: Vec<(Key, Entry)> = bare.map(|(key, entry)| (*key, *entry)).collect();
        bare.sort_unstable_by_key(|(key, _)| *key);
        for ((client, name), entry) in bare {
            let Some(search) = search(client) else {
                continue;
            };
            for role in search.roles_of_hash(name) {
                let mut queries = 0;
                for tried in search.before(role) {
                    let Some(other) = self.entries.get_mut(&(client, tried.hash)) else {
                        continue;
                    };
                    for index in 0..3 {
                        let open = count_of(&mut other.open, index);
                        let part = at(&entry.bare, index).min(*open);
                        *open -= part;
                        queries += u64::from(part);
                    }
                }
                if queries > 0 {
                    found(client, role.base, queries);
                }
            }
        }
    }
}

/// What is before the last candidate of a lookup.
#[derive(Clone, Copy, Debug)]
enum Chain {
    /// Nothing.
    None,
    /// Candidates that waited.
    Open,
    /// Candidates whose lookup was over already.
    Ended,
}
