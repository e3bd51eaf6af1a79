//! One server over UDP: both queries at once, or one after the other.

use std::time::Duration;

use crate::address::Server;
use crate::engine::io::{Arrival, Came};
use crate::engine::message::{Rcode, Reply, SocketId, Transport};
use crate::resolver::glibc::res_query::{Answers, Message};
use crate::resolver::glibc::res_send::{Exchange, Packets, Which, connect, iclose, server_address};
use crate::resolver::glibc::thread::{Errno, Thread};

/// `poll` waits for whole milliseconds, and a reply needs its time on the way
/// too: one that comes just when the wait ends is too late.
const TOO_LATE: Duration = Duration::from_micros(1);

/// How a server's turn ends.
#[derive(Debug)]
pub(super) enum Datagram {
    /// It is the next server's turn.
    Next,
    /// A reply was truncated: this server is to be asked over TCP.
    Truncated,
    /// There are answers to use.
    Answers(Answers),
}

/// What follows an event.
enum Flow {
    /// `goto wait`
    Wait,
    /// `goto retry`
    Retry,
    /// `goto retry_reopen`
    RetryReopen,
    Done(Datagram),
}

/// Asks one server over UDP.
///
/// Source: glibc `resolv/res_send.c: send_dg` (2.36).
pub(super) async fn send_dg(
    thread: &mut Thread<'_>,
    packets: Packets<'_>,
    server: usize,
    exchange: &mut Exchange,
) -> Datagram {
    let Some(address) = server_address(thread, server) else {
        return Datagram::Next;
    };
    let reopen_for_each = thread.option("single-request-reopen") || thread.single_request_reopen;
    let mut turn = Turn {
        wait: wait(thread, server),
        single_request: thread.option("single-request") || thread.single_request || reopen_for_each,
        single_request_reopen: reopen_for_each,
        saved_got_somewhere: exchange.got_somewhere,
        first: None,
        received: [false, false],
        written: 0,
        to_write: true,
        thread,
        packets,
        server,
        address,
        exchange,
    };
    let mut flow = Flow::RetryReopen;
    loop {
        if matches!(flow, Flow::RetryReopen) && turn.reopen().await.is_none() {
            return Datagram::Next;
        }
        flow = turn.retry().await;
        if let Flow::Done(end) = flow {
            return end;
        }
    }
}

/// How long a reply is waited for, a second at least. The whole wait begins
/// again with every attempt.
fn wait(thread: &Thread<'_>, server: usize) -> Duration {
    let servers = thread.conf.servers.len();
    let mut seconds = thread.conf.timeout.value.as_secs() << server;
    if server > 0 {
        seconds /= servers as u64;
    }
    Duration::from_secs(seconds.max(1))
}

/// The local variables of `send_dg`.
struct Turn<'t, 'a> {
    thread: &'t mut Thread<'a>,
    packets: Packets<'t>,
    server: usize,
    address: Server,
    exchange: &'t mut Exchange,
    wait: Duration,
    single_request: bool,
    single_request_reopen: bool,
    saved_got_somewhere: bool,
    /// The reply that came first, if it is of use: `resplen`.
    first: Option<Message>,
    /// `recvresp1` and `recvresp2`
    received: [bool; 2],
    /// `nwritten`
    written: usize,
    /// Whether `POLLOUT` is waited for.
    to_write: bool,
}

impl Turn<'_, '_> {
    /// From the label `retry` to the next jump behind it.
    async fn retry(&mut self) -> Flow {
        let finish = self.thread.io.now() + self.wait;
        self.written = 0;
        self.received = [false, self.packets.second.is_none()];
        self.to_write = true;
        loop {
            let Some(socket) = self.socket() else {
                return Flow::Done(Datagram::Next);
            };
            if self.to_write {
                self.thread.errno = Errno::Clear;
                self.write(socket);
                continue;
            }
            let until = finish.saturating_sub(TOO_LATE);
            let arrival = self.thread.io.receive(&[socket], Some(until)).await;
            let flow = match arrival {
                None => {
                    self.thread.io.sleep(finish).await;
                    self.timed_out()
                }
                Some(arrival) => self.read(arrival).await,
            };
            if !matches!(flow, Flow::Wait) {
                return flow;
            }
        }
    }

    /// Opens a socket for the server, unless it has one.
    ///
    /// Source: glibc `resolv/res_send.c: reopen` (2.36).
    async fn reopen(&mut self) -> Option<()> {
        if self.socket().is_some() {
            return Some(());
        }
        let connected = connect(self.thread, &self.address, Transport::Udp).await;
        let slot = self.thread.sockets.get_mut(self.server)?;
        match connected {
            Ok(socket) => {
                *slot = Some(socket);
                Some(())
            }
            Err(error) => {
                self.thread.errno = error;
                iclose(self.thread);
                None
            }
        }
    }

    fn socket(&self) -> Option<SocketId> {
        self.thread.sockets.get(self.server).copied().flatten()
    }

