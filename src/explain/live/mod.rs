//! A lookup on the wire, beside the plan.
//!
//! The plan is the run in which no name exists ([`crate::explain::Member::plan`]).
//! Where servers said something else the resolver may leave it: [`Comparison`]
//! reads off what was sent after each such answer what it led to.

pub mod replay;
mod timing;

use std::time::Duration;

use crate::address::{DNS_PORT, Server};
use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Query, Rcode, Transport};
use crate::explain::plan::{self, Candidate};
use crate::name::Name;
use crate::resolver::Resolver;
use crate::simulation::{Run, Sent};

/// A lookup as it went.
#[derive(Clone, Debug)]
pub struct Played {
    /// By whom.
    pub resolver: &'static Resolver,
    /// Every query in order of sending.
    pub exchanges: Vec<Exchange>,
    /// Connections that were not made, in order.
    pub unconnected: Vec<Unconnected>,
    /// Messages that answered nothing: from whom and why, as sentences. Only
    /// the first [`MAX_STRAYS`].
    pub strays: Vec<String>,
    /// How many more there were.
    pub more_strays: usize,
    /// How it ended, as the program sees it. Not to be believed if it was cut.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
    /// What the model had to say beside it.
    pub notes: Vec<String>,
    /// What ended it before the resolver did.
    pub cut: Option<Cut>,
}

/// So many stray messages are kept.
pub const MAX_STRAYS: usize = 8;

/// A query and what came of it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The query.
    pub query: Query,
    /// When it was sent, from the start of the lookup.
    pub at: Duration,
    /// What came back; `None`: nothing.
    pub answer: Option<Answer>,
    /// Why it did not leave this machine.
    pub unsent: Option<Unsent>,
}

/// What came back for a query.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How long after the query.
    pub after: Duration,
    /// As the resolver sees it.
    pub what: Came,
    /// What the kernel says, if it is an error.
    pub why: Option<String>,
    /// Response code with the upper bits of the OPT record.
    pub rcode: u16,
    /// Extended errors (RFC 8914): number and text, which can have any bytes.
    pub extended_errors: Vec<(u16, Vec<u8>)>,
}

/// Why a query did not leave.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsent {
    /// As the kernel says.
    pub why: String,
    /// Whether this machine had no socket to give.
    pub no_socket: bool,
}

/// A connection that was not made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unconnected {
    /// To whom.
    pub server: Server,
    /// How.
    pub transport: Transport,
    /// When, from the start of the lookup.
    pub at: Duration,
    /// Whether the port is closed, as the kernel says.
    pub is_refused: bool,
    /// Why.
    pub unsent: Unsent,
}

/// What ended a lookup before the resolver did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// The time allowed for it.
    Time(Duration),
    /// More queries than any resolver should send.
    Queries,
    /// It would wait for ever.
    Hangs,
    /// The user.
    Interrupt,
}

/// A lookup beside its plan.
#[derive(Debug)]
pub struct Comparison {
    /// The names in the order of the plan, then those only met on the way.
    pub candidates: Vec<Candidate>,
    /// How many of them are in the plan.
    pub planned_candidates: usize,
    /// The candidate of each exchange.
    pub numbers: Vec<usize>,
    /// What led away from the plan, by exchange, in order.
    pub departures: Vec<Departure>,
    /// Where it stopped before the end of the plan.
    pub stop: Option<Stop>,
    /// Queries of the plan.
    pub planned: usize,
    /// Whether the queries are those of the plan, in its order.
    pub is_as_planned: bool,
}

/// An answer that led away from the plan.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Departure {
    /// Index of the exchange.
    pub exchange: usize,
    /// How long the resolver waited for it, if it went on without an answer.
    pub waited: Option<Duration>,
    /// What followed.
    pub then: Then,
}

/// What follows an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Then {
    /// The same question again.
    Again {
        /// To another server.
        server: Option<Server>,
        /// Over TCP after UDP.
        over_tcp: bool,
        /// Without the OPT record that it had.
        without_edns: bool,
    },
    /// Another candidate: its index in [`Comparison::candidates`].
    Candidate(usize),
}

/// The end of a lookup before the end of its plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stop {
    /// The exchange whose answer ended it.
    pub exchange: usize,
    /// Whether that answer has records.
    pub is_answer: bool,
    /// Planned queries that were not made.
    pub unasked: usize,
}

impl Exchange {
    /// When its answer came, from the start of the lookup.
    pub fn answered_at(&self) -> Option<Duration> {
        self.answer.as_ref().map(|it| self.at + it.after)
    }

