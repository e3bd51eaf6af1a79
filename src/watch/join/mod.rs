//! From messages to lookups.

mod ends;
mod message;
mod misfits;

use std::collections::VecDeque;

pub(super) use self::ends::AFTER_DENIAL;

use self::ends::AFTER_ANSWER;
use self::message::Message;
use crate::packet::dns::{HEADER, Header, whole_labels};
use crate::packet::{Content, SeenMessage, Transport};
use crate::watch::choose;
use crate::watch::keys::Question;
use crate::watch::lookup::{Ended, Exchange, Lookup, Reading, Sent};
use crate::watch::name::{Names, hash};
use crate::watch::open::{MAX_OF_LOOKUP, Place, Table};
use crate::watch::remembered::{Answered, Connections, Numbers};
use crate::watch::reply::{Reply, edns_size};
use crate::watch::search::{Bases, Lists, Search};

/// What is seen twice within this time is one thing, in nanoseconds: no
/// resolver asks again so soon.
const AT_ONCE: i64 = 20_000_000;

/// Who asks again sooner than this has not waited, but read the answer: so does
/// systemd-resolved, without EDNS, after NXDOMAIN. In nanoseconds.
const SHORTEST_WAIT: i64 = 250_000_000;

/// The room of so many lookups is kept for others.
const MAX_SPARE: usize = 64;

/// What was seen beside queries and their answers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Strays {
    /// Responses to queries that were not seen.
    pub orphans: u64,
    /// Messages that are no standard queries: updates, notifications.
    pub other_messages: u64,
    /// ICMP errors about responses: the program reads no more. No loss.
    pub unread: u64,
    /// The same queries under other addresses, before or behind NAT.
    pub translated: u64,
    /// Lookups of which the end was not waited for: there was no room, or the clock was
    /// set.
    pub forgotten: u64,
}

/// Joins messages to exchanges, and these to lookups.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    table: Table,
    names: Names,
    answered: Answered,
    /// How long a resolver waits at most before it asks again, in nanoseconds.
    patience: i64,
    pub(super) connections: Connections,
    numbers: Numbers,
    now: i64,
    /// Queries whose time is not known: the next packet says how late it is at most.
    untimed: Vec<Place>,
    pub(super) strays: Strays,
    ended: VecDeque<Lookup>,
    spare: Vec<(Vec<Reading>, Vec<Exchange>)>,
}

impl Joiner {
    /// Joins what resolvers send that wait at most so long before they ask again,
    /// in nanoseconds.
    pub(super) fn new(patience: i64) -> Self {
        Self {
            patience,
            ..Self::default()
        }
    }

    /// Takes what was seen, what is incomplete late; search lists of clients are `lists`.
    pub(super) fn push(&mut self, seen: &SeenMessage<'_>, lists: &Lists) {
        if self.is_set_on(seen) {
            let (time, is_time_known) = (self.now, false);
            let late = SeenMessage {
                time,
                is_time_known,
                ..*seen
            };
            self.take(&late, lists);
            while self.forget() {}
            self.tick(seen.time);
            return;
        }
        if !matches!(seen.content, Content::Incomplete { .. }) {
            // It can have been sent as late as this.
            for place in self.untimed.drain(..).filter(|_| seen.is_time_known) {
                self.table.touch(place, seen.time);
            }
            self.tick(seen.time);
        }
        self.take(seen, lists);
    }

    fn take(&mut self, seen: &SeenMessage<'_>, lists: &Lists) {
        match seen.content {
            Content::Message => self.message(seen, seen.bytes.len(), lists),
            Content::Cut { length } | Content::Incomplete { length } => {
                self.message(seen, length, lists);
            }
            Content::Connect => self.connections.connect(seen),
            Content::Connected => self.connections.connected(seen),
            Content::Reset | Content::Closed => self.closed(seen),
            Content::Unreachable { kind, quoted } => self.unreachable(seen, kind, quoted),
        }
    }

    /// The next lookup that has ended, in order.
    pub(super) fn next_ended(&mut self) -> Option<Lookup> {
        self.ended.pop_front()
    }

