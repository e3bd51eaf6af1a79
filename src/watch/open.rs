//! Lookups that are under way, and how packets find them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;
use std::net::{IpAddr, SocketAddr};

use smallvec::SmallVec;

use crate::packet::Transport;
use crate::watch::keys::{Key, Keys, QUESTIONS, Question};
use crate::watch::lookup::{Ended, Exchange, Lookup, Reading};
use crate::watch::map::Map;
use crate::watch::ports::Ports;

/// So many lookups are under way at once; then the oldest is let go.
const MAX_OPEN: usize = 16_384;

/// So many exchanges are under way at once.
const MAX_EXCHANGES: usize = 49_152;

/// The exchanges of a lookup with more of them are listed by client and server.
const FEW: usize = 8;

/// More queries are not one lookup: the longest plan of a pod has some 60.
pub(super) const MAX_OF_LOOKUP: usize = 256;

/// The lookups of one name: nearly always few.
type OfBase = SmallVec<[u32; 4]>;

/// Where an exchange is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) lookup: u32,
    pub(super) exchange: u32,
    /// Whether the key is that of the same query behind NAT.
    pub(super) is_translated: bool,
}

impl Place {
    fn new(lookup: u32, exchange: usize) -> Self {
        Self {
            lookup,
            exchange: u32::try_from(exchange).unwrap_or(u32::MAX),
            is_translated: false,
        }
    }
}

/// When a lookup is over by the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foreseen {
    /// When something had last happened; where more has happened since, this is void.
    pub(super) last: i64,
    /// When it is over; `None`: the plan does not tell.
    pub(super) over: Option<i64>,
}

/// A lookup that is under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) lookup: Lookup,
    /// The keys of its queries behind NAT.
    translated: Vec<Key>,
    /// Whether its exchanges are listed: newer lookups use a port of its own, too, or
    /// they are many.
    is_listed: bool,
    /// Whether names of the search list follow the newest one, if that does not exist.
    pub(super) is_searching: bool,
    /// When something last happened.
    pub(super) last: i64,
    /// When it is over by the plan, if that was asked.
    pub(super) foreseen: Option<Foreseen>,
    /// When it is looked at again.
    pub(super) due: i64,
}

/// All lookups that are under way.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Option<Open>>,
    free: Vec<u32>,
    pub(super) keys: Keys,
    places: Map<Key, Place>,
    /// The newest exchange with an id and question, where [`Question::slot`] says;
    /// it can have ended.
    questions: Vec<Option<(u16, Question, Place)>>,
    /// The lookups of a client that can be of a name; the newest last.
    bases: Map<Key, OfBase>,
    ports: Ports,
    /// When to look at which lookup; the number tells whether it is still the same.
    queue: BinaryHeap<Reverse<(i64, u32, u64)>>,
    exchanges: usize,
    begun: u64,
}

impl Table {
    /// The exchange of this key.
    pub(super) fn place(&self, key: Key) -> Option<Place> {
        self.places.get(&key).copied()
    }

    /// The newest exchange with this id and question, whoever asked whom.
    pub(super) fn same_question(&self, id: u16, question: Question) -> Option<Place> {
        let newest = self.questions.get(question.slot(id)).copied().flatten();
        let (.., place) = newest.filter(|it| (it.0, it.1) == (id, question))?;
        let exchange = self.exchange(place)?;
        (exchange.id == id && exchange.question() == question).then_some(place)
    }

    /// Exchanges of a client's port and a server, all or those with an id, the newest
    /// first.
    pub(super) fn of_port(
        &self,
        ends: (SocketAddr, SocketAddr),
        transport: Transport,
        id: Option<u16>,
    ) -> impl Iterator<Item = (Place, &Exchange)> {
        self.near(ends, transport, id).filter(move |(_, it)| {
            let is_its = (it.client, it.server) == ends && it.transport == transport;
            is_its && id.is_none_or(|id| it.id == id)
        })
    }

