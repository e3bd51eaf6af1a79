//! Lookups that are under way, and how packets find them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use crate::packet::Transport;
use crate::watch::lookup::{Ended, Exchange, Lookup};

/// So many lookups are under way at once; then the oldest is let go.
const MAX_OPEN: usize = 16_384;

/// So many exchanges are under way at once.
const MAX_EXCHANGES: usize = 49_152;

/// More queries are not one lookup: the longest plan of a pod has some 60.
pub(super) const MAX_OF_LOOKUP: usize = 256;

/// How often a lookup is looked at, in nanoseconds.
const TICK: i64 = 50_000_000;

/// A query as the wire tells it from others.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Key {
    pub(super) client: SocketAddr,
    pub(super) server: SocketAddr,
    /// The connection, from 1; 0: UDP.
    pub(super) stream: u64,
    pub(super) id: u16,
    pub(super) question: Question,
}

/// A name, whatever its case, and a type.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Question {
    pub(super) name: u64,
    pub(super) qtype: u16,
}

impl Key {
    /// The key of a query over this transport.
    pub(super) fn of(
        (client, server): (SocketAddr, SocketAddr),
        transport: Transport,
        id: u16,
        question: Question,
    ) -> Self {
        let stream = match transport {
            Transport::Udp => 0,
            Transport::Tcp(stream) => stream.0.wrapping_add(1),
        };
        Self {
            client,
            server,
            stream,
            id,
            question,
        }
    }
}

/// Where an exchange is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) lookup: u32,
    pub(super) exchange: u32,
    /// Whether the key is that of the same query behind NAT.
    pub(super) is_translated: bool,
}

/// A lookup that is under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) lookup: Lookup,
    /// The names it can be of, by their hashes.
    pub(super) bases: Vec<u64>,
    /// The hash and the key of each exchange's question.
    keys: Vec<Key>,
    translated: Vec<Key>,
    /// When something last happened.
    pub(super) last: i64,
}

/// All lookups that are under way.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<Option<Open>>,
    free: Vec<u32>,
    keys: HashMap<Key, Place>,
    /// The newest exchange with this id and question.
    questions: HashMap<(u16, Question), Place>,
    bases: HashMap<(IpAddr, u64), Vec<u32>>,
    /// The newest lookup that uses a client's port.
    ports: Vec<u32>,
    /// When to look at which lookup; the number tells whether it is still the same.
    queue: VecDeque<(i64, u32, u64)>,
    exchanges: usize,
    begun: u64,
    /// Lookups that were let go before they had ended.
    pub(super) forgotten: u64,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            keys: HashMap::new(),
            questions: HashMap::new(),
            bases: HashMap::new(),
            ports: vec![u32::MAX; 1 << 16],
            queue: VecDeque::new(),
            exchanges: 0,
            begun: 0,
            forgotten: 0,
        }
    }
}

impl Table {
    /// The exchange of this key.
    pub(super) fn place(&self, key: &Key) -> Option<Place> {
        self.keys.get(key).copied()
    }

    /// The newest exchange with this id and question, whoever asked whom.
    pub(super) fn same_question(&self, id: u16, question: Question) -> Option<Place> {
        self.questions.get(&(id, question)).copied()
    }

    /// The newest lookup that used this port of a client.
    pub(super) fn of_port(&self, port: u16) -> Option<u32> {
        let index = self.ports.get(usize::from(port)).copied()?;
        self.open(index).map(|_| index)
    }

    /// The lookups of a client that can be of this name.
    pub(super) fn of_base(&self, client: IpAddr, base: u64) -> &[u32] {
        self.bases.get(&(client, base)).map_or(&[], Vec::as_slice)
    }

    /// A lookup that is under way.
    pub(super) fn open(&self, index: u32) -> Option<&Open> {
        self.slots.get(index as usize)?.as_ref()
    }

    /// The same, to change it.
    pub(super) fn open_mut(&mut self, index: u32) -> Option<&mut Open> {
        self.slots.get_mut(index as usize)?.as_mut()
    }

    /// An exchange that is under way.
    pub(super) fn exchange(&self, place: Place) -> Option<&Exchange> {
        let exchanges = &self.open(place.lookup)?.lookup.exchanges;
        exchanges.get(place.exchange as usize)
    }

    /// The same, at this time, to change it.
    pub(super) fn touch(&mut self, place: Place, now: i64) -> Option<&mut Exchange> {
        let open = self.open_mut(place.lookup)?;
        open.last = open.last.max(now);
        open.lookup.exchanges.get_mut(place.exchange as usize)
    }

