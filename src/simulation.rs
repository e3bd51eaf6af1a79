//! Plays a machine against the rules of a scenario, in virtual time.

use std::time::Duration;

use crate::engine::io::{Arrival, Came, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::world::{Answer, World};

/// A run is cut after so many queries, whatever the resolver would do.
pub const MAX_QUERIES: usize = 20_000;

/// A lookup from its start to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Run {
    /// Every query that reached a server, in order.
    pub sent: Vec<Sent>,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended, from its start.
    pub elapsed: Duration,
    /// What the model had to say beside it.
    pub notes: Vec<String>,
}

/// A query that was sent, and what came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// The query.
    pub query: Query,
    /// When it was sent, from the start of the lookup.
    pub at: Duration,
    /// What came back; `None`: nothing.
    pub came: Option<Came>,
}

/// Runs `machine` to its end in `world`.
///
/// A machine that waits for ever for something that never comes ends with
/// the code `HANG`; so does one that sends more than [`MAX_QUERIES`], which
/// the notes then say.
pub fn run(machine: Machine<'_>, world: &mut World<'_>) -> Run {
    run_while(machine, world, |_| true)
}

/// Runs `machine` in `world` as long as `goes_on` says so of the queries that
/// were sent; a run that it cuts ends with the code `HANG`.
pub fn run_while(
    mut machine: Machine<'_>,
    world: &mut World<'_>,
    mut goes_on: impl FnMut(&[Sent]) -> bool,
) -> Run {
    // Few lookups need more queries, and a small piece of memory is found sooner.
    let mut sent: Vec<Sent> = Vec::with_capacity(4);
    let mut coming: Vec<(Duration, Arrival)> = Vec::with_capacity(4);
    let mut requests = Vec::new();
    let mut now = Duration::ZERO;
    let outcome = loop {
        let step = machine.step(now);
        machine.take_requests(&mut requests);
        let was_idle = requests.is_empty();
        for request in requests.drain(..) {
            carry_out(request, now, world, &machine, &mut sent, &mut coming);
        }
        let until = match step {
            Step::Done(outcome) => break outcome,
            // Something may be answered already: ask before the clock moves.
            Step::Waiting(_) if !was_idle => continue,
            Step::Waiting(until) => until,
        };
        let has_room = sent.len() < MAX_QUERIES && goes_on(&sent);
        let Some(next) = next_time(&coming, until).filter(|_| has_room) else {
            break Outcome::Failed("HANG");
        };
        now = now.max(next);
        deliver(&mut coming, now, &machine);
    };
    let mut notes = machine.notes();
    if sent.len() >= MAX_QUERIES {
        notes.push(format!("only the first {MAX_QUERIES} queries are shown"));
    }
    Run {
        notes,
        sent,
        outcome,
        elapsed: now,
    }
}

fn carry_out(
    request: Request,
    now: Duration,
    world: &mut World<'_>,
    machine: &Machine<'_>,
    sent: &mut Vec<Sent>,
    coming: &mut Vec<(Duration, Arrival)>,
) {
    let (id, query) = match request {
        Request::Connect(socket, server, transport) => {
            return machine.connected(socket, world.connect(&server, transport));
        }
        Request::Send(id, query) => (id, query),
        Request::Close(_) => return,
    };
    if query.transport == Transport::Tcp && is_closed(query.socket, sent) {
        return;
    }
    let came = match world.answer(&query) {
        Answer::Lost => return,
        Answer::NoServer => {
            coming.push((now, arrival(id, &query, Came::Refused)));
            return;
        }
        Answer::Silence => None,
        Answer::After(delay, came) => {
            coming.push((now + delay, arrival(id, &query, came.clone())));
            Some(came)
        }
    };
    sent.push(Sent {
        query,
        at: now,
        came,
    });
}

/// Whether the server has closed this connection: it reads nothing more from it.
fn is_closed(socket: SocketId, sent: &[Sent]) -> bool {
    sent.iter().rev().any(|earlier| {
        earlier.query.socket == socket && matches!(earlier.came, Some(Came::Closed | Came::Refused))
    })
}

fn arrival(id: QueryId, query: &Query, what: Came) -> Arrival {
    Arrival {
        query: id,
        socket: query.socket,
        server: query.server.clone(),
        what,
    }
}

/// When something happens next: an arrival, or the time the machine waits for.
fn next_time(coming: &[(Duration, Arrival)], until: Option<Duration>) -> Option<Duration> {
    let arrival = coming.iter().map(|(at, _)| *at).min();
    match (arrival, until) {
        (Some(arrival), Some(until)) => Some(arrival.min(until)),
        (arrival, until) => arrival.or(until),
    }
}

/// Hands over the first arrival that is due, if any: one at a time, as
/// resolvers see them.
fn deliver(coming: &mut Vec<(Duration, Arrival)>, now: Duration, machine: &Machine<'_>) {
    let due = coming
        .iter()
        .enumerate()
        .filter(|(_, (at, _))| *at <= now)
        .min_by_key(|(index, (at, _))| (*at, *index))
        .map(|(index, _)| index);
    if let Some(index) = due {
        machine.arrived(coming.remove(index).1);
    }
}
