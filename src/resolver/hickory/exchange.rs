//! Queries on the wire.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::address::Server;
use crate::engine::io::{Came, ConnectError, Io};
use crate::engine::message::{self, Question, Reply, SocketId, Transport};
use crate::resolver::hickory::caching_client::Query;
use crate::resolver::hickory::error::NetError;
use crate::resolver::hickory::name_server_pool::NameServerPool;

/// A UDP query goes out so many times at most.
/// Source: hickory-net `src/udp/udp_client_stream.rs: UdpClientStream::builder`.
const MAX_UDP_SENDS: usize = 3;
/// The shortest time between them.
/// Source: hickory-proto `src/op/mod.rs: DEFAULT_RETRY_FLOOR`.
const RETRY_FLOOR: Duration = Duration::from_millis(333);
/// How far apart two queries on one connection are written at least: each is
/// handed to the connection's own task. Shorter than any round-trip time.
const TASK_SWITCH: Duration = Duration::from_micros(1);

/// Sends from a new socket, then again from others. An answer to any of them
/// counts until the end.
///
/// The sockets are not connected: they do not see ICMP, and a reply from an
/// address other than the one that was asked is not taken.
///
/// Source: hickory-net `src/udp/udp_client_stream.rs: UdpClientStream::send_message,
/// retry, UdpRequest::send`.
async fn send_udp(
    pool: &NameServerPool<'_>,
    server: &Server,
    query: &Query,
    retry_interval: Duration,
) -> Result<Reply, NetError> {
    let io = pool.io;
    let retry_interval = retry_interval.max(RETRY_FLOOR);
    let end = io.now().saturating_add(pool.timeout);
    // The scope that a reply comes with is none of the server's.
    let is_strange = is_unspecified(server) || pool.version.is_before_25 && is_link_local(server);
    let mut sockets = Vec::with_capacity(MAX_UDP_SENDS);
    loop {
        let socket = bind_udp(io, server).await?;
        io.send(wire_query(pool, server, query, socket, Transport::Udp));
        sockets.push(socket);
        let retry = io.now() + retry_interval;
        let until = if sockets.len() < MAX_UDP_SENDS && !pool.version.is_before_26 {
            end.min(retry)
        } else {
            end
        };
        while let Some(arrival) = io.receive(&sockets, Some(until)).await {
            match arrival.what {
                Came::Reply(reply) if !is_strange => return Ok(reply),
                _ => {}
            }
        }
        if until == end {
            return Err(NetError::Timeout);
        }
    }
}

/// A socket that can send to `server`: here the model learns what `sendto`
/// says, as `connect` would say the same.
async fn bind_udp(io: &Io, server: &Server) -> Result<SocketId, NetError> {
    if server.address.ip == IpAddr::V4(Ipv4Addr::BROADCAST) {
        // EACCES: the socket has no SO_BROADCAST.
        return Err(NetError::Io { closed: false });
    }
    connect(io, server, Transport::Udp).await
}

async fn connect(io: &Io, server: &Server, transport: Transport) -> Result<SocketId, NetError> {
    io.connect(server, transport)
        .await
        .map_err(|error| match error {
            ConnectError::Unreachable | ConnectError::Refused => NetError::Io { closed: false },
        })
}

fn is_link_local(server: &Server) -> bool {
    matches!(server.address.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// Linux sends to the loopback address instead, and the reply comes from there.
fn is_unspecified(server: &Server) -> bool {
    server.address.ip.is_unspecified()
}

/// A UDP socket or a TCP connection to a server.
///
/// Source: hickory-resolver `src/name_server.rs: ConnectionState`.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None`: UDP, with a socket for every query.
    tcp: Option<TcpConnection>,
    /// It is not to be used for new queries.
    failed: Cell<bool>,
}

/// A TCP connection.
///
/// Source: hickory-net `src/tcp/tcp_client_stream.rs: TcpClientStream`,
/// `src/xfer/dns_multiplexer.rs: DnsMultiplexer`.
#[derive(Debug)]
struct TcpConnection {
    socket: SocketId,
    /// When the next query can be written.
    free_at: Cell<Duration>,
    /// The server closed it.
    closed: Cell<bool>,
}

impl Connection {
    /// One over UDP.
    pub(super) const fn udp() -> Self {
        Self {
            tcp: None,
            failed: Cell::new(false),
        }
    }

    /// One over TCP, made now.
    pub(super) async fn tcp(io: &Io, server: &Server) -> Result<Self, NetError> {
        Ok(Self {
            tcp: Some(TcpConnection::connect(io, server).await?),
            failed: Cell::new(false),
        })
    }

    /// Whether it is over UDP.
    pub(super) const fn is_udp(&self) -> bool {
        self.tcp.is_none()
    }

    /// Sends the query, and waits for its answer; over UDP again after `retry_interval`.
    pub(super) async fn send(
        &self,
        pool: &NameServerPool<'_>,
        server: &Server,
        query: &Query,
        retry_interval: Duration,
    ) -> Result<Reply, NetError> {
        match &self.tcp {
            None => send_udp(pool, server, query, retry_interval).await,
            Some(tcp) => tcp.send(pool, server, query).await,
        }
    }

    /// Takes it out of use; queries on their way stay there.
    pub(super) fn fail(&self) {
        self.failed.set(true);
    }

    /// Whether it was taken out of use.
    pub(super) const fn has_failed(&self) -> bool {
        self.failed.get()
    }
}

impl TcpConnection {
    /// Source: hickory-net `src/tcp/tcp_client_stream.rs: TcpClientStream::exchange`.
    async fn connect(io: &Io, server: &Server) -> Result<Self, NetError> {
        if is_link_local(server) {
            // EINVAL: the scope of the address is lost.
            return Err(NetError::Io { closed: false });
        }
        Ok(Self {
            socket: connect(io, server, Transport::Tcp).await?,
            free_at: Cell::new(Duration::ZERO),
            closed: Cell::new(false),
        })
    }

    /// Source: hickory-net `src/xfer/dns_multiplexer.rs: DnsMultiplexer::send_message`.
    async fn send(
        &self,
        pool: &NameServerPool<'_>,
        server: &Server,
        query: &Query,
    ) -> Result<Reply, NetError> {
        let io = pool.io;
        let end = io.now().saturating_add(pool.timeout);
        let turn = self.free_at.get().max(io.now());
        self.free_at.set(turn + TASK_SWITCH);
        io.sleep(turn).await;
        if self.closed.get() {
            return Err(NetError::Io { closed: true });
        }
        let id = io.send(wire_query(pool, server, query, self.socket, Transport::Tcp));
        match io
            .receive_answer(id, Some(end))
            .await
            .map(|arrival| arrival.what)
        {
            Some(Came::Reply(reply)) => Ok(reply),
            Some(Came::Closed | Came::Reset | Came::Refused) => {
                self.closed.set(true);
                Err(NetError::Io { closed: true })
            }
            None => Err(NetError::Timeout),
        }
    }
}

fn wire_query(
    pool: &NameServerPool<'_>,
    server: &Server,
    query: &Query,
    socket: SocketId,
    transport: Transport,
) -> message::Query {
    message::Query {
        server: server.clone(),
        question: Question::Asked(query.name.clone(), query.record_type),
        transport,
        socket,
        edns: pool.edns.clone(),
        authentic_data: false,
        because: query.because.clone(),
    }
}
