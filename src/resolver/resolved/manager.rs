//! The daemon: its state and its event loop.
//!
//! Source: systemd `src/resolve/resolved-manager.c`.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::time::Duration;

use crate::engine::io::{Arrival, Io};
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, SocketId};
use crate::name::Name;
use crate::resolver::resolved::Version;
use crate::resolver::resolved::dns_cache::DnsCache;
use crate::resolver::resolved::dns_query::DnsQuery;
use crate::resolver::resolved::dns_server::DnsServer;
use crate::resolver::resolved::dns_stream::DnsStream;
use crate::resolver::resolved::dns_stub::StubReply;
use crate::resolver::resolved::event::{Arriving, Event, Timer, Timers, next_pending};
use crate::resolver::resolved::pool::Pool;
use crate::resolver::resolved::read::Configuration;
use crate::resolver::resolved::transaction::{DnsTransaction, Key, State};

/// systemd-resolved with its only scope, the global one of unicast DNS.
///
/// Transactions, queries and streams are never taken out: they are called by
/// their index.
#[derive(Debug)]
pub(super) struct Manager<'c> {
    /// Sockets and clock.
    pub io: Rc<Io>,
    /// What it does as its version does it.
    pub version: Version,
    /// Servers, domains, hosts file and host name as they were read.
    pub configuration: &'c Configuration,
    /// The servers, in their order.
    pub servers: Pool<DnsServer>,
    /// Which one is used; `None` before the first use.
    pub current_dns_server: Option<usize>,
    /// Answers of servers, for further questions.
    pub cache: DnsCache,
    /// Questions to servers.
    pub transactions: Pool<DnsTransaction>,
    /// Questions of clients.
    pub queries: Pool<DnsQuery>,
    /// TCP connections.
    pub streams: Pool<DnsStream>,
    /// The timers that run.
    pub timers: Timers,
    /// What arrived and is not yet served.
    pub arriving: Arriving,
    /// When the kernel is ready to take what waits to be written.
    pub serve_streams_at: Option<Duration>,
    /// Transactions that have ended, and whose queries have not been called back yet.
    pub completed_transactions: VecDeque<usize>,
    /// Queries that have ended, and whose clients have no answer yet.
    pub completed_queries: VecDeque<usize>,
    /// What the Varlink client gets.
    pub varlink_reply: Option<Outcome>,
    /// What clients of the stub get.
    pub stub_replies: VecDeque<StubReply>,
}

/// Replies that come closer to each other come together. Ours.
pub(super) const SOON: Duration = Duration::from_nanos(1);
/// So many turns of the loop a reply of a prompt server can be late. Ours.
const LATE: u32 = 1;
/// What is left to chance, in sentences.
const EITHER_ARRIVED: &str =
    "answers for A and AAAA that come together are served in either order by systemd-resolved";
const ANSWERED_FIRST: &str = "AAAA is not asked if A's answer comes before systemd-resolved reads the client's second query: NXDOMAIN is then in the cache";
const EITHER_DUE: &str =
    "time-outs of A and AAAA that are over together are served in either order by systemd-resolved";

impl<'c> Manager<'c> {
    /// Source: `manager_new`, `manager_start`.
    pub(super) fn new(io: Rc<Io>, version: Version, configuration: &'c Configuration) -> Self {
        let mut servers = Pool::new(DnsServer::new(&IpAddr::V4(Ipv4Addr::UNSPECIFIED).into()));
        for server in &configuration.file.reading.servers {
            servers.push(DnsServer::new(&server.value));
        }
        Self {
            io,
            version,
            configuration,
            servers,
            current_dns_server: None,
            cache: DnsCache::default(),
            transactions: Pool::new(DnsTransaction::new(Key::default(), Because::AsIs)),
            queries: Pool::new(DnsQuery::new(Name::root(), Name::root(), &[])),
            streams: Pool::new(DnsStream::default()),
            timers: Timers::default(),
            arriving: Arriving::default(),
            serve_streams_at: None,
            completed_transactions: VecDeque::new(),
            completed_queries: VecDeque::new(),
            varlink_reply: None,
            stub_replies: VecDeque::new(),
        }
    }

    /// How many questions wait for a server.
    pub(super) fn waiting(&self) -> usize {
        let waits = |it: &&DnsTransaction| !it.freed && it.state == State::Pending;
        self.transactions.iter().filter(waits).count()
    }

    /// What the loop serves next; `None` at `until`.
    pub(super) async fn next_event(&mut self, until: Option<Duration>) -> Option<Event> {
        let is_open = |socket: SocketId| {
            let mut udp = self.transactions.iter().map(|it| it.udp_socket);
            let mut tcp = self.streams.iter().map(|it| it.socket);
            udp.any(|it| it == Some(socket)) || tcp.any(|it| it == Some(socket))
        };
        let arrived = |it: &Arrival| is_open(it.socket);
        self.arriving.retain(|it| it.socket().is_none_or(is_open));
        if self.arriving.len() == 0 {
            let first = Event::Arrival(self.io.receive_any(arrived, until).await?);
            if self.waiting() < 2 {
                return Some(first);
            }
            self.arriving.push(first, LATE);
        }
        let soon = Some(self.io.now() + SOON);
        while let Some(next) = self.io.receive_any(arrived, soon).await {
            self.arriving.push(Event::Arrival(next), LATE);
        }
        if self.arriving.len() == 1 {
            return self.arriving.serve(0);
        }
        // The lot falls on a question, not on a place in the queue.
        let question = |event: &Event| match event {
            Event::Stub(_) => None,
            Event::Arrival(it) => self.transactions.find(|t| t.sent.contains(&it.query)),
        };
        let mut next = self.arriving.next();
        next.sort_by_key(|(_, found, event)| (*found, question(event)));
        let asks = next.iter().any(|(.., event)| event.socket().is_none());
        let why = if asks { ANSWERED_FIRST } else { EITHER_ARRIVED };
        let (place, ..) = *next.get(self.io.choose(next.len(), why))?;
        drop(next);
        self.arriving.serve(place)
    }

