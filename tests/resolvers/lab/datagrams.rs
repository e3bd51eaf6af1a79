//! Datagrams that come to every address, and go from one of them.

use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv6Addr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use nix::libc::{in6_addr, in6_pktinfo};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, SockaddrIn6,
    bind, recvmsg, sendmsg, setsockopt, socket, sockopt,
};

use super::server::PORT;

/// One socket for both families, so that the order of arrival is kept.
pub(super) fn udp_socket() -> nix::Result<UdpSocket> {
    let fd = socket(
        AddressFamily::Inet6,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    setsockopt(&fd, sockopt::Ipv6V6Only, &false)?;
    setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    setsockopt(&fd, sockopt::Ipv6RecvPacketInfo, &true)?;
    bind(
        fd.as_raw_fd(),
        &SockaddrIn6::from(SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, PORT, 0, 0)),
    )?;
    Ok(UdpSocket::from(fd))
}

/// The next datagram, with who sent it and where to.
pub(super) fn receive(
    fd: RawFd,
    buffer: &mut [u8],
) -> nix::Result<(usize, SocketAddrV6, in6_pktinfo)> {
    let mut space = nix::cmsg_space!(in6_pktinfo);
    let mut parts = [IoSliceMut::new(buffer)];
    let got = recvmsg::<SockaddrIn6>(fd, &mut parts, Some(&mut space), MsgFlags::empty())?;
    let info = got.cmsgs()?.find_map(|c| match c {
        ControlMessageOwned::Ipv6PacketInfo(info) => Some(info),
        _ => None,
    });
    let (Some(client), Some(info)) = (got.address, info) else {
        return Err(nix::errno::Errno::ENODATA);
    };
    let client = SocketAddrV6::new(
        client.ip(),
        client.port(),
        client.flowinfo(),
        client.scope_id(),
    );
    Ok((got.bytes, client, info))
}

/// Sends from the address that was asked.
pub(super) fn send(
    fd: RawFd,
    bytes: &[u8],
    client: SocketAddrV6,
    asked: in6_pktinfo,
) -> nix::Result<()> {
    let address = Ipv6Addr::from(asked.ipi6_addr.s6_addr);
    let index = if address.is_unicast_link_local() {
        asked.ipi6_ifindex
    } else {
        0
    };
    let info = in6_pktinfo {
        ipi6_addr: in6_addr {
            s6_addr: address.octets(),
        },
        ipi6_ifindex: index,
    };
    let parts = [IoSlice::new(bytes)];
    sendmsg(
        fd,
        &parts,
        &[ControlMessage::Ipv6PacketInfo(&info)],
        MsgFlags::empty(),
        Some(&SockaddrIn6::from(client)),
    )?;
    Ok(())
}
