//! The sockets of one lookup, none of which ever blocks.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, Protocol, Socket as Raw, Type};

use super::errors;
use crate::address::Server;
use crate::engine::io::ConnectError;
use crate::engine::message::{SocketId, Transport};
use crate::host::io_reason;
use crate::wire::{MAX_MESSAGE, any};

/// What a socket has to tell.
pub(super) enum Got {
    /// It is connected.
    Connected(SocketId),
    /// It is not: to whom and how, for the model, and for people, with
    /// whether there was no socket.
    NotConnected(SocketId, Server, Transport, ConnectError, (String, bool)),
    /// A message did not leave: why, and whether there was no socket.
    NotSent(String, bool),
    /// Nobody listens there (UDP), or the connection was broken off: as the
    /// kernel says.
    Refused(SocketId, String),
    /// The same of a datagram to this server from a socket that is not
    /// connected: whoever has it is not told.
    Unheard(SocketId, SocketAddr, String),
    /// The connection was closed.
    Closed(SocketId),
    /// A message came, from whom.
    Message(SocketId, SocketAddr, Vec<u8>),
}

enum Kind {
    /// Each family has one of its own; neither is connected.
    Free(Vec<UdpSocket>),
    Connected(UdpSocket, SocketAddr),
    Connecting(TcpStream, Server, SocketAddr),
    Stream(Stream),
    /// Nothing more comes of it.
    Over,
}

struct Stream {
    socket: TcpStream,
    peer: SocketAddr,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

/// By the number that the model gave them.
#[derive(Default)]
pub(super) struct Sockets {
    all: BTreeMap<u32, Kind>,
}

impl Sockets {
    /// Whether nothing can ever come.
    pub(super) fn is_empty(&self) -> bool {
        self.all.values().all(|it| matches!(it, Kind::Over))
    }

    /// Begins to connect; tells at once what can be told at once.
    pub(super) fn connect(
        &mut self,
        id: SocketId,
        server: Server,
        peer: Option<SocketAddr>,
        transport: Transport,
    ) -> Option<Got> {
        let made = peer.ok_or_else(nowhere).and_then(|peer| match transport {
            Transport::Udp => datagram(peer).and_then(|socket| {
                socket.connect(peer)?;
                Ok(Kind::Connected(socket, peer))
            }),
            Transport::Tcp => Ok(Kind::Connecting(begin(peer)?, server.clone(), peer)),
        });
        match made {
            Ok(kind) => {
                self.all.insert(id.0, kind);
                (transport == Transport::Udp).then_some(Got::Connected(id))
            }
            Err(error) => Some(not_connected(id, server, transport, &error)),
        }
    }

    /// Sends; what cannot be sent is lost, as on the way.
    pub(super) fn send(
        &mut self,
        id: SocketId,
        peer: Option<SocketAddr>,
        transport: Transport,
        message: &[u8],
    ) -> Option<Got> {
        let fresh = || match transport {
            Transport::Udp => Kind::Free(Vec::new()),
            Transport::Tcp => Kind::Over,
        };
        let kind = self.all.entry(id.0).or_insert_with(fresh);
        match kind {
            Kind::Free(sockets) => {
                let Some(peer) = peer else {
                    return Some(not_sent(&nowhere()));
                };
                let is_its = |it: &UdpSocket| {
                    it.local_addr()
                        .is_ok_and(|own| own.is_ipv4() == peer.is_ipv4())
                };
                if !sockets.iter().any(is_its) {
                    match datagram(peer) {
                        Ok(socket) => {
                            errors::listen(&socket, peer.is_ipv4());
                            sockets.push(socket);
                        }
                        Err(error) => return Some(not_sent(&error)),
                    }
                }
                let socket = sockets.iter().find(|it| is_its(it))?;
                // The first error can be that of an earlier datagram.
                let sent = socket.send_to(message, peer);
                let sent = sent.or_else(|_| socket.send_to(message, peer));
                sent.err().map(|error| not_sent(&error))
            }
            Kind::Connected(socket, _) => {
                // An error of an earlier datagram is told here.
                match socket.send(message) {
                    Ok(_) => None,
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                        let is_sent = socket.send(message).is_ok();
                        is_sent.then(|| Got::Refused(id, io_reason(&error)))
                    }
                    Err(error) => Some(not_sent(&error)),
                }
            }
            Kind::Stream(stream) => {
                let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
                stream.outgoing.extend(length.to_be_bytes());
                stream.outgoing.extend(message);
                stream.write().is_err().then_some(Got::Closed(id))
            }
            Kind::Connecting(..) | Kind::Over => None,
        }
    }

    /// The next thing that happens within this time, and before there is
    /// something to read at `interrupt`.
    pub(super) fn wait(
        &mut self,
        timeout: Duration,
        interrupt: Option<BorrowedFd<'_>>,
    ) -> Option<Got> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(got) = self.ready() {
                return Some(got);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || is_readable(interrupt) {
                return None;
            }
            let mut wanted: Vec<PollFd<'_>> = self.all.values().flat_map(Kind::wants).collect();
            wanted.extend(interrupt.map(|it| PollFd::new(it, PollFlags::POLLIN)));
            // A part of a millisecond is one: the time must be over.
            let milliseconds = left.as_micros().div_ceil(1000);
            let milliseconds = i32::try_from(milliseconds).unwrap_or(i32::MAX);
            let timeout = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX);
            let _ = poll(&mut wanted, timeout);
        }
    }

    fn ready(&mut self) -> Option<Got> {
        for (id, kind) in &mut self.all {
            let id = SocketId(*id);
            if let Some(got) = kind.ready(id) {
                return Some(got);
            }
        }
        None
    }
}

