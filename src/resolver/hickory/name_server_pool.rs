//! Which servers a query goes to, and how often.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::Io;
use crate::engine::message::{Edns, Reply};
use crate::name::Name;
use crate::resolver::hickory::Version;
use crate::resolver::hickory::caching_client::Query;
use crate::resolver::hickory::error::{NetError, most_specific};
use crate::resolver::hickory::name_server::NameServer;
use crate::resolver::hickory::system_conf::Settings;

/// So many servers are asked at once.
/// Source: hickory-resolver `src/config.rs: default_num_concurrent_reqs`.
const NUM_CONCURRENT_REQS: usize = 2;
/// What is left to chance, in a sentence.
const DRAWN: &str =
    "hickory draws the order of its servers at random, and asks two of them at once";
const MEASURED: &str = "hickory asks the servers first that answered fastest: of two that are as fast as each other it can be either";
const BEHIND: &str =
    "hickory goes on with A before or after the reply to what it asks for AAAA meanwhile";
/// How long an answer is read after another one that came with it. Ours.
const BEHIND_DELAY: Duration = Duration::from_millis(2);
/// How late a time-out is. Ours.
const TIMER_DELAY: Duration = Duration::from_millis(1);
/// UDP payload size. Source: hickory-proto `src/op/edns.rs: DEFAULT_MAX_PAYLOAD_LEN`.
const PAYLOAD_LEN: u16 = 1232;

/// Source: hickory-resolver `src/name_server_pool.rs: NameServerPool, PoolState`.
#[derive(Debug)]
pub(super) struct NameServerPool<'a> {
    /// How it talks.
    pub(super) io: &'a Io,
    /// As which version it does.
    pub(super) version: Version,
    servers: Vec<NameServer>,
    /// The same over TCP, before 0.26.
    streams: OnceCell<Vec<NameServer>>,
    /// How servers that are equally fast were ordered.
    drawn: RefCell<Vec<Drawn>>,
    /// Lookups that go on: AAAA and A.
    pub(super) lookups: Cell<usize>,
    /// Of one round of requests.
    pub(super) timeout: Duration,
    /// Of rounds after the first.
    attempts: u32,
    /// The OPT record of every query.
    pub(super) edns: Option<Edns>,
}

/// In which order servers were asked in a round for a name, of those that were equally fast.
#[derive(Debug)]
struct Drawn {
    name: Name,
    record_type: RecordType,
    round: u32,
    among: Vec<usize>,
    order: Vec<usize>,
}

/// A future of [`NameServer::send`] beside the server that is asked.
struct InFlight<'s, F> {
    server: &'s NameServer,
    request: Pin<Box<F>>,
}

impl<'a> NameServerPool<'a> {
    /// Source: hickory-resolver `src/name_server_pool.rs: NameServerPool::from_config`.
    pub(super) fn from_config(io: &'a Io, settings: &Settings<'_>) -> Self {
        let reading = &settings.reading;
        let servers: Vec<Server> = reading.servers.iter().map(|it| it.value.clone()).collect();
        Self {
            io,
            version: settings.version,
            servers: name_servers(io, servers),
            streams: OnceCell::new(),
            drawn: RefCell::default(),
            lookups: Cell::default(),
            timeout: reading.timeout.value,
            attempts: reading.attempts.value,
            edns: settings.edns0.then_some(Edns::plain(PAYLOAD_LEN)),
        }
    }

    /// Source: hickory-net `src/xfer/retry_dns_handle.rs: RetrySendStream::poll_next`.
    pub(super) async fn send_with_retries(&self, query: &Query) -> Result<Reply, NetError> {
        if self.timeout.is_zero() {
            // Every round ends before it begins; do not count them all.
            return Err(NetError::Timeout);
        }
        let mut remaining_attempts = self.attempts;
        loop {
            let error = match self.send(query, remaining_attempts).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match error {
                NetError::NoConnections | NetError::NoRecords { .. } => return Err(error),
                _ if remaining_attempts == 0 => return Err(error),
                _ => remaining_attempts -= 1,
            }
            self.fall_behind(query).await;
        }
    }

