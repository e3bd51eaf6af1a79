//! Which lookup a query belongs to.

use crate::watch::lookup::Exchange;
use crate::watch::open::{MAX_OF_LOOKUP, Open, Table};
use crate::watch::search::Bases;

/// What a resolver does at once, it does within this time, in nanoseconds.
const AT_ONCE: i64 = 50_000_000;

/// No resolver waits less than this for an answer before it asks again:
/// hickory begins with 0.3 s.
const SHORTEST_WAIT: i64 = 250_000_000;

/// A and AAAA of one name are asked for within this time: c-ares 1.18 and
/// threads of a busy program take a while.
const PAIR: i64 = 500_000_000;

/// No resolver that takes another socket waits longer than this before it asks again after a
/// failure: Erlang waits for 1.5 s.
const AFTER_FAILURE: i64 = 2_000_000_000;

/// glibc repeats a lookup whose answer does not fit its buffer with a larger
/// one, at once; no answer that fits is larger, in bytes.
const LARGE: u32 = 400;

/// How often glibc does so.
const LARGER_BUFFERS: usize = 4;

/// Of so many lookups of one name by one client, under way at once, the newest are
/// looked at: a program that asks for one name all the time has many.
const MAX_ALIKE: usize = 64;

/// The bits of a query's header that differ between programs: RD, AD and CD.
pub(super) const SET_BY_CLIENTS: u16 = 0x0130;

/// How well a query fits a lookup; the greatest counts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Fit {
    /// The same question after a failure, from another socket, with another id.
    AfterFailure,
    /// The next name of the list.
    Next,
    /// The same question again, as resolvers do.
    Again,
    /// The other type of the same name.
    Pair,
    /// From the same socket.
    SameSocket,
}

/// The lookup under way that `exchange` belongs to; `None`: it begins one.
pub(super) fn lookup(table: &Table, exchange: &Exchange, bases: &Bases<'_>) -> Option<u32> {
    let client = exchange.client.ip();
    let mut best: Option<(Fit, i64, u32)> = None;
    for base in bases.iter() {
        let newest = table.of_base(client, base.hash).iter().rev();
        for &index in newest.take(MAX_ALIKE) {
            let Some(open) = table.open(index) else {
                continue;
            };
            if let Some(fit) = fit(open, exchange) {
                let this = (fit, open.last, index);
                best = best.max(Some(this));
            }
        }
    }
    best.map(|it| it.2)
}

fn fit(open: &Open, new: &Exchange) -> Option<Fit> {
    let exchanges = &open.lookup.exchanges;
    if exchanges.len() >= MAX_OF_LOOKUP {
        return None;
    }
    if is_another_program(exchanges, new) {
        return None;
    }
    let now = new.first.time;
    let same = exchanges.iter().rev().find(|it| it.asks_as(new));
    if let Some(same) = same {
        let again = again(exchanges, same, new)?;
        return unless_another(again, exchanges, new);
    }
    let is_name = |it: &&Exchange| it.hash == new.hash && it.name.eq_ignore_case(&new.name);
    if let Some(other) = exchanges.iter().rev().find(is_name) {
        // A lookup of one type does not turn to another one later, but for
        // what follows an answer at once.
        let is_open = other
            .reply
            .is_none_or(|it| now.saturating_sub(it.time) < AT_ONCE);
        let is_near = is_open && now.saturating_sub(other.last()) < PAIR;
        let is_own = other.client == new.client;
        return match (is_own, is_near) {
            (true, _) => Some(Fit::SameSocket),
            (false, true) => Some(Fit::Pair),
            (false, false) => is_in_vain(exchanges, new).then_some(Fit::Again),
        };
    }
    // Nothing follows a name that was not searched for first.
    if open.lookup.readings.iter().all(|it| it.is_absolute) {
        return None;
    }
    // Another name of the list: all at once from one socket, as BusyBox does,
    // or when the one before has come to its end.
    if exchanges
        .iter()
        .any(|it| it.client == new.client && is_at_once(it, now))
    {
        return Some(Fit::SameSocket);
    }
    // Of servers that are asked all at once the first answer counts.
    let is_answered = |it: &Exchange| {
        let mut same = exchanges.iter().filter(|other| other.asks_as(it));
        same.any(|it| it.reply.is_some())
    };
    let is_through = exchanges
        .iter()
        .all(|it| it.is_settled() || is_waited_for(it, now) || is_answered(it));
    is_through.then_some(Fit::Next)
}

/// Whether the headers of a query say that another program made it: the bits that a
/// client sets, and EDNS, which resolvers give up only after a failure, or when nobody
/// answers.
fn is_another_program(exchanges: &[Exchange], new: &Exchange) -> bool {
    let bits = |it: &Exchange| it.flags & SET_BY_CLIENTS;
    let is_alike = |it: &Exchange| bits(it) == bits(new) && it.edns == new.edns;
    let is_own = |it: &Exchange| bits(it) == bits(new) && it.client == new.client;
    let is_given_up = |it: &Exchange| {
        let failed = it
            .reply
            .is_none_or(|it| it.is_failure() || it.is_truncated());
        failed && bits(it) == bits(new) && it.edns > new.edns
    };
    !exchanges
        .iter()
        .any(|it| is_alike(it) || is_own(it) || is_given_up(it))
}

