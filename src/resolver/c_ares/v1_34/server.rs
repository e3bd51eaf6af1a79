//! What a channel knows about its servers.
//!
//! Source: c-ares 1.34 `src/lib/ares_conn.h: struct ares_server`.

use std::time::Duration;

use crate::address::Server;
use crate::resolver::c_ares::v1_34::version::{Measures, Version};

/// A server that failed may be probed after this time.
///
/// Source: c-ares 1.34 `src/lib/ares_private.h: DEFAULT_SERVER_RETRY_DELAY`.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// `MIN_TIMEOUT_MS`, `MAX_TIMEOUT_MS`, `AVG_TIMEOUT_MULTIPLIER` and
/// `MIN_COUNT_FOR_AVERAGE` of c-ares 1.34 `src/lib/ares_metrics.c`.
const MIN_TIMEOUT: u64 = 250;
const MAX_TIMEOUT: u64 = 5000;
const AVERAGE_MULTIPLIER: u64 = 5;
const MIN_COUNT: u64 = 3;

/// A reading of the clock, and which reading it is: two readings are never
/// equal, though here no time passes between them.
pub(super) type Moment = (Duration, u64);

/// A server: its failures, its latency, and whether it knows cookies.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) server: Server,
    version: &'static Version,
    /// Place in the configuration.
    index: usize,
    consec_failures: u32,
    next_retry_time: Option<Moment>,
    /// Whether a probe is under way.
    pub(super) probe_pending: bool,
    cookie: Cookie,
    /// Latency in all. The source has five spans of time for it; a lookup that
    /// takes less than a minute finds the same in each that has enough.
    total_ms: u64,
    total_count: u64,
}

/// Source: c-ares 1.34 `src/lib/ares_conn.h: ares_cookie_state_t`. No server
/// of a scenario knows cookies, so none is ever supported.
#[derive(Debug)]
enum Cookie {
    Initial,
    Generated,
    Unsupported(Moment),
}

impl ServerState {
    pub(super) fn new(index: usize, server: Server, version: &'static Version) -> Self {
        Self {
            server,
            version,
            index,
            consec_failures: 0,
            next_retry_time: None,
            probe_pending: false,
            cookie: Cookie::Initial,
            total_ms: 0,
            total_count: 0,
        }
    }

    /// Servers are asked in this order.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_init.c: server_sort_cb`.
    pub(super) fn rank(&self) -> (u32, Option<Moment>, usize) {
        let failed = self.next_retry_time;
        let failed = failed.filter(|_| self.version.first_failed_first);
        (self.consec_failures, failed, self.index)
    }

    pub(super) fn consec_failures(&self) -> u32 {
        self.consec_failures
    }

    /// Whether it has failed and may be probed at `now`.
    pub(super) fn can_be_probed(&self, now: Moment) -> bool {
        !self.probe_pending && self.next_retry_time.is_some_and(|time| time <= now)
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: server_increment_failures`.
    pub(super) fn increment_failures(&mut self, now: Moment) {
        self.consec_failures = (self.consec_failures + 1).min(self.version.most_failures);
        self.next_retry_time = Some((now.0 + RETRY_DELAY, now.1));
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: server_set_good`.
    pub(super) fn set_good(&mut self) {
        self.consec_failures = 0;
        self.next_retry_time = None;
    }

    /// Whether a query over UDP with an OPT record gets a cookie.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_cookie.c: ares_cookie_apply`.
    pub(super) fn cookie_apply(&mut self, now: Moment) -> bool {
        let Some(without) = self.version.without_cookies else {
            return false;
        };
        if let Cookie::Unsupported(since) = self.cookie
            && now.0.saturating_sub(since.0) < without
        {
            return false;
        }
        self.cookie = Cookie::Generated;
        true
    }

    /// The answer to a query with a cookie has none.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_cookie.c: ares_cookie_validate`.
    pub(super) fn cookie_missing(&mut self, now: Moment) {
        if matches!(self.cookie, Cookie::Generated) {
            self.cookie = Cookie::Unsupported(now);
        }
    }

    /// Source: c-ares 1.34 `src/lib/ares_metrics.c: ares_metrics_record`.
    pub(super) fn metrics_record(&mut self, latency: Duration) {
        let latency = match self.version.measures {
            Measures::Nothing => return,
            Measures::Rests => latency.as_secs() + u64::from(latency.subsec_millis()),
            Measures::Milliseconds => u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        };
        self.total_ms = self.total_ms.saturating_add(latency.max(1));
        self.total_count += 1;
    }

    /// The time-out in milliseconds: from the latency so far, or as configured.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_metrics.c: ares_metrics_server_timeout`.
    pub(super) fn metrics_timeout(&self, configured: u64) -> u64 {
        if self.version.measures == Measures::Nothing {
            return configured;
        }
        let average = self.total_ms.checked_div(self.total_count);
        let timeout = match average.filter(|_| self.total_count >= MIN_COUNT) {
            Some(average) => average.saturating_mul(AVERAGE_MULTIPLIER),
            None => configured,
        };
        timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ServerState {
        let server = Server::from(std::net::IpAddr::from([10, 96, 0, 10]));
        ServerState::new(0, server, &Version::V1_34_9)
    }

    #[test]
    fn a_time_out_is_five_times_the_average_of_three() {
        let mut state = state();
        assert_eq!(state.metrics_timeout(2000), 2000);
        assert_eq!(state.metrics_timeout(249), 250);
        assert_eq!(state.metrics_timeout(5001), 5000);
        for latency in [100, 200] {
            state.metrics_record(Duration::from_millis(latency));
            assert_eq!(state.metrics_timeout(2000), 2000);
        }
        state.metrics_record(Duration::from_millis(300));
        assert_eq!(state.metrics_timeout(2000), 1000);
        state.metrics_record(Duration::from_secs(9));
        assert_eq!(state.metrics_timeout(2000), 5000);
    }

    #[test]
    fn a_server_without_cookies_gets_none_for_five_minutes() {
        let mut state = state();
        assert!(state.cookie_apply((Duration::ZERO, 1)));
        state.cookie_missing((Duration::ZERO, 2));
        assert!(!state.cookie_apply((Duration::from_millis(299_999), 3)));
        assert!(state.cookie_apply((Duration::from_secs(300), 4)));
    }

    #[test]
    fn failures_count_to_sixteen_and_a_server_is_probed_after_five_seconds() {
        let mut state = state();
        for _ in 0..16 {
            state.increment_failures((Duration::ZERO, 1));
        }
        assert_eq!(state.consec_failures(), 16);
        state.increment_failures((Duration::ZERO, 1));
        assert_eq!(state.consec_failures(), 16);
        assert!(!state.can_be_probed((Duration::from_millis(4999), 2)));
        assert!(state.can_be_probed((Duration::from_secs(5), 2)));
    }
}
