//! The timers of resolved's event loop, and in which order it serves them.
//!
//! Source: systemd `src/libsystemd/sd-event/sd-event.c`.

use std::time::Duration;

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

/// Takes the next one of the sources that became ready at the same time.
///
/// The queue is a heap in which all are equal: when its head leaves, the last
/// one moves to the front.
///
/// Source: `src/basic/prioq.c: remove_item`.
pub(super) fn next_pending<T>(pending: &mut Vec<T>) -> Option<T> {
    (!pending.is_empty()).then(|| pending.swap_remove(0))
}
