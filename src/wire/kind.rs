//! What stands behind the number of a socket that never blocks.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};

use socket2::{Domain, Protocol, Socket as Raw, Type};

use super::any;
use super::errors;
use super::secure::Conversation;
use super::spare::Connected;
use super::stream::{Stream, is_passing};
use crate::engine::failure::Failure;
use crate::engine::message::Transport;

/// What a socket has to tell.
#[derive(Debug)]
pub(super) enum Got {
    /// It is connected.
    Connected,
    /// It could not be connected, the connection has ended (end of file), or
    /// an earlier datagram did not arrive (connection refused).
    Failed(io::Error),
    /// What stands between TCP and DNS has failed.
    Broken(Failure),
    /// A message did not leave.
    NotSent(io::Error),
    /// A datagram to this server did not arrive, which a socket that is not
    /// connected is not told.
    Unheard(SocketAddr, io::Error),
    /// A message came, from whom.
    Message(SocketAddr, Vec<u8>),
}

/// What a number stands for.
#[derive(Debug)]
pub(super) enum Kind {
    /// Each family has one of its own; neither is connected.
    Free(Vec<UdpSocket>),
    Connected(Connected),
    Connecting(TcpStream, SocketAddr),
    Stream(Stream),
    Secure(Conversation),
    /// A conversation that is over.
    Over,
}

impl Kind {
    /// What it has to tell, if anything.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Option<Got> {
        let message = |buffer: &[u8], length: usize, from| {
            let bytes = buffer.get(..length).unwrap_or(buffer).to_vec();
            Some(Got::Message(from, bytes))
        };
        match self {
            Self::Free(sockets) => {
                let mut received = sockets.iter().map(|it| it.recv_from(buffer));
                let Some((length, from)) = received.find_map(Result::ok) else {
                    let (peer, error) = sockets.iter().find_map(errors::next)?;
                    return Some(Got::Unheard(peer, error));
                };
                message(buffer, length, from)
            }
            Self::Connected(Connected { socket, peer, .. }) => match socket.recv(buffer) {
                Ok(length) => message(buffer, length, *peer),
                Err(error) if is_passing(&error) => None,
                Err(error) => Some(Got::Failed(error)),
            },
            Self::Connecting(socket, peer) => {
                let (failed, peer) = (socket.take_error(), *peer);
                if matches!(failed, Ok(None)) && socket.peer_addr().is_err() {
                    return None;
                }
                let Self::Connecting(socket, _) = std::mem::replace(self, Self::Over) else {
                    return None;
                };
                if let Some(error) = failed.unwrap_or_else(Some) {
                    return Some(Got::Failed(error));
                }
                *self = Self::Stream(Stream::new(socket, peer));
                Some(Got::Connected)
            }
            Self::Stream(stream) => match stream.exchange(buffer) {
                Ok(None) => None,
                Ok(Some(bytes)) => Some(Got::Message(stream.peer, bytes)),
                Err(error) => {
                    *self = Self::Over;
                    Some(Got::Failed(error))
                }
            },
            Self::Secure(conversation) => conversation.read(),
            Self::Over => None,
        }
    }
}

/// A socket for a family of servers, not connected.
pub(super) fn datagram(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(any(peer))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A socket that is connected, or a connection that is on its way. Without a
/// source the kernel draws the port when it connects.
pub(super) fn begin(
    peer: SocketAddr,
    source: Option<SocketAddr>,
    transport: Transport,
) -> io::Result<Raw> {
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