impl Kind {
    fn wants(&self) -> Vec<PollFd<'_>> {
        match self {
            Self::Free(sockets) => sockets
                .iter()
                .map(|it| PollFd::new(it.as_fd(), PollFlags::POLLIN))
                .collect(),
            Self::Connected(socket, _) => vec![PollFd::new(socket.as_fd(), PollFlags::POLLIN)],
            Self::Connecting(stream, ..) => vec![PollFd::new(stream.as_fd(), PollFlags::POLLOUT)],
            Self::Stream(stream) => {
                let mut flags = PollFlags::POLLIN;
                flags.set(PollFlags::POLLOUT, !stream.outgoing.is_empty());
                vec![PollFd::new(stream.socket.as_fd(), flags)]
            }
            Self::Over => Vec::new(),
        }
    }

    fn ready(&mut self, id: SocketId) -> Option<Got> {
        match self {
            Self::Free(sockets) => {
                let mut buffer = vec![0; MAX_MESSAGE];
                let mut received = sockets.iter().map(|it| it.recv_from(&mut buffer));
                let Some((length, from)) = received.find_map(Result::ok) else {
                    let (peer, why) = sockets.iter().find_map(errors::next)?;
                    return Some(Got::Unheard(id, peer, why));
                };
                buffer.truncate(length);
                Some(Got::Message(id, from, buffer))
            }
            Self::Connected(socket, peer) => {
                let mut buffer = vec![0; MAX_MESSAGE];
                match socket.recv(&mut buffer) {
                    Ok(length) => {
                        buffer.truncate(length);
                        Some(Got::Message(id, *peer, buffer))
                    }
                    Err(error) => is_hard(&error).then(|| Got::Refused(id, io_reason(&error))),
                }
            }
            Self::Connecting(stream, ..) => {
                let is_writable = is_writable(stream);
                if !is_writable {
                    return None;
                }
                self.connected(id)
            }
            Self::Stream(stream) => {
                let got = stream.exchange(id)?;
                if let Got::Closed(_) | Got::Refused(..) = got {
                    *self = Self::Over;
                }
                Some(got)
            }
            Self::Over => None,
        }
    }

    /// A connection is made, or has failed.
    fn connected(&mut self, id: SocketId) -> Option<Got> {
        let Self::Connecting(stream, server, peer) = std::mem::replace(self, Self::Over) else {
            return None;
        };
        if let Some(error) = stream.take_error().unwrap_or_else(Some) {
            return Some(not_connected(id, server, Transport::Tcp, &error));
        }
        *self = Self::Stream(Stream {
            socket: stream,
            peer,
            incoming: Vec::new(),
            outgoing: Vec::new(),
        });
        Some(Got::Connected(id))
    }
}

impl Stream {
    fn write(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.socket.write(&self.outgoing) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes and reads as far as that goes without waiting; the first whole
    /// message, or the end.
    fn exchange(&mut self, id: SocketId) -> Option<Got> {
        if self.write().is_err() {
            return Some(Got::Closed(id));
        }
        loop {
            if let Some(message) = self.whole() {
                return Some(Got::Message(id, self.peer, message));
            }
            let mut buffer = [0; 4096];
            match self.socket.read(&mut buffer) {
                Ok(0) => return Some(Got::Closed(id)),
                Ok(count) => self.incoming.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Some(Got::Refused(id, io_reason(&error))),
            }
        }
    }

    /// A message behind its length (RFC 1035, section 4.2.2).
    fn whole(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.incoming.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let message = rest.get(..length)?.to_vec();
        self.incoming.drain(..length + 2);
        Some(message)
    }
}

fn datagram(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(any(peer))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A connection that is on its way.
fn begin(peer: SocketAddr) -> io::Result<TcpStream> {
    let socket = Raw::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&peer.into()) {
        Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
        _ => Ok(socket.into()),
    }
}

/// Where there is no such interface, there is no such address.
fn nowhere() -> io::Error {
    ErrorKind::AddrNotAvailable.into()
}

/// Whether there is something to read.
pub(super) fn is_readable(descriptor: Option<BorrowedFd<'_>>) -> bool {
    descriptor.is_some_and(|it| {
        let mut wanted = [PollFd::new(it, PollFlags::POLLIN)];
        poll(&mut wanted, PollTimeout::ZERO).is_ok_and(|count| count > 0)
    })
}

/// Whether it is more than that nothing is there yet. Of ICMP messages the
/// kernel tells those that say that a port is closed or prohibited.
///
/// Source: Linux `net/ipv4/icmp.c` `icmp_err_convert`
pub(super) fn is_hard(error: &io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Whether this machine has no socket to give, rather than no way to send:
/// a packet filter says EPERM, a closed family EAFNOSUPPORT.
fn is_lack(error: &io::Error) -> bool {
    use nix::libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
    let lacks = [EMFILE, ENFILE, ENOBUFS, ENOMEM];
    error.raw_os_error().is_some_and(|it| lacks.contains(&it))
}

fn not_sent(error: &io::Error) -> Got {
    Got::NotSent(io_reason(error), is_lack(error))
}

fn is_writable(stream: &TcpStream) -> bool {
    let mut wanted = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
    poll(&mut wanted, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}

/// A model knows two reasons; all but a closed port is a missing way.
fn not_connected(id: SocketId, server: Server, transport: Transport, error: &io::Error) -> Got {
    let kind = match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => ConnectError::Refused,
        _ => ConnectError::Unreachable,
    };
    let why = (io_reason(error), is_lack(error));
    Got::NotConnected(id, server, transport, kind, why)
}
