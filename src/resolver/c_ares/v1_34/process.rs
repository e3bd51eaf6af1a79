//! Events: answers, errors, time-outs, and sending again.
//!
//! Source: c-ares 1.34 `src/lib/ares_process.c`.

use std::time::Duration;

use crate::engine::io::{Arrival, Came};
use crate::engine::message::{QueryId, Rcode, Reply, SocketId, Transport};
use crate::resolver::c_ares::address::answers_match;
use crate::resolver::c_ares::last_sent;
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_34::channel::{Callback, Channel, Qid, Query, Requeue};
use crate::resolver::c_ares::v1_34::server::Moment;

/// What is left to chance, in sentences.
const READ_LATER: &str = "c-ares reads answers for A and AAAA together, or acts on the first one before it reads the second";
const READ_BETWEEN: &str = "c-ares reads the answer to AAAA before or after one to an A query that it sent again, or the other way round";
const TIMED_OUT_LATER: &str = "c-ares serves time-outs of A and AAAA together, or the second one after the first one's answer";
/// Lets what arrives at the same moment be read before a refused connection is noticed.
const SOON: Duration = Duration::from_nanos(1);

impl Channel<'_> {
    /// Waits until something comes or a query times out, or goes on where a callback was
    /// called in between.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_process_fds_nolock`.
    pub(super) async fn ares_process(&mut self) {
        if let Some(socket) = self.reading.take() {
            let soon = Some(self.io.now() + SOON);
            if let Some(arrival) = self.io.receive(&[socket], soon).await {
                self.process_read(arrival).await;
            }
        } else {
            self.wait().await;
        }
        // Callbacks come first: they can end the retries of others.
        if !self.has_answered() {
            self.process_timeouts().await;
        }
    }

    /// Waits, and takes what comes. Callbacks have been called by now, so that idle
    /// connections of the last round can be closed.
    async fn wait(&mut self) {
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
        self.woken = self.tvnow();
        match (arrival, refused) {
            (Some(arrival), _) => self.process_read(arrival).await,
            (None, Some(socket)) => self.handle_conn_error(socket).await,
            (None, None) => {}
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

    /// Reads all that has come on a connection. Unless the version acts at once, that is
    /// before anything is done about it: of two answers that come together, the second one
    /// is judged while the first one's callback still waits.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: process_read, read_answers`.
    async fn process_read(&mut self, first: Arrival) {
        let socket = first.socket;
        self.touched.push(socket);
        let mut requeue = Vec::new();
        let mut next = Some(first);
        while let Some(arrival) = next {
            let Came::Reply(reply) = arrival.what else {
                self.ares_flush_requeue(requeue).await;
                return self.handle_conn_error(socket).await;
            };
            self.read_answer(socket, arrival.query, reply, &mut requeue);
            let has_acted = !requeue.is_empty();
            if self.version.acts_at_once {
                self.flush_at(std::mem::take(&mut requeue), self.woken)
                    .await;
                if self.has_answered() {
                    self.reading = Some(socket);
                    return;
                }
            }
            let soon = Some(self.io.now() + SOON);
            next = self.io.receive(&[socket], soon).await;
            if next.is_some() && has_acted && self.io.choose(2, READ_LATER) == 1 {
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
        let blames_cookie = self.version.keeps_server;
        let Some(query) = self.query(qid) else { return };
        if issue_might_be_edns(query, &reply, blames_cookie) {
            query.edns = false;
            query.cookie = false;
            let server = self.version.keeps_server.then_some(server);
            return self.append_requeue(Requeue::Send(qid, server), requeue);
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
            return self.ares_requeue_query(qid, Some(status), Some(reply), requeue);
        }
        if let Some(state) = self.servers.get_mut(server) {
            state.set_good();
        }
        self.end_query(Some(server), qid, Status::Success, Some(reply), requeue);
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: process_timeouts`.
    async fn process_timeouts(&mut self) {
        let now = if self.version.acts_at_once {
            self.woken
        } else {
            self.tvnow()
        };
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
                let (server, socket) = (connection.server, connection.socket);
                self.touched.push(socket);
                self.server_increment_failures(server);
            }
            has_served = true;
            self.ares_requeue_query(qid, Some(Status::Timeout), None, &mut requeue);
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

    /// Lets a query be sent again, unless it was sent often enough: then it ends with `status`,
    /// or as it failed before.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_requeue_query`.
    pub(super) fn ares_requeue_query(
        &mut self,
        qid: Qid,
        status: Option<Status>,
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
        query.error_status = status.or(query.error_status);
        let status = query.error_status.unwrap_or(Status::Timeout);
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
    pub(super) async fn flush_at(&mut self, mut requeue: Vec<Requeue>, now: Moment) {
        while !requeue.is_empty() {
            match requeue.remove(0) {
                Requeue::Send(qid, server) => {
                    self.ares_send_query_int(server, qid, now, &mut requeue)
                        .await;
                }
                Requeue::End(qid, status, reply) => {
                    let callback = self.query(qid).map(|query| query.callback);
                    self.queries.retain(|query| query.qid != qid);
                    // A second answer that was read with the first one finds no query.
                    if callback.is_some_and(|it| it != Callback::Probe) {
                        self.answer(Some(qid), status, reply);
                    }
                }
            }
        }
    }
}

/// Source: c-ares 1.34 `src/lib/ares_process.c: issue_might_be_edns`.
fn issue_might_be_edns(query: &Query, reply: &Reply, blames_cookie: bool) -> bool {
    // A server that knows EDNS may still not know cookies.
    let has_other_cause = !(blames_cookie && query.cookie);
    reply.rcode == Rcode::FormErr && query.edns && !(reply.opt && has_other_cause)
}
