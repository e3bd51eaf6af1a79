//! A TCP connection to a server, shared by transactions.
//!
//! Source: systemd `src/resolve/resolved-dns-stream.c`, `resolved-dns-transaction.c`.

use std::time::Duration;

use crate::engine::io::{Arrival, Came};
use crate::engine::message::{SocketId, Transport};
use crate::resolver::resolved::event::Timer;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::State;

/// How long it is kept without anything happening; the same for connecting.
///
/// Source: `DNS_STREAM_ESTABLISHED_TIMEOUT_USEC`, `DNS_STREAM_DEFAULT_TIMEOUT_USEC`.
const STREAM_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it takes until a connection can be written to and that is seen:
/// longer than a datagram and its answer take.
const WRITE_DELAY: Duration = Duration::from_millis(1);
/// What is left to chance, in a sentence.
const TOLD_LATER: &str = "systemd-resolved learns before or after the next of what has arrived that a server's TCP port is closed";

/// Source: `DnsStream`.
#[derive(Clone, Debug, Default)]
pub(super) struct DnsStream {
    /// The server at the other end.
    pub server: usize,
    /// The socket, once it is connected.
    pub socket: Option<SocketId>,
    /// The transactions that wait here, the newest first.
    pub transactions: Vec<usize>,
    /// The transactions whose query is to be written.
    pub write_queue: Vec<usize>,
}

/// Why a connection ended.
///
/// Source: `src/basic/errno-util.h: ERRNO_IS_DISCONNECT`; all are among these.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum StreamError {
    /// `ECONNRESET`: the server closed it.
    Reset,
    /// `ECONNREFUSED`, `EHOSTUNREACH`, `ETIMEDOUT`.
    Lost,
}

