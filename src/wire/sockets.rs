//! Many sockets at once, none of which ever blocks.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, Protocol, Socket as Raw, Type};

use super::{MAX_MESSAGE, any};
use crate::engine::message::Transport;

/// What a socket has to tell.
#[derive(Debug)]
pub enum Got {
    /// It is connected.
    Connected(u32),
    /// It could not be connected, the connection has ended (end of file), or
    /// an earlier datagram did not arrive (connection refused).
    Failed(u32, io::Error),
    /// A message came, from whom.
    Message(u32, SocketAddr, Vec<u8>),
    /// The other descriptor that was waited for can be read.
    Other,
}

#[derive(Debug)]
enum Kind {
    /// Each family has one of its own; neither is connected.
    Free(Vec<UdpSocket>),
    Connected(UdpSocket, SocketAddr),
    Connecting(TcpStream, SocketAddr),
    Stream(Stream),
    /// Nothing more comes of it.
    Over,
}

#[derive(Debug)]
struct Stream {
    socket: TcpStream,
    peer: SocketAddr,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
}

/// Sockets by numbers of the caller's.
#[derive(Debug, Default)]
pub struct Sockets {
    all: BTreeMap<u32, Kind>,
    /// Those that may have something to tell.
    ready: VecDeque<u32>,
    buffer: Vec<u8>,
}

impl Sockets {
    /// Whether nothing can ever come.
    pub fn is_silent(&self) -> bool {
        self.all.values().all(|it| matches!(it, Kind::Over))
    }

    /// Begins to connect, from `source` if there is one; tells at once what
    /// can be told at once.
    pub fn connect(
        &mut self,
        id: u32,
        peer: Option<SocketAddr>,
        source: Option<SocketAddr>,
        transport: Transport,
    ) -> Option<Got> {
        let nowhere = || io::Error::from(ErrorKind::AddrNotAvailable);
        let made = peer.ok_or_else(nowhere).and_then(|peer| {
            let socket = begin(peer, source, transport)?;
            Ok(match transport {
                Transport::Udp => Kind::Connected(socket.into(), peer),
                Transport::Tcp => Kind::Connecting(socket.into(), peer),
            })
        });
        match made {
            Ok(kind) => {
                self.all.insert(id, kind);
                (transport == Transport::Udp).then_some(Got::Connected(id))
            }
            Err(error) => Some(Got::Failed(id, error)),
        }
    }

    /// Sends; what cannot be sent is lost, as on the way. A UDP socket that
    /// was never connected is made here.
    pub fn send(
        &mut self,
        id: u32,
        peer: Option<SocketAddr>,
        transport: Transport,
        message: &[u8],
    ) -> Option<Got> {
        let fresh = || match transport {
            Transport::Udp => Kind::Free(Vec::new()),
            Transport::Tcp => Kind::Over,
        };
        let kind = self.all.entry(id).or_insert_with(fresh);
        match kind {
            Kind::Free(sockets) => {
                let peer = peer?;
                let of_family = |it: &UdpSocket| {
                    it.local_addr()
                        .is_ok_and(|own| own.is_ipv4() == peer.is_ipv4())
                };
                if !sockets.iter().any(of_family) {
                    sockets.push(datagram(peer).ok()?);
                }
                let socket = sockets.iter().find(|it| of_family(it))?;
                let _ = socket.send_to(message, peer);
                None
            }
            Kind::Connected(socket, _) => {
                // An error of an earlier datagram is told here.
                let error = socket.send(message).err()?;
                let is_refused = error.kind() == ErrorKind::ConnectionRefused;
                let is_earlier = is_refused && socket.send(message).is_ok();
                is_earlier.then_some(Got::Failed(id, error))
            }
            Kind::Stream(stream) => {
                let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
                stream.outgoing.extend(length.to_be_bytes());
                stream.outgoing.extend(message);
                let error = stream.write().err()?;
                *kind = Kind::Over;
                Some(Got::Failed(id, error))
            }
            Kind::Connecting(..) | Kind::Over => None,
        }
    }

    /// The address and port of this side.
    pub fn local(&self, id: u32) -> Option<SocketAddr> {
        match self.all.get(&id)? {
            Kind::Connected(socket, _) => socket.local_addr().ok(),
            Kind::Stream(stream) => stream.socket.local_addr().ok(),
            Kind::Free(_) | Kind::Connecting(..) | Kind::Over => None,
        }
    }

    /// Closes a socket; what still comes is lost.
    pub fn close(&mut self, id: u32) {
        self.all.remove(&id);
    }

