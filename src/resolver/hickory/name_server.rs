//! One server: its connections, and how fast it was.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::address::Server;
use crate::engine::io::Io;
use crate::engine::message::{Rcode, Reply};
use crate::resolver::hickory::caching_client::Query;
use crate::resolver::hickory::error::{NetError, from_response};
use crate::resolver::hickory::exchange::Connection;
use crate::resolver::hickory::name_server_pool::NameServerPool;

/// A query is repeated after this multiple of the server's round-trip time.
/// Source: hickory-resolver `src/name_server_pool.rs: PoolState::try_send`.
const RETRY_FACTOR: f64 = 1.2;
/// By how much the times of servers differ at first. The source draws 1 to 31
/// microseconds for each; only their order counts.
/// Source: hickory-resolver `src/name_server.rs: NameServer::new`.
const INITIAL_SRTT: f64 = 1e-3;
/// Added for a failure. Source: `src/name_server.rs: DecayingSrtt::FAILURE_PENALTY`.
const FAILURE_PENALTY: f64 = 150_000.0;
/// Source: `src/name_server.rs: DecayingSrtt::MAX_SRTT_MICROS`.
const MAX_SRTT: f64 = 5_000_000.0;
/// Source: `src/name_server.rs: NameServer::record_cancelled`.
const CANCEL_PENALTY: Duration = Duration::from_millis(5);
/// A real answer takes some time at least: more than any server's first time,
/// so that servers that were not asked yet come before one that answered.
const MIN_RTT: Duration = Duration::from_micros(100);
/// Over how many seconds an old time loses its weight when a new one comes.
/// Source: `src/name_server.rs: DecayingSrtt::record`.
const RECORD_WEIGHT: f64 = 3.0;
/// Over how many seconds a time decays. Source: `src/name_server.rs: DecayingSrtt::current`.
const DECAY_WEIGHT: f64 = 180.0;

/// By so many microseconds two times that are measured at once differ at most, and two that decay since failures of one
/// moment. Ours.
const MEASURED_NOISE: f64 = 1_000.0;
const FAILURE_NOISE: f64 = 0.4;

/// Source: hickory-resolver `src/name_server.rs: NameServer`.
#[derive(Debug)]
pub(super) struct NameServer {
    /// Its place in the file, from 0.
    pub(super) number: usize,
    /// Where it is.
    pub(super) server: Server,
    connections: RefCell<Vec<Rc<Connection>>>,
    server_srtt: DecayingSrtt,
}

/// A smoothed round-trip time in microseconds.
///
/// Source: hickory-resolver `src/name_server.rs: DecayingSrtt`.
#[derive(Debug)]
struct DecayingSrtt {
    micros: Cell<f64>,
    last_update: Cell<Option<Duration>>,
    /// Whether a time that was measured is in it: it is not exactly this.
    is_measured: Cell<bool>,
}

impl NameServer {
    /// Without connections; `rank` is its place among the servers at first.
    pub(super) fn new(server: Server, number: usize, rank: usize) -> Self {
        let srtt = INITIAL_SRTT * (f64::from(u32::try_from(rank).unwrap_or(u32::MAX)) + 1.0);
        Self {
            number,
            server,
            connections: RefCell::default(),
            server_srtt: DecayingSrtt {
                micros: Cell::new(srtt),
                last_update: Cell::new(None),
                is_measured: Cell::new(false),
            },
        }
    }

    /// Sends over UDP, or over TCP if that is ruled out or all there is.
    ///
    /// Negative answers count as failures of the server; SERVFAIL and its
    /// like do not. In 0.25 it is the other way round, and before no reply counts so.
    ///
    /// Source: hickory-resolver `src/name_server.rs: NameServer::send_inner`, in 0.25
    /// `src/name_server/name_server_stats.rs: NameServerStats::record`.
    pub(super) async fn send(
        &self,
        pool: &NameServerPool<'_>,
        query: &Query,
        disable_udp: bool,
    ) -> Result<Reply, NetError> {
        let retry_interval =
            Duration::from_secs_f64(self.decayed_srtt(pool.io.now()) * RETRY_FACTOR / 1e6);
        let (response, start) = self
            .exchange(pool, query, disable_udp, retry_interval)
            .await?;
        let version = pool.version;
        let result = response.and_then(|reply| from_response(reply, version));
        let is_failure = match result {
            Ok(_) => false,
            Err(NetError::NoRecords { rcode, .. }) if version.is_before_26 => {
                !version.is_before_25 && matches!(rcode, Rcode::ServFail | Rcode::Refused)
            }
            Err(NetError::NoRecords { .. } | NetError::Io { .. } | NetError::Timeout) => true,
            Err(_) => return result,
        };
        let now = pool.io.now();
        if is_failure {
            self.server_srtt.record_failure(now);
        } else {
            self.server_srtt.record(now, now.saturating_sub(start));
        }
        result
    }

