//! One exchange with a server: sockets, packets, and which goroutine runs first.

use std::net::IpAddr;
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::{Came, ConnectError};
use crate::engine::message::{Because, Edns, Query, Question, Reply, SocketId, Transport};
use crate::name::Name;
use crate::resolver::go::client::{Client, Failure};
use crate::resolver::go::read::{TRUST_AD, USE_TCP};

/// Source: Go `src/net/dnsclient_unix.go`.
const NO_ANSWER: Failure = "no answer from DNS server";
/// Source: Go `src/net/net.go: timeoutError`.
const TIMEOUT: Failure = "i/o timeout";
/// Source: Go `src/io/io.go: EOF`.
const EOF: Failure = "EOF";
/// Source: Go `src/syscall/zerrors_linux_amd64.go: errors`, as the next four.
const REFUSED: Failure = "connection refused";
const RESET: Failure = "connection reset by peer";
const NO_ROUTE: Failure = "no route to host";
const INVALID_ARGUMENT: Failure = "invalid argument";
const NO_NETWORK: Failure = "network is unreachable";

/// Source: Go `src/net/dnsclient_unix.go: newRequest, maxDNSPacketSize`.
const EDNS: Edns = Edns::plain(1232);

/// How long a goroutine takes from an event to its next packet. Ours: short
/// beside any delay, but long enough to tell which of two goes first.
const STEP: Duration = Duration::from_micros(1);
/// By how much the second of two goroutines comes behind the first. Ours.
const ORDER: Duration = Duration::from_nanos(1);

impl Client<'_> {
    /// Asks one server, over UDP and, if the answer is truncated, over TCP.
    /// Each of the two has the whole time-out, and a socket of its own.
    ///
    /// Source: Go `src/net/dnsclient_unix.go: Resolver.exchange`.
    pub(super) async fn exchange(
        &self,
        server: &Server,
        (name, record_type, because): (&Name, RecordType, &Because),
    ) -> Result<Reply, Failure> {
        let transports: &[Transport] = if self.config.has(USE_TCP) {
            &[Transport::Tcp]
        } else {
            &[Transport::Udp, Transport::Tcp]
        };
        for &transport in transports {
            let deadline = self.io.now() + self.config.reading.timeout.value;
            let socket = self.dial(server, transport).await?;
            self.io.send(Query {
                server: server.clone(),
                question: Question::Asked(name.clone(), record_type),
                transport,
                socket,
                edns: self.has_edns().then_some(EDNS),
                authentic_data: self.config.has(TRUST_AD),
                because: because.clone(),
            });
            let reply = self.round_trip(socket, transport, deadline).await;
            self.io.close(socket);
            let reply = reply?;
            let again = transport == Transport::Udp || !self.version.takes_truncated_tcp;
            if !(reply.truncated && again) {
                return Ok(reply);
            }
        }
        Err(NO_ANSWER)
    }

    /// Source: Go `src/net/dnsclient_unix.go: newRequest`. Of settings with one
    /// name the last counts (`internal/godebug: parse`).
    fn has_edns(&self) -> bool {
        let settings = self.scenario.env("GODEBUG").unwrap_or_default();
        let mut settings = settings.rsplit(',').filter_map(|it| it.split_once('='));
        let netedns0 = settings.find(|(name, _)| *name == "netedns0");
        let is_off = netedns0.is_some_and(|(_, value)| value == "0");
        self.version.edns && !(is_off && self.version.knows_netedns0)
    }

    /// Source: Go `src/net/lookup.go: Resolver.dial`.
    async fn dial(&self, server: &Server, transport: Transport) -> Result<SocketId, Failure> {
        let Address { ip, scope, .. } = &server.address;
        match ip {
            IpAddr::V4(ip) if ip.is_broadcast() => return Err(INVALID_ARGUMENT),
            // The kernel wants to know the interface of such an address.
            IpAddr::V6(ip) if ip.is_unicast_link_local() => {
                match self.zone_index(scope.as_deref().unwrap_or_default()) {
                    0 => return Err(INVALID_ARGUMENT),
                    index if index > self.scenario.interfaces.len() => return Err(NO_NETWORK),
                    _ => {}
                }
            }
            _ => {}
        }
        let connected = self.io.connect(server, transport).await;
        if transport == Transport::Tcp {
            self.io.sleep(self.io.now() + STEP).await;
        }
        connected.map_err(|error| match error {
            ConnectError::Unreachable => NO_ROUTE,
            ConnectError::Refused => REFUSED,
        })
    }

    /// The interface of a zone: its name, or a number; else 0.
    ///
    /// Source: Go `src/net/interface.go: ipv6ZoneCache.index`.
    fn zone_index(&self, zone: &str) -> usize {
        let mut interfaces = self.scenario.interfaces.iter();
        let named = interfaces.position(|name| name == zone);
        let digits = zone.bytes().take_while(u8::is_ascii_digit).count();
        let number = || zone.get(..digits).and_then(|it| it.parse().ok());
        named.map(|it| it + 1).or_else(number).unwrap_or_default()
    }

    /// Source: Go `src/net/dnsclient_unix.go: dnsPacketRoundTrip, dnsStreamRoundTrip`.
    async fn round_trip(
        &self,
        socket: SocketId,
        transport: Transport,
        deadline: Duration,
    ) -> Result<Reply, Failure> {
        let arrival = self.io.receive(&[socket], Some(deadline)).await;
        // The clock ran before the query left: what takes just as long is late.
        let arrival = arrival.filter(|_| self.io.now() < deadline);
        let what = arrival.ok_or(TIMEOUT)?.what;
        self.run_queue(transport, &what).await;
        match what {
            Came::Reply(reply) => Ok(reply),
            Came::Refused => Err(REFUSED),
            Came::Closed => Err(EOF),
            Came::Reset => Err(RESET),
        }
    }

    /// Waits until this goroutine runs, after its socket has woken it. Of two
    /// that are woken at once, in the same step, the second runs first: they
    /// come from a stack. A connection, on which they are woken once more,
    /// leaves them in their order.
    ///
    /// Source: Go `src/runtime/netpoll.go: netpollready`, which pushes to a `gList`.
    async fn run_queue(&self, transport: Transport, what: &Came) {
        let truncated = matches!(what, Came::Reply(reply) if reply.truncated);
        if transport == Transport::Tcp || truncated {
            return self.io.sleep(self.io.now() + STEP).await;
        }
        // Steps begin at whole microseconds, of which there are few enough.
        let step = u64::try_from(self.io.now().as_micros()).unwrap_or(u64::MAX);
        let is_first = self.woken.replace(step) != step;
        let next = Duration::from_micros(step) + STEP;
        self.io.sleep(next + u32::from(is_first) * ORDER).await;
    }
}
