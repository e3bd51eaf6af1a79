//! Plays a machine against the rules of a scenario, in virtual time.

pub mod courses;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::engine::chance::{Also, Chance};
use crate::engine::failure::Failure;
use crate::engine::io::{Arrival, Came, Request, Wrong};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, SocketId, Transport};
use crate::world::{Answer, World};

/// A run is cut after so many queries, whatever the resolver would do: a
/// stranger's search list can have 110,000 entries.
pub const MAX_QUERIES: usize = 2000;

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
    /// Those of the notes with which the lookup may end in another way.
    pub limits: Vec<String>,
    /// What was left to chance, if anything was; see [`courses`].
    pub chance: Option<Box<Chance>>,
}

/// A query that was sent, and what came back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// Its number among those of the machine, some of which may not have left.
    pub id: QueryId,
    /// The query.
    pub query: Query,
    /// When it was sent, from the start of the lookup.
    pub at: Duration,
    /// What came back; `None`: nothing, or what `wrong` says.
    pub came: Option<Came>,
    /// In what a datagram that came back is no reply to it. A resolver can take it as one.
    pub wrong: Option<Wrong>,
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
    if world.counts() {
        machine.draw_also(Also::Order);
    }
    if world.is_late() {
        machine.draw_also(Also::TimeOuts);
    }
    // Few lookups need more queries, and a small piece of memory is found sooner.
    let mut sent: Vec<Sent> = Vec::with_capacity(4);
    let mut coming = Coming::with_capacity(4);
    let mut closed = BTreeSet::new();
    let mut requests = Vec::new();
    let mut now = Duration::ZERO;
    let outcome = loop {
        let step = machine.step(now);
        machine.take_requests(&mut requests);
        let connects = |it: &Request| matches!(it, Request::Connect(..));
        let is_answered = requests.iter().any(connects);
        for request in requests.drain(..) {
            let logs = (&mut sent, &mut coming, &mut closed);
            carry_out(request, now, world, &machine, logs);
        }
        let until = match step {
            Step::Done(outcome) => break outcome,
            // A connection is answered at once: the machine is asked again before the clock moves.
            Step::Waiting(_) if is_answered => continue,
            Step::Waiting(until) => until,
        };
        let has_room = sent.len() < MAX_QUERIES && goes_on(&sent);
        let Some(next) = next_time(&coming, until).filter(|_| has_room) else {
            break Outcome::Hung;
        };
        now = now.max(next);
        deliver(&mut coming, now, &machine);
    };
    let mut notes = machine.notes();
    if sent.len() >= MAX_QUERIES {
        notes.push(format!("only the first {MAX_QUERIES} queries are shown"));
    }
    Run {
        chance: machine.chance(),
        notes,
        limits: machine.limits(),
        sent,
        outcome,
        elapsed: now,
    }
}

/// What was sent, what is on its way back, and which connections the server
/// has closed: it reads nothing more from those.
type Logs<'l> = (
    &'l mut Vec<Sent>,
    &'l mut Coming,
    &'l mut BTreeSet<SocketId>,
);

/// What is on its way back, the first to come first; of what comes at the same
/// time, what was sent first, but over TCP last: a connection is made before.
type Coming = VecDeque<(Duration, Arrival, Transport)>;

fn carry_out(
    request: Request,
    now: Duration,
    world: &mut World<'_>,
    machine: &Machine<'_>,
    (sent, coming, closed): Logs<'_>,
) {
    let (id, query) = match request {
        Request::Connect(socket, server, transport, _) => {
            let connected = world.connect(&server, transport);
            return machine.connected(socket, connected.map_err(Failure::from));
        }
        Request::Send(id, query) => (id, query),
        Request::Write(..) | Request::Close(_) => return,
    };
    // A model can send more at once than a run may have.
    if sent.len() >= MAX_QUERIES {
        return;
    }
    if query.transport == Transport::Tcp && closed.contains(&query.socket) {
        return;
    }
    let mut comes_at = |at, what| put(coming, at, query.transport, arrival(id, &query, what, None));
    let answer = world.answer(&query);
    let wrong = match &answer {
        Answer::Wrong(_, wrong, _) => Some(*wrong),
        _ => None,
    };
    let came = match answer {
        Answer::Lost => return,
        Answer::NoServer => return comes_at(now, Came::Refused),
        Answer::Silence => None,
        Answer::After(delay, came) => {
            comes_at(now + delay, came.clone());
            Some(came)
        }
        Answer::Twice(delay, came) => {
            for _ in 0..2 {
                comes_at(now + delay, came.clone());
            }
            Some(came)
        }
        Answer::Wrong(delay, wrong, came) => {
            let arrival = arrival(id, &query, came, Some(wrong));
            put(coming, now + delay, query.transport, arrival);
            None
        }
    };
    if matches!(came, Some(Came::Closed | Came::Reset | Came::Refused)) {
        closed.insert(query.socket);
    }
    sent.push(Sent {
        id,
        query,
        at: now,
        came,
        wrong,
    });
}

fn put(coming: &mut Coming, at: Duration, transport: Transport, arrival: Arrival) {
    let is_before = |(other, _, before): &(Duration, Arrival, Transport)| {
        *other < at || *other == at && (*before == Transport::Udp || transport == Transport::Tcp)
    };
    let behind = coming.partition_point(is_before);
    coming.insert(behind, (at, arrival, transport));
}

fn arrival(id: QueryId, query: &Query, what: Came, wrong: Option<Wrong>) -> Arrival {
    Arrival {
        query: id,
        socket: query.socket,
        server: query.server.clone(),
        what,
        wrong,
    }
}

/// When something happens next: an arrival, or the time the machine waits for.
fn next_time(coming: &Coming, until: Option<Duration>) -> Option<Duration> {
    let arrival = coming.front().map(|(at, ..)| *at);
    match (arrival, until) {
        (Some(arrival), Some(until)) => Some(arrival.min(until)),
        (arrival, until) => arrival.or(until),
    }
}

/// Hands over the first arrival that is due, if any: one at a time, as
/// resolvers see them.
fn deliver(coming: &mut Coming, now: Duration, machine: &Machine<'_>) {
    let is_due = coming.front().is_some_and(|(at, ..)| *at <= now);
    if is_due && let Some((_, first, _)) = coming.pop_front() {
        machine.arrived(first);
    }
}