    /// Sends over a connection, and says when. If one that was there before turns out
    /// to be closed, another one gets the query, once. The outer error is that of a
    /// connection that could not be made.
    async fn exchange(
        &self,
        pool: &NameServerPool<'_>,
        query: &Query,
        disable_udp: bool,
        retry_interval: Duration,
    ) -> Result<(Result<Reply, NetError>, Duration), NetError> {
        let mut reconnect_budget = u8::from(!pool.version.is_before_26);
        loop {
            let (connection, reused) = self.connected_mut_client(pool.io, disable_udp).await?;
            let start = pool.io.now();
            let response = (connection.send(pool, &self.server, query, retry_interval)).await;
            if response.is_err() {
                connection.fail();
            }
            if let Err(NetError::Io { closed: true }) = response
                && reused
                && reconnect_budget > 0
            {
                reconnect_budget -= 1;
                continue;
            }
            return Ok((response, start));
        }
    }

    /// A connection that works, and whether it was there before: over UDP if there is
    /// one, else any that is there, else a new one, over UDP if that is allowed. Of
    /// several over TCP the source takes the fastest; here it is the oldest.
    ///
    /// Source: hickory-resolver `src/name_server.rs: NameServer::connected_mut_client,
    /// ConnectionPolicy::select_connection`.
    async fn connected_mut_client(
        &self,
        io: &Io,
        disable_udp: bool,
    ) -> Result<(Rc<Connection>, bool), NetError> {
        {
            let mut connections = self.connections.borrow_mut();
            connections.retain(|connection| !connection.has_failed());
            let allowed = connections
                .iter()
                .filter(|it| !(disable_udp && it.is_udp()));
            if let Some(connection) = allowed.min_by_key(|it| !it.is_udp()) {
                return Ok((Rc::clone(connection), true));
            }
        }
        let connection = if disable_udp {
            Connection::tcp(io, &self.server).await?
        } else {
            Connection::udp()
        };
        let connection = Rc::new(connection);
        self.connections.borrow_mut().push(Rc::clone(&connection));
        Ok((connection, false))
    }

    /// In microseconds. Source: hickory-resolver `src/name_server.rs: NameServer::decayed_srtt`.
    pub(super) fn decayed_srtt(&self, now: Duration) -> f64 {
        self.server_srtt.current(now)
    }

    /// Of servers whose times are so close to each other either can be the faster one; `None`: it was
    /// not asked yet.
    pub(super) fn noise(&self, now: Duration) -> Option<f64> {
        let srtt = &self.server_srtt;
        let age = now.saturating_sub(srtt.last_update.get()?);
        Some(match srtt.is_measured.get() {
            true => MEASURED_NOISE,
            false if age > Duration::from_secs(1) => FAILURE_NOISE,
            // Nothing decays within the first second.
            false => 0.0,
        })
    }

    /// Another server was faster.
    ///
    /// Source: hickory-resolver `src/name_server.rs: NameServer::record_cancelled`.
    pub(super) fn record_cancelled(&self, now: Duration, winner_rtt: Duration) {
        self.server_srtt.record(now, winner_rtt + CANCEL_PENALTY);
    }
}

impl DecayingSrtt {
    fn record(&self, now: Duration, rtt: Duration) {
        self.is_measured.set(true);
        let rtt = rtt.max(MIN_RTT).as_secs_f64() * 1e6;
        self.update(now, rtt, |old, last_update| {
            let factor = compute_srtt_factor(now, last_update, RECORD_WEIGHT);
            ((1.0 - factor) * rtt + factor * old).round()
        });
    }

    fn record_failure(&self, now: Duration) {
        self.update(now, FAILURE_PENALTY, |old, _| old + FAILURE_PENALTY);
    }

    fn current(&self, now: Duration) -> f64 {
        let micros = self.micros.get();
        self.last_update.get().map_or(micros, |last_update| {
            micros * compute_srtt_factor(now, last_update, DECAY_WEIGHT)
        })
    }

    /// The first time that is recorded replaces the initial one.
    fn update(&self, now: Duration, first: f64, update: impl Fn(f64, Duration) -> f64) {
        let last_update = self.last_update.replace(Some(now));
        let new = last_update.map_or(first, |last_update| update(self.micros.get(), last_update));
        self.micros.set(new.min(MAX_SRTT));
    }
}

/// Source: hickory-resolver `src/name_server.rs: compute_srtt_factor`.
fn compute_srtt_factor(now: Duration, last_update: Duration, weight: f64) -> f64 {
    let elapsed = now.saturating_sub(last_update).as_secs_f64();
    libm::exp(-elapsed.max(1.0) / weight)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_time_is_smoothed_and_decays() {
        let server = NameServer::new(Server::from(IpAddr::from([10, 96, 0, 10])), 0, 0);
        let check = |seconds: u64, micros: f64| {
            let found = server.decayed_srtt(ms(seconds * 1000));
            assert!((found - micros).abs() < 1.0, "{seconds} s: {found}");
        };
        server.record_cancelled(ms(0), ms(10));
        check(180, 15_000.0 / std::f64::consts::E);
        server.server_srtt.record(ms(3000), ms(50));
        let smoothed = 50_000.0 - 35_000.0 / std::f64::consts::E;
        check(183, smoothed.round() / std::f64::consts::E);
        server.server_srtt.record_failure(ms(3000));
        check(183, (smoothed.round() + 150_000.0) / std::f64::consts::E);
        server.record_cancelled(ms(60_000_000), ms(6000));
        check(60_180, 5_000_000.0 / std::f64::consts::E);
    }
}