    /// Those, and a few others.
    fn near(
        &self,
        ends: (SocketAddr, SocketAddr),
        transport: Transport,
        id: Option<u16>,
    ) -> impl Iterator<Item = (Place, &Exchange)> {
        let newest = self.ports.newest(ends.0.port());
        let open = self.open(newest).filter(|it| !it.is_listed);
        let exchanges = open.map_or(0, |it| it.lookup.exchanges.len());
        let own = (0..exchanges).rev().map(move |it| Place::new(newest, it));
        let listed = self.ports.listed(self.keys.of_id(ends, transport, id));
        own.chain(listed)
            .filter_map(|place| Some((place, self.exchange(place)?)))
    }

    /// The lookups of a client that can be of this name.
    pub(super) fn of_base(&self, client: IpAddr, base: u64) -> &[u32] {
        self.bases
            .get(&self.keys.of_base(client, base))
            .map_or(&[], SmallVec::as_slice)
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

    /// The same, to change it.
    pub(super) fn exchange_mut(&mut self, place: Place) -> Option<&mut Exchange> {
        let exchanges = &mut self.open_mut(place.lookup)?.lookup.exchanges;
        exchanges.get_mut(place.exchange as usize)
    }

    /// The same, at this time.
    pub(super) fn touch(&mut self, place: Place, now: i64) -> Option<&mut Exchange> {
        let open = self.open_mut(place.lookup)?;
        open.last = open.last.max(now);
        self.exchange_mut(place)
    }

    /// Whether there is room for one more.
    pub(super) fn is_full(&self) -> bool {
        let open = self.slots.len().saturating_sub(self.free.len());
        open >= MAX_OPEN || self.exchanges >= MAX_EXCHANGES
    }

    /// Begins a lookup, whose first exchange is still to be added, and which is to
    /// be looked at at `due`.
    pub(super) fn begin(&mut self, mut lookup: Lookup, due: i64) -> u32 {
        self.begun += 1;
        lookup.number = self.begun;
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        for reading in &lookup.readings {
            let key = self.keys.of_base(lookup.client, reading.hash);
            self.bases.entry(key).or_default().push(index);
        }
        self.queue.push(Reverse((due, index, lookup.number)));
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = Some(Open {
                lookup,
                translated: Vec::new(),
                is_listed: false,
                is_searching: false,
                foreseen: None,
                last: i64::MIN,
                due,
            });
        }
        index
    }

    /// Adds an exchange to a lookup.
    pub(super) fn add(&mut self, index: u32, exchange: Exchange) {
        let port = exchange.client.port();
        if let Some(before) = self.ports.take(port, index)
            && let Some(open) = self.open(before).filter(|it| !it.is_listed)
            && let mut exchanges = open.lookup.exchanges.iter()
            && exchanges.any(|it| it.client.port() == port)
        {
            self.list(before);
        }
        let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let place = Place::new(index, open.lookup.exchanges.len());
        open.last = open.last.max(exchange.first.time);
        self.exchanges += 1;
        self.questions.resize(QUESTIONS, None);
        let newest = self
            .questions
            .get_mut(exchange.question().slot(exchange.id));
        if let Some(newest) = newest {
            *newest = Some((exchange.id, exchange.question(), place));
        }
        self.places.insert(exchange.key, place);
        if open.is_listed {
            self.ports.list(self.keys.of_exchange(&exchange), place);
        }
        open.lookup.exchanges.push(exchange);
        if !open.is_listed && open.lookup.exchanges.len() > FEW {
            self.list(index);
        }
    }

    /// Lists the exchanges of a lookup, and those that it will have.
    fn list(&mut self, index: u32) {
        let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        open.is_listed = true;
        for (number, exchange) in open.lookup.exchanges.iter().enumerate() {
            let keys = self.keys.of_exchange(exchange);
            self.ports.list(keys, Place::new(index, number));
        }
    }

    /// The same query under other addresses.
    pub(super) fn translate(&mut self, key: Key, place: Place) {
        if let Some(open) = self.open_mut(place.lookup)
            && open.translated.len() < MAX_OF_LOOKUP
        {
            open.translated.push(key);
            let is_translated = true;
            let place = Place {
                is_translated,
                ..place
            };
            self.places.insert(key, place);
        }
    }

