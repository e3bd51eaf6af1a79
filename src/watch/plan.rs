//! A lookup beside its plan: the resolver's machine, played against the answers
//! that were seen.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::failure::Failure;
use crate::engine::io::{Arrival, Came, Request};
use crate::engine::machine::{Machine, Outcome, Step};
use crate::engine::message::{Query, QueryId, Transport};
use crate::name::Name;
use crate::resolver::Resolver;
use crate::scenario::{Family, Lookup as Asked, Scenario};
use crate::text::ordered;
use crate::watch::keys::{A, AAAA};
use crate::watch::lookup::{Exchange, Lookup, Reading};

/// A plan is cut after so many queries.
const MAX_PLANNED: usize = 256;

/// Sendings that are as late as this beside the plan are not those that it
/// means, and a twentieth of the time itself.
const TOLERANCE: Duration = Duration::from_millis(400);

/// What a resolver would have sent.
#[derive(Clone, Debug)]
pub struct Plan {
    /// By whom.
    pub resolver: &'static Resolver,
    /// The queries that it would have sent, in order.
    pub planned: Vec<Planned>,
    /// Sendings that are not in the plan, by exchange and number.
    pub unplanned: Vec<(usize, usize)>,
    /// How the lookup then ended; `None`: the packets do not tell.
    pub outcome: Option<Outcome>,
    /// When that was, from the start of the lookup, or when what should have followed was not
    /// seen.
    pub over: Duration,
    /// How alike both are, from 0 to 1.
    pub likeness: f64,
}

/// A query of a plan.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What is asked for.
    pub name: Name,
    /// The type.
    pub qtype: u16,
    /// Whom.
    pub server: IpAddr,
    /// How.
    pub transport: Transport,
    /// When, from the start of the lookup.
    pub at: Duration,
    /// The sending that it is, by exchange and number; `None`: it was not seen.
    pub seen: Option<(usize, usize)>,
}

/// The lookup as a question for the resolver.
fn scenario_of(base: &Scenario, lookup: &Lookup, reading: &Reading) -> Scenario {
    let first = lookup.exchanges.first();
    let is_first = |it: &&Exchange| first.is_some_and(|first| it.name.eq_ignore_case(&first.name));
    let asked = lookup.exchanges.iter().filter(is_first);
    let types: BTreeSet<u16> = ordered(asked.map(|it| it.qtype));
    let has = |qtype: u16| types.contains(&qtype);
    let asked = match (has(A), has(AAAA), types.first()) {
        (true, true, _) => Asked::Addresses(Family::Both),
        (true, false, _) => Asked::Addresses(Family::Inet),
        (false, true, _) => Asked::Addresses(Family::Inet6),
        (_, _, Some(&other)) => Asked::Records(RecordType::from(other)),
        _ => Asked::Addresses(Family::Both),
    };
    let dot = if reading.is_absolute { "." } else { "" };
    Scenario {
        name: format!("{}{dot}", reading.name),
        lookup: asked,
        ..base.without_answers()
    }
}

/// Of the readings of a lookup the one of which `resolver`, with the files of `base` and
/// the answers that were seen, makes the plan that is most alike: its number, and that plan.
pub fn closest(
    base: &Scenario,
    resolver: &'static Resolver,
    lookup: &Lookup,
) -> Option<(usize, Plan)> {
    let mut best: Option<(f64, usize, Plan)> = None;
    for (number, reading) in lookup.readings.iter().enumerate() {
        let scenario = scenario_of(base, lookup, reading);
        let plan = play(&scenario, resolver, lookup);
        let likeness = likeness_to_answer(&plan, lookup);
        // More than by rounding.
        if best.as_ref().is_none_or(|it| likeness > it.0 + 1e-9) {
            best = Some((likeness, number, plan));
        }
    }
    best.map(|it| (it.1, it.2))
}

