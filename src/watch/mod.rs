//! What a resolver sent, beside what it should have sent.
//!
//! [`Watch::push`] takes DNS messages in the order of a capture, whatever it
//! was read from, and joins them: repeats and replies to an [`Exchange`],
//! exchanges to a [`Lookup`], whose plan the machine of its resolver makes
//! ([`plan`]). [`Watch::end`] says what is wrong, and why: a [`Report`].
//! Memory is bounded, and so is the time for each packet: plans are played only
//! for lookups that look odd, unless all are wanted.

pub mod advice;
mod choose;
pub mod fault;
pub mod findings;
mod infer;
mod join;
mod judge;
mod keys;
pub mod lookup;
mod map;
pub mod model;
mod name;
mod open;
pub mod plan;
pub mod played;
mod ports;
mod remembered;
pub mod reply;
pub mod report;
pub mod search;
pub mod tally;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::name::Name;
use crate::node::Process;
use crate::node::asker::Asker;
use crate::node::kernel::ConntrackCounters;
use crate::packet::{Counters, SeenMessage};
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::watch::infer::Infer;
use crate::watch::join::Joiner;
use crate::watch::judge::Judge;

pub use self::fault::{Fault, Pair, Wrong};
pub use self::findings::{Finding, What};
pub use self::join::Strays;
pub use self::judge::Judged;
pub use self::lookup::{Exchange, Lookup};
pub use self::plan::Plan;
pub use self::report::Report;
pub use self::search::Search;

/// So many messages are kept to find out a search list that nobody gave…
const MAX_STORED: usize = 4096;

/// … of so many bytes…
const MAX_STORED_BYTES: usize = 2 << 20;

/// … and of so long a time, in nanoseconds.
const MAX_STORED_TIME: i64 = 20_000_000_000;

/// So many processes wait for the lookup that is theirs.
const MAX_ASKERS: usize = 4096;

/// A clock that goes back or on by more than this is wrong, in nanoseconds.
const CLOCK_JUMP: i64 = 3_600_000_000_000;

/// Plans are asked when quiet lookups are over, not more often than this, in nanoseconds.
const PLANS_EVERY: i64 = 200_000_000;

/// A lookup is quiet if nothing has happened in it for so long, in nanoseconds.
const QUIET: i64 = 1_000_000_000;

/// So many quiet lookups are looked at in a capture that comes through a pipe.
const MAX_QUIET: usize = 4096;

/// What is known beforehand.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The files of whoever asks; `None`: the packets have to tell.
    pub scenario: Option<Scenario>,
    /// Its resolver; `None`: the one that fits best.
    pub resolver: Option<&'static Resolver>,
    /// Whether the plan of every lookup is wanted, not only of those that broke it.
    pub all: bool,
    /// The lookups of this name are wanted, too.
    pub show: Option<Name>,
    /// Whether lookups are wanted as they end: until it is known whose they are, the model
    /// that fits best so far is theirs.
    pub is_live: bool,
}

/// What is known when watching has ended.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// When, in nanoseconds since the epoch; `None`: with the last packet.
    pub time: Option<i64>,
    /// What was read and not understood.
    pub counters: Counters,
    /// Packets that the kernel had no room for; `None`: not known.
    pub drops: Option<u64>,
    /// How far the counters of the connection table rose meanwhile.
    pub conntrack: Option<ConntrackCounters>,
}

/// Where watching stands.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Progress {
    /// Lookups that have ended.
    pub lookups: u64,
    /// Those of them that broke the plan.
    pub broken: u64,
    /// Queries, repeats included.
    pub queries: u64,
}

/// Packets of DNS, judged one after the other.
#[derive(Debug)]
pub struct Watch {
    joiner: Joiner,
    judge: Judge,
    /// Messages from before the search list was known.
    stored: Option<Stored>,
    first: Option<i64>,
    /// If lookups are wanted as they end.
    plans: Option<Plans>,
    /// Whose socket sent a query, by its time and the socket.
    askers: BTreeMap<(i64, SocketAddr), Process>,
}

/// How plans are asked when quiet lookups are over.
#[derive(Debug)]
struct Plans {
    /// When they were asked last; a clock that is set back sets it back.
    last: i64,
    /// Of how many lookups they are still asked, if no time passes but by packets.
    left: usize,
}

#[derive(Debug, Default)]
struct Stored {
    infer: Infer,
    messages: Vec<Message>,
    bytes: usize,
}

/// [`SeenMessage`], kept.
#[derive(Debug)]
struct Message {
    seen: SeenMessage<'static>,
    bytes: Vec<u8>,
}

impl Watch {
    /// Nothing was seen yet.
    pub fn new(setup: Setup) -> Self {
        let patience = search::patience(setup.resolver, setup.scenario.as_ref());
        Self {
            joiner: Joiner::new(patience),
            stored: setup.scenario.is_none().then(Stored::default),
            plans: setup.is_live.then_some(Plans {
                last: i64::MIN,
                left: MAX_QUIET,
            }),
            judge: Judge::new(setup),
            first: None,
            askers: BTreeMap::new(),
        }
    }

    /// Whose socket sent a query; to be said before the lookup ends.
    pub fn asked_by(&mut self, asker: Asker) {
        self.askers
            .insert((asker.time, asker.client), asker.process);
        if self.askers.len() > MAX_ASKERS {
            self.askers.pop_first();
        }
    }

