//! A lookup on the wire, beside the plan.
//!
//! The plan is the run in which no name exists ([`crate::explain::Member::plan`]).
//! Where servers said something else the resolver may leave it: [`Comparison`]
//! reads off what was sent after each such answer what it led to.

mod comparison;
mod conclusion;
pub mod replay;
mod silence;
mod timing;

pub use self::comparison::{AT_ONCE, Comparison, Departure, Stop, Then};
pub use self::conclusion::{Cause, Met};
pub use self::silence::Silence;

use std::time::Duration;

use crate::address::{DNS_PORT, Server};
use crate::engine::io::{Came, Wrong};
use crate::engine::machine::Outcome;
use crate::engine::message::{Query, QueryId, Rcode, Reply, Transport};
use crate::resolver::Resolver;
use crate::simulation::{Run, Sent};

/// A lookup as it went.
#[derive(Clone, Debug)]
pub struct Played {
    /// The resolver that was played.
    pub resolver: &'static Resolver,
    /// Every query in order of sending.
    pub exchanges: Vec<Exchange>,
    /// Connections that were not made, in order.
    pub unconnected: Vec<Unconnected>,
    /// Messages that answered nothing: from whom and why, as sentences. Only
    /// the first [`MAX_STRAYS`].
    pub strays: Vec<String>,
    /// How many more strays there were than `strays` has.
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

/// A lookup and its plan.
#[derive(Debug)]
pub struct Lived {
    /// The lookup.
    pub played: Played,
    /// Beside its plan.
    pub comparison: Comparison,
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
    /// In what a datagram that came back in a simulation is no reply to it.
    pub wrong: Option<Wrong>,
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
    /// What the kernel says, if it is an error; of a reply, why not all of it counts.
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
    /// The server of the connection.
    pub server: Server,
    /// Over UDP or TCP.
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
    /// More queries than any resolver should send ([`crate::simulation::MAX_QUERIES`]).
    Queries,
    /// It would wait for ever: no socket is left on which anything could come.
    Hangs,
    /// The user.
    Interrupt,
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
    pub fn reply(&self) -> Option<&Reply> {
        match self.answer.as_ref().map(|it| &it.what) {
            Some(Came::Reply(reply)) => Some(reply),
            _ => None,
        }
    }

    fn has_records(&self) -> bool {
        let reply = self.reply().filter(|it| !it.truncated);
        reply.is_some_and(|it| it.rcode == Rcode::NoError && !it.answers.is_empty())
    }

    /// Whether not all of the response was read, or came: over TCP there is no more of it.
    fn is_in_part(&self) -> bool {
        let is_cut = |it: &Reply| it.truncated && self.query.transport == Transport::Tcp;
        let is_damaged = |it: &Answer| it.why.is_some();
        self.answer.as_ref().is_some_and(is_damaged) || self.reply().is_some_and(is_cut)
    }

    /// Whether both ask the same.
    fn asks_as(&self, other: &Self) -> bool {
        self.query.question == other.query.question
    }
}

impl Played {
    /// The exchanges with servers, without those of queries that were not sent or went to
    /// a closed port that is not that of DNS.
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
                .enumerate()
                .map(|(number, it)| Sent {
                    id: QueryId(number),
                    query: it.query.clone(),
                    at: it.at,
                    came: it.answer.as_ref().map(|answer| answer.what.clone()),
                    wrong: it.wrong,
                })
                .collect(),
            outcome: self.outcome.clone(),
            elapsed: self.elapsed,
            notes: self.notes.clone(),
            limits: Vec::new(),
            chance: None,
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

#[cfg(test)]
mod tests;