    /// The socket can be written to: both queries, or the one that is due.
    fn write(&mut self, socket: SocketId) {
        let both = [Which::First, Which::Second];
        let due = match (self.written, self.single_request) {
            (0, false) => both.as_slice(),
            (0, true) => &[Which::First],
            _ => &[Which::Second],
        };
        for &which in due {
            let transport = Transport::Udp;
            let query = self.packets.query(which, &self.address, transport, socket);
            if let Some(query) = query {
                let id = self.thread.io.send(query);
                self.exchange.sent.push((id, which));
                self.written += 1;
            }
        }
        self.to_write = false;
    }

    /// Nothing came in time. If one reply did before, the server may be one
    /// that cannot cope with two queries: the two modes for such servers are
    /// tried first, and kept for good.
    fn timed_out(&mut self) -> Flow {
        let [received1, received2] = self.received;
        let one_came = received1 || self.packets.second.is_some() && received2;
        if self.first.is_none() || !one_came {
            self.exchange.got_somewhere = true;
            return Flow::Done(Datagram::Next);
        }
        if !self.single_request {
            self.thread.single_request = true;
            self.single_request = true;
            self.exchange.got_somewhere = self.saved_got_somewhere;
            return Flow::Retry;
        }
        if !self.single_request_reopen {
            self.thread.single_request_reopen = true;
            self.single_request_reopen = true;
            self.exchange.got_somewhere = self.saved_got_somewhere;
            iclose(self.thread);
            return Flow::RetryReopen;
        }
        self.use_first(None)
    }

    /// Something can be read.
    async fn read(&mut self, arrival: Arrival) -> Flow {
        self.thread.errno = Errno::Clear;
        let which = self.exchange.which(&arrival);
        let Came::Reply(reply) = arrival.what else {
            return self.next_server();
        };
        self.exchange.got_somewhere = true;
        let which = which.filter(|which| match (which, self.received) {
            (Which::First, [received, _]) | (Which::Second, [_, received]) => !received,
        });
        let Some(which) = which else {
            // Seen already: a query that was sent twice is answered twice.
            return Flow::Wait;
        };
        let [received1, received2] = self.received;
        let is_first = !(received1 || received2) || self.packets.second.is_none();
        if is_first {
            self.thread.fill_buffer(reply.rcode);
        }
        if is_error(&reply) || is_lame(&reply) {
            return self.failed(which, is_first);
        }
        if reply.truncated {
            iclose(self.thread);
            return Flow::Done(Datagram::Truncated);
        }
        let message = self.packets.message(which, reply);
        let second = if is_first {
            self.first = Some(message);
            None
        } else {
            Some(message)
        };
        self.mark(which);
        if self.received == [true, true] {
            return self.use_first(second);
        }
        self.ask_second().await
    }

    /// One of two replies is there. In the single-request modes the other
    /// query goes out only now.
    async fn ask_second(&mut self) -> Flow {
        if self.single_request {
            self.to_write = true;
            if self.single_request_reopen {
                iclose(self.thread);
                if self.reopen().await.is_none() {
                    return Flow::Done(Datagram::Next);
                }
            }
        }
        Flow::Wait
    }

    /// The label `next_ns`: the reply says that the server cannot help. The
    /// other reply may still do.
    fn failed(&mut self, which: Which, is_first: bool) -> Flow {
        let [received1, received2] = self.received;
        if self.thread.option("strict-error") {
            return self.next_server();
        }
        if received1 || self.packets.second.is_some() && received2 {
            return self.use_first(None);
        }
        let is_sent = !self.single_request || self.thread.version.waits_for_unsent;
        if self.packets.second.is_some() && is_sent {
            if is_first {
                self.first = None;
            }
            self.mark(which);
            return Flow::Wait;
        }
        self.next_server()
    }

    fn mark(&mut self, which: Which) {
        let [received1, received2] = &mut self.received;
        match which {
            Which::First => *received1 = true,
            Which::Second => *received2 = true,
        }
    }

    /// Returns what there is, if there is something: a length of zero in both
    /// buffers means the next server.
    fn use_first(&mut self, second: Option<Message>) -> Flow {
        let first = self.first.take();
        if first.is_none() && second.is_none() {
            return Flow::Done(Datagram::Next);
        }
        Flow::Done(Datagram::Answers(Answers { first, second }))
    }

    /// Source: glibc `resolv/res_send.c: close_and_return_error` (2.36).
    fn next_server(&mut self) -> Flow {
        iclose(self.thread);
        Flow::Done(Datagram::Next)
    }
}

/// An rcode that sends glibc to the next server.
fn is_error(reply: &Reply) -> bool {
    matches!(
        reply.rcode,
        Rcode::ServFail | Rcode::NotImp | Rcode::Refused
    )
}

/// An empty reply of a server that neither knows nor asks others.
fn is_lame(reply: &Reply) -> bool {
    reply.rcode == Rcode::NoError
        && reply.answers.is_empty()
        && !reply.authoritative
        && !reply.recursion_available
        && !reply.opt
}