/// How a question fits that was asked before. After a failure, from another socket and with
/// another id, it can be the next lookup of a program that tries again; `None`: it is. So it is
/// where other names of the list were tried since, or where no resolver that takes another
/// socket waits so long.
fn unless_another(again: Fit, exchanges: &[Exchange], new: &Exchange) -> Option<Fit> {
    let is_through = |it: &Exchange| it.is_settled() && it.id != new.id && it.client != new.client;
    let mut same = exchanges.iter().filter(|it| it.asks_as(new));
    let has_failed = same.any(|it| it.reply.is_some_and(|it| it.is_failure()));
    if !has_failed || !exchanges.iter().all(is_through) {
        return Some(again);
    }
    let has_gone_on = exchanges.last().is_some_and(|it| it.hash != new.hash);
    let last = exchanges.iter().map(Exchange::last).max();
    let is_late = last.is_some_and(|it| new.first.time.saturating_sub(it) > AFTER_FAILURE);
    (!has_gone_on && !is_late).then_some(Fit::AfterFailure)
}

/// Whether the same question belongs to the lookup once more.
fn again(exchanges: &[Exchange], same: &Exchange, new: &Exchange) -> Option<Fit> {
    let now = new.first.time;
    let is_other_server = new.server != same.server;
    if new.is_tcp() != same.is_tcp() {
        let truncated = exchanges
            .iter()
            .any(|it| it.reply.is_some_and(|it| it.is_truncated()));
        return truncated.then_some(Fit::Again);
    }
    let Some(reply) = same.reply else {
        if is_other_server && is_at_once(same, now) {
            return Some(if same.client == new.client {
                Fit::SameSocket
            } else {
                Fit::Again
            });
        }
        let is_over = same.is_settled() || is_waited_for(same, now);
        return is_over.then_some(Fit::Again);
    };
    // From its other servers, or without EDNS.
    if reply.is_failure() || reply.is_truncated() || is_lame(&reply) {
        return Some(Fit::Again);
    }
    // All servers at once: the first answer can come before the last query.
    if is_other_server && same.client == new.client && is_at_once(same, now) {
        return Some(Fit::SameSocket);
    }
    let copies = exchanges.iter().filter(|it| it.asks_as(new)).count();
    let is_just_now = now.saturating_sub(reply.time) < AT_ONCE;
    if reply.size > LARGE && is_just_now && copies <= LARGER_BUFFERS && new.edns.is_none() {
        return Some(Fit::Again);
    }
    // The answered half of a pair, with the other one.
    is_in_vain(exchanges, new).then_some(Fit::Again)
}

fn is_at_once(exchange: &Exchange, now: i64) -> bool {
    now.saturating_sub(exchange.first.time) < AT_ONCE
}

/// Whether the resolver has waited for an answer that did not come.
fn is_waited_for(exchange: &Exchange, now: i64) -> bool {
    now.saturating_sub(exchange.last_sent().time) >= SHORTEST_WAIT
}

/// Whether it has waited for any, or got an error for a query of this name, and has
/// not just now got the answer elsewhere.
fn is_in_vain(exchanges: &[Exchange], new: &Exchange) -> bool {
    let now = new.first.time;
    let is_over = |it: &Exchange| {
        if it.is_settled() {
            it.reply.is_none() && it.hash == new.hash
        } else {
            is_waited_for(it, now)
        }
    };
    // glibc asks once more from another socket with the same id; a new id is a new lookup's.
    let mut same = exchanges.iter().filter(|it| it.asks_as(new)).peekable();
    let is_anew = same.peek().is_some() && same.all(|it| it.id != new.id);
    // By the same query later; of servers that are asked at once one may wait for all.
    let is_made_good = |it: &Exchange| {
        let is_later = |other: &&Exchange| {
            other.asks_as(it) && other.first.time.saturating_sub(it.last_sent().time) > AT_ONCE
        };
        let replies = exchanges.iter().filter(is_later).filter_map(|it| it.reply);
        let mut answers = replies.filter(|it| !it.is_failure());
        answers.any(|it| is_anew || now.saturating_sub(it.time) > PAIR)
    };
    exchanges.iter().any(|it| is_over(it) && !is_made_good(it))
}

/// NOERROR without anything, from who neither knows nor asks: resolvers go on to
/// the next server.
fn is_lame(reply: &crate::watch::reply::Reply) -> bool {
    const AUTHORITATIVE_OR_RECURSIVE: u16 = 0x0480;
    reply.rcode == 0 && reply.is_negative() && reply.flags & AUTHORITATIVE_OR_RECURSIVE == 0
}
