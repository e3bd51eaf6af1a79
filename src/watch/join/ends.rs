//! When lookups are over.

use super::Joiner;
use crate::packet::SeenMessage;
use crate::packet::dns::Header;
use crate::watch::keys::{A, AAAA, Question};
use crate::watch::lookup::{Ended, Exchange, Lookup};
use crate::watch::name::hash;
use crate::watch::open::{Foreseen, Open};

/// After an answer the next query of a lookup comes at once.
pub(super) const AFTER_ANSWER: i64 = 50_000_000;

/// But for the other half of a pair, which a busy program may send later.
const AFTER_HALF: i64 = 500_000_000;

/// After a negative answer, too; but a busy program may need a while.
pub(in crate::watch) const AFTER_DENIAL: i64 = 1_000_000_000;

/// Where names of the search list follow, the program has only not got to them; the
/// busiest machines let one wait for some seconds.
const WITHIN_SEARCH: i64 = 5_000_000_000;

/// A clock that goes back by more was set, in nanoseconds; interfaces differ by less.
const SET_BACK: i64 = 2_000_000_000;

/// A clock that goes on by more before an answer was set, in nanoseconds, if the resolver
/// does not wait longer.
const SET_ON: i64 = 60_000_000_000;

/// At most so many lookups are looked at at once, by their plans.
const MAX_AT_ONCE: usize = 8;

impl Joiner {
    /// Whether this answers what is under way, and the clock was set on between the last
    /// packet and this one: the resolver would have asked again.
    pub(super) fn is_set_on(&self, seen: &SeenMessage<'_>) -> bool {
        if seen.time.saturating_sub(self.now) <= self.patience.max(SET_ON) {
            return false;
        }
        let header = Header::parse(seen.bytes).filter(Header::is_response);
        let place = header.and_then(|header| {
            let asked = header.question?;
            let question = Question {
                name: hash(asked.name),
                qtype: asked.qtype,
            };
            let ends = (seen.to, seen.from);
            let key = self
                .table
                .keys
                .key(ends, seen.transport, header.id, question);
            self.table.place(key)
        });
        place.is_some()
    }

    /// It is this late.
    pub(in crate::watch) fn tick(&mut self, now: i64) {
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

    /// Asks `over` when lookups are over by the plan: those in which nothing has happened
    /// since `since`, at most `most` of them. Returns how many were asked about.
    pub(in crate::watch) fn plan(
        &mut self,
        since: i64,
        most: usize,
        over: impl Fn(&Lookup) -> Option<i64>,
    ) -> usize {
        let is_new = |it: &Open| it.foreseen.is_none_or(|foreseen| foreseen.last != it.last);
        let quiet = self.table.all().filter(|it| it.1.last <= since);
        let quiet = quiet.filter(|it| is_new(it.1)).take(most.min(MAX_AT_ONCE));
        let over: Vec<(u32, Option<i64>)> = quiet.map(|it| (it.0, over(&it.1.lookup))).collect();
        let count = over.len();
        for (index, over) in over {
            let Some(open) = self.table.open_mut(index) else {
                continue;
            };
            let last = open.last;
            open.foreseen = Some(Foreseen { last, over });
            if let Some(over) = over.filter(|it| *it < open.due) {
                self.table.sooner(index, over);
            }
        }
        count
    }

    /// Ends all that is under way.
    pub(in crate::watch) fn finish(&mut self) {
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
    pub(super) fn forget(&mut self) -> bool {
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
                self.answered.insert(exchange.key, reply.packet, reply.time);
            }
        }
        self.ended.push_back(lookup);
    }

    /// A lookup that is waited for can be over with this answer.
    pub(super) fn answered_late(&mut self, index: u32) {
        let soon = self.now.saturating_add(AFTER_DENIAL);
        if self.table.open(index).is_some_and(|it| it.due > soon) {
            self.table.sooner(index, soon);
        }
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
        let is_denied =
            |it: &Exchange| Some(it.hash) != newest || it.reply.is_some_and(|it| it.rcode == 3);
        let mut types = exchanges.iter().filter(|it| Some(it.hash) == newest);
        let is_one_type = types.next().is_some_and(|first| {
            matches!(first.qtype, A | AAAA) && types.all(|it| it.qtype == first.qtype)
        });
        let is_settled = exchanges.iter().all(Exchange::is_settled);
        let is_error = |it: &Exchange| {
            let mut same = exchanges.iter().filter(|other| other.asks_as(it));
            it.reply.is_none() && !same.any(|it| it.reply.is_some_and(|it| it.is_found()))
        };
        let wait = match () {
            // After an error, too, some wait as long as for an answer, and what another server
            // denies does not end that.
            () if !is_settled || exchanges.iter().any(is_error) => self.patience,
            () if exchanges.iter().any(is_half) => self.patience,
            () if exchanges.iter().any(is_found) && is_one_type => AFTER_HALF,
            () if exchanges.iter().any(is_found) => AFTER_ANSWER,
            () if exchanges.iter().any(is_bad) => self.patience,
            () if open.is_searching && exchanges.iter().all(is_denied) => WITHIN_SEARCH,
            () => AFTER_DENIAL,
        };
        let foreseen = open.foreseen.filter(|it| it.last == open.last);
        let over = open.last.saturating_add(wait);
        foreseen
            .and_then(|it| it.over)
            .map_or(over, |it| it.min(over))
    }
}