/// How alike both are up to the answer, if there is one: what is not searched for behind
/// it says nothing of the name that was given.
#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn likeness_to_answer(plan: &Plan, lookup: &Lookup) -> f64 {
    let mut replies = lookup.exchanges.iter().filter_map(|it| it.reply);
    let planned = plan.planned.iter().rev();
    let behind = planned.take_while(|it| it.seen.is_none()).count();
    let behind = if replies.any(|it| it.is_found()) {
        behind
    } else {
        0
    };
    let all = plan.planned.len() + plan.unplanned.len();
    plan.likeness * all as f64 / all.saturating_sub(behind).max(1) as f64
}

fn play(scenario: &Scenario, resolver: &'static Resolver, lookup: &Lookup) -> Plan {
    let mut wire: Vec<Wire<'_>> = Vec::new();
    for (number, exchange) in lookup.exchanges.iter().enumerate() {
        wire.extend(exchange.sent().enumerate().map(|(sending, sent)| Wire {
            exchange,
            number,
            sending,
            at: sent.time,
            is_taken: false,
        }));
    }
    wire.sort_by_key(|it| it.at);
    let mut player = Player {
        lookup,
        wire,
        planned: Vec::new(),
        coming: Vec::new(),
        last: None,
        penalty: 0.0,
        now: Duration::ZERO,
    };
    let outcome = player.run(resolver.machine(scenario));
    let taken = player.wire.iter().filter(|it| it.is_taken).count();
    let unplanned: Vec<(usize, usize)> = player
        .wire
        .iter()
        .filter(|it| !it.is_taken)
        .map(|it| (it.number, it.sending))
        .collect();
    let all = player.planned.len() + unplanned.len();
    Plan {
        resolver,
        likeness: likeness(taken, all, player.penalty),
        planned: player.planned,
        unplanned,
        outcome,
        over: player.now,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
fn likeness(taken: usize, all: usize, penalty: f64) -> f64 {
    ((taken as f64 - penalty) / all.max(1) as f64).max(0.0)
}

/// A sending that was seen.
struct Wire<'l> {
    exchange: &'l Exchange,
    number: usize,
    sending: usize,
    at: i64,
    is_taken: bool,
}

impl Wire<'_> {
    /// What came back for this sending, and how long after it.
    fn came(&self) -> Option<(Duration, Came)> {
        let exchange = self.exchange;
        let after = |time: i64| {
            Duration::from_nanos(u64::try_from(time.saturating_sub(self.at)).unwrap_or_default())
        };
        let sent = exchange.sent().nth(self.sending)?;
        if let Some(reply) = exchange.reply_to(sent) {
            let seen = reply.as_seen_by_models(&exchange.name, exchange.qtype);
            return Some((after(reply.time), Came::Reply(seen)));
        }
        if let Some((_, sent)) = exchange.unreachable().filter(|it| it.1.time >= self.at) {
            return Some((after(sent.time), Came::Refused));
        }
        let broken = exchange.broken().filter(|it| it.time >= self.at)?;
        Some((after(broken.time), Came::Closed))
    }
}

/// A machine under way.
struct Player<'l> {
    lookup: &'l Lookup,
    wire: Vec<Wire<'l>>,
    planned: Vec<Planned>,
    coming: Vec<(Duration, Arrival)>,
    /// The sending that was taken last, and its query.
    last: Option<(usize, Query)>,
    penalty: f64,
    /// How late it is, from the start of the lookup.
    now: Duration,
}

