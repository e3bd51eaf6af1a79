//! A question to servers: what it is and how it begins.
//!
//! Source: systemd `src/resolve/resolved-dns-transaction.c`.

use std::time::Duration;

use hickory_proto::rr::RecordType;
use smallvec::SmallVec;

use crate::engine::message::{Because, Edns, Query, QueryId, Question, Rcode, SocketId, Transport};
use crate::name::Name;
use crate::resolver::resolved::dns_cache::Answer;
use crate::resolver::resolved::dns_server::FeatureLevel;
use crate::resolver::resolved::dns_stub::UNICAST_SIZE_MAX;
use crate::resolver::resolved::event::Timer;
use crate::resolver::resolved::manager::{Manager, SOON};

/// Source: `resolved-timeouts.h: DNS_TRANSACTION_ATTEMPTS_MAX`.
pub(super) const TRANSACTION_ATTEMPTS_MAX: u32 = 24;
/// The 120 s of a query by the number of attempts.
///
/// Source: `resolved-timeouts.h: TRANSACTION_UDP_TIMEOUT_USEC`.
pub(super) const TRANSACTION_UDP_TIMEOUT: Duration = Duration::from_secs(5);
/// Source: `resolved-timeouts.h: TRANSACTION_TCP_TIMEOUT_USEC`.
const TRANSACTION_TCP_TIMEOUT: Duration = Duration::from_secs(10);
/// What is left to chance, in a sentence.
const JUST_ENDED: &str = "what systemd-resolved has kept for five seconds ends as it asks again after five seconds: either is first";

/// What is asked.
///
/// Source: `DnsResourceKey`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Key {
    /// The name.
    pub name: Name,
    /// The type.
    pub record_type: RecordType,
}

/// How a transaction, a candidate or a query stands.
///
/// Source: `DnsTransactionState`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// Not begun.
    Null,
    /// It waits for a server's reply.
    Pending,
    /// An answer, positive or without records.
    Success,
    /// Another reply code than NOERROR.
    RcodeFailure,
    /// No server can be asked.
    NoServers,
    /// A query's time is over.
    Timeout,
    /// All attempts were made.
    AttemptsMaxReached,
    /// A reply that makes no sense.
    InvalidReply,
    /// A system error.
    Errno,
}

/// Why a packet did not go out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EmitError {
    /// `ESRCH`: there is no server.
    NoServers,
    /// `EAGAIN`: not over UDP at this level.
    Again,
    /// The socket could not be connected.
    Socket,
}

/// Source: `DnsTransaction`.
#[derive(Clone, Debug)]
pub(super) struct DnsTransaction {
    /// What is asked.
    pub key: Key,
    /// Why.
    pub because: Because,
    /// Whether it waits, or how it ended.
    pub state: State,
    /// The server that was picked last.
    pub server: Option<usize>,
    /// With which features the server was asked.
    pub current_feature_level: FeatureLevel,
    /// A limit to the level, after reply codes that say that it was too high.
    pub clamp_feature_level_servfail: Option<FeatureLevel>,
    /// A limit to the level, after NXDOMAIN.
    pub clamp_feature_level_nxdomain: Option<FeatureLevel>,
    /// How often it was sent, or was about to be.
    pub n_attempts: u32,
    /// How often another server than before was picked.
    pub n_picked_servers: usize,
    /// The socket that is connected to the server.
    pub udp_socket: Option<SocketId>,
    /// The connection to the server.
    pub stream: Option<usize>,
    /// The queries under the current message id.
    pub sent: SmallVec<[QueryId; 2]>,
    /// The reply code, once it is over.
    pub answer_rcode: Rcode,
    /// The records, once it is over.
    pub answer: Answer,
    /// The queries whose candidates wait for it.
    pub notify_queries: SmallVec<[usize; 2]>,
    /// It goes on although nobody waits for it.
    pub wait_for_answer: bool,
    /// No query waits for it any more.
    pub freed: bool,
}

impl Default for Key {
    fn default() -> Self {
        Self {
            name: Name::root(),
            record_type: RecordType::A,
        }
    }
}

impl State {
    /// Source: `DNS_TRANSACTION_IS_LIVE`.
    pub(super) fn is_live(self) -> bool {
        matches!(self, Self::Null | Self::Pending)
    }
}