    /// The servers by twos, those that answered fast first. A reply code other than success ends the
    /// round, whatever the other server says; in 0.25 a negative answer that has an SOA record does, and before
    /// that none.
    ///
    /// Source: hickory-resolver `src/name_server_pool.rs: PoolState::try_send`, and before 0.26
    /// `src/name_server/name_server_pool.rs: parallel_conn_loop`.
    async fn try_send(
        &self,
        servers: &[NameServer],
        query: &Query,
        (round, mut disable_udp): (u32, bool),
    ) -> Result<Reply, NetError> {
        let is_old = self.version.is_before_26;
        let mut servers = self.by_query_statistics(servers, query, round);
        let deadline = self.io.now().saturating_add(self.timeout);
        let mut error = NetError::NoConnections;
        loop {
            if self.io.now() >= deadline && !is_old {
                return Err(NetError::Timeout);
            }
            let asked: Vec<&NameServer> = servers
                .drain(..servers.len().min(NUM_CONCURRENT_REQS))
                .collect();
            if asked.is_empty() {
                return Err(error);
            }
            let batch_start = self.io.now();
            let mut requests: Vec<_> = asked
                .into_iter()
                .map(|server| InFlight {
                    server,
                    request: Box::pin(server.send(self, query, disable_udp)),
                })
                .collect();
            while let Some((server, result)) = next(&mut requests).await {
                let current = match result {
                    Ok(reply) if is_old => return Ok(reply),
                    Ok(reply) if reply.truncated && disable_udp => NetError::Truncated,
                    Ok(reply) if reply.truncated => {
                        disable_udp = true;
                        error = NetError::Truncated;
                        servers.push_front(server);
                        continue;
                    }
                    Ok(reply) => {
                        let winner_rtt = self.io.now().saturating_sub(batch_start);
                        for abandoned in &requests {
                            abandoned.server.record_cancelled(self.io.now(), winner_rtt);
                        }
                        return Ok(reply);
                    }
                    Err(current) => current,
                };
                let goes_on = match current {
                    NetError::Io { .. } | NetError::NoConnections | NetError::Timeout => true,
                    NetError::NoRecords { soa, .. } => is_old && !soa || self.version.is_before_25,
                    _ => false,
                };
                if !goes_on {
                    return Err(current);
                }
                error = most_specific(error, current, self.version);
            }
        }
    }

    /// One round; before 0.26 that is one over UDP, and then, if an answer is truncated or nobody can be asked,
    /// one over TCP.
    ///
    /// Source: hickory-resolver `src/name_server/name_server_pool.rs: NameServerPool::send`.
    async fn send(&self, query: &Query, round: u32) -> Result<Reply, NetError> {
        let first = self
            .try_send(&self.servers, query, (round.wrapping_mul(2), false))
            .await;
        match &first {
            Ok(reply) if reply.truncated => {}
            Err(NetError::NoConnections) if self.version.is_before_26 => {}
            _ => return first,
        }
        let streams = self.streams.get_or_init(|| {
            let servers = self.servers.iter().map(|it| it.server.clone());
            name_servers(self.io, servers.collect())
        });
        match self
            .try_send(streams, query, (round.wrapping_mul(2) + 1, true))
            .await
        {
            Err(_) if self.version.is_before_25 && first.is_ok() => first,
            second => second,
        }
    }

    /// Waits, perhaps, until what AAAA asks meanwhile is answered, which decides who is the fastest server then.
    pub(super) async fn fall_behind(&self, query: &Query) {
        let can_differ = self.lookups.get() > 1 && self.servers.len() > 1;
        if can_differ && query.record_type == RecordType::A && self.io.choose(2, BEHIND) == 1 {
            let until = self.io.now().saturating_add(BEHIND_DELAY);
            self.io.sleep(until).await;
        }
    }