    /// When the loop wakes up if nothing arrives.
    pub(super) fn wake_at(&self) -> Option<Duration> {
        let streams = self.serve_streams_at;
        match (self.timers.wake_at(), streams) {
            (Some(timers), Some(streams)) => Some(timers.min(streams)),
            (timers, streams) => timers.or(streams),
        }
    }

    /// One turn of the event loop: serves `event` and the timers that are due.
    /// Without an event something else has woken it: another client, a change
    /// of the host name. On a machine where things happen that is sooner than
    /// the timers do it by themselves.
    ///
    /// Source: `src/libsystemd/sd-event/sd-event.c: sd_event_run`.
    pub(super) async fn run(&mut self, event: Option<Event>) {
        let mut timers = self.timers.due(self.io.now());
        if let [Timer::Transaction(one), Timer::Transaction(other)] = timers.as_mut_slice() {
            let mut both = [*one.min(other), *one.max(other)];
            both.rotate_left(self.io.choose(2, EITHER_DUE));
            [*one, *other] = both;
        }
        match event {
            Some(Event::Arrival(arrival)) => self.on_arrival(arrival).await,
            Some(Event::Stub(packet)) => self.dns_stub_process_query(packet).await,
            None => {}
        }
        self.settle().await;
        // The event stood before them in the queue.
        let last = timers.pop();
        timers.splice(..0, last);
        self.drop_stopped_timers(&mut timers);
        while let Some(timer) = next_pending(&mut timers) {
            self.on_timer(timer).await;
            self.settle().await;
            self.drop_stopped_timers(&mut timers);
        }
        self.connect_streams().await;
        if self.serve_streams_at.is_some_and(|at| at <= self.io.now()) {
            self.serve_streams();
        }
    }

    /// A timer that was stopped or set anew leaves the queue.
    fn drop_stopped_timers(&self, pending: &mut Vec<Timer>) {
        let now = self.io.now();
        let stopped = |timer: &Timer| !self.timers.is_due(*timer, now);
        while let Some(index) = pending.iter().position(stopped) {
            pending.swap_remove(index);
        }
    }

    /// Tells those who wait that transactions and queries have ended. The
    /// source calls them back at once; nothing happens in between.
    pub(super) async fn settle(&mut self) {
        loop {
            if let Some(transaction) = self.completed_transactions.pop_front() {
                self.dns_transaction_notify_candidates(transaction).await;
            } else if let Some(query) = self.completed_queries.pop_front() {
                self.dns_query_completed(query).await;
            } else {
                return;
            }
        }
    }

    async fn on_arrival(&mut self, arrival: Arrival) {
        let of_stream = |stream: &DnsStream| stream.socket == Some(arrival.socket);
        if let Some(stream) = self.streams.find(of_stream) {
            return self.on_stream_io(stream, arrival).await;
        }
        let of_transaction = |it: &DnsTransaction| it.udp_socket == Some(arrival.socket);
        if let Some(transaction) = self.transactions.find(of_transaction) {
            self.on_dns_packet(transaction, arrival).await;
        }
    }

    async fn on_timer(&mut self, timer: Timer) {
        self.timers.stop(timer);
        match timer {
            Timer::Transaction(transaction) => self.on_transaction_timeout(transaction).await,
            Timer::Candidate(query) => self.on_candidate_timeout(query),
            Timer::Query(query) => self.on_query_timeout(query),
            Timer::Stream(stream) => self.on_stream_timeout(stream).await,
        }
    }

    /// The server to use, if there is one at all.
    ///
    /// Source: `resolved-dns-server.c: manager_get_dns_server`.
    pub(super) fn get_dns_server(&mut self) -> Option<usize> {
        if self.current_dns_server.is_none() && self.servers.len() > 0 {
            self.set_dns_server(0);
        }
        self.current_dns_server
    }

    /// Source: `resolved-dns-server.c: manager_set_dns_server`.
    fn set_dns_server(&mut self, server: usize) {
        if self.current_dns_server != Some(server) {
            self.current_dns_server = Some(server);
            self.cache.flush();
        }
    }

    /// Goes to the next server, if `if_current` is still the one in use.
    ///
    /// Source: `resolved-dns-server.c: manager_next_dns_server`.
    pub(super) fn next_dns_server(&mut self, if_current: Option<usize>) {
        let Some(current) = self.current_dns_server else {
            return;
        };
        let moves = if_current.is_none_or(|server| server == current);
        if moves || self.version.is_before_248 {
            let next = current + 1;
            self.set_dns_server(if next < self.servers.len() { next } else { 0 });
        }
    }
}