    /// Keeps only those readings that `keeps` says; all others are let go.
    pub(super) fn narrow(&mut self, index: u32, keeps: impl Fn(&Reading) -> bool) {
        let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
            return;
        };
        let client = open.lookup.client;
        open.lookup.readings.retain(|reading| {
            let kept = keeps(reading);
            if !kept {
                let key = self.keys.of_base(client, reading.hash);
                leave(&mut self.bases, key, index);
            }
            kept
        });
    }

    /// The next lookup to look at, if it is time.
    pub(super) fn due(&mut self, now: i64) -> Option<u32> {
        loop {
            let Reverse((at, index, number)) = *self.queue.peek()?;
            if at > now {
                return None;
            }
            self.queue.pop();
            if self.is_due(index, number, at) {
                return Some(index);
            }
        }
    }

    /// Looks at a lookup again at `due`.
    pub(super) fn later(&mut self, index: u32, due: i64) {
        if let Some(open) = self.slots.get_mut(index as usize).and_then(Option::as_mut) {
            open.due = due;
            self.queue.push(Reverse((due, index, open.lookup.number)));
        }
    }

    /// The same, before it was to be looked at, where there is room to note it.
    pub(super) fn sooner(&mut self, index: u32, due: i64) {
        if self.queue.len() < MAX_OPEN {
            self.later(index, due);
        }
    }

    /// The one that would be looked at next, to make room.
    pub(super) fn first_due(&mut self) -> Option<u32> {
        loop {
            let Reverse((at, index, number)) = self.queue.pop()?;
            if self.is_due(index, number, at) {
                return Some(index);
            }
        }
    }

    /// Whether this note holds: what was noted later of the same lookup takes its place.
    fn is_due(&self, index: u32, number: u64, at: i64) -> bool {
        let is_its = |it: &Open| it.lookup.number == number && it.due == at;
        self.open(index).is_some_and(is_its)
    }

    /// All lookups that are under way.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, &Open)> {
        let slots = (0..).zip(&self.slots);
        slots.filter_map(|it| Some((it.0, it.1.as_ref()?)))
    }

    /// Takes a lookup out.
    pub(super) fn end(&mut self, index: u32, ended: Ended) -> Option<Lookup> {
        let open = self.slots.get_mut(index as usize)?.take()?;
        self.free.push(index);
        let mut lookup = open.lookup;
        self.exchanges = self.exchanges.saturating_sub(lookup.exchanges.len());
        for (number, exchange) in lookup.exchanges.iter().enumerate() {
            self.places.remove(&exchange.key);
            if open.is_listed {
                let keys = self.keys.of_exchange(exchange);
                self.ports.leave(keys, Place::new(index, number));
            }
        }
        for key in &open.translated {
            self.places.remove(key);
        }
        for reading in &lookup.readings {
            let key = self.keys.of_base(lookup.client, reading.hash);
            leave(&mut self.bases, key, index);
        }
        lookup.ended = ended;
        Some(lookup)
    }
}

fn leave(bases: &mut Map<Key, OfBase>, key: Key, index: u32) {
    if let Entry::Occupied(mut entry) = bases.entry(key) {
        let of_base = entry.get_mut();
        if let Some(at) = of_base.iter().position(|it| *it == index) {
            of_base.remove(at);
        }
        if of_base.is_empty() {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_lookup_the_newest_note_holds() {
        let mut table = Table::default();
        let lookup = Lookup {
            number: 0,
            client: [10, 0, 0, 1].into(),
            readings: Vec::new(),
            exchanges: Vec::new(),
            ended: Ended::Settled,
            process: None,
        };
        let index = table.begin(lookup, 30);
        for now in 1..1000 {
            table.sooner(index, now);
            assert_eq!(table.due(now), Some(index));
            table.later(index, now + 30);
            assert_eq!(table.due(now), None);
            assert!(table.queue.len() < 32, "{}", table.queue.len());
        }
    }
}