    /// The room of a lookup that nobody needs any more is that of the next.
    pub(super) fn reuse(&mut self, lookup: Lookup) {
        let (mut readings, mut exchanges) = (lookup.readings, lookup.exchanges);
        readings.clear();
        exchanges.clear();
        if self.spare.len() < MAX_SPARE {
            self.spare.push((readings, exchanges));
        }
    }

    /// The time of the last packet.
    pub(super) fn now(&self) -> i64 {
        self.now
    }

    fn message(&mut self, seen: &SeenMessage<'_>, length: usize, lists: &Lists) {
        let bytes = seen.bytes;
        let Some(header) = Header::parse(bytes) else {
            return;
        };
        if header.opcode() != 0 {
            self.strays.other_messages += 1;
            return;
        }
        let (name, qtype) = match header.question {
            Some(question) => (question.name, question.qtype),
            // What there is of a name that is cut, or no question at all.
            None => (whole_labels(bytes.get(HEADER..).unwrap_or_default()), 0),
        };
        let question = Question {
            name: hash(name),
            qtype,
        };
        let one = Message {
            seen,
            header: &header,
            name,
            question,
            length,
        };
        if header.is_response() {
            self.response(&one);
        } else {
            self.query(&one, lists.for_client(seen.from.ip()));
            if !seen.is_time_known {
                let key = one.key(&self.table.keys, (seen.from, seen.to));
                self.untimed.extend(self.table.place(key));
            }
        }
    }

    fn query(&mut self, one: &Message<'_>, search: &Search) {
        let seen = one.seen;
        let key = one.key(&self.table.keys, (seen.from, seen.to));
        let sent = Sent::from(seen);
        if let Some(place) = self.table.place(key) {
            self.repeat(place, seen);
            return;
        }
        self.numbers.take(one.header.id, seen.ip_id);
        if let Some(place) = self.translated(one) {
            self.strays.translated += 1;
            self.table.translate(key, place);
            if let Some(exchange) = self.table.touch(place, seen.time) {
                exchange.oddities().translated.push((seen.to, None));
            }
            return;
        }
        let exchange = Exchange {
            name: self.names.get(one.question.name, one.name),
            hash: one.question.name,
            key,
            qtype: one.question.qtype,
            id: one.header.id,
            flags: one.header.flags,
            edns: edns_size(one.header, seen.bytes),
            client: seen.from,
            server: seen.to,
            transport: seen.transport,
            ip_id: seen.ip_id,
            interface: seen.interface,
            first: sent,
            again: Vec::new(),
            reply: None,
            more: Vec::new(),
            ignored: self
                .answered
                .get(key, seen.time.saturating_sub(self.patience)),
            odd: None,
        };
        if exchange.is_tcp() {
            self.connections.asked(&exchange);
        }
        let bases = search.bases(one.name, one.question.name);
        let index = match choose::lookup(&self.table, &exchange, &bases) {
            Some(index) => {
                let is_its = |it: &Reading| bases.iter().any(|base| base.hash == it.hash);
                self.table.narrow(index, is_its);
                self.settle_reading(index);
                index
            }
            None => self.begin(&exchange, &bases, search),
        };
        self.table.add(index, exchange);
        if let Some(open) = self.table.open_mut(index) {
            let readings = &open.lookup.readings;
            open.is_searching = bases.iter().any(|base| {
                let has_list = !search.entries.is_empty();
                let is_before = !base.is_as_is || has_list && search.is_as_is_first(base.name);
                is_before && readings.iter().any(|it| it.hash == base.hash)
            });
        }
    }