    /// The key of an exchange, as its first query has it.
    pub(super) fn key_of(&self, place: Place) -> Option<Key> {
        let keys = &self.open(place.lookup)?.keys;
        keys.get(place.exchange as usize).copied()
    }

    /// Whether there is room for one more.
    pub(super) fn is_full(&self) -> bool {
        let open = self.slots.len().saturating_sub(self.free.len());
        open >= MAX_OPEN || self.exchanges >= MAX_EXCHANGES
    }

    /// Begins a lookup, whose first exchange is still to be added.
    pub(super) fn begin(&mut self, mut lookup: Lookup, bases: Vec<u64>, now: i64) -> u32 {
        self.begun += 1;
        lookup.number = self.begun;
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        for base in &bases {
            let of_base = self.bases.entry((lookup.client, *base)).or_default();
            of_base.push(index);
        }
        self.queue
            .push_back((now.saturating_add(TICK), index, lookup.number));
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Some(Open {
                lookup,
                bases,
                keys: Vec::new(),
                translated: Vec::new(),
                last: now,
            });
        }
        index
    }

    /// Adds an exchange to a lookup.
    pub(super) fn add(&mut self, index: u32, key: Key, exchange: Exchange, now: i64) {
        let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let place = Place {
            lookup: index,
            exchange: u32::try_from(open.keys.len()).unwrap_or(u32::MAX),
            is_translated: false,
        };
        open.keys.push(key);
        open.lookup.exchanges.push(exchange);
        open.last = open.last.max(now);
        self.exchanges += 1;
        if let Some(port) = self.ports.get_mut(usize::from(key.client.port())) {
            *port = index;
        }
        self.questions.insert((key.id, key.question), place);
        self.keys.insert(key, place);
    }

    /// The same query under other addresses.
    pub(super) fn translate(&mut self, key: Key, place: Place) {
        if let Some(open) = self.open_mut(place.lookup)
            && open.translated.len() < MAX_OF_LOOKUP
        {
            open.translated.push(key);
            let is_translated = true;
            self.keys.insert(
                key,
                Place {
                    is_translated,
                    ..place
                },
            );
        }
    }

    /// Keeps only those bases that `keeps` says; all others are let go.
    pub(super) fn narrow(&mut self, index: u32, keeps: impl Fn(u64) -> bool) {
        let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let client = open.lookup.client;
        open.bases.retain(|base| {
            let kept = keeps(*base);
            if !kept {
                leave(&mut self.bases, (client, *base), index);
            }
            kept
        });
    }

    /// The next lookup to look at, if it is time.
    pub(super) fn due(&mut self, now: i64) -> Option<u32> {
        loop {
            let (at, index, number) = *self.queue.front()?;
            // At the end of time nothing is later.
            if at >= now {
                return None;
            }
            self.queue.pop_front();
            if self
                .open(index)
                .is_some_and(|it| it.lookup.number == number)
            {
                return Some(index);
            }
        }
    }

    /// Looks at a lookup again later.
    pub(super) fn later(&mut self, index: u32, now: i64) {
        if let Some(open) = self.open(index) {
            let number = open.lookup.number;
            self.queue
                .push_back((now.saturating_add(TICK), index, number));
        }
    }

    /// The one that has been looked at last, to make room.
    pub(super) fn oldest(&mut self) -> Option<u32> {
        loop {
            let (_, index, number) = self.queue.pop_front()?;
            let is_same = |it: &Open| it.lookup.number == number;
            if self.open(index).is_some_and(is_same) {
                return Some(index);
            }
        }
    }

    /// Takes a lookup out.
    pub(super) fn end(&mut self, index: u32, ended: Ended) -> Option<Lookup> {
        let open = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        self.exchanges = self.exchanges.saturating_sub(open.keys.len());
        for key in open.keys.iter().chain(&open.translated) {
            self.keys.remove(key);
            let question = (key.id, key.question);
            if self
                .questions
                .get(&question)
                .is_some_and(|it| it.lookup == index)
            {
                self.questions.remove(&question);
            }
        }
        for base in &open.bases {
            leave(&mut self.bases, (open.lookup.client, *base), index);
        }
        let mut lookup = open.lookup;
        lookup.ended = ended;
        Some(lookup)
    }
}

fn leave(bases: &mut HashMap<(IpAddr, u64), Vec<u32>>, key: (IpAddr, u64), index: u32) {
    if let Some(of_base) = bases.get_mut(&key) {
        of_base.retain(|it| *it != index);
        if of_base.is_empty() {
            bases.remove(&key);
        }
    }
}