impl Manager<'_> {
    /// A connection that will be made when the event loop comes to it.
    ///
    /// Source: `dns_stream_new`.
    pub(super) fn dns_stream_new(&mut self, server: usize) -> usize {
        let stream = self.streams.push(DnsStream {
            server,
            ..DnsStream::default()
        });
        let at = self.io.now() + STREAM_TIMEOUT;
        self.timers.set(Timer::Stream(stream), at);
        self.servers[server].stream = Some(stream);
        stream
    }

    /// Lets the transaction's query be written to the stream.
    ///
    /// Source: `dns_stream_write_packet`.
    pub(super) fn dns_stream_write_packet(&mut self, stream: usize, t: usize) {
        self.streams[stream].write_queue.push(t);
        let at = self.io.now() + WRITE_DELAY;
        self.serve_streams_at.get_or_insert(at);
    }

    /// Connects new streams: that a port is closed is known at once, or when what has arrived by
    /// then is served.
    ///
    /// Source: `dns_stream_writev`.
    pub(super) async fn connect_streams(&mut self) {
        let is_new = |it: &DnsStream| it.socket.is_none() && !it.write_queue.is_empty();
        let mut put_off = Vec::new();
        loop {
            let mut new = self.streams.find_all(is_new).into_iter();
            let Some(stream) = new.find(|it| !put_off.contains(it)) else {
                return;
            };
            let server = &self.servers[self.streams[stream].server].server;
            if let Ok(socket) = self.io.connect(server, Transport::Tcp).await {
                self.streams[stream].socket = Some(socket);
            } else if self.arriving.len() > 0 && self.io.choose(2, TOLD_LATER) == 1 {
                put_off.push(stream);
            } else {
                self.dns_stream_complete(stream, StreamError::Lost).await;
                self.settle().await;
            }
        }
    }

    /// Writes what waits to be written.
    ///
    /// Source: `on_stream_io`, when the socket can be written to.
    pub(super) fn serve_streams(&mut self) {
        self.serve_streams_at = None;
        for stream in self.streams.find_all(|it| !it.write_queue.is_empty()) {
            let Some(socket) = self.streams[stream].socket else {
                continue;
            };
            for t in std::mem::take(&mut self.streams[stream].write_queue) {
                self.dns_transaction_send(t, socket, Transport::Tcp);
            }
            self.restart_timeout(stream);
        }
    }

    /// Source: `on_stream_io`, the end.
    fn restart_timeout(&mut self, stream: usize) {
        let at = self.io.now() + STREAM_TIMEOUT;
        self.timers.set(Timer::Stream(stream), at);
    }

    /// Source: `on_stream_io`, when there is something to read; `on_stream_packet`.
    pub(super) async fn on_stream_io(&mut self, stream: usize, arrival: Arrival) {
        let reply = match arrival.what {
            Came::Reply(reply) => reply,
            Came::Closed | Came::Reset | Came::Refused => {
                return self.dns_stream_complete(stream, StreamError::Reset).await;
            }
        };
        let waits = |t: &usize| self.transactions[*t].sent.contains(&arrival.query);
        let found = self.streams[stream]
            .transactions
            .iter()
            .copied()
            .find(|t| waits(t));
        if let Some(t) = found {
            self.dns_transaction_on_stream_packet(t, reply).await;
        }
        self.restart_timeout(stream);
    }

    /// Source: `on_stream_timeout`.
    pub(super) async fn on_stream_timeout(&mut self, stream: usize) {
        self.dns_stream_complete(stream, StreamError::Lost).await;
    }

    /// Closes the connection; its transactions begin again at the next server.
    ///
    /// Source: `dns_stream_complete`, `on_stream_complete`, `on_transaction_stream_error`.
    async fn dns_stream_complete(&mut self, stream: usize, error: StreamError) {
        self.timers.stop(Timer::Stream(stream));
        if let Some(socket) = self.streams[stream].socket.take() {
            self.io.close(socket);
        }
        let first = self.streams[stream].transactions.first().copied();
        let is_lost = self.version.is_before_248 || error != StreamError::Reset;
        if let Some(t) = first.filter(|_| is_lost) {
            self.server_packet_lost(t, Transport::Tcp);
        }
        let server = self.streams[stream].server;
        if self.servers[server].stream == Some(stream) {
            self.servers[server].stream = None;
        }
        while let Some(&t) = self.streams[stream].transactions.first() {
            self.dns_transaction_close_connection(t);
            if self.transactions[t].state == State::Pending {
                self.dns_transaction_retry(t, true).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::failure::Failure;
    use crate::engine::io::Request;
    use crate::engine::machine::{Machine, Outcome, Step};
    use crate::engine::message::QueryId;
    use crate::resolver::resolved::V252;
    use crate::resolver::resolved::event::Event;
    use crate::resolver::resolved::read::Configuration;
    use crate::scenario::Scenario;

    #[test]
    fn a_connection_that_is_put_off_keeps_back_no_other() {
        let scenario = Scenario::new("1", "db");
        let configuration = Configuration::from_resolv_conf(&scenario, V252);
        let arrival = Arrival {
            query: QueryId(0),
            socket: SocketId(9),
            server: std::net::IpAddr::from([10, 96, 0, 10]).into(),
            what: Came::Closed,
            wrong: None,
        };
        let begin = |io| async {
            let mut manager = Manager::new(io, V252, &configuration);
            manager.arriving.push(Event::Arrival(arrival.clone()), 1);
            for server in [0, 1] {
                let stream = manager.dns_stream_new(server);
                manager.dns_stream_write_packet(stream, 0);
            }
            manager.connect_streams().await;
            let sockets: Vec<_> = manager.streams.iter().map(|it| it.socket).collect();
            assert_eq!(sockets, [None, Some(SocketId(1))]);
            Outcome::Hung
        };
        // That the first server's port is closed is told later.
        let mut machine = Machine::new(begin).with_lots(vec![1]);
        for (socket, result) in [(0, Err(Failure::Refused)), (1, Ok(()))] {
            assert!(matches!(machine.step(Duration::ZERO), Step::Waiting(_)));
            let asked = machine.requests();
            assert!(matches!(asked.as_slice(), [Request::Connect(it, ..)] if it.0 == socket));
            machine.connected(SocketId(socket), result);
        }
        assert_eq!(machine.step(Duration::ZERO), Step::Done(Outcome::Hung));
    }
}