    fn begin(&mut self, exchange: &Exchange, bases: &Bases<'_>, search: &Search) -> u32 {
        if self.table.is_full() {
            self.forget();
        }
        let spare = self.spare.pop();
        let (mut readings, exchanges) =
            spare.unwrap_or_else(|| (Vec::with_capacity(1), Vec::with_capacity(2)));
        for base in bases.iter().filter(|it| it.is_first) {
            readings.push(Reading {
                name: self.names.get(base.hash, base.name),
                hash: base.hash,
                is_absolute: base.is_as_is && !search.is_as_is_first(base.name),
            });
        }
        let lookup = Lookup {
            number: 0,
            client: exchange.client.ip(),
            readings,
            exchanges,
            ended: Ended::Settled,
            process: None,
        };
        let due = exchange.first.time.saturating_add(AFTER_ANSWER);
        self.table.begin(lookup, due)
    }

    /// A lookup that went on to another name has searched.
    fn settle_reading(&mut self, index: u32) {
        let Some(open) = self.table.open_mut(index) else {
            return;
        };
        if let [reading] = open.lookup.readings.as_mut_slice() {
            let as_is = |it: &Exchange| it.hash == reading.hash;
            reading.is_absolute &= open.lookup.exchanges.iter().all(as_is);
        }
    }

    /// The same message once more.
    fn repeat(&mut self, place: Place, seen: &SeenMessage<'_>) {
        let sent = Sent::from(seen);
        let Some(exchange) = self.table.touch(place, sent.time) else {
            return;
        };
        if place.is_translated {
            return;
        }
        let since = sent.time.saturating_sub(exchange.last_sent().time);
        let is_now = since < AT_ONCE && sent.is_time_known;
        let is_at_once = exchange.reply.is_none() && is_now;
        if is_at_once && exchange.broken().is_none() {
            exchange.oddities().duplicate_queries += 1;
        } else if exchange.again.len() < MAX_OF_LOOKUP {
            let is_late = since >= SHORTEST_WAIT;
            let answered = exchange.reply.filter(|it| it.is_found() || it.rcode == 3);
            if let Some(reply) = answered.filter(|_| is_late) {
                exchange.ignored.get_or_insert(reply.packet);
            }
            exchange.again.push(sent);
            exchange.ip_id = seen.ip_id;
        }
    }

    /// The exchange that this query is of, if it is the same as was seen just
    /// now under other addresses.
    fn translated(&self, one: &Message<'_>) -> Option<Place> {
        let place = self.table.same_question(one.header.id, one.question)?;
        let known = self.table.exchange(place)?;
        let seen = one.seen;
        let is_datagram = seen.transport == Transport::Udp && known.transport == Transport::Udp;
        let since = seen.time.saturating_sub(known.last_sent().time);
        let is_now = since < AT_ONCE && !known.is_settled();
        // A resolver that asks all servers at once does so from one socket, and
        // the kernel numbers such packets 0; programs that make packets number
        // all alike.
        let is_numbered = seen.ip_id.is_some_and(|it| it != 0) && !self.numbers.are_all(seen.ip_id);
        let is_elsewhere = is_numbered || seen.interface != known.interface;
        let is_moved = seen.ip_id == known.ip_id && is_elsewhere;
        (is_datagram && is_now && is_moved).then_some(place)
    }

    fn response(&mut self, one: &Message<'_>) {
        let seen = one.seen;
        let key = one.key(&self.table.keys, (seen.to, seen.from));
        let Some(place) = self.table.place(key) else {
            self.misfit(one);
            return;
        };
        let sent = Sent::from(seen);
        if place.is_translated {
            let server = seen.from;
            if let Some(exchange) = self.table.touch(place, seen.time) {
                let translated = exchange.oddities().translated.iter_mut();
                let mut its = translated.filter(|it| it.0 == server && it.1.is_none());
                if let Some(known) = its.next() {
                    known.1 = Some(sent);
                }
            }
            return;
        }
        let Some(exchange) = self.table.touch(place, seen.time) else {
            return;
        };
        if matches!(seen.content, Content::Incomplete { .. }) {
            let length = u32::try_from(one.length).unwrap_or(u32::MAX);
            exchange.oddities().incomplete = Some((length, sent));
            return;
        }
        let is_other_case = exchange.name.as_wire() != one.name;
        exchange.take(Reply {
            is_other_case,
            ..one.reply()
        });
        self.answered_late(place.lookup);
    }
}
