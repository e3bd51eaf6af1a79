//! A question to servers: what comes back, or does not.
//!
//! Source: systemd `src/resolve/resolved-dns-transaction.c`.

use crate::engine::io::{Arrival, Came};
use crate::engine::message::{Rcode, Reply, Transport};
use crate::resolver::resolved::dns_cache::Answer;
use crate::resolver::resolved::dns_server::FeatureLevel;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::{EmitError, State};

/// A reply as it came.
struct Packet {
    reply: Reply,
    transport: Transport,
    /// Whether its question is the one that was asked: `dns_packet_is_reply_for`.
    is_for_key: bool,
}

impl Manager<'_> {
    /// Source: `on_dns_packet`.
    pub(super) async fn on_dns_packet(&mut self, t: usize, arrival: Arrival) {
        match arrival.what {
            Came::Reply(reply) if self.transactions[t].sent.contains(&arrival.query) => {
                let packet = Packet {
                    reply,
                    transport: Transport::Udp,
                    is_for_key: arrival.wrong.is_none(),
                };
                self.dns_transaction_process_reply(t, packet).await;
            }
            Came::Refused => {
                self.server_packet_lost(t, Transport::Udp);
                if self.version.is_before_248 {
                    return self.go_on_after_refusal(t).await;
                }
                self.dns_transaction_close_connection(t);
                if !self.dns_transaction_limited_retry(t).await {
                    self.dns_transaction_complete(t, State::Errno);
                }
            }
            _ => {}
        }
    }

    /// Asks the next server. If that is the same one, the socket is the same, and the error that the
    /// kernel has kept wakes the loop once more, with nothing to read: `EAGAIN`.
    ///
    /// Source: `on_dns_packet` of 247.
    async fn go_on_after_refusal(&mut self, t: usize) {
        let socket = self.transactions[t].udp_socket;
        self.dns_transaction_retry(t, true).await;
        let transaction = &self.transactions[t];
        if transaction.state == State::Pending && transaction.udp_socket == socket {
            self.dns_transaction_complete(t, State::Errno);
        }
    }

    /// Source: `dns_transaction_on_stream_packet`.
    pub(super) async fn dns_transaction_on_stream_packet(&mut self, t: usize, reply: Reply) {
        self.dns_transaction_close_connection(t);
        let packet = Packet {
            reply,
            transport: Transport::Tcp,
            is_for_key: true,
        };
        self.dns_transaction_process_reply(t, packet).await;
        // One that was sent again just now is over as well: so it is in the source.
        if self.transactions[t].state == State::Pending {
            self.dns_transaction_complete(t, State::InvalidReply);
        }
    }

    /// Source: `dns_transaction_process_reply`.
    async fn dns_transaction_process_reply(&mut self, t: usize, packet: Packet) {
        let Packet {
            reply,
            transport,
            is_for_key,
        } = packet;
        let Some(server) = self.transactions[t].server else {
            return;
        };
        if self.transactions[t].state != State::Pending {
            return;
        }
        if transport == Transport::Tcp && reply.truncated {
            return self.dns_transaction_complete(t, State::InvalidReply);
        }
        let downgrade = matches!(
            reply.rcode,
            Rcode::FormErr | Rcode::ServFail | Rcode::NotImp
        );
        if downgrade && self.transactions[t].current_feature_level > FeatureLevel::Udp {
            self.dns_transaction_clamp_servfail(t, reply.rcode);
            return self.dns_transaction_retry(t, false).await;
        }
        let is_refused = reply.rcode == Rcode::Refused;
        if is_refused && self.version.is_before_248 {
            return self.dns_transaction_retry(t, true).await;
        }
        let bad = downgrade || is_refused;
        if bad && self.dns_transaction_limited_retry(t).await {
            return;
        }
        let level = self.transactions[t].current_feature_level;
        if reply.truncated {
            // The source leaves its switch before this after a bad code.
            if !bad {
                self.servers[server].packet_truncated(level);
            }
            return self.dns_transaction_retry_with_tcp(t).await;
        }
        // A gateway that answers queries with EDNS wrongly (DVE-2018-0001).
        let repeats = self.version.repeats_nxdomain && level >= FeatureLevel::Edns0;
        if repeats && reply.rcode == Rcode::NxDomain && reply.opt {
            self.transactions[t].clamp_feature_level_nxdomain = Some(FeatureLevel::Udp);
            return self.dns_transaction_retry(t, false).await;
        }
        self.server_packet_received(t, server, &reply, transport);
        if self.dns_transaction_maybe_restart(t, server).await {
            return;
        }
        if !is_for_key {
            return self.dns_transaction_complete(t, State::InvalidReply);
        }
        self.dns_transaction_install_answer(t, server, reply);
    }

    /// Lowers the level of this transaction; SERVFAIL gets a second try first.
    fn dns_transaction_clamp_servfail(&mut self, t: usize, rcode: Rcode) {
        let transaction = &mut self.transactions[t];
        let level = transaction.current_feature_level;
        let is_first = transaction.clamp_feature_level_servfail.is_none();
        let again = rcode == Rcode::ServFail && is_first && !self.version.is_before_248;
        transaction.clamp_feature_level_servfail = Some(if again { level } else { level.lower() });
    }

    async fn dns_transaction_retry_with_tcp(&mut self, t: usize) {
        match self.dns_transaction_emit_tcp(t) {
            // The timer is still the one of the query over UDP.
            Ok(()) => {}
            Err(EmitError::NoServers) => self.dns_transaction_complete(t, State::NoServers),
            Err(_) => {
                if !self.dns_transaction_limited_retry(t).await {
                    self.dns_transaction_complete(t, State::AttemptsMaxReached);
                }
            }
        }
    }

    /// What a good reply tells of its server.
    fn server_packet_received(
        &mut self,
        t: usize,
        server: usize,
        reply: &Reply,
        transport: Transport,
    ) {
        let now = self.io.now();
        let transaction = &self.transactions[t];
        let level = transaction.current_feature_level;
        let server = &mut self.servers[server];
        if let Some(clamp) = transaction.clamp_feature_level_servfail
            && matches!(reply.rcode, Rcode::NoError | Rcode::NxDomain)
        {
            server.packet_rcode_downgrade(clamp);
        }
        if !reply.opt {
            server.packet_bad_opt(level);
        }
        server.packet_received(transport, level, now);
    }

    /// Source: `dns_server_packet_lost`.
    pub(super) fn server_packet_lost(&mut self, t: usize, transport: Transport) {
        let level = self.transactions[t].current_feature_level;
        if let Some(server) = self.transactions[t].server {
            self.servers[server].packet_lost(transport, level);
        }
    }

    /// Takes the answer, fixes its code and ends the transaction.
    ///
    /// Source: `dns_transaction_fix_rcode`, `dns_transaction_process_dnssec`,
    /// `dns_transaction_cache_answer`.
    fn dns_transaction_install_answer(&mut self, t: usize, server: usize, reply: Reply) {
        let answer = Answer {
            records: reply.answers,
            soa: reply.soa,
            synthetic: false,
        };
        let key = &self.transactions[t].key;
        let rcode = match reply.rcode {
            Rcode::NxDomain if answer.is_positive_for(key) => Rcode::NoError,
            rcode => rcode,
        };
        if !self.servers[server].is_localhost() {
            let now = self.io.now();
            self.cache.put(key, rcode, &answer, now, self.version);
        }
        self.answered(t, rcode, answer);
    }

    /// Sends it again, under a new id, if its server turned out to know less
    /// than was asked of it.
    ///
    /// Source: `dns_transaction_maybe_restart`.
    async fn dns_transaction_maybe_restart(&mut self, t: usize, server: usize) -> bool {
        let now = self.io.now();
        let (possible, forget) = self.servers[server].possible_feature_level(now);
        if forget {
            self.cache.flush();
        }
        if self.transactions[t].current_feature_level <= possible {
            return false;
        }
        self.transactions[t].sent.clear();
        self.dns_transaction_go(t).await;
        true
    }

    /// Source: `dns_transaction_retry`.
    pub(super) async fn dns_transaction_retry(&mut self, t: usize, next_server: bool) {
        if next_server {
            self.next_dns_server(self.transactions[t].server);
        }
        self.dns_transaction_go(t).await;
    }

    /// Sends it to the next server, unless all were tried.
    ///
    /// Source: `dns_transaction_limited_retry`.
    async fn dns_transaction_limited_retry(&mut self, t: usize) -> bool {
        if self.transactions[t].n_picked_servers >= self.servers.len() {
            return false;
        }
        self.dns_transaction_retry(t, true).await;
        true
    }

    /// Source: `on_transaction_timeout`.
    pub(super) async fn on_transaction_timeout(&mut self, t: usize) {
        let transport = match self.transactions[t].stream {
            Some(_) => Transport::Tcp,
            None => Transport::Udp,
        };
        self.server_packet_lost(t, transport);
        self.dns_transaction_retry(t, true).await;
    }

    /// Tells the queries that wait for it.
    ///
    /// Source: `dns_transaction_complete`, its second half.
    pub(super) async fn dns_transaction_notify_candidates(&mut self, t: usize) {
        for query in self.transactions[t].notify_queries.clone() {
            if self.transactions[t].notify_queries.contains(&query) {
                self.dns_query_candidate_notify(query).await;
            }
        }
        self.dns_transaction_gc(t);
    }
}
