//! From messages to lookups.

mod message;
mod misfits;

use std::collections::VecDeque;

use self::message::Message;
use crate::packet::dns::{HEADER, Header, whole_labels};
use crate::packet::{Content, Seen, Transport};
use crate::watch::choose;
use crate::watch::keys::Question;
use crate::watch::lookup::{Ended, Exchange, Lookup, Reading, Sent};
use crate::watch::name::{Names, hash};
use crate::watch::open::{MAX_OF_LOOKUP, Open, Place, Table};
use crate::watch::remembered::{Answered, Connections, Numbers};
use crate::watch::reply::{Reply, edns_size};
use crate::watch::search::{Bases, Lists, Search};

/// What is seen twice within this time is one thing, in nanoseconds: no
/// resolver asks again so soon.
const AT_ONCE: i64 = 20_000_000;

/// Who asks again sooner than this has not waited, but read the answer: so does
/// systemd-resolved, without EDNS, after NXDOMAIN. In nanoseconds.
const SHORTEST_WAIT: i64 = 250_000_000;

/// After an answer the next query of a lookup comes at once.
const AFTER_ANSWER: i64 = 50_000_000;

/// After a negative answer, too; but a busy program may need a while.
const AFTER_DENIAL: i64 = 1_000_000_000;

/// A clock that goes back by more was set, in nanoseconds; interfaces differ by less.
const SET_BACK: i64 = 2_000_000_000;

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
    /// set back.
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
    pub(super) fn push(&mut self, seen: &Seen<'_>, lists: &Lists) {
        if !matches!(seen.content, Content::Incomplete { .. }) {
            self.tick(seen.time);
        }
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

    /// It is this late.
    pub(super) fn tick(&mut self, now: i64) {
        if now < self.now.saturating_sub(SET_BACK) {
            // By that clock nothing that is under way would end.
            while self.forget() {}
            self.now = now;
        }
        self.now = self.now.max(now);
        while let Some(index) = self.table.due(self.now) {
            match self.table.open(index).map(|it| self.over_at(it)) {
                Some(at) if at > self.now => self.table.later(index, at),
                _ => self.end(index, Ended::Settled),
            }
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

    /// Ends all that is under way.
    pub(super) fn finish(&mut self) {
        while let Some(index) = self.table.first_due() {
            let over = self.table.open(index).map(|it| self.over_at(it));
            let is_over = over.is_some_and(|at| at <= self.now);
            let ended = if is_over {
                Ended::Settled
            } else {
                Ended::Capture
            };
            self.end(index, ended);
        }
    }

    /// Ends the lookup that would end next, whatever may still come; whether there was one.
    fn forget(&mut self) -> bool {
        let Some(first) = self.table.first_due() else {
            return false;
        };
        let is_settled = |it: &Open| it.lookup.exchanges.iter().all(Exchange::is_settled);
        let is_whole = self.table.open(first).is_some_and(is_settled);
        self.strays.forgotten += u64::from(!is_whole);
        self.end(first, Ended::Forgotten);
        true
    }

    fn end(&mut self, index: u32, ended: Ended) {
        let Some(lookup) = self.table.end(index, ended) else {
            return;
        };
        for exchange in lookup.exchanges.iter().filter(|it| !it.is_tcp()) {
            if let Some(reply) = exchange.reply {
                self.answered.insert(exchange.key, reply.packet);
            }
        }
        self.ended.push_back(lookup);
    }

    fn message(&mut self, seen: &Seen<'_>, length: usize, lists: &Lists) {
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
        }
    }

    fn query(&mut self, one: &Message<'_>, search: &Search) {
        let seen = one.seen;
        let key = one.key(&self.table.keys, (seen.from, seen.to));
        let sent = Sent::from(seen);
        if let Some(place) = self.table.place(key) {
            self.repeat(place, sent);
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
            ignored: self.answered.get(key),
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
    fn repeat(&mut self, place: Place, sent: Sent) {
        let Some(exchange) = self.table.touch(place, sent.time) else {
            return;
        };
        if place.is_translated {
            return;
        }
        let since = sent.time.saturating_sub(exchange.last_sent().time);
        let is_at_once = exchange.reply.is_none() && since < AT_ONCE;
        if is_at_once && exchange.broken().is_none() {
            exchange.oddities().duplicate_queries += 1;
        } else if exchange.again.len() < MAX_OF_LOOKUP {
            let is_late = since >= SHORTEST_WAIT;
            let answered = exchange.reply.filter(|it| it.is_found() || it.rcode == 3);
            if let Some(reply) = answered.filter(|_| is_late) {
                exchange.ignored.get_or_insert(reply.packet);
            }
            exchange.again.push(sent);
        }
    }

    /// The exchange that this query is of, if it is the same as was seen just
    /// now under other addresses.
    fn translated(&self, one: &Message<'_>) -> Option<Place> {
        let place = self.table.same_question(one.header.id, one.question)?;
        let known = self.table.exchange(place)?;
        let seen = one.seen;
        let is_datagram = seen.transport == Transport::Udp && known.transport == Transport::Udp;
        let is_now = seen.time.saturating_sub(known.first.time) < AT_ONCE && known.reply.is_none();
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
    }

    /// When nothing more is to be expected of a lookup, if nothing comes until
    /// then.
    fn over_at(&self, open: &Open) -> i64 {
        let exchanges = &open.lookup.exchanges;
        let is_bad = |it: &Exchange| {
            it.reply
                .is_some_and(|it| it.is_failure() || it.is_truncated())
        };
        let newest = exchanges.last().map(|it| it.hash);
        let is_found = |it: &Exchange| {
            Some(it.hash) == newest && it.reply.is_some_and(|it| it.is_found()) && !is_bad(it)
        };
        // musl asks again for the half of a pair that failed, as long as it waits.
        let is_half = |it: &Exchange| {
            let mut same = exchanges.iter().filter(|other| other.asks_as(it));
            Some(it.hash) == newest && is_bad(it) && same.all(is_bad)
        };
        let is_settled = exchanges.iter().all(Exchange::is_settled);
        let is_error = |it: &Exchange| {
            let mut same = exchanges.iter().filter(|other| other.asks_as(it));
            it.reply.is_none() && same.all(|it| it.reply.is_none())
        };
        let wait = match () {
            // After an error, too, some wait as long as for an answer.
            () if !is_settled || exchanges.iter().any(is_error) => self.patience,
            () if exchanges.iter().any(is_half) => self.patience,
            () if exchanges.iter().any(is_found) => AFTER_ANSWER,
            () if exchanges.iter().any(is_bad) => self.patience,
            () => AFTER_DENIAL,
        };
        open.last.saturating_add(wait)
    }
}