    /// Draws which of these is the first, and so on; the same for both types where their times are
    /// measured together.
    fn draw_order(&self, equals: &mut [&NameServer], query: &Query, round: u32) {
        let numbers: Vec<usize> = equals.iter().map(|it| it.number).collect();
        let mut drawn = self.drawn.borrow_mut();
        let is_known = |it: &&Drawn| {
            let is_asked = it.record_type == query.record_type || !self.version.is_before_26;
            is_asked && it.round == round && it.name == query.name && it.among == numbers
        };
        let known = drawn.iter().find(is_known).map(|it| it.order.clone());
        let order = known.unwrap_or_else(|| {
            let order = draw(self.io, numbers.len(), MEASURED);
            drawn.push(Drawn {
                name: query.name.clone(),
                record_type: query.record_type,
                round,
                among: numbers,
                order: order.clone(),
            });
            order
        });
        let sorted = equals.to_vec();
        for (place, server) in order.into_iter().zip(equals) {
            *server = sorted.get(place).copied().unwrap_or(server);
        }
    }

    /// Source: hickory-resolver `src/name_server_pool.rs: sort_servers_by_query_statistics`.
    fn by_query_statistics<'s>(
        &self,
        servers: &'s [NameServer],
        query: &Query,
        round: u32,
    ) -> VecDeque<&'s NameServer> {
        let mut servers: Vec<&NameServer> = servers.iter().collect();
        if servers.len() > 1 {
            let now = self.io.now().saturating_add(TIMER_DELAY);
            servers.sort_by_cached_key(|server| server.decayed_srtt(now).to_bits());
            let equal = |one: &&NameServer, other: &&NameServer| {
                let apart = (one.decayed_srtt(now) - other.decayed_srtt(now)).abs();
                one.noise(now)
                    .zip(other.noise(now))
                    .is_some_and(|(one, other)| apart < f64::max(one, other))
            };
            for equals in servers.chunk_by_mut(equal).filter(|it| it.len() > 1) {
                equals.sort_by_key(|it| it.number);
                self.draw_order(equals, query, round);
            }
        }
        servers.into()
    }
}

/// The servers, each with a time that is drawn.
fn name_servers(io: &Io, servers: Vec<Server>) -> Vec<NameServer> {
    let ranks = ranks(io, servers.len());
    (servers.into_iter().zip(ranks).enumerate())
        .map(|(number, (server, rank))| NameServer::new(server, number, rank))
        .collect()
}

/// The place of each server in the order of the times that are drawn for them.
///
/// One place after the other is drawn: what differs then begins with the first server
/// that is another one.
///
/// Source: hickory-resolver `src/name_server.rs: NameServer::new`.
fn ranks(io: &Io, servers: usize) -> Vec<usize> {
    let order = draw(io, servers, DRAWN);
    let mut ranks: Vec<usize> = (0..servers).collect();
    ranks.sort_by_key(|place| order.get(*place).copied());
    ranks
}

/// An order of so many, drawn one place after the other.
fn draw(io: &Io, among: usize, why: &'static str) -> Vec<usize> {
    let mut order: Vec<usize> = (0..among).collect();
    for place in 0..among {
        let picked = place + io.choose(among - place, why);
        if let Some(turned) = order.get_mut(place..=picked) {
            turned.rotate_right(1);
        }
    }
    order
}

/// The first request that ends, of those that were woken together the first
/// in order; it is taken out.
///
/// Source: futures-util `FuturesUnordered`.
async fn next<'s, F: Future>(
    requests: &mut Vec<InFlight<'s, F>>,
) -> Option<(&'s NameServer, F::Output)> {
    poll_fn(|context| {
        for (index, in_flight) in requests.iter_mut().enumerate() {
            if let Poll::Ready(output) = in_flight.request.as_mut().poll(context) {
                let done = requests.remove(index);
                return Poll::Ready(Some((done.server, output)));
            }
        }
        if requests.is_empty() {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    })
    .await
}