    /// The next thing that happens within this time. `other` is a further
    /// descriptor that is waited for.
    pub fn wait(&mut self, timeout: Duration, other: Option<BorrowedFd<'_>>) -> Option<Got> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(got) = self.told() {
                return Some(got);
            }
            // A part of a millisecond is one: the time must be over.
            let left = deadline.saturating_duration_since(Instant::now());
            let milliseconds = i32::try_from(left.as_micros().div_ceil(1000));
            let timeout = milliseconds
                .ok()
                .and_then(|it| PollTimeout::try_from(it).ok());
            let is_other = self.poll(timeout.unwrap_or(PollTimeout::MAX), other);
            if self.ready.is_empty() {
                if is_other {
                    return Some(Got::Other);
                }
                if left.is_zero() {
                    return None;
                }
            }
        }
    }

    /// Notes which sockets are ready; whether the other one is.
    fn poll(&mut self, timeout: PollTimeout, other: Option<BorrowedFd<'_>>) -> bool {
        let mut ids = Vec::with_capacity(self.all.len());
        let mut wanted = Vec::with_capacity(self.all.len() + 1);
        for (id, kind) in &self.all {
            for (fd, flags) in kind.wants() {
                ids.push(*id);
                wanted.push(PollFd::new(fd, flags));
            }
        }
        wanted.extend(other.map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        if poll(&mut wanted, timeout).is_err() {
            return false;
        }
        let is_ready = |it: &PollFd<'_>| it.any().unwrap_or(true);
        for (id, fd) in ids.iter().zip(&wanted) {
            if is_ready(fd) {
                self.ready.push_back(*id);
            }
        }
        wanted.len() > ids.len() && wanted.last().is_some_and(is_ready)
    }

    /// What the sockets that are ready have to tell.
    fn told(&mut self) -> Option<Got> {
        while let Some(id) = self.ready.pop_front() {
            let Some(kind) = self.all.get_mut(&id) else {
                continue;
            };
            if self.buffer.is_empty() {
                self.buffer = vec![0; MAX_MESSAGE];
            }
            if let Some(got) = kind.read(id, &mut self.buffer) {
                // There may be more behind a message of a connection.
                if let (Got::Message(..), Kind::Stream(_)) = (&got, &kind) {
                    self.ready.push_front(id);
                }
                return Some(got);
            }
        }
        None
    }
}

impl Kind {
    fn wants(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let free = match self {
            Self::Free(sockets) => sockets.as_slice(),
            _ => &[],
        };
        let one = match self {
            Self::Connected(socket, _) => Some((socket.as_fd(), PollFlags::POLLIN)),
            Self::Connecting(socket, _) => Some((socket.as_fd(), PollFlags::POLLOUT)),
            Self::Stream(stream) => {
                let mut flags = PollFlags::POLLIN;
                flags.set(PollFlags::POLLOUT, !stream.outgoing.is_empty());
                Some((stream.socket.as_fd(), flags))
            }
            Self::Free(_) | Self::Over => None,
        };
        let free = free.iter().map(|it| (it.as_fd(), PollFlags::POLLIN));
        free.chain(one)
    }

    fn read(&mut self, id: u32, buffer: &mut [u8]) -> Option<Got> {
        let message = |buffer: &[u8], length: usize, from| {
            let bytes = buffer.get(..length).unwrap_or(buffer).to_vec();
            Some(Got::Message(id, from, bytes))
        };
        match self {
            Self::Free(sockets) => {
                let (length, from) = sockets.iter().find_map(|it| it.recv_from(buffer).ok())?;
                message(buffer, length, from)
            }
            Self::Connected(socket, peer) => match socket.recv(buffer) {
                Ok(length) => message(buffer, length, *peer),
                Err(error) if is_passing(&error) => None,
                Err(error) => Some(Got::Failed(id, error)),
            },
            Self::Connecting(socket, peer) => {
                let (failed, peer) = (socket.take_error(), *peer);
                let Self::Connecting(socket, _) = std::mem::replace(self, Self::Over) else {
                    return None;
                };
                if let Some(error) = failed.unwrap_or_else(Some) {
                    return Some(Got::Failed(id, error));
                }
                *self = Self::Stream(Stream {
                    socket,
                    peer,
                    incoming: Vec::new(),
                    outgoing: Vec::new(),
                });
                Some(Got::Connected(id))
            }
            Self::Stream(stream) => match stream.exchange(buffer) {
                Ok(None) => None,
                Ok(Some(bytes)) => Some(Got::Message(id, stream.peer, bytes)),
                Err(error) => {
                    *self = Self::Over;
                    Some(Got::Failed(id, error))
                }
            },
            Self::Over => None,
        }
    }
}

impl Stream {
    fn write(&mut self) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match self.socket.write(&self.outgoing) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.outgoing.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes and reads as far as that goes without waiting: the first whole
    /// message, if there is one.
    fn exchange(&mut self, buffer: &mut [u8]) -> io::Result<Option<Vec<u8>>> {
        self.write()?;
        loop {
            if let Some(message) = self.whole() {
                return Ok(Some(message));
            }
            match self.socket.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.incoming.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) => return Err(error),
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

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn datagram(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(any(peer))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A socket that is connected, or a connection that is on its way. Without a
/// source the kernel draws the port when it connects.
fn begin(peer: SocketAddr, source: Option<SocketAddr>, transport: Transport) -> io::Result<Raw> {
    let (kind, protocol) = match transport {
        Transport::Udp => (Type::DGRAM, Protocol::UDP),
        Transport::Tcp => (Type::STREAM, Protocol::TCP),
    };
    let kind = kind.nonblocking().cloexec();
    let socket = Raw::new_raw(Domain::for_address(peer), kind, Some(protocol))?;
    if let Some(source) = source {
        socket.set_reuse_address(transport == Transport::Tcp)?;
        socket.bind(&source.into())?;
    }
    match socket.connect(&peer.into()) {
        Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}