impl Player<'_> {
    /// Plays to the end, or as far as the packets tell.
    fn run(&mut self, mut machine: Machine<'_>) -> Option<Outcome> {
        loop {
            let step = machine.step(self.now);
            let requests = machine.requests();
            let was_idle = requests.is_empty();
            for request in requests {
                self.carry_out(request, &machine)?;
            }
            let until = match step {
                Step::Done(outcome) => return Some(outcome),
                Step::Waiting(_) if !was_idle => continue,
                Step::Waiting(until) => until,
            };
            let arrival = self.coming.iter().map(|it| it.0).min();
            let next = match (arrival, until) {
                (Some(arrival), Some(until)) => arrival.min(until),
                (arrival, until) => arrival.or(until)?,
            };
            self.now = self.now.max(next);
            let due = self
                .coming
                .iter()
                .position(|it| it.0 == next && Some(next) == arrival);
            if let Some(due) = due {
                machine.arrived(self.coming.remove(due).1);
            }
        }
    }

    /// `None`: what would be sent now was not seen, and nothing after it.
    fn carry_out(&mut self, request: Request, machine: &Machine<'_>) -> Option<()> {
        match request {
            Request::Connect(socket, server, transport, _) => {
                let is_there =
                    transport == Transport::Udp || self.connects(server.address.reached());
                machine.connected(
                    socket,
                    if is_there {
                        Ok(())
                    } else {
                        Err(Failure::Refused)
                    },
                );
                Some(())
            }
            Request::Send(id, query) => self.send(id, query),
            Request::Write(..) | Request::Close(_) => Some(()),
        }
    }

    /// Whether the wire has queries on a connection to this server.
    fn connects(&self, server: IpAddr) -> bool {
        let mut over_tcp = self.lookup.exchanges.iter().filter(|it| it.is_tcp());
        over_tcp.any(|it| it.server.ip() == server)
    }

    fn send(&mut self, id: QueryId, query: Query) -> Option<()> {
        let now = self.now;
        if self.planned.len() >= MAX_PLANNED {
            return None;
        }
        let (name, qtype) = (query.name()?.clone(), u16::from(query.record_type()?));
        let server = query.server.address.reached();
        let fits = |it: &Wire<'_>| {
            !it.is_taken
                && it.exchange.qtype == qtype
                && it.exchange.name.eq_ignore_case(&name)
                && it.exchange.is_tcp() == (query.transport == Transport::Tcp)
        };
        let is_server = |it: &Wire<'_>| it.exchange.server.ip() == server;
        let exact = self.wire.iter().position(|it| fits(it) && is_server(it));
        // Balancers and meshes send queries to other servers than the file's.
        let found = exact.or_else(|| self.wire.iter().position(fits));
        let place = found.and_then(|at| Some((at, self.wire.get_mut(at)?)));
        let seen = place.map(|(at, wire)| {
            wire.is_taken = true;
            (at, wire.number, wire.sending)
        });
        if seen.is_none() && self.wire.iter().all(|it| it.is_taken) {
            return None;
        }
        if let Some((at, ..)) = seen {
            self.compare(at, &query, now, exact.is_some());
            let came = self.wire.get(at).and_then(Wire::came);
            self.coming.extend(came.map(|(after, what)| {
                let arrival = Arrival {
                    query: id,
                    socket: query.socket,
                    server: query.server.clone(),
                    what,
                    wrong: None,
                };
                (now + after, arrival)
            }));
        }
        self.planned.push(Planned {
            name,
            qtype,
            server,
            transport: query.transport,
            at: now,
            seen: seen.map(|(_, exchange, sending)| (exchange, sending)),
        });
        if let Some((at, ..)) = seen {
            self.last = Some((at, query));
        }
        Some(())
    }

    /// What else tells resolvers apart: EDNS, sockets, times, servers.
    fn compare(&mut self, at: usize, query: &Query, now: Duration, is_exact: bool) {
        let Some(wire) = self.wire.get(at) else {
            return;
        };
        let exchange = wire.exchange;
        let mut penalty = 0.0;
        if query.edns.as_ref().map(|it| it.size) != exchange.edns {
            penalty += 0.25;
        }
        let authentic = exchange.flags & 0x0020 != 0;
        if query.authentic_data != authentic {
            penalty += 0.15;
        }
        if !is_exact {
            penalty += 0.05;
        }
        if let Some((before, asked)) = &self.last
            && let Some(before) = self.wire.get(*before)
        {
            let same = before.exchange.client == exchange.client;
            if same != (asked.socket == query.socket) {
                penalty += 0.2;
            }
            if before.at > wire.at {
                penalty += 0.1;
            }
        }
        let seen = wire.at.saturating_sub(self.lookup.start());
        let seen = Duration::from_nanos(u64::try_from(seen).unwrap_or_default());
        if seen.abs_diff(now) > TOLERANCE + now / 20 {
            penalty += 0.4;
        }
        self.penalty += penalty;
    }
}
