//! After how long a rule is to answer, so that all comes in the order in which
//! it came.

use std::iter::Peekable;
use std::time::Duration;

use crate::engine::failure::Failure;
use crate::engine::io::{Arrival, Request};
use crate::engine::machine::{Machine, Step};
use crate::explain::live::Played;
use crate::order::Order as _;
use crate::scenario::Scenario;
use crate::world::{Rule, World};

/// Rules know whole milliseconds.
const TICK: Duration = Duration::from_millis(1);

/// The delay of each exchange's answer. `unreachable` are the rules about servers
/// that cannot be reached.
///
/// The machine is played again in virtual time, and gets the answers one by
/// one, each in a millisecond of its own: what came within one real
/// millisecond would else be in no order. Where that leads to other queries
/// the real times have to do.
pub(super) fn delays(scenario: &Scenario, played: &Played, unreachable: &[Rule]) -> Vec<Duration> {
    let mut delays: Vec<Duration> = played
        .exchanges
        .iter()
        .map(|it| {
            it.answer
                .as_ref()
                .map_or(Duration::ZERO, |it| whole(it.after))
        })
        .collect();
    let real = delays.clone();
    let mut arrivals: Vec<(Duration, usize)> = (0..)
        .zip(&played.exchanges)
        .filter_map(|(index, it)| Some((it.answered_at()?, index)))
        .collect();
    arrivals.order();
    let script = Script {
        played,
        world: World::new(unreachable),
        machine: played.resolver.machine(scenario),
        arrivals: arrivals.into_iter().peekable(),
        sent: Vec::new(),
        last: Duration::ZERO,
    };
    match script.run(&mut delays) {
        Some(()) => delays,
        None => real,
    }
}

fn whole(duration: Duration) -> Duration {
    Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

struct Script<'s, I: Iterator> {
    played: &'s Played,
    world: World<'s>,
    machine: Machine<'s>,
    /// When answers really came, and to which exchange.
    arrivals: Peekable<I>,
    /// When the queries were sent, in virtual time.
    sent: Vec<Duration>,
    /// When the last answer came, in virtual time.
    last: Duration,
}

impl<I: Iterator<Item = (Duration, usize)>> Script<'_, I> {
    /// `None`: the machine asks something else.
    fn run(mut self, delays: &mut [Duration]) -> Option<()> {
        let mut now = Duration::ZERO;
        loop {
            let step = self.machine.step(now);
            let requests = self.machine.requests();
            let was_idle = requests.is_empty();
            for request in requests {
                self.carry_out(request, now)?;
            }
            let until = match step {
                Step::Done(_) => return Some(()),
                Step::Waiting(_) if !was_idle => continue,
                Step::Waiting(until) => until,
            };
            let (index, delay) = match (self.next(), until) {
                (None, None) => return None,
                (None, Some(until)) => {
                    now = now.max(until);
                    continue;
                }
                (Some((_, _, at)), Some(until)) if until < at => {
                    now = now.max(until);
                    continue;
                }
                (Some((index, delay, at)), _) => {
                    now = now.max(at);
                    (index, delay)
                }
            };
            self.arrivals.next();
            self.last = now;
            *delays.get_mut(index)? = delay;
            self.deliver(index)?;
        }
    }

    fn carry_out(&mut self, request: Request, now: Duration) -> Option<()> {
        match request {
            Request::Connect(socket, server, transport, _) => {
                let result = self.world.connect(&server, transport);
                self.machine
                    .connected(socket, result.map_err(Failure::from));
            }
            Request::Send(id, query) => {
                let exchange = self.played.exchanges.get(id.0)?;
                if exchange.query != query || self.sent.len() != id.0 {
                    return None;
                }
                self.sent.push(now);
            }
            Request::Write(..) | Request::Close(_) => {}
        }
        Some(())
    }

    /// The next answer, if its query was sent: to which exchange, after how
    /// long, and when.
    fn next(&mut self) -> Option<(usize, Duration, Duration)> {
        let (at, index) = *self.arrivals.peek()?;
        let sent = *self.sent.get(index)?;
        let delay = whole(at.saturating_sub(sent) + TICK / 2);
        let least = whole(self.last.saturating_sub(sent)) + TICK;
        let delay = if sent + delay > self.last {
            delay
        } else {
            least
        };
        Some((index, delay, sent + delay))
    }

    fn deliver(&mut self, index: usize) -> Option<()> {
        let exchange = self.played.exchanges.get(index)?;
        let query = &exchange.query;
        self.machine.arrived(Arrival {
            query: crate::engine::message::QueryId(index),
            socket: query.socket,
            server: query.server.clone(),
            what: exchange.answer.as_ref()?.what.clone(),
            wrong: None,
        });
        Some(())
    }
}
