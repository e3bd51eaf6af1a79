//! What was sent after an answer that is not the plan's.

use std::time::Duration;

use crate::address::Server;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Query, QueryId, Transport};
use crate::explain::live::{Exchange, Played, Silence};
use crate::explain::plan::{self, Candidate};
use crate::simulation::{Run, Sent};

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

impl Comparison {
    /// Puts the lookup beside its plan.
    pub fn with_plan(played: &Played, plan: &Run) -> Self {
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
        let is_awaited = |it| played.silence(it) != Some(Silence::NotWaitedFor);
        let departures = (0..exchanges.len())
            .filter(|&index| exchanges.get(index).is_some_and(is_awaited))
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
    let exchanges = played.exchanges.iter().enumerate();
    let sent = exchanges.map(|(number, it)| Sent {
        id: QueryId(number),
        query: it.query.clone(),
        at: it.at,
        came: None,
        wrong: None,
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
    let is_awaited = |it| played.silence(it) != Some(Silence::NotWaitedFor);
    let last = |wanted: fn(&Exchange) -> bool| {
        let mut exchanges = played.exchanges.iter();
        exchanges.rposition(|it| wanted(it) && is_awaited(it))
    };
    let is_found = matches!(played.outcome, Outcome::Found(_));
    let answer = last(Exchange::has_records).filter(|_| is_found);
    let exchange = answer.or_else(|| last(|it| !it.is_as_planned()))?;
    (unasked > 0).then_some(Stop {
        exchange,
        is_answer: answer.is_some(),
        unasked,
    })
}
