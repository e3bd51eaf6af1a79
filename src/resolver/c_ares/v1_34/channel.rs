//! A channel: its queries, and how they begin and end. The cache of answers is
//! off in a channel that `ares_init` makes.
//!
//! Source: c-ares 1.34 `src/lib/ares_send.c`, `src/lib/ares_query.c`.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::io::{Arrival, Io};
use crate::engine::message::{Because, QueryId, Question, Rcode, Reply, SocketId, Transport};
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::is_onion_domain;
use crate::resolver::c_ares::status::Status;
use crate::resolver::c_ares::v1_34::connection::Connection;
use crate::resolver::c_ares::v1_34::dns_name::question;
use crate::resolver::c_ares::v1_34::server::{Moment, ServerState};
use crate::resolver::c_ares::v1_34::version::Version;

/// The id of a query. It keeps it when it is sent again.
pub(super) type Qid = usize;

/// `ares_channel_t`.
pub(in crate::resolver::c_ares) struct Channel<'c> {
    pub(super) io: Rc<Io>,
    pub(super) config: &'c Config<'c>,
    pub(super) version: &'static Version,
    /// In the order of the configuration; see [`ServerState::rank`].
    pub(super) servers: Vec<ServerState>,
    /// UDP connections, the newest first, then TCP connections.
    pub(super) connections: Vec<Connection>,
    pub(super) queries: Vec<Query>,
    /// `queries_by_timeout`: the first to time out first.
    pub(super) by_timeout: Vec<Qid>,
    /// Which query each message was.
    pub(super) sent: Vec<(QueryId, Qid)>,
    next_qid: Qid,
    answered: VecDeque<Answered>,
    clock_readings: u64,
    /// What came together with what was read, and is read later.
    pub(super) unread: Option<Arrival>,
    /// The socket that is being read while a callback is called.
    pub(super) reading: Option<SocketId>,
    /// When what is done now began.
    pub(super) woken: Moment,
    /// Sockets that were read, or on which a query timed out.
    pub(super) touched: Vec<SocketId>,
    /// When time-outs were served that were not all that were due.
    pub(super) served_at: Duration,
}

/// `struct ares_query`.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) qid: Qid,
    pub(super) callback: Callback,
    pub(super) question: Question,
    pub(super) because: Because,
    /// Whether it has an OPT record.
    pub(super) edns: bool,
    /// Whether it was sent with a cookie.
    pub(super) cookie: bool,
    pub(super) transport: Transport,
    pub(super) try_count: usize,
    pub(super) no_retries: bool,
    pub(super) error_status: Option<Status>,
    /// When it was sent.
    pub(super) ts: Moment,
    pub(super) timeout: Moment,
    pub(super) connection: Option<SocketId>,
}

/// Who gets the answer to a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Callback {
    /// The lookup.
    Lookup,
    /// `server_probe_cb`, which does nothing.
    Probe,
}

/// A query that has ended: the arguments of its callback.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) qid: Option<Qid>,
    pub(super) status: Status,
    pub(super) reply: Option<Reply>,
}

/// Something to do with a query after an event.
pub(super) enum Requeue {
    /// Send it again, to a server if one is given.
    Send(Qid, Option<usize>),
    /// Call its callback.
    End(Qid, Status, Option<Reply>),
}

impl Requeue {
    pub(super) fn qid(&self) -> Qid {
        match self {
            Self::Send(qid, _) | Self::End(qid, ..) => *qid,
        }
    }
}

impl<'c> Channel<'c> {
    pub(in crate::resolver::c_ares) fn new(
        io: Rc<Io>,
        config: &'c Config<'c>,
        version: &'static Version,
    ) -> Self {
        let servers = config.reading.servers.iter().enumerate();
        Self {
            io,
            config,
            version,
            servers: servers
                .map(|(index, setting)| ServerState::new(index, setting.value.clone(), version))
                .collect(),
            connections: Vec::new(),
            queries: Vec::new(),
            by_timeout: Vec::new(),
            sent: Vec::new(),
            next_qid: 0,
            answered: VecDeque::new(),
            clock_readings: 0,
            unread: None,
            reading: None,
            woken: Moment::default(),
            touched: Vec::new(),
            served_at: Duration::ZERO,
        }
    }

    /// Source: c-ares 1.34 `src/lib/util/ares_timeval.c: ares_tvnow`.
    pub(super) fn tvnow(&mut self) -> Moment {
        self.clock_readings += 1;
        (self.io.now(), self.clock_readings)
    }

    pub(super) fn query(&mut self, qid: Qid) -> Option<&mut Query> {
        self.queries.iter_mut().find(|query| query.qid == qid)
    }

