//! One message to one server and what comes back, over sockets.
//!
//! A socket of its own for every query, connected, so that the kernel lets
//! nothing but the server's packets in; its port is the kernel's choice.
//! Where there are many, sockets are used again, with another port.

mod entropy;
mod errors;
mod fields;
mod https;
mod kind;
pub mod live;
pub mod names;
mod roots;
pub mod sockets;
mod spare;
mod stream;
mod tls;
mod verifier;

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpStream, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use self::entropy::{client_cookie, query_id};
pub use self::roots::Roots;
use crate::address::Address;
use crate::dig::lookup::{Secure, Server};
use crate::dig::machine::Failure;
use crate::engine::message::Transport;

/// No datagram is longer.
const MAX_MESSAGE: usize = 65_535;

/// A socket or connection to one server.
#[derive(Debug)]
pub struct Conversation {
    socket: Socket,
    peer: SocketAddr,
    sent: Option<(Instant, Duration)>,
    received: Option<(Duration, Duration)>,
    local: Option<SocketAddr>,
}

#[derive(Debug)]
enum Socket {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Tls(Box<tls::Connection>),
    Https(Box<https::Connection>),
}

impl Conversation {
    /// Opens a connected UDP socket, or a TCP connection within `timeout`;
    /// behind TLS, `roots` say whose certificates count. `source` is the
    /// address and port to send from.
    ///
    /// # Errors
    ///
    /// As the kernel says.
    pub fn open(
        transport: Transport,
        server: &Server,
        source: Option<SocketAddr>,
        timeout: Duration,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        let peer =
            socket_address(&server.address, server.port()).ok_or(Failure::AddressNotAvailable)?;
        let deadline = Instant::now() + timeout;
        let socket = match (transport, &server.secure) {
            (_, Some(secure)) => {
                let socket = tcp(peer, source, timeout).map_err(|error| failure(&error));
                socket.and_then(|it| Socket::secure(it, secure, deadline, roots))
            }
            (Transport::Udp, None) => udp(peer, source)
                .map(Socket::Udp)
                .map_err(|error| failure(&error)),
            (Transport::Tcp, None) => tcp(peer, source, timeout)
                .map(Socket::Tcp)
                .map_err(|error| failure(&error)),
        };
        let socket = socket?;
        Ok(Self {
            local: socket.local(),
            socket,
            peer,
            sent: None,
            received: None,
        })
    }

    /// Whether this is a connection to that server.
    pub fn leads_to(&self, server: &Server) -> bool {
        let port = server.port();
        server.secure.is_none()
            && matches!(self.socket, Socket::Tcp(_))
            && socket_address(&server.address, port) == Some(self.peer)
    }

    /// The address and port of this side.
    pub fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// When the last message was sent and received, since 1970, and the time
    /// between, by a clock that never jumps.
    pub fn times(&self) -> (Duration, Duration, Duration) {
        let sent = self.sent.map(|(_, sent)| sent).unwrap_or_default();
        let (received, elapsed) = self.received.unwrap_or_default();
        (sent, received, elapsed)
    }

    /// Sends one message.
    ///
    /// # Errors
    ///
    /// As the kernel says.
    pub fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        self.sent = Some((Instant::now(), now()));
        let result = match &mut self.socket {
            Socket::Udp(socket) => socket.send(message).map(|_| ()),
            Socket::Tcp(stream) => stream.write_all(&with_length(message)),
            Socket::Tls(connection) => return connection.send(&with_length(message)),
            Socket::Https(connection) => {
                connection.send(message);
                return Ok(());
            }
        };
        result.map_err(|error| failure(&error))
    }

    /// Waits for one message.
    ///
    /// # Errors
    ///
    /// Nothing came in time, or the other side is not there.
    pub fn receive(&mut self, timeout: Duration) -> Result<Vec<u8>, Failure> {
        let deadline = Instant::now() + timeout;
        let failed = |error: io::Error| failure(&error);
        let message = match &mut self.socket {
            Socket::Udp(socket) => datagram(socket, deadline).map_err(failed),
            Socket::Tcp(stream) => framed(|buffer| fill(stream, buffer, deadline).map_err(failed)),
            Socket::Tls(connection) => framed(|buffer| connection.fill(buffer, deadline)),
            Socket::Https(connection) => connection.receive(deadline),
        }?;
        if let Some((sent, _)) = self.sent {
            self.received = Some((now(), sent.elapsed()));
        }
        Ok(message)
    }
}

impl Socket {
    /// What stands between TCP and DNS.
    fn secure(
        socket: TcpStream,
        secure: &Secure,
        deadline: Instant,
        roots: &Roots,
    ) -> Result<Self, Failure> {
        match (&secure.http, &secure.tls) {
            (Some(http), _) => {
                let open = https::Connection::open(socket, (secure, http), deadline, roots)?;
                Ok(Self::Https(Box::new(open)))
            }
            (None, Some(tls)) => {
                let open = tls::Connection::open(socket, tls, deadline, roots)?;
                Ok(Self::Tls(Box::new(open)))
            }
            (None, None) => Ok(Self::Tcp(socket)),
        }
    }

    /// The address of this side.
    fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(socket) => socket.local_addr().ok(),
            Self::Tcp(stream) => stream.local_addr().ok(),
            Self::Tls(connection) => connection.local(),
            Self::Https(connection) => connection.local(),
        }
    }
}

