//! What is wrong with one lookup.

use std::net::{IpAddr, SocketAddr};

use crate::packet::Unreachable;
use crate::watch::lookup::{Ended, Exchange, Lookup, Sent};
use crate::watch::remembered::{Attempt, Connections};
use crate::watch::reply::Reply;

/// A query that is younger than this at the end of a capture may still be
/// answered, in nanoseconds.
const YOUNG: i64 = 1_000_000_000;

/// Who asks again after so long has waited for an answer.
const WAITED: i64 = 250_000_000;

/// What is nearer to each other did not wait.
const AT_ONCE: i64 = 20_000_000;

/// Two queries of a pair leave within this time, also on a busy machine.
const PAIR: i64 = 50_000_000;

/// Something that went wrong in a lookup.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The exchange, by its index.
    pub exchange: usize,
    /// What.
    pub what: Wrong,
}

/// What went wrong with an exchange.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Wrong {
    /// Sendings that nobody answered.
    Lost {
        /// How many of them.
        sendings: u32,
        /// Its place in a pair.
        pair: Pair,
    },
    /// An answer was seen, and the program asked again as if it had not come.
    Ignored {
        /// The packet of the answer.
        packet: u64,
    },
    /// An ICMP error came back.
    Unreachable(Unreachable),
    /// The answer is truncated and the server did not take a connection.
    NoConnection {
        /// Whether it said so; else it did not answer.
        is_refused: bool,
    },
    /// The answer is truncated and nobody asked over TCP.
    NoTcp,
    /// The connection ended without an answer.
    Broken,
    /// The server said that it could or would not answer: the response code.
    Failure(u8),
    /// The answer came from another address or port.
    WrongSource(SocketAddr),
    /// More answers than queries, or the same query twice at once.
    Duplicates(u32),
    /// Answers to another question, or to another port.
    Mismatched(u32),
}

/// Where a query stands among two that left together from one socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pair {
    /// It left alone.
    None,
    /// The other one was not answered either.
    Both,
    /// It was the first one, and the second was answered.
    First,
    /// It was the second one, and the first was answered.
    Second,
}

/// All that went wrong in a lookup that has ended at `now`.
pub(super) fn faults(lookup: &Lookup, now: i64, connections: &Connections) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, exchange) in lookup.exchanges.iter().enumerate() {
        let mut add = |what| {
            faults.push(Fault {
                exchange: index,
                what,
            });
        };
        let sendings = lost(lookup, exchange, now);
        if sendings > 0 {
            let pair = pair(lookup, exchange);
            add(Wrong::Lost { sendings, pair });
        }
        if let Some(packet) = exchange.ignored.filter(|_| is_ignored(lookup, exchange)) {
            add(Wrong::Ignored { packet });
        }
        if exchange.reply.is_some_and(|it| it.is_truncated()) && !exchange.is_tcp() {
            let attempt = connections.attempt(exchange.client.ip(), exchange.server.ip());
            if let Some(what) = without_tcp(lookup, exchange, attempt, now) {
                add(what);
            }
        }
        let failures = exchange
            .replies()
            .filter(|it| it.is_failure() && !it.is_truncated());
        if let Some(rcode) = failures.map(|it| it.rcode).next()
            && !is_stub_habit(exchange, rcode)
        {
            add(Wrong::Failure(rcode));
        }
        if exchange.duplicates() > 0 {
            add(Wrong::Duplicates(exchange.duplicates()));
        }
        let Some(odd) = &exchange.odd else {
            continue;
        };
        if let Some((kind, _)) = odd.unreachable.filter(|_| exchange.reply.is_none()) {
            add(Wrong::Unreachable(kind));
        }
        if odd.broken.is_some() && exchange.reply.is_none() {
            add(Wrong::Broken);
        }
        if let Some(from) = other_source(exchange) {
            add(Wrong::WrongSource(from));
        }
        let mismatched = odd.other_question + odd.other_port;
        if mismatched > 0 {
            add(Wrong::Mismatched(mismatched));
        }
    }
    faults
}

/// Sendings that nobody answered, those left out that may still be.
fn lost(lookup: &Lookup, exchange: &Exchange, now: i64) -> u32 {
    let is_ended = exchange.unreachable().is_some() || exchange.broken().is_some();
    if exchange.reply.is_none() && (is_ended || other_source(exchange).is_some()) {
        return 0;
    }
    let sendings = u32::try_from(exchange.sendings()).unwrap_or(u32::MAX);
    let replies = u32::try_from(exchange.replies().count()).unwrap_or(u32::MAX);
    let missing = sendings.saturating_sub(replies);
    if missing == 0 {
        return 0;
    }
    let newest = exchange.last_sent();
    let is_answered = exchange.reply.is_some_and(|it| it.time >= newest.time);
    let is_young = !is_answered && is_young(lookup, exchange, now);
    missing - u32::from(is_young)
}

/// Whether an answer to the last sending may still come, for all that is known.
fn is_young(lookup: &Lookup, exchange: &Exchange, now: i64) -> bool {
    let sent = exchange.last_sent();
    match lookup.ended {
        Ended::Forgotten => return true,
        Ended::Capture if !sent.is_time_known => return true,
        Ended::Capture | Ended::Settled => {}
    }
    let last = sent.time;
    let asks_again =
        |it: &Exchange| it.asks_as(exchange) && it.first.time >= last.saturating_add(WAITED);
    now.saturating_sub(last) < YOUNG && !lookup.exchanges.iter().any(asks_again)
}

