//! Sending queries and waiting for their answers.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_process.c`, `src/lib/ares_send.c`.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::Server;
use crate::engine::io::{Arrival, Came, ConnectError, Io};
use crate::engine::message::{
    Because, Query as Message, QueryId, Question, Rcode, Reply, SocketId, Transport,
};
use crate::name::Name;
use crate::resolver::c_ares::address::{answers_match, is_complete};
use crate::resolver::c_ares::status::{Status, reply_status};
use crate::resolver::c_ares::v1_18::init::Config;
use crate::resolver::c_ares::v1_18::query::{Candidate, ares_create_query};
use crate::resolver::reading::Setting;

/// Lets what arrives at the same moment be read before a refused connection is noticed.
const SOON: Duration = Duration::from_nanos(1);

/// A channel: its servers and what is asked of them.
pub(super) struct Channel {
    io: Rc<Io>,
    servers: Vec<ServerState>,
    timeout: i32,
    tries: i32,
    rotate: bool,
    last_server: usize,
    tcp_connection_generation: u32,
    queries: Vec<Query>,
    /// `queries_by_timeout`: in the order in which they were sent last.
    by_timeout: Vec<usize>,
    sent: Vec<(QueryId, usize)>,
    ended: VecDeque<Answered>,
}

/// A query that has ended: the arguments of its callback.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: Status,
    pub(super) reply: Option<Reply>,
    /// The name in the question.
    pub(super) name: Option<Name>,
}

struct ServerState {
    server: Server,
    udp_socket: Option<SocketId>,
    tcp_socket: Option<TcpSocket>,
    tcp_connection_generation: u32,
    queries_to_server: Vec<usize>,
}

#[derive(Clone, Copy)]
struct TcpSocket {
    id: SocketId,
    /// The port is closed, which is noticed when the socket is written to.
    refused: bool,
}

struct Query {
    question: Question,
    because: Because,
    server: usize,
    try_count: i32,
    using_tcp: bool,
    error_status: Status,
    skip_server: Vec<bool>,
    tcp_connection_generation: Vec<u32>,
    timeout: Duration,
    ended: bool,
}

