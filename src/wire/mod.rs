//! Conversations with servers, over sockets that never block.
//!
//! [`live`] plays machines: those of resolvers, and dig's, which asks. A socket
//! that is connected lets nothing but its server's packets in; its port is the
//! kernel's choice. Where there are many, sockets are used again, with another
//! port.

pub mod endpoints;
mod entropy;
mod errors;
mod fields;
pub mod http;
mod https;
mod kind;
pub mod live;
pub mod names;
mod roots;
mod secure;
mod sockets;
mod spare;
mod stream;
mod tls;
mod verifier;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit};

pub use self::entropy::{client_cookie, query_id};
pub use self::roots::Roots;
use crate::address::{Address, any_like};
use crate::engine::failure::Failure;
use crate::host::io_reason;

/// No datagram is longer.
const MAX_MESSAGE: usize = 65_535;

/// How many sockets can be open at once beside what else is open; one at least.
pub fn most_sockets() -> usize {
    /// Standard streams, a batch file, a namespace, and what libraries open.
    const OTHERS: u64 = 16;
    /// Where a filter lets nobody ask: what is usual.
    const USUAL: u64 = 1024;
    let most = getrlimit(Resource::RLIMIT_NOFILE).map_or(USUAL, |it| it.0);
    let most = most.saturating_sub(OTHERS);
    usize::try_from(most.max(1)).unwrap_or(usize::MAX)
}

/// No socket can be opened: the reason.
#[derive(Debug, thiserror::Error)]
#[error("cannot open a socket: {0}")]
pub struct NoSocket(String);

/// Opens a socket and closes it: if kdns gets none, that says nothing about servers.
///
/// # Errors
///
/// Neither one of IPv4 nor one of IPv6 can be.
pub fn expect_socket() -> Result<(), NoSocket> {
    let open = |ip: IpAddr| UdpSocket::bind(SocketAddr::new(ip, 0)).map(drop);
    open(Ipv4Addr::UNSPECIFIED.into())
        .or_else(|error| open(Ipv6Addr::UNSPECIFIED.into()).map_err(|_| error))
        .map_err(|error| NoSocket(io_reason(&error)))
}

fn any(peer: SocketAddr) -> SocketAddr {
    (any_like(peer.ip()), 0).into()
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
fn failure(error: &io::Error) -> Failure {
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