    /// The next query that ends.
    pub(super) async fn next_answer(&mut self) -> Answered {
        loop {
            if let Some(answered) = self.answered.pop_front() {
                return answered;
            }
            self.ares_process().await;
        }
    }

    /// Whether a callback is to be called.
    pub(super) fn has_answered(&self) -> bool {
        !self.answered.is_empty()
    }

    /// Calls a query's callback. It is called when the list of things to do is
    /// empty, not in its midst: no other entry of the list depends on it.
    pub(super) fn answer(&mut self, qid: Option<Qid>, status: Status, reply: Option<Reply>) {
        self.answered.push_back(Answered { qid, status, reply });
    }

    /// Asks for addresses; the id of the query if it was sent.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_query.c: ares_query_nolock`.
    pub(super) async fn ares_query_nolock(
        &mut self,
        candidate: Candidate,
        record_type: RecordType,
    ) -> Option<Qid> {
        if is_onion_domain(&candidate.name) {
            self.answer(None, Status::NotFound, None);
            return None;
        }
        self.ares_send_nolock(candidate, record_type).await
    }

    /// Source: c-ares 1.34 `src/lib/ares_send.c: ares_send_nolock`.
    pub(super) async fn ares_send_nolock(
        &mut self,
        candidate: Candidate,
        record_type: RecordType,
    ) -> Option<Qid> {
        let now = self.tvnow();
        let question = match self.question(&candidate.name, record_type) {
            Ok(question) => question,
            Err(status) => {
                self.answer(None, status, None);
                return None;
            }
        };
        let qid = self.next_qid();
        let transport = if self.config.flags.use_vc {
            Transport::Tcp
        } else {
            Transport::Udp
        };
        self.queries.push(Query {
            qid,
            callback: Callback::Lookup,
            question,
            because: candidate.because,
            edns: self.config.flags.edns,
            cookie: false,
            transport,
            try_count: 0,
            no_retries: false,
            error_status: None,
            ts: now,
            timeout: now,
            connection: None,
        });
        self.ares_flush_requeue(vec![Requeue::Send(qid, None)])
            .await;
        self.query(qid).map(|query| query.qid)
    }

    /// The question for a name, if it can be sent.
    fn question(&self, name: &[u8], kind: RecordType) -> Result<Question, Status> {
        let is_root = matches!(name, b"" | b".");
        if is_root && !self.version.asks_root {
            return Err(Status::NoMem);
        }
        question(name, kind)
    }

    /// Sends a copy of a query to `server`, once.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_send.c: ares_send_nolock` as
    /// `src/lib/ares_process.c: ares_probe_failed_server` calls it.
    pub(super) async fn send_probe(&mut self, of: Qid, server: usize) {
        let now = self.tvnow();
        let qid = self.next_qid();
        let Some(query) = self.query(of) else { return };
        let probe = Query {
            qid,
            callback: Callback::Probe,
            question: query.question.clone(),
            because: query.because.clone(),
            edns: query.edns,
            cookie: false,
            transport: Transport::Udp,
            try_count: 0,
            no_retries: true,
            error_status: None,
            ts: now,
            timeout: now,
            connection: None,
        };
        self.queries.push(probe);
        self.ares_flush_requeue(vec![Requeue::Send(qid, Some(server))])
            .await;
    }

    fn next_qid(&mut self) -> Qid {
        self.next_qid += 1;
        self.next_qid
    }

    /// Ends a query; what it says of its server's latency is kept.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: end_query`.
    pub(super) fn end_query(
        &mut self,
        server: Option<usize>,
        qid: Qid,
        status: Status,
        reply: Option<Reply>,
        requeue: &mut Vec<Requeue>,
    ) {
        let now = self.tvnow();
        let counts = reply
            .as_ref()
            .is_some_and(|reply| matches!(reply.rcode, Rcode::NoError | Rcode::NxDomain));
        let ts = self.query(qid).map_or(now, |query| query.ts);
        if let Some(server) = server.and_then(|server| self.servers.get_mut(server)) {
            server.probe_pending = false;
            if status == Status::Success && counts {
                let latency: Duration = now.0.saturating_sub(ts.0);
                server.metrics_record(latency);
            }
        }
        self.append_requeue(Requeue::End(qid, status, reply), requeue);
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: server_increment_failures`.
    pub(super) fn server_increment_failures(&mut self, server: usize) {
        let now = self.tvnow();
        if let Some(state) = self.servers.get_mut(server) {
            state.increment_failures(now);
        }
    }
}
