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
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use self::entropy::{client_cookie, query_id};
pub use self::roots::Roots;
use crate::address::{Address, any_like};
use crate::engine::failure::Failure;

/// No datagram is longer.
const MAX_MESSAGE: usize = 65_535;

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
