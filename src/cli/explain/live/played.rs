//! One lookup on the wire, on a thread of its own, and what is seen of it.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::dig::message::{Message, Opt};
use crate::engine::io::Came;
use crate::engine::message::QueryId;
use crate::explain::live::{Answer, Exchange, MAX_STRAYS, Played, Unconnected, Unsent};
use crate::netns::{EnterError, Namespace};
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::wire::expect_socket;
use crate::wire::live::{self as wire, Event, Limits};

/// The clock moves so often.
const TICK: Duration = Duration::from_millis(100);

/// What is seen of a lookup under way.
#[derive(Debug)]
pub(super) enum Seen {
    /// A query was sent, or its end is known.
    Query(QueryId, Exchange),
    /// A connection was not made.
    Unconnected(Unconnected),
    /// Time has passed.
    Nothing(Duration),
}

/// Plays a lookup in the namespace, or in this one; `watch` sees it go on.
pub(super) fn watched(
    resolver: &'static Resolver,
    scenario: &Scenario,
    namespace: Option<&Namespace>,
    (limit, interrupt): (Duration, Option<BorrowedFd<'_>>),
    watch: &mut dyn FnMut(Seen),
) -> anyhow::Result<Played> {
    let (sender, receiver) = channel();
    // A scenario is not to be shared with another thread.
    let scenario = scenario.clone();
    let play = move || {
        expect_socket()?;
        Ok(play(resolver, &scenario, limit, interrupt, &sender))
    };
    thread::scope(|scope| {
        let work = move || match namespace {
            Some(namespace) => namespace.within(play)?,
            None => play(),
        };
        let spawned = thread::Builder::new().spawn_scoped(scope, work);
        let thread = spawned.map_err(|error| EnterError::no_thread(&error))?;
        follow(&receiver, watch);
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Until the lookup is over.
fn follow(receiver: &Receiver<Seen>, watch: &mut dyn FnMut(Seen)) {
    let start = Instant::now();
    loop {
        match receiver.recv_timeout(TICK) {
            Ok(seen) => watch(seen),
            Err(RecvTimeoutError::Timeout) => watch(Seen::Nothing(start.elapsed())),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Plays the resolver's machine from this thread's network namespace.
fn play(
    resolver: &'static Resolver,
    scenario: &Scenario,
    limit: Duration,
    interrupt: Option<BorrowedFd<'_>>,
    sender: &Sender<Seen>,
) -> Played {
    let limits = Limits {
        time: limit,
        interrupt,
    };
    let mut record = Record::default();
    let finished = wire::run_resolver(resolver.machine(scenario), limits, &mut |event| {
        if let Some(seen) = record.take(event) {
            // Nobody may follow any more.
            let _ = sender.send(seen);
        }
    });
    Played {
        resolver,
        exchanges: record.exchanges.into_values().collect(),
        unconnected: record.unconnected,
        strays: record.strays,
        more_strays: record.more_strays,
        outcome: finished.outcome,
        elapsed: finished.elapsed,
        notes: finished.notes,
        cut: finished.cut,
    }
}

/// What was seen of a lookup.
#[derive(Default)]
struct Record {
    exchanges: BTreeMap<QueryId, Exchange>,
    unconnected: Vec<Unconnected>,
    strays: Vec<String>,
    more_strays: usize,
}

impl Record {
    /// Keeps what has happened, and tells what can be shown of it.
    fn take(&mut self, event: Event) -> Option<Seen> {
        match event {
            Event::Sent { at, id, query, .. } => {
                let exchange = Exchange {
                    query,
                    at,
                    answer: None,
                    wrong: None,
                    unsent: None,
                };
                self.exchanges.insert(id, exchange.clone());
                Some(Seen::Query(id, exchange))
            }
            Event::NotSent { id, why, no_socket } => {
                let exchange = self.exchanges.get_mut(&id)?;
                exchange.unsent = Some(Unsent { why, no_socket });
                Some(Seen::Query(id, exchange.clone()))
            }
            Event::Came {
                id,
                elapsed,
                what,
                why,
                message,
                ..
            } => {
                let exchange = self.exchanges.get_mut(&id)?;
                exchange.answer = Some(answer(elapsed, what, why, message.as_deref()));
                Some(Seen::Query(id, exchange.clone()))
            }
            Event::NotConnected {
                at,
                server,
                transport,
                why,
                no_socket,
                is_refused,
            } => {
                let unconnected = Unconnected {
                    server,
                    transport,
                    at,
                    is_refused,
                    unsent: Unsent { why, no_socket },
                };
                self.unconnected.push(unconnected.clone());
                Some(Seen::Unconnected(unconnected))
            }
            Event::Stray { from, why, .. } if self.strays.len() < MAX_STRAYS => {
                self.strays
                    .push(format!("a message from {from} was ignored: {why}"));
                None
            }
            Event::Stray { .. } => {
                self.more_strays += 1;
                None
            }
        }
    }
}

fn answer(after: Duration, what: Came, why: Option<String>, message: Option<&Message>) -> Answer {
    const EXTENDED_ERROR: u16 = 15;
    let options = message.iter().filter_map(|it| it.opt.as_ref());
    let errors = options.flat_map(Opt::options).filter_map(|(code, data)| {
        let (number, text) = data.split_first_chunk::<2>()?;
        (code == EXTENDED_ERROR).then(|| (u16::from_be_bytes(*number), text.to_vec()))
    });
    Answer {
        after,
        what,
        why,
        rcode: message.map_or(0, |it| it.rcode),
        extended_errors: errors.collect(),
    }
}