    /// Whether the answer is the plan's: no such name.
    fn is_as_planned(&self) -> bool {
        self.reply()
            .is_some_and(|it| it.rcode == Rcode::NxDomain && !it.truncated)
    }

    /// The response, if that is what came.
    pub fn reply(&self) -> Option<&crate::engine::message::Reply> {
        match self.answer.as_ref().map(|it| &it.what) {
            Some(Came::Reply(reply)) => Some(reply),
            _ => None,
        }
    }

    fn has_records(&self) -> bool {
        let reply = self.reply().filter(|it| !it.truncated);
        reply.is_some_and(|it| it.rcode == Rcode::NoError && !it.answers.is_empty())
    }

    /// Whether both ask the same.
    fn asks_as(&self, other: &Self) -> bool {
        self.query.question == other.query.question
    }
}

impl Played {
    /// The exchanges with servers: what did not leave is left out, and what
    /// went to a closed port that is not that of DNS.
    pub fn reached(&self) -> impl Iterator<Item = &Exchange> {
        let is_refused = |it: &&Exchange| {
            let refused = it
                .answer
                .as_ref()
                .is_some_and(|it| it.what == Came::Refused);
            it.query.server.port != DNS_PORT && refused
        };
        let left = self.exchanges.iter().filter(|it| it.unsent.is_none());
        left.filter(move |it| !is_refused(it))
    }

    /// The lookup as one of the simulation.
    pub fn run(&self) -> Run {
        Run {
            sent: self
                .reached()
                .map(|it| Sent {
                    query: it.query.clone(),
                    at: it.at,
                    came: it.answer.as_ref().map(|answer| answer.what.clone()),
                })
                .collect(),
            outcome: self.outcome.clone(),
            elapsed: self.elapsed,
            notes: self.notes.clone(),
        }
    }

    /// Whether queries were wanted and no server ever responded.
    pub fn is_unanswered(&self) -> bool {
        let wanted = !self.exchanges.is_empty() || !self.unconnected.is_empty();
        wanted && self.exchanges.iter().all(|it| it.reply().is_none())
    }

    /// Why nothing could be sent for want of a socket, if that is so.
    pub fn no_socket(&self) -> Option<&str> {
        if self.exchanges.iter().any(|it| it.unsent.is_none()) {
            return None;
        }
        let unsent = self.exchanges.iter().filter_map(|it| it.unsent.as_ref());
        let unconnected = self.unconnected.iter().map(|it| &it.unsent);
        let mut all = unsent.chain(unconnected).filter(|it| it.no_socket);
        all.next().map(|it| it.why.as_str())
    }
}

impl Comparison {
    /// Puts the lookup beside its plan.
    pub fn of(played: &Played, plan: &Run) -> Self {
        let exchanges = &played.exchanges;
        let mut candidates = plan::candidates(plan);
        let planned_candidates = candidates.len();
        for met in plan::candidates(&all(played)) {
            if !candidates.iter().any(|it| it.is_same_name(&met)) {
                candidates.push(met);
            }
        }
        let key = |query: &Query| (query.name().cloned(), query.because.clone());
        let number = |it: &Exchange| {
            let (name, because) = key(&it.query);
            let is_its = |other: &Candidate| other.key() == (name.as_ref(), &because);
            candidates.iter().position(is_its).unwrap_or_default()
        };
        let numbers: Vec<usize> = exchanges.iter().map(number).collect();
        let shape = |query: &Query| {
            (
                query.server.clone(),
                query.question.clone(),
                query.transport,
            )
        };
        let asked: Vec<_> = exchanges.iter().map(|it| shape(&it.query)).collect();
        let planned: Vec<_> = plan.sent.iter().map(|it| shape(&it.query)).collect();
        let departures = (0..exchanges.len())
            .filter_map(|index| departure(exchanges, &numbers, index))
            .collect();
        Self {
            stop: stop(played, plan),
            is_as_planned: asked == planned,
            planned: plan.sent.len(),
            candidates,
            planned_candidates,
            numbers,
            departures,
        }
    }
}

/// The queries, also those that did not leave.
fn all(played: &Played) -> Run {
    let sent = played.exchanges.iter().map(|it| Sent {
        query: it.query.clone(),
        at: it.at,
        came: None,
    });
    Run {
        sent: sent.collect(),
        ..played.run()
    }
}

