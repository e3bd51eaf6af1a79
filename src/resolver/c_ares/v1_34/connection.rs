//! Connections of a channel, UDP sockets included.
//!
//! Source: c-ares 1.34 `src/lib/ares_conn.c`, `src/lib/ares_close_sockets.c`.

use crate::engine::io::ConnectError;
use crate::engine::message::{SocketId, Transport};
use crate::resolver::c_ares::address::is_complete;
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_34::channel::{Channel, Qid, Requeue};
use crate::resolver::c_ares::v1_34::version::Retires;

/// `struct ares_conn`.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: SocketId,
    /// Index of its server.
    pub(super) server: usize,
    pub(super) transport: Transport,
    /// A query has timed out on it.
    pub(super) has_lost: bool,
    /// The port is closed, which is noticed at the next event.
    pub(super) refused: bool,
    /// `queries_to_conn`.
    pub(super) queries: Vec<Qid>,
}

impl Channel<'_> {
    /// The connection that a query to `server` can use: the TCP one, or the
    /// newest UDP one.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_fetch_connection`.
    pub(super) fn ares_fetch_connection(
        &self,
        server: usize,
        transport: Transport,
    ) -> Option<SocketId> {
        let mut connections = self
            .connections
            .iter()
            .filter(|connection| connection.server == server);
        let connection = match transport {
            Transport::Tcp => {
                connections.find(|connection| connection.transport == Transport::Tcp)?
            }
            Transport::Udp => connections.next().filter(|connection| {
                let is_retired = match self.version.retires {
                    Retires::Never => false,
                    Retires::WithServer => self.has_failed(server),
                    Retires::WithQuery => connection.has_lost,
                };
                connection.transport == Transport::Udp && !is_retired
            })?,
        };
        Some(connection.socket)
    }

    /// Source: c-ares 1.34 `src/lib/ares_conn.c: ares_open_connection`.
    pub(super) async fn ares_open_connection(
        &mut self,
        server: usize,
        transport: Transport,
    ) -> Result<SocketId, ConnectError> {
        let address = match self.servers.get(server) {
            Some(state) if is_complete(&state.server.address) => state.server.clone(),
            _ => return Err(ConnectError::Unreachable),
        };
        let (socket, refused) = match self.io.connect(&address, transport).await {
            Ok(socket) => (socket, false),
            // `connect` does not wait for the answer.
            Err(ConnectError::Refused) => (self.io.socket(), true),
            Err(error @ ConnectError::Unreachable) => return Err(error),
        };
        let connection = Connection {
            socket,
            server,
            transport,
            has_lost: false,
            refused,
            queries: Vec::new(),
        };
        match transport {
            Transport::Udp => self.connections.insert(0, connection),
            Transport::Tcp => self.connections.push(connection),
        }
        Ok(socket)
    }

    pub(super) fn connection(&mut self, socket: SocketId) -> Option<&mut Connection> {
        self.connections
            .iter_mut()
            .find(|connection| connection.socket == socket)
    }

    /// Counts a failure and closes the connection; its queries are sent again.
    /// They are collected first, which changes nothing: none of them depends
    /// on what becomes of another.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: handle_conn_error`,
    /// `src/lib/ares_close_sockets.c: ares_close_connection`.
    pub(super) async fn handle_conn_error(&mut self, socket: SocketId) {
        let Some(connection) = self.connection(socket) else {
            return;
        };
        let server = connection.server;
        let queries = std::mem::take(&mut connection.queries);
        self.server_increment_failures(server);
        let status = (self.version.tells_refused).then_some(Status::ConnRefused);
        let mut requeue = Vec::new();
        for qid in queries {
            self.ares_requeue_query(qid, status, None, &mut requeue);
        }
        self.connections
            .retain(|connection| connection.socket != socket);
        self.io.close(socket);
        self.ares_flush_requeue(requeue).await;
    }

    /// Closes connections that no query waits on.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_close_sockets.c: ares_check_cleanup_conns`.
    pub(super) fn ares_check_cleanup_conns(&mut self) {
        let io = &self.io;
        let touched = std::mem::take(&mut self.touched);
        self.connections.retain(|connection| {
            let is_looked_at = self.version.closes_all_idle || touched.contains(&connection.socket);
            let is_idle = is_looked_at && connection.queries.is_empty();
            if is_idle {
                io.close(connection.socket);
            }
            !is_idle
        });
    }

    /// Takes a query off its connection; then it cannot time out, either.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_query_remove_from_conn`.
    pub(super) fn ares_query_remove_from_conn(&mut self, qid: Qid) {
        self.by_timeout.retain(|&other| other != qid);
        self.leave_connection(qid);
        if let Some(query) = self.query(qid) {
            query.connection = None;
        }
    }

    /// Takes a query out of `queries_to_conn`.
    pub(super) fn leave_connection(&mut self, qid: Qid) {
        for connection in &mut self.connections {
            connection.queries.retain(|&other| other != qid);
        }
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_append_requeue_int`.
    pub(super) fn append_requeue(&mut self, entry: Requeue, requeue: &mut Vec<Requeue>) {
        self.ares_query_remove_from_conn(entry.qid());
        requeue.push(entry);
    }
}