impl Channel {
    pub(super) fn new(io: Rc<Io>, config: &Config<'_>) -> Self {
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
            timeout: config.timeout,
            tries: config.tries,
            rotate: config.rotate,
            last_server: 0,
            queries: Vec::new(),
            by_timeout: Vec::new(),
            sent: Vec::new(),
            ended: VecDeque::new(),
        }
    }

    /// Asks for records; [`Channel::next_answer`] tells how it ended.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_query.c: ares_query`.
    pub(super) async fn ares_query(&mut self, candidate: Candidate, record_type: RecordType) {
        match ares_create_query(&candidate.name, record_type) {
            Ok(question) => self.ares_send(question, candidate.because).await,
            Err(status) => self.ended.push_back(Answered {
                status,
                reply: None,
                name: None,
            }),
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

    /// Source: c-ares 1.18.1 `src/lib/ares_send.c: ares_send`.
    async fn ares_send(&mut self, question: Question, because: Because) {
        let server = self.last_server;
        if self.rotate {
            self.last_server = (self.last_server + 1) % self.servers.len().max(1);
        }
        self.queries.push(Query {
            question,
            because,
            server,
            try_count: 0,
            using_tcp: false,
            error_status: Status::ConnRefused,
            skip_server: vec![false; self.servers.len()],
            tcp_connection_generation: vec![0; self.servers.len()],
            timeout: Duration::ZERO,
            ended: false,
        });
        self.send_query(self.queries.len() - 1).await;
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
            Came::Refused | Came::Closed => self.handle_error(which).await,
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
        let found = self
            .sent
            .iter()
            .find(|(sent, _)| *sent == id)
            .map(|(_, index)| *index);
        let Some((index, query)) =
            found.and_then(|index| Some((index, self.queries.get_mut(index)?)))
        else {
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
    fn skip_server(&mut self, index: usize, which: usize) {
        if self.servers.len() > 1
            && let Some(query) = self.queries.get_mut(index)
            && let Some(skip) = query.skip_server.get_mut(which)
        {
            *skip = true;
        }
    }

    /// Sends to the current server; if that fails at once, to the next.
    async fn send_query(&mut self, index: usize) {
        if self.try_server(index).await.is_err() {
            let which = self.queries.get(index).map_or(0, |query| query.server);
            self.skip_server(index, which);
            self.next_server(index).await;
        }
    }

    /// Each server is to be tried `tries` times; those that gave trouble are
    /// passed over, but count.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: next_server`.
    async fn next_server(&mut self, index: usize) {
        let count = self.servers.len().max(1);
        let attempts = i32::try_from(count)
            .unwrap_or(i32::MAX)
            .wrapping_mul(self.tries);
        loop {
            let Some(query) = self.queries.get_mut(index) else {
                return;
            };
            query.try_count += 1;
            if query.try_count >= attempts {
                return self.end_query(index, self.error_status(index), None);
            }
            query.server = (query.server + 1) % count;
            let which = query.server;
            let skipped = query.skip_server.get(which) == Some(&true);
            let generation = query.tcp_connection_generation.get(which).copied();
            let same_connection = query.using_tcp
                && generation
                    == self
                        .servers
                        .get(which)
                        .map(|server| server.tcp_connection_generation);
            if skipped || same_connection {
                continue;
            }
            if self.try_server(index).await.is_ok() {
                return;
            }
            self.skip_server(index, which);
        }
    }

    fn error_status(&self, index: usize) -> Status {
        self.queries
            .get(index)
            .map_or(Status::ConnRefused, |query| query.error_status)
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: ares__send_query`.
    async fn try_server(&mut self, index: usize) -> Result<(), ConnectError> {
        let Some((which, using_tcp)) = self
            .queries
            .get(index)
            .map(|query| (query.server, query.using_tcp))
        else {
            return Ok(());
        };
        let transport = if using_tcp {
            Transport::Tcp
        } else {
            Transport::Udp
        };
        let socket = self.open_socket(which, transport).await?;
        let timeout = self.io.now() + self.timeplus(index);
        let (Some(query), Some(server)) =
            (self.queries.get_mut(index), self.servers.get_mut(which))
        else {
            return Ok(());
        };
        if let Some(generation) = query
            .tcp_connection_generation
            .get_mut(which)
            .filter(|_| using_tcp)
        {
            *generation = server.tcp_connection_generation;
        }
        if let Some(socket) = socket {
            let id = self.io.send(Message {
                server: server.server.clone(),
                question: query.question.clone(),
                transport,
                socket,
                edns: None,
                authentic_data: false,
                because: query.because.clone(),
            });
            self.sent.push((id, index));
        }
        query.timeout = timeout;
        self.forget(index);
        self.by_timeout.push(index);
        if let Some(server) = self.servers.get_mut(which) {
            server.queries_to_server.push(index);
        }
        Ok(())
    }

    /// The server's socket, or `None` if its TCP port has turned out closed.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: open_tcp_socket, open_udp_socket`.
    async fn open_socket(
        &mut self,
        which: usize,
        transport: Transport,
    ) -> Result<Option<SocketId>, ConnectError> {
        let Some(server) = self.servers.get_mut(which) else {
            return Ok(None);
        };
        if !is_complete(&server.server.address) {
            return Err(ConnectError::Unreachable);
        }
        if transport == Transport::Udp {
            let socket = match server.udp_socket {
                Some(socket) => socket,
                None => self.io.connect(&server.server, transport).await?,
            };
            server.udp_socket = Some(socket);
            return Ok(Some(socket));
        }
        if let Some(tcp) = server.tcp_socket {
            return Ok((!tcp.refused).then_some(tcp.id));
        }
        let tcp = match self.io.connect(&server.server, transport).await {
            Ok(id) => TcpSocket { id, refused: false },
            // `connect` does not wait for the answer.
            Err(ConnectError::Refused) => TcpSocket {
                id: self.io.socket(),
                refused: true,
            },
            Err(error @ ConnectError::Unreachable) => return Err(error),
        };
        self.tcp_connection_generation += 1;
        server.tcp_connection_generation = self.tcp_connection_generation;
        server.tcp_socket = Some(tcp);
        Ok((!tcp.refused).then_some(tcp.id))
    }

    /// The time-out, doubled for each round through all servers as long as it
    /// fits an `int`.
    fn timeplus(&self, index: usize) -> Duration {
        let count = i32::try_from(self.servers.len()).unwrap_or(i32::MAX).max(1);
        let tried = self.queries.get(index).map_or(0, |query| query.try_count);
        let shift = u32::try_from(tried / count).unwrap_or(0);
        let fits = shift < i32::BITS && self.timeout.checked_shr(i32::BITS - 1 - shift) == Some(0);
        let milliseconds = if fits {
            self.timeout << shift
        } else {
            self.timeout
        };
        Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0))
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: end_query`.
    fn end_query(&mut self, index: usize, status: Status, reply: Option<Reply>) {
        self.forget(index);
        if let Some(query) = self.queries.get_mut(index) {
            query.ended = true;
            let name = match &query.question {
                Question::Asked(name, _) => Some(name.clone()),
                Question::Malformed(_) => None,
            };
            self.ended.push_back(Answered {
                status,
                reply,
                name,
            });
        }
    }

    /// Takes a query out of all lists.
    fn forget(&mut self, index: usize) {
        self.by_timeout.retain(|&other| other != index);
        for server in &mut self.servers {
            server.queries_to_server.retain(|&other| other != index);
        }
    }
}
