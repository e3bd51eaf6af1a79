//! Events: answers, errors, time-outs, and sending again.
//!
//! Source: c-ares 1.34 `src/lib/ares_process.c`.

use std::time::Duration;

use crate::engine::io::{Arrival, Came, ConnectError};
use crate::engine::message::{Edns, Query as Message, QueryId, Rcode, Reply, SocketId, Transport};
use crate::resolver::c_ares::address::answers_match;
use crate::resolver::c_ares::last_sent;
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_34::channel::{Callback, Channel, Qid, Query, Requeue};
use crate::resolver::c_ares::v1_34::server::Moment;

/// The option of DNS cookies (RFC 7873).
const COOKIE: &[u16] = &[10];
/// What is left to chance, in sentences.
const READ_LATER: &str = "c-ares reads answers for A and AAAA together, or acts on the first one before it reads the second";
const READ_BETWEEN: &str = "c-ares reads the answer to AAAA before or after one to an A query that it sent again, or the other way round";
const TIMED_OUT_LATER: &str = "c-ares serves time-outs of A and AAAA together, or the second one after the first one's answer";
/// Lets what arrives at the same moment be read before a refused connection is noticed.
const SOON: Duration = Duration::from_nanos(1);

impl Channel<'_> {
    /// Waits until something comes or a query times out. Callbacks have been
    /// called by now, so that idle connections of the last round can be closed.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_process_fds_nolock`.
    pub(super) async fn ares_process(&mut self) {
        self.ares_check_cleanup_conns();
        let refused = self
            .connections
            .iter()
            .find(|connection| connection.refused);
        let refused = refused.map(|connection| connection.socket);
        let first = self.by_timeout.first().copied();
        let until = match refused {
            Some(_) => Some(self.io.now() + SOON),
            None => {
                let due = first.and_then(|qid| Some(self.query(qid)?.timeout.0));
                due.map(|due| self.looks_at(due).max(self.served_at + SOON))
            }
        };
        let sockets: Vec<SocketId> = self
            .connections
            .iter()
            .map(|connection| connection.socket)
            .collect();
        let (sockets, until) = match &self.unread {
            Some(unread) => {
                let others = sockets.into_iter().filter(|it| *it != unread.socket);
                (others.collect(), Some(self.io.now() + SOON))
            }
            None => (sockets, until),
        };
        let mut arrival = self.io.receive(&sockets, until).await;
        if arrival.is_none() || self.unread.is_some() && self.io.choose(2, READ_BETWEEN) == 1 {
            arrival = std::mem::replace(&mut self.unread, arrival);
        }
        match (arrival, refused) {
            (Some(arrival), _) => self.process_read(arrival).await,
            (None, Some(socket)) => self.handle_conn_error(socket).await,
            (None, None) => {}
        }
        // Callbacks come first: they can end the retries of others.
        if !self.has_answered() {
            self.process_timeouts().await;
        }
    }

    /// When a time-out that is due at `due` is seen: at the next tick of a program
    /// that looks now and then.
    fn looks_at(&self, due: Duration) -> Duration {
        let Some(tick) = self.config.flags.tick else {
            return due;
        };
        let ticks = due.as_nanos() / tick.as_nanos() + 1;
        tick * u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    /// Reads all that has come on a connection before anything is done about
    /// it: of two answers that come together, the second one is judged while
    /// the first one's callback still waits.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: process_read, read_answers`.
    async fn process_read(&mut self, first: Arrival) {
        let socket = first.socket;
        let mut requeue = Vec::new();
        let mut next = Some(first);
        while let Some(arrival) = next {
            let Came::Reply(reply) = arrival.what else {
                self.ares_flush_requeue(requeue).await;
                return self.handle_conn_error(socket).await;
            };
            self.read_answer(socket, arrival.query, reply, &mut requeue);
            let soon = Some(self.io.now() + SOON);
            next = self.io.receive(&[socket], soon).await;
            if next.is_some() && !requeue.is_empty() && self.io.choose(2, READ_LATER) == 1 {
                self.unread = next.take();
            }
        }
        self.ares_flush_requeue(requeue).await;
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: read_answers`.
    fn read_answer(
        &mut self,
        socket: SocketId,
        asked: QueryId,
        reply: Reply,
        requeue: &mut Vec<Requeue>,
    ) {
        let Some((server, transport)) = self
            .connection(socket)
            .map(|connection| (connection.server, connection.transport))
        else {
            return;
        };
        // Datagrams from another address are dropped.
        let is_from_server = transport == Transport::Tcp
            || self
                .servers
                .get(server)
                .is_some_and(|state| answers_match(&state.server.address));
        let qid = last_sent(&self.sent, asked);
        if let Some(qid) = qid.filter(|_| is_from_server) {
            let now = self.tvnow();
            self.process_answer(qid, reply, socket, now, requeue);
        }
    }

    /// Takes an answer.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: process_answer`.
    fn process_answer(
        &mut self,
        qid: Qid,
        reply: Reply,
        socket: SocketId,
        now: Moment,
        requeue: &mut Vec<Requeue>,
    ) {
        let is_any = !self.version.checks_connection;
        let query = self
            .query(qid)
            .filter(|query| is_any || query.connection == Some(socket));
        let Some(had_cookie) = query.map(|query| query.cookie) else {
            return;
        };
        let connection = self.connection(socket);
        let Some((server, transport)) = connection.map(|it| (it.server, it.transport)) else {
            return;
        };
        if let Some(state) = self.servers.get_mut(server).filter(|_| had_cookie) {
            state.cookie_missing(now);
        }
        self.leave_connection(qid);
        let Some(query) = self.query(qid) else { return };
        if issue_might_be_edns(query, &reply) {
            query.edns = false;
            query.cookie = false;
            return self.append_requeue(Requeue::Send(qid, Some(server)), requeue);
        }
        if reply.truncated && transport == Transport::Udp {
            query.transport = Transport::Tcp;
            return self.append_requeue(Requeue::Send(qid, None), requeue);
        }
        let failed = match reply.rcode {
            Rcode::ServFail => Some(Status::ServFail),
            Rcode::NotImp => Some(Status::NotImp),
            Rcode::Refused => Some(Status::Refused),
            Rcode::NoError | Rcode::NxDomain | Rcode::FormErr => None,
        };
        if let Some(status) = failed.filter(|_| self.config.flags.checks_responses) {
            self.server_increment_failures(server);
            return self.ares_requeue_query(qid, status, Some(reply), requeue);
        }
        if let Some(state) = self.servers.get_mut(server) {
            state.set_good();
        }
        self.end_query(Some(server), qid, Status::Success, Some(reply), requeue);
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: process_timeouts`.
    async fn process_timeouts(&mut self) {
        let now = self.tvnow();
        let mut requeue = Vec::new();
        let mut has_served = false;
        while let Some(&qid) = self.by_timeout.first() {
            let query = self.query(qid).filter(|query| query.timeout <= now);
            let Some(socket) = query.map(|query| query.connection) else {
                break;
            };
            if has_served && self.io.choose(2, TIMED_OUT_LATER) == 1 {
                self.served_at = self.io.now();
                break;
            }
            if let Some(connection) = socket.and_then(|socket| self.connection(socket)) {
                connection.has_lost = true;
                let server = connection.server;
                self.server_increment_failures(server);
            }
            has_served = true;
            self.ares_requeue_query(qid, Status::Timeout, None, &mut requeue);
            if !self.version.lists_all_retries {
                self.flush_at(std::mem::take(&mut requeue), now).await;
                if self.has_answered() {
                    self.served_at = self.io.now();
                    break;
                }
            }
        }
        self.ares_flush_requeue(requeue).await;
    }

    /// Lets a query be sent again, unless it was sent often enough.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_requeue_query`.
    pub(super) fn ares_requeue_query(
        &mut self,
        qid: Qid,
        status: Status,
        reply: Option<Reply>,
        requeue: &mut Vec<Requeue>,
    ) {
        let tries = self.config.reading.attempts.value as usize;
        let most = self.servers.len().saturating_mul(tries);
        let socket = self.query(qid).and_then(|query| query.connection);
        let server = socket.and_then(|socket| Some(self.connection(socket)?.server));
        let server = server.filter(|_| self.version.ends_lost_probes);
        self.ares_query_remove_from_conn(qid);
        let Some(query) = self.query(qid) else { return };
        query.error_status = Some(status);
        query.try_count += 1;
        if query.try_count < most && !query.no_retries {
            return self.append_requeue(Requeue::Send(qid, None), requeue);
        }
        self.end_query(server, qid, status, reply, requeue);
    }

    /// Does what is to be done, and what that brings.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_flush_requeue`.
    pub(super) async fn ares_flush_requeue(&mut self, requeue: Vec<Requeue>) {
        let now = self.tvnow();
        self.flush_at(requeue, now).await;
    }

    /// The same, with the clock read before.
    async fn flush_at(&mut self, mut requeue: Vec<Requeue>, now: Moment) {
        while !requeue.is_empty() {
            match requeue.remove(0) {
                Requeue::Send(qid, server) => {
                    self.ares_send_query_int(server, qid, now, &mut requeue)
                        .await;
                }
                Requeue::End(qid, status, reply) => {
                    let of_probe = self
                        .query(qid)
                        .is_some_and(|query| query.callback == Callback::Probe);
                    self.queries.retain(|query| query.qid != qid);
                    if !of_probe {
                        self.answer(Some(qid), status, reply);
                    }
                }
            }
        }
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_send_query_int`.
    async fn ares_send_query_int(
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
            Some(socket) => Ok(socket),
            None => self.ares_open_connection(server, transport).await,
        };
        let socket = match socket {
            Ok(socket) => socket,
            Err(ConnectError::Unreachable | ConnectError::Refused) => {
                self.server_increment_failures(server);
                self.ares_requeue_query(qid, Status::ConnRefused, None, requeue);
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
        if requested.is_none() && is_first && probes {
            Box::pin(self.ares_probe_failed_server(server, qid)).await;
        }
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

/// Source: c-ares 1.34 `src/lib/ares_process.c: issue_might_be_edns`.
fn issue_might_be_edns(query: &Query, reply: &Reply) -> bool {
    // A server that knows EDNS may still not know cookies.
    reply.rcode == Rcode::FormErr && query.edns && (!reply.opt || query.cookie)
}
