//! Sending a query: to which server, on which connection, and until when it waits.
//!
//! Source: c-ares 1.34 `src/lib/ares_process.c`.

use crate::engine::message::{Edns, Query as Message, SocketId, Transport};
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_34::channel::{Channel, Qid, Requeue};
use crate::resolver::c_ares::v1_34::server::Moment;
use crate::resolver::c_ares::v1_34::version::TriesFailed;

/// The option of DNS cookies (RFC 7873).
const COOKIE: &[u16] = &[10];

impl Channel<'_> {
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_send_query_int`.
    pub(super) async fn ares_send_query_int(
        &mut self,
        requested: Option<usize>,
        qid: Qid,
        now: Moment,
        requeue: &mut Vec<Requeue>,
    ) {
        let Some(transport) = self.query(qid).map(|query| query.transport) else {
            return;
        };
        let server = requested.unwrap_or_else(|| self.choose_server());
        let probes = self.version.probes_beside_failures || !self.has_failed(server);
        let socket = match self.ares_fetch_connection(server, transport) {
            Some(socket) if self.fails_to_write(socket, transport).await => Err(None),
            Some(socket) => Ok(socket),
            None => {
                let opened = self.ares_open_connection(server, transport).await;
                opened.map_err(|_| Some(Status::ConnRefused))
            }
        };
        let socket = match socket {
            Ok(socket) => socket,
            Err(status) => {
                self.server_increment_failures(server);
                self.ares_requeue_query(qid, status, None, requeue);
                if !self.version.lists_all_retries {
                    let own = requeue.pop().into_iter().collect();
                    Box::pin(self.flush_at(own, now)).await;
                }
                return;
            }
        };
        self.write(qid, server, socket, now);
        let timeout = (now.0 + self.ares_calc_query_timeout(qid, server), now.1);
        let is_first = self.query(qid).is_some_and(|query| query.try_count == 0);
        if let Some(query) = self.query(qid) {
            query.ts = now;
            query.timeout = timeout;
            query.connection = Some(socket);
        }
        self.insert_by_timeout(qid, timeout);
        self.leave_connection(qid);
        if let Some(connection) = self.connection(socket) {
            connection.queries.push(qid);
        }
        let probes = probes && self.version.tries_failed == TriesFailed::Beside;
        if requested.is_none() && is_first && probes {
            Box::pin(self.ares_probe_failed_server(server, qid)).await;
        }
    }

    /// Whether a datagram cannot be written because an earlier one was refused. Later versions
    /// then close the connection, as they do when they read that.
    async fn fails_to_write(&self, socket: SocketId, transport: Transport) -> bool {
        let is_told = self.version.tells_refused || transport == Transport::Tcp;
        !is_told && self.io.is_refused(socket).await
    }

    /// Before equal ones, as the source's list has it.
    ///
    /// Source: c-ares 1.34 `src/lib/dsa/ares_slist.c: ares_slist_node_push`.
    fn insert_by_timeout(&mut self, qid: Qid, timeout: Moment) {
        self.by_timeout.retain(|&other| other != qid);
        let later = |&other: &Qid| {
            let query = self.queries.iter().find(|query| query.qid == other);
            query.is_some_and(|query| query.timeout >= timeout)
        };
        let at = self
            .by_timeout
            .iter()
            .position(later)
            .unwrap_or(self.by_timeout.len());
        self.by_timeout.insert(at, qid);
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_conn_query_write`.
    fn write(&mut self, qid: Qid, server: usize, socket: SocketId, now: Moment) {
        let refused = self
            .connection(socket)
            .is_some_and(|connection| connection.refused);
        let Some(state) = self.servers.get_mut(server) else {
            return;
        };
        let Some(query) = self.queries.iter_mut().find(|query| query.qid == qid) else {
            return;
        };
        query.cookie = query.edns && query.transport == Transport::Udp && state.cookie_apply(now);
        if refused {
            return;
        }
        let id = self.io.send(Message {
            server: state.server.clone(),
            question: query.question.clone(),
            transport: query.transport,
            socket,
            edns: query.edns.then_some(Edns {
                size: self.config.flags.edns_size,
                dnssec_ok: false,
                options: if query.cookie { COOKIE } else { &[] },
            }),
            authentic_data: false,
            because: query.because.clone(),
        });
        self.sent.push((id, qid));
    }
}