impl DnsTransaction {
    /// Source: `dns_transaction_new`.
    pub(super) fn new(key: Key, because: Because) -> Self {
        Self {
            key,
            because,
            state: State::Null,
            server: None,
            current_feature_level: FeatureLevel::Edns0,
            clamp_feature_level_servfail: None,
            clamp_feature_level_nxdomain: None,
            n_attempts: 0,
            n_picked_servers: 0,
            udp_socket: None,
            stream: None,
            sent: SmallVec::new(),
            answer_rcode: Rcode::NoError,
            answer: Answer::default(),
            notify_queries: SmallVec::new(),
            wait_for_answer: false,
            freed: false,
        }
    }
}

impl Manager<'_> {
    /// Sends the transaction to a server, or ends it.
    ///
    /// Source: `dns_transaction_go`.
    pub(super) async fn dns_transaction_go(&mut self, t: usize) {
        loop {
            if !self.dns_transaction_prepare(t) {
                return;
            }
            let emitted = match self.dns_transaction_emit_udp(t).await {
                Err(EmitError::Again) => self.dns_transaction_emit_tcp(t),
                emitted => emitted,
            };
            match emitted {
                Ok(()) => break,
                Err(EmitError::NoServers) => {
                    return self.dns_transaction_complete(t, State::NoServers);
                }
                // Could not send: at once to the next server.
                Err(_) => self.next_dns_server(self.transactions[t].server),
            }
        }
        let timeout = match self.transactions[t].stream {
            Some(_) => TRANSACTION_TCP_TIMEOUT,
            None => TRANSACTION_UDP_TIMEOUT,
        };
        let at = self.io.now() + timeout;
        self.timers.set(Timer::Transaction(t), at);
        self.transactions[t].state = State::Pending;
    }

    /// Whether the network is to be asked; else it is over.
    ///
    /// Source: `dns_transaction_prepare`.
    fn dns_transaction_prepare(&mut self, t: usize) -> bool {
        self.timers.stop(Timer::Transaction(t));
        if self.transactions[t].n_attempts >= TRANSACTION_ATTEMPTS_MAX {
            self.dns_transaction_complete(t, State::AttemptsMaxReached);
            return false;
        }
        self.transactions[t].n_attempts += 1;
        // Another server would empty the cache.
        self.get_dns_server();
        let mut now = self.io.now();
        if let Some(end) = self.cache.ends_about(&self.transactions[t].key, now)
            && self.io.choose(2, JUST_ENDED) == 1
        {
            now = if end > now {
                end
            } else {
                end.saturating_sub(SOON)
            };
        }
        self.cache.prune(now);
        let Some((rcode, answer)) = self.cache.lookup(&self.transactions[t].key) else {
            return true;
        };
        self.answered(t, rcode, answer);
        false
    }

    /// The answer is there.
    pub(super) fn answered(&mut self, t: usize, rcode: Rcode, answer: Answer) {
        self.transactions[t].answer_rcode = rcode;
        self.transactions[t].answer = answer;
        let state = match rcode {
            Rcode::NoError => State::Success,
            _ => State::RcodeFailure,
        };
        self.dns_transaction_complete(t, state);
    }

    /// Picks a server and a level for it; whether it is another server than before.
    ///
    /// Source: `dns_transaction_pick_server`.
    fn dns_transaction_pick_server(&mut self, t: usize) -> Result<bool, EmitError> {
        let server = self.get_dns_server().ok_or(EmitError::NoServers)?;
        let now = self.io.now();
        let (possible, forget) = self.servers[server].possible_feature_level(now);
        if forget {
            self.cache.flush();
        }
        let transaction = &mut self.transactions[t];
        let changed = transaction.server != Some(server);
        if changed {
            transaction.clamp_feature_level_servfail = None;
            transaction.clamp_feature_level_nxdomain = None;
            transaction.server = Some(server);
            transaction.n_picked_servers += 1;
        }
        let clamps = [
            transaction.clamp_feature_level_servfail,
            transaction.clamp_feature_level_nxdomain,
        ];
        let clamp = clamps.into_iter().flatten().min();
        transaction.current_feature_level = clamp.map_or(possible, |clamp| possible.min(clamp));
        Ok(changed)
    }

    /// Source: `dns_transaction_emit_udp`.
    async fn dns_transaction_emit_udp(&mut self, t: usize) -> Result<(), EmitError> {
        let changed = self.dns_transaction_pick_server(t)?;
        if self.transactions[t].current_feature_level < FeatureLevel::Udp {
            return Err(EmitError::Again);
        }
        let socket = match self.transactions[t].udp_socket {
            Some(socket) if !changed => socket,
            _ => {
                self.dns_transaction_close_connection(t);
                self.dns_scope_socket_udp(t).await?
            }
        };
        self.transactions[t].udp_socket = Some(socket);
        self.dns_transaction_send(t, socket, Transport::Udp);
        Ok(())
    }

    /// Source: `resolved-dns-scope.c: dns_scope_socket_udp`.
    async fn dns_scope_socket_udp(&mut self, t: usize) -> Result<SocketId, EmitError> {
        let server = self.transactions[t].server.ok_or(EmitError::NoServers)?;
        if self.servers[server].configured.lacks_scope() {
            return Err(EmitError::Socket);
        }
        self.io
            .connect(&self.servers[server].server, Transport::Udp)
            .await
            .map_err(|_| EmitError::Socket)
    }

    /// Source: `dns_transaction_make_packet`, `resolved-dns-server.c: dns_server_adjust_opt`.
    pub(super) fn dns_transaction_send(
        &mut self,
        t: usize,
        socket: SocketId,
        transport: Transport,
    ) {
        let transaction = &mut self.transactions[t];
        let Some(server) = transaction.server else {
            return;
        };
        let with_opt = transaction.current_feature_level >= FeatureLevel::Edns0;
        let edns = with_opt.then(|| {
            Edns::plain(if self.version.is_before_248 {
                UNICAST_SIZE_MAX
            } else {
                self.servers[server].udp_size()
            })
        });
        let key = &transaction.key;
        let id = self.io.send(Query {
            server: self.servers[server].server.clone(),
            question: Question::Asked(key.name.clone(), key.record_type),
            transport,
            socket,
            edns,
            authentic_data: false,
            because: transaction.because.clone(),
        });
        transaction.sent.push(id);
    }

    /// Source: `dns_transaction_emit_tcp`.
    pub(super) fn dns_transaction_emit_tcp(&mut self, t: usize) -> Result<(), EmitError> {
        self.dns_transaction_close_connection(t);
        self.dns_transaction_pick_server(t)?;
        let server = self.transactions[t].server.ok_or(EmitError::NoServers)?;
        let stream = match self.servers[server].stream {
            Some(stream) => stream,
            None => self.dns_stream_new(server),
        };
        self.transactions[t].stream = Some(stream);
        self.streams[stream].transactions.insert(0, t);
        self.dns_stream_write_packet(stream, t);
        Ok(())
    }

    /// Source: `dns_transaction_close_connection`.
    pub(super) fn dns_transaction_close_connection(&mut self, t: usize) {
        if let Some(stream) = self.transactions[t].stream.take() {
            self.streams[stream].transactions.retain(|it| *it != t);
            self.streams[stream].write_queue.retain(|it| *it != t);
        }
        if let Some(socket) = self.transactions[t].udp_socket.take() {
            self.io.close(socket);
        }
    }

    /// Ends the transaction. Those who wait for it hear of it in
    /// [`Manager::dns_transaction_notify_candidates`].
    ///
    /// Source: `dns_transaction_complete`.
    pub(super) fn dns_transaction_complete(&mut self, t: usize, state: State) {
        self.transactions[t].state = state;
        self.dns_transaction_close_connection(t);
        self.timers.stop(Timer::Transaction(t));
        self.completed_transactions.push_back(t);
    }

    /// Source: `dns_transaction_gc`, `dns_transaction_free`.
    pub(super) fn dns_transaction_gc(&mut self, t: usize) {
        let transaction = &mut self.transactions[t];
        let wanted = transaction.wait_for_answer && transaction.state == State::Pending;
        if wanted || !transaction.notify_queries.is_empty() {
            return;
        }
        transaction.freed = true;
        self.dns_transaction_close_connection(t);
        self.timers.stop(Timer::Transaction(t));
    }
}
