//! What errors of the kernel mean; and what ICMP says about datagrams of a
//! socket that is not connected.
//!
//! The kernel keeps it from such a socket, and so from the resolver whose
//! socket it stands for. People want to know it nevertheless: `ip(7)`,
//! `IP_RECVERR`.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd as _;

use nix::libc::{sock_extended_err, sockaddr_in6};
use nix::sys::socket::sockopt::{Ipv4RecvErr, Ipv6RecvErr};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt};

use super::stream::is_passing;

/// Lets the kernel keep what ICMP says; where it will not, nothing is said.
pub(super) fn listen(socket: &UdpSocket, is_v4: bool) {
    let _ = if is_v4 {
        setsockopt(socket, Ipv4RecvErr, &true)
    } else {
        setsockopt(socket, Ipv6RecvErr, &true)
    };
}

/// The next message: to whom the datagram was sent, and what is wrong there.
///
/// Of an error that a connected socket would not be told of nothing is said.
pub(super) fn next(socket: &UdpSocket) -> Option<(SocketAddr, io::Error)> {
    loop {
        // Truncated: what was sent is of no interest.
        let mut start = [0; 1];
        let mut parts = [IoSliceMut::new(&mut start)];
        let mut space = nix::cmsg_space!(sock_extended_err, sockaddr_in6);
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let socket = socket.as_raw_fd();
        let got = recvmsg::<SockaddrStorage>(socket, &mut parts, Some(&mut space), flags).ok()?;
        let peer = got.address.and_then(|it| {
            let v4 = it.as_sockaddr_in().map(|it| SocketAddrV4::from(*it).into());
            v4.or_else(|| {
                it.as_sockaddr_in6()
                    .map(|it| SocketAddrV6::from(*it).into())
            })
        });
        let Ok(mut messages) = got.cmsgs() else {
            continue;
        };
        let error = messages.find_map(|it| match it {
            ControlMessageOwned::Ipv4RecvErr(error, _)
            | ControlMessageOwned::Ipv6RecvErr(error, _) => Some(error.ee_errno),
            _ => None,
        });
        let error = error.and_then(|it| i32::try_from(it).ok());
        let error = error.map(io::Error::from_raw_os_error);
        if let Some(found) = peer.zip(error.filter(|it| !is_passing(it))) {
            return Some(found);
        }
    }
}

/// Whether this machine has no socket to give, rather than no way to send:
/// a packet filter says EPERM, a closed family EAFNOSUPPORT.
pub(super) fn is_lack(error: &io::Error) -> bool {
    use nix::libc::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
    let lacks = [EMFILE, ENFILE, ENOBUFS, ENOMEM];
    error.raw_os_error().is_some_and(|it| lacks.contains(&it))
}