/// Whether the program asked again although nothing else was missing: glibc
/// asks the answered half of a pair again, too.
fn is_ignored(lookup: &Lookup, exchange: &Exchange) -> bool {
    let asked_again = exchange.last_sent().time;
    let is_missing = |it: &Exchange| {
        let answered = it.reply.is_some_and(|it| it.time < asked_again);
        let is_other = it.id != exchange.id || it.client != exchange.client;
        let is_earlier = it.first.time < asked_again;
        // A reply to a later sending: the earlier one was missed then.
        let was_late = it.answered().is_some_and(|sent| sent.time != it.first.time);
        is_other && is_earlier && (!answered || was_late)
    };
    !lookup.exchanges.iter().any(is_missing) && !is_polled(lookup, exchange)
}

/// Whether the program asks for the other type as soon as one is denied, and when that
/// is denied, too, begins again: it has read the answers. HAProxy does so, three times.
fn is_polled(lookup: &Lookup, exchange: &Exchange) -> bool {
    let is_denied = |it: &Exchange| it.replies().all(Reply::is_negative);
    let follows = |one: &Exchange, other: &Exchange| {
        let mut rounds = one.sent().zip(other.sent());
        one.again.len() + 1 >= other.sendings()
            && rounds.all(|(first, second)| {
                let read = one.reply_to(first).map(|it| second.time - it.time);
                read.is_some_and(|it| (0..PAIR).contains(&it))
            })
    };
    let is_other = |it: &&Exchange| {
        it.qtype != exchange.qtype
            && it.client == exchange.client
            && it.server == exchange.server
            && it.name.eq_ignore_case(&exchange.name)
    };
    let mut others = lookup.exchanges.iter().filter(is_other);
    is_denied(exchange)
        && others.any(|it| is_denied(it) && (follows(exchange, it) || follows(it, exchange)))
}

/// Where an exchange stands among two that left together.
fn pair(lookup: &Lookup, exchange: &Exchange) -> Pair {
    let is_other = |it: &&Exchange| {
        it.client == exchange.client
            && it.qtype != exchange.qtype
            && it.name.eq_ignore_case(&exchange.name)
            && it.first.time.abs_diff(exchange.first.time) < PAIR.unsigned_abs()
            && !follows(it, exchange)
            && !follows(exchange, it)
    };
    let others = || lookup.exchanges.iter().filter(is_other);
    // A program can ask two addresses of one server.
    let same_server = others().find(|it| it.server == exchange.server);
    let Some(other) = same_server.or_else(|| others().next()) else {
        return Pair::None;
    };
    let is_answered = other.answered().is_some_and(|it| it == other.first);
    let missed_first = exchange.answered().is_none_or(|it| it != exchange.first);
    match (is_answered, missed_first) {
        (false, _) => Pair::Both,
        (true, false) => Pair::None,
        (true, true) if exchange.first.packet > other.first.packet => Pair::Second,
        (true, true) => Pair::First,
    }
}

/// Whether one waited for the answer to the other, as with `single-request`: a
/// server next door can be faster than the second half of a pair, though.
fn follows(one: &Exchange, other: &Exchange) -> bool {
    let gap = one.first.time.saturating_sub(other.first.time);
    gap > AT_ONCE && other.reply.is_some_and(|it| it.time <= one.first.time)
}

/// From where the answer came instead; also where it was seen coming from a
/// backend, and never from the server that was asked.
fn other_source(exchange: &Exchange) -> Option<SocketAddr> {
    if let Some((from, sent)) = exchange.wrong_source() {
        // One that came later as well did no harm.
        let is_late = exchange.reply.is_some_and(|it| it.time < sent.time);
        return (!is_late).then_some(from);
    }
    if exchange.reply.is_some() {
        return None;
    }
    let translated = &exchange.odd.as_ref()?.translated;
    translated.iter().find(|it| it.1.is_some()).map(|it| it.0)
}

/// What is wrong after a truncated answer, if anything is.
///
/// One connection serves both halves of a pair, and glibc opens it at the first
/// truncated answer: the other half's can come after it.
fn without_tcp(lookup: &Lookup, exchange: &Exchange, attempt: Attempt, now: i64) -> Option<Wrong> {
    let reply = exchange.reply?;
    let is_its = |it: &Exchange| it.is_tcp() && it.asks_as(exchange);
    if lookup.exchanges.iter().any(is_its) {
        return None;
    }
    let same = |it: &&Exchange| it.server == exchange.server && it.client == exchange.client;
    let truncated = |it: &Exchange| it.reply.filter(Reply::is_truncated);
    let replies = lookup.exchanges.iter().filter(same).filter_map(truncated);
    let first = replies.map(|it| it.time).min().unwrap_or(reply.time);
    let is_since = |sent: &Sent| sent.time >= first;
    if attempt.refused.is_some_and(|it| is_since(&it)) {
        return Some(Wrong::NoConnection { is_refused: true });
    }
    if let Some(wanted) = attempt.wanted.filter(is_since) {
        let is_refused = false;
        let is_young = now.saturating_sub(wanted.time) < YOUNG;
        let is_connected = is_young || attempt.got.is_some_and(|it| is_since(&it));
        return (!is_connected).then_some(Wrong::NoConnection { is_refused });
    }
    Some(Wrong::NoTcp)
}

/// systemd-resolved's stub refuses names without a dot, which it does not send
/// on, and that is all.
fn is_stub_habit(exchange: &Exchange, rcode: u8) -> bool {
    const REFUSED: u8 = 5;
    let is_stub = match exchange.server.ip() {
        IpAddr::V4(it) => matches!(it.octets(), [127, 0, 0, 53 | 54]),
        IpAddr::V6(_) => false,
    };
    rcode == REFUSED && is_stub && exchange.name.labels().nth(1).is_none()
}
