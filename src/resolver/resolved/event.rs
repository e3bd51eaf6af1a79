//! resolved's event loop: its timers, what arrived, and in which order it serves them.
//!
//! Source: systemd `src/libsystemd/sd-event/sd-event.c`.

use std::time::Duration;

use smallvec::SmallVec;

use crate::engine::io::Arrival;
use crate::engine::message::SocketId;
use crate::resolver::resolved::dns_stub::StubPacket;

/// How late a timer is served. It may be up to 250 ms late, so that several
/// are served at once (`DEFAULT_ACCURACY_USEC`); this is how soon something
/// else wakes the loop on a machine where things happen.
pub(super) const DELAY: Duration = Duration::from_millis(30);

/// What a timer is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Timer {
    /// `on_transaction_timeout` of this transaction.
    Transaction(usize),
    /// `on_candidate_timeout` of this query's candidate.
    Candidate(usize),
    /// `on_query_timeout` of this query.
    Query(usize),
    /// `on_stream_timeout` of this stream.
    Stream(usize),
}

/// The timers that run, in the order in which they were set.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    running: Vec<(Timer, Duration)>,
}

impl Timers {
    /// Source: `sd_event_add_time_relative`, `sd_event_source_set_time_relative`.
    pub(super) fn set(&mut self, timer: Timer, at: Duration) {
        self.stop(timer);
        self.running.push((timer, at));
    }

    /// Source: `sd_event_source_disable_unref`.
    pub(super) fn stop(&mut self, timer: Timer) {
        self.running.retain(|(running, _)| *running != timer);
    }

    /// Whether the timer runs.
    pub(super) fn runs(&self, timer: Timer) -> bool {
        self.running.iter().any(|(running, _)| *running == timer)
    }

    /// Whether the timer runs, and its time has come.
    pub(super) fn is_due(&self, timer: Timer, now: Duration) -> bool {
        let mut running = self.running.iter();
        running.any(|(other, at)| *other == timer && *at <= now)
    }

    /// When the loop is awake after the first timer is due.
    ///
    /// Source: `event_arm_timer`, `sleep_between`.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        let first = self.running.iter().map(|(_, at)| *at).min()?;
        Some(first + DELAY)
    }

    /// The timers whose time has come, in their order.
    ///
    /// Source: `process_timer`.
    pub(super) fn due(&self, now: Duration) -> Vec<Timer> {
        let mut due: Vec<(Timer, Duration)> = self
            .running
            .iter()
            .filter(|(_, at)| *at <= now)
            .copied()
            .collect();
        due.sort_by_key(|(_, at)| *at);
        due.into_iter().map(|(timer, _)| timer).collect()
    }
}

/// What wakes the event loop, besides its timers.
#[derive(Debug)]
pub(super) enum Event {
    /// Something arrived from a server.
    Arrival(Arrival),
    /// A client of the stub asks.
    Stub(StubPacket),
}

impl Event {
    /// The socket to a server; `None`: the one that the stub listens to.
    pub(super) fn socket(&self) -> Option<SocketId> {
        match self {
            Self::Arrival(arrival) => Some(arrival.socket),
            Self::Stub(_) => None,
        }
    }
}

/// What arrives, in its order. Each turn of the loop asks epoll which sockets are readable, and serves
/// one datagram of a socket that was found so before the others. Of sockets that were found in the same turn any
/// can be the first.
///
/// Source: `sd_event_prepare`, `pending_prioq_compare`.
#[derive(Debug, Default)]
pub(super) struct Arriving {
    turns: u32,
    queue: Vec<Arrived>,
}

/// An event, and the turns in which epoll can tell of it first.
#[derive(Debug)]
struct Arrived {
    event: Event,
    earliest: u32,
    latest: u32,
}

impl Arriving {
    /// Adds what was caused by the last turn, and arrives in the next one or so many later.
    pub(super) fn push(&mut self, event: Event, later: u32) {
        let earliest = self.turns + 1;
        self.queue.push(Arrived {
            event,
            earliest,
            latest: earliest + later,
        });
    }

    /// Keeps the events for which `wanted` is true.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Event) -> bool) {
        self.queue.retain(|it| wanted(&it.event));
    }

    /// How much has arrived.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// What can be served next, with its place in the queue and the turn in which it can have been found.
    pub(super) fn next(&self) -> SmallVec<[(usize, u32, &Event); 2]> {
        let mut heads: SmallVec<[(usize, &Arrived); 2]> = SmallVec::new();
        for (place, it) in self.queue.iter().enumerate() {
            if !heads
                .iter()
                .any(|(_, head)| head.event.socket() == it.event.socket())
            {
                heads.push((place, it));
            }
        }
        let latest = heads.iter().map(|(_, it)| it.latest).min();
        heads.retain(|(_, it)| Some(it.earliest) <= latest);
        let next = heads.into_iter();
        next.map(|(place, it)| (place, it.earliest, &it.event))
            .collect()
    }

    /// Takes out what is served in this turn, and concludes when the others were found.
    pub(super) fn serve(&mut self, place: usize) -> Option<Event> {
        if place >= self.queue.len() {
            return None;
        }
        let served = self.queue.remove(place);
        self.turns += 1;
        let found = served.latest.min(self.turns);
        for (other, it) in self.queue.iter_mut().enumerate() {
            it.earliest = it.earliest.max(served.earliest);
            if it.event.socket() == served.event.socket() {
                // Only now the socket is looked at again.
                it.earliest = it.earliest.max(self.turns + 1);
            } else if other < place && it.event.socket().is_some() {
                it.latest = it.latest.min(found);
            }
            it.latest = it.latest.max(it.earliest);
        }
        Some(served.event)
    }
}

/// Takes the next one of the sources that became ready at the same time.
///
/// The queue is a heap in which all are equal: when its head leaves, the last
/// one moves to the front.
///
/// Source: `src/basic/prioq.c: remove_item`.
pub(super) fn next_pending(pending: &mut Vec<Timer>) -> Option<Timer> {
    (!pending.is_empty()).then(|| pending.swap_remove(0))
}