    /// Takes what was seen next.
    pub fn push(&mut self, seen: &SeenMessage<'_>) {
        let first = self.first.get_or_insert(seen.time);
        if let Some(stored) = &mut self.stored {
            stored.push(seen);
            let since = seen.time.saturating_sub(*first);
            if !(0..CLOCK_JUMP).contains(&since) {
                *first = seen.time;
            }
            let since = seen.time.saturating_sub(*first);
            let is_enough = stored.messages.len() >= MAX_STORED
                || stored.bytes >= MAX_STORED_BYTES
                || since > MAX_STORED_TIME;
            if is_enough {
                self.release();
            }
            return;
        }
        self.take(seen);
    }

    /// It is this late, in nanoseconds since the epoch.
    pub fn tick(&mut self, now: i64) {
        let since = now.saturating_sub(self.first.unwrap_or(now));
        if self.stored.is_some() && since > MAX_STORED_TIME {
            self.release();
        }
        if self.stored.is_none() {
            // Time passes: it is no old capture that comes through a pipe.
            if let Some(plans) = &mut self.plans {
                plans.left = MAX_QUIET;
                plans.last = plans.last.min(now);
            }
            self.plan(now);
            self.joiner.tick(now);
            self.settle();
        }
    }

    /// Finds out what is over by the plan, for those who want lookups as they end.
    fn plan(&mut self, now: i64) {
        // Where packets go back and forth in time this is not asked for each of them.
        if let Some(plans) = &mut self.plans
            && now >= plans.last.saturating_add(PLANS_EVERY)
        {
            plans.last = now;
            let judge = &self.judge;
            let since = now.saturating_sub(QUIET);
            plans.left -= self.joiner.plan(since, plans.left, |it| judge.over(it));
        }
    }

    /// Lookups that have ended since the last call, in order: those that broke
    /// the plan, or all if all are wanted.
    pub fn take_judged(&mut self) -> Vec<Judged> {
        self.judge.take()
    }

    /// Where it stands.
    pub fn progress(&self) -> Progress {
        self.judge.progress()
    }

    /// Ends everything that is under way; what ended with it is left for
    /// [`Watch::take_judged`].
    pub fn finish(&mut self, time: Option<i64>) {
        self.release();
        if let Some(time) = time {
            self.joiner.tick(time);
        }
        self.joiner.finish();
        self.settle();
        self.judge.finish();
    }

    /// What all of it says, after [`Watch::finish`].
    pub fn end(mut self, end: &End) -> Report {
        self.finish(end.time.or(end.counters.last));
        self.judge.report(end, &self.joiner)
    }

    fn take(&mut self, seen: &SeenMessage<'_>) {
        self.plan(seen.time);
        self.joiner.push(seen, self.judge.lists());
        self.settle();
    }

    fn settle(&mut self) {
        while let Some(mut lookup) = self.joiner.next_ended() {
            if !self.askers.is_empty() {
                lookup.process = self.asker_of(&lookup);
            }
            if let Some(lookup) = self.judge.add(lookup, &self.joiner) {
                self.joiner.reuse(lookup);
            }
        }
    }

    /// The process of a lookup; `None`: not known, or several.
    fn asker_of(&mut self, lookup: &Lookup) -> Option<Box<Process>> {
        let exchanges = lookup.exchanges.iter();
        let keys = exchanges.flat_map(|it| it.sent().map(move |sent| (sent.time, it.client)));
        let known: Vec<Process> = keys.filter_map(|it| self.askers.remove(&it)).collect();
        let (first, others) = known.split_first()?;
        let is_one = others.iter().all(|it| it == first);
        is_one.then(|| Box::new(first.clone()))
    }

    /// The search list is found out, or never will be.
    fn release(&mut self) {
        let Some(stored) = self.stored.take() else {
            return;
        };
        self.judge.infer(stored.infer.end());
        for message in &stored.messages {
            self.take(&message.as_seen());
        }
    }
}

impl Stored {
    fn push(&mut self, seen: &SeenMessage<'_>) {
        self.infer.push(seen);
        self.bytes += seen.bytes.len();
        self.messages.push(Message {
            seen: SeenMessage {
                bytes: &[],
                ..*seen
            },
            bytes: seen.bytes.to_vec(),
        });
    }
}

impl Message {
    fn as_seen(&self) -> SeenMessage<'_> {
        SeenMessage {
            bytes: &self.bytes,
            ..self.seen
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that go back and forth in time are not asked about one by one; a clock that is
    /// set back is.
    #[test]
    fn plans_are_asked_now_and_then() {
        let mut watch = Watch::new(Setup {
            scenario: Some(Scenario::new("watch", "x")),
            is_live: true,
            ..Setup::default()
        });
        let mut asked = |now: i64, is_tick: bool| {
            if is_tick {
                watch.tick(now);
            } else {
                watch.plan(now);
            }
            watch.plans.as_ref().map(|it| it.last)
        };
        let start = 10 * PLANS_EVERY;
        assert_eq!(asked(start, false), Some(start));
        for number in 0..100 {
            let now = start - number % 2 * 2 * PLANS_EVERY;
            assert_eq!(asked(now, false), Some(start));
        }
        let next = start + PLANS_EVERY;
        assert_eq!(asked(next, false), Some(next));
        assert_eq!(asked(start, true), Some(start));
    }
}
