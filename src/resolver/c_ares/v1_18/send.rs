//! Sending queries, and the next server after a failure.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_query.c`, `src/lib/ares_send.c`,
//! `src/lib/ares_process.c`.

use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::io::ConnectError;
use crate::engine::message::{Because, Query as Message, Question, Reply, SocketId, Transport};
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::address::is_complete;
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_18::process::{Answered, Channel, Query, TcpSocket};
use crate::resolver::c_ares::v1_18::query::ares_create_query;

impl Channel {
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

    /// Sends to the current server; if that fails at once, to the next.
    pub(super) async fn send_query(&mut self, index: usize) {
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
    pub(super) async fn next_server(&mut self, index: usize) {
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
        let doubled = Some(self.timeout << shift.min(i32::BITS));
        let fitting = doubled.filter(|it| i32::try_from(*it).is_ok());
        Duration::from_millis(fitting.unwrap_or(self.timeout))
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_process.c: end_query`.
    pub(super) fn end_query(&mut self, index: usize, status: Status, reply: Option<Reply>) {
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