/// What followed the answer of this exchange, if that is not in the plan.
fn departure(exchanges: &[Exchange], numbers: &[usize], index: usize) -> Option<Departure> {
    let exchange = exchanges.get(index)?;
    let later = || exchanges.iter().zip(numbers).skip(index + 1);
    let again = next_same(exchange, exchanges.get(index + 1..).unwrap_or_default());
    let answered = exchange.answered_at();
    // Some resolvers ask two servers at once.
    let waited = again.map(|it| it.at.saturating_sub(exchange.at));
    let waited = waited.filter(|it| *it >= AT_ONCE);
    let is_late = answered.is_none_or(|answered| again.is_some_and(|it| it.at < answered));
    if let (Some(next), true) = (again, is_late) {
        return Some(Departure {
            exchange: index,
            waited: Some(waited?),
            then: then_again(exchange, next),
        });
    }
    if exchange.is_as_planned() {
        return None;
    }
    let from = answered.unwrap_or(exchange.at + AT_ONCE);
    // It came when the resolver had left this server.
    let has_left = |it: &Exchange| {
        it.asks_as(exchange) && it.at < from && it.query.socket != exchange.query.socket
    };
    if later().any(|(it, _)| has_left(it)) {
        return None;
    }
    if let Some(next) = again.filter(|it| it.at >= from) {
        return Some(Departure {
            exchange: index,
            waited: None,
            then: then_again(exchange, next),
        });
    }
    let (next, number) = later().find(|(it, _)| it.at >= from)?;
    let own = numbers.get(index)?;
    // To go on with the next name is the plan.
    if *number == *own || next.query.because != Because::Cname && *number == own + 1 {
        return None;
    }
    Some(Departure {
        exchange: index,
        waited: answered
            .is_none()
            .then(|| next.at.saturating_sub(exchange.at)),
        then: Then::Candidate(*number),
    })
}

/// The same question asked again, of all servers that are then asked at once
/// the same one, if it is among them.
fn next_same<'e>(exchange: &Exchange, later: &'e [Exchange]) -> Option<&'e Exchange> {
    let apart = |it: &&Exchange| it.at.saturating_sub(exchange.at) >= AT_ONCE;
    let is_again = |it: &&Exchange| {
        let is_on = exchange
            .answered_at()
            .is_some_and(|answered| it.at >= answered);
        it.asks_as(exchange) && (apart(it) || is_on)
    };
    let at = later.iter().position(|it| is_again(&it))?;
    let first = later.get(at)?;
    let mut before = first;
    for it in later.iter().skip(at) {
        let is_later = before
            .answered_at()
            .is_some_and(|answered| answered < it.at);
        if is_later || it.at.saturating_sub(before.at) >= AT_ONCE || !it.asks_as(exchange) {
            break;
        }
        if it.query.server == exchange.query.server {
            return Some(it);
        }
        before = it;
    }
    Some(first)
}

/// Queries that are closer to each other are sent together.
pub const AT_ONCE: Duration = Duration::from_millis(50);

fn then_again(exchange: &Exchange, next: &Exchange) -> Then {
    let (one, other) = (&exchange.query, &next.query);
    Then::Again {
        server: (one.server != other.server).then(|| other.server.clone()),
        over_tcp: one.transport == Transport::Udp && other.transport == Transport::Tcp,
        without_edns: one.edns.is_some() && other.edns.is_none(),
    }
}

/// Where the lookup stopped, if planned queries are left.
fn stop(played: &Played, plan: &Run) -> Option<Stop> {
    if played.cut.is_some() {
        return None;
    }
    let mut left: Vec<_> = played
        .exchanges
        .iter()
        .map(|it| &it.query.question)
        .collect();
    let mut unasked = 0;
    for planned in &plan.sent {
        match left.iter().position(|it| **it == planned.query.question) {
            Some(at) => drop(left.swap_remove(at)),
            None => unasked += 1,
        }
    }
    let last = |wanted: fn(&Exchange) -> bool| played.exchanges.iter().rposition(wanted);
    let is_found = matches!(played.outcome, Outcome::Found(_));
    let answer = last(Exchange::has_records).filter(|_| is_found);
    let exchange = answer.or_else(|| last(|it| !it.is_as_planned()))?;
    (unasked > 0).then_some(Stop {
        exchange,
        is_answer: answer.is_some(),
        unasked,
    })
}

/// The target of an alias in an answer, if it has one.
pub fn alias(exchange: &Exchange) -> Option<&Name> {
    use crate::engine::message::Data;
    let answers = &exchange.reply()?.answers;
    answers.iter().rev().find_map(|it| match &it.data {
        Data::Cname(target) => Some(target),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