/// How many sockets can be open at once beside what else is open; one at least.
pub fn most_sockets() -> usize {
    /// Standard streams, a batch file, a namespace, and what libraries open.
    const OTHERS: u64 = 16;
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = most
        .current
        .map_or(u64::MAX, |it| it.saturating_sub(OTHERS));
    usize::try_from(most.max(1)).unwrap_or(usize::MAX)
}

fn udp(peer: SocketAddr, source: Option<SocketAddr>) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(source.unwrap_or_else(|| any(peer)))?;
    socket.connect(peer)?;
    Ok(socket)
}

fn tcp(peer: SocketAddr, source: Option<SocketAddr>, timeout: Duration) -> io::Result<TcpStream> {
    let Some(source) = source else {
        return TcpStream::connect_timeout(&peer, timeout);
    };
    entropy::connect_from(source, peer, timeout)
}

fn any(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

fn datagram(socket: &UdpSocket, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        socket.set_read_timeout(Some(left(deadline)?))?;
        match socket.recv(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A message behind its length (RFC 1035, section 4.2.2).
fn with_length(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), message].concat()
}

/// The message behind its length, by what fills a buffer.
fn framed(mut fill: impl FnMut(&mut [u8]) -> Result<(), Failure>) -> Result<Vec<u8>, Failure> {
    let mut length = [0; 2];
    fill(&mut length)?;
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    fill(&mut message)?;
    Ok(message)
}

fn fill(stream: &mut TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    let mut rest = buffer;
    while !rest.is_empty() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(rest) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => rest = rest.get_mut(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The time to the deadline; an error behind it.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(left)
}

/// The socket's address; `None` if the zone is no interface.
pub fn socket_address(address: &Address, port: u16) -> Option<SocketAddr> {
    match (address.ip, &address.scope) {
        (IpAddr::V6(ip), Some(scope)) => {
            let index = scope
                .parse()
                .ok()
                .or_else(|| nix::net::if_::if_nametoindex(scope.as_ref()).ok())?;
            Some(SocketAddrV6::new(ip, port, 0, index).into())
        }
        (ip, _) => Some(SocketAddr::new(ip, port)),
    }
}

/// What went wrong, as BIND names it.
pub fn failure(error: &io::Error) -> Failure {
    if let Some(nix::libc::EMFILE | nix::libc::ENFILE) = error.raw_os_error() {
        return Failure::TooManyFiles;
    }
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Failure::TimedOut,
        ErrorKind::ConnectionRefused => Failure::Refused,
        ErrorKind::UnexpectedEof => Failure::EndOfFile,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Failure::Reset,
        ErrorKind::NetworkUnreachable => Failure::NetUnreachable,
        ErrorKind::HostUnreachable => Failure::HostUnreachable,
        ErrorKind::AddrNotAvailable => Failure::AddressNotAvailable,
        ErrorKind::AddrInUse => Failure::AddressInUse,
        ErrorKind::PermissionDenied => Failure::NoPermission,
        _ => Failure::Failed,
    }
}

/// The time since 1970.
pub fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn server(address: SocketAddr) -> Server {
        Server {
            address: address.ip().into(),
            port: Some(address.port()),
            word: Vec::new(),
            secure: None,
        }
    }

    fn open(transport: Transport, to: &Server) -> Result<Conversation, Failure> {
        let roots = Roots::default();
        Conversation::open(transport, to, None, Duration::from_secs(1), &roots)
    }

    #[test]
    fn a_datagram_goes_out_and_one_comes_back() {
        let there = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = server(there.local_addr().unwrap());
        let mut here = open(Transport::Udp, &to).unwrap();
        here.send(b"ask").unwrap();
        let mut buffer = [0; 10];
        let (length, from) = there.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"ask");
        // Another socket's datagram does not get in.
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.send_to(b"spoof", from).unwrap();
        there.send_to(b"answer", from).unwrap();
        assert_eq!(here.receive(Duration::from_secs(1)), Ok(b"answer".to_vec()));
        let silence = here.receive(Duration::from_millis(5));
        assert_eq!(silence, Err(Failure::TimedOut));
    }

    #[test]
    fn a_connection_frames_messages() {
        let there = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = server(there.local_addr().unwrap());
        let mut here = open(Transport::Tcp, &to).unwrap();
        here.send(b"ask").unwrap();
        let (mut stream, _) = there.accept().unwrap();
        let mut buffer = [0; 5];
        stream.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"\0\x03ask");
        stream.write_all(b"\0\x02ok\0\x09cut").unwrap();
        drop(stream);
        assert_eq!(here.receive(Duration::from_secs(1)), Ok(b"ok".to_vec()));
        let cut = here.receive(Duration::from_secs(1));
        assert_eq!(cut, Err(Failure::EndOfFile));
        assert!(here.leads_to(&to));
    }

    #[test]
    fn nobody_listens() {
        let gone = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = server(gone.local_addr().unwrap());
        drop(gone);
        let mut here = open(Transport::Udp, &to).unwrap();
        here.send(b"ask").unwrap();
        assert_eq!(here.receive(Duration::from_secs(1)), Err(Failure::Refused));
        let refused = open(Transport::Tcp, &to);
        assert_eq!(refused.unwrap_err(), Failure::Refused);
    }
}
