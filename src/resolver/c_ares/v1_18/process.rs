//! A channel, and what it does when something comes.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_process.c`.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use crate::address::Server;
use crate::engine::io::{Arrival, Came, Io};
use crate::engine::message::{Because, QueryId, Question, Rcode, Reply, SocketId};
use crate::name::Name;
use crate::resolver::c_ares::address::answers_match;
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::last_sent;
use crate::resolver::c_ares::status::{Status, reply_status};
use crate::resolver::reading::Setting;

/// Lets what arrives at the same moment be read before a refused connection is noticed.
const SOON: Duration = Duration::from_nanos(1);

/// A channel: its servers and what is asked of them.
pub(in crate::resolver::c_ares) struct Channel {
    pub(super) io: Rc<Io>,
    pub(super) servers: Vec<ServerState>,
    /// In milliseconds.
    pub(super) timeout: u64,
    pub(super) tries: i32,
    pub(super) rotate: bool,
    pub(super) last_server: usize,
    pub(super) tcp_connection_generation: u32,
    pub(super) queries: Vec<Query>,
    /// `queries_by_timeout`: in the order in which they were sent last.
    pub(super) by_timeout: Vec<usize>,
    pub(super) sent: Vec<(QueryId, usize)>,
    pub(super) ended: VecDeque<Answered>,
}

/// A query that has ended: the arguments of its callback.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: Status,
    pub(super) reply: Option<Reply>,
    /// The name in the question.
    pub(super) name: Option<Name>,
}

pub(super) struct ServerState {
    pub(super) server: Server,
    pub(super) udp_socket: Option<SocketId>,
    pub(super) tcp_socket: Option<TcpSocket>,
    pub(super) tcp_connection_generation: u32,
    pub(super) queries_to_server: Vec<usize>,
}

#[derive(Clone, Copy)]
pub(super) struct TcpSocket {
    pub(super) id: SocketId,
    /// The port is closed, which is noticed when the socket is written to.
    pub(super) refused: bool,
}

pub(super) struct Query {
    pub(super) question: Question,
    pub(super) because: Because,
    pub(super) server: usize,
    pub(super) try_count: i32,
    pub(super) using_tcp: bool,
    pub(super) error_status: Status,
    pub(super) skip_server: Vec<bool>,
    pub(super) tcp_connection_generation: Vec<u32>,
    pub(super) timeout: Duration,
    pub(super) ended: bool,
}

impl Channel {
    pub(in crate::resolver::c_ares) fn new(io: Rc<Io>, config: &Config<'_>) -> Self {
        // Every server begins with a connection generation of its own.
        let state = |(generation, server): (u32, &Setting<Server>)| ServerState {
            server: server.value.clone(),
            udp_socket: None,
            tcp_socket: None,
            tcp_connection_generation: generation,
            queries_to_server: Vec::new(),
        };
        let servers: Vec<ServerState> = (1..).zip(&config.reading.servers).map(state).collect();
        Self {
            io,
            tcp_connection_generation: u32::try_from(servers.len()).unwrap_or(u32::MAX),
            servers,
            timeout: config.timeout(),
            tries: i32::try_from(config.reading.attempts.value).unwrap_or(i32::MAX),
            rotate: config.rotate(),
            last_server: 0,
            queries: Vec::new(),
            by_timeout: Vec::new(),
            sent: Vec::new(),
            ended: VecDeque::new(),
        }
    }

    /// The next query that ends. The sockets stay open: they are closed only
    /// when no query is left, and then nothing is asked any more.
    pub(super) async fn next_answer(&mut self) -> Answered {
        loop {
            if let Some(answered) = self.ended.pop_front() {
                return answered;
            }
            self.processfds().await;
        }
    }

    /// Waits until something comes or a query has waited long enough.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: processfds`.
    async fn processfds(&mut self) {
        let refused = self
            .servers
            .iter()
            .position(|server| server.tcp_socket.is_some_and(|socket| socket.refused));
        let until = match refused {
            Some(_) => Some(self.io.now() + SOON),
            None => self
                .by_timeout
                .iter()
                .filter_map(|&query| Some(self.queries.get(query)?.timeout))
                .min(),
        };
        let sockets: Vec<SocketId> = self
            .servers
            .iter()
            .flat_map(|server| {
                server
                    .udp_socket
                    .into_iter()
                    .chain(server.tcp_socket.map(|tcp| tcp.id))
            })
            .collect();
        match (self.io.receive(&sockets, until).await, refused) {
            (Some(arrival), _) => self.read_packet(arrival).await,
            (None, Some(server)) => self.handle_error(server).await,
            (None, None) => {}
        }
        self.process_timeouts().await;
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: read_tcp_data, read_udp_packets`.
    async fn read_packet(&mut self, arrival: Arrival) {
        let Some(which) = self.servers.iter().position(|server| {
            server.udp_socket == Some(arrival.socket)
                || server
                    .tcp_socket
                    .is_some_and(|tcp| tcp.id == arrival.socket)
        }) else {
            return;
        };
        let Some(server) = self.servers.get(which) else {
            return;
        };
        let tcp = server.udp_socket != Some(arrival.socket);
        match arrival.what {
            Came::Refused | Came::Closed | Came::Reset => self.handle_error(which).await,
            // Someone may be attempting to poison the cache.
            Came::Reply(_) if !answers_match(&server.server.address) && !tcp => {}
            Came::Reply(reply) => self.process_answer(arrival.query, reply, which, tcp).await,
        }
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: process_timeouts`.
    async fn process_timeouts(&mut self) {
        let now = self.io.now();
        for index in self.by_timeout.clone() {
            if let Some(query) = self.queries.get_mut(index)
                && !query.ended
                && query.timeout <= now
            {
                query.error_status = Status::Timeout;
                self.next_server(index).await;
            }
        }
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: process_answer`.
    async fn process_answer(&mut self, id: QueryId, reply: Reply, which: usize, tcp: bool) {
        let Some(index) = last_sent(&self.sent, id) else {
            return;
        };
        let Some(query) = self.queries.get_mut(index) else {
            return;
        };
        if query.ended {
            return;
        }
        if reply.truncated && !tcp {
            if !query.using_tcp {
                query.using_tcp = true;
                self.send_query(index).await;
            }
            return;
        }
        if matches!(
            reply.rcode,
            Rcode::ServFail | Rcode::NotImp | Rcode::Refused
        ) {
            let is_current = query.server == which;
            self.skip_server(index, which);
            if is_current {
                self.next_server(index).await;
            }
            return;
        }
        self.end_query(index, reply_status(&reply), Some(reply));
    }

    /// All queries to a server move on when one of its sockets fails.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: handle_error`,
    /// `src/lib/ares__close_sockets.c: ares__close_sockets`.
    async fn handle_error(&mut self, which: usize) {
        let Some(server) = self.servers.get_mut(which) else {
            return;
        };
        if let Some(tcp) = server.tcp_socket.take() {
            self.io.close(tcp.id);
            self.tcp_connection_generation += 1;
            server.tcp_connection_generation = self.tcp_connection_generation;
        }
        if let Some(udp) = server.udp_socket.take() {
            self.io.close(udp);
        }
        for index in std::mem::take(&mut server.queries_to_server) {
            self.skip_server(index, which);
            self.next_server(index).await;
        }
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: skip_server`.
    pub(super) fn skip_server(&mut self, index: usize, which: usize) {
        if self.servers.len() > 1
            && let Some(query) = self.queries.get_mut(index)
            && let Some(skip) = query.skip_server.get_mut(which)
        {
            *skip = true;
        }
    }
}
