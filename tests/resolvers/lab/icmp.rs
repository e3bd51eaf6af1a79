//! ICMP and `ICMPv6` "port unreachable", as the kernel of a server without a program on port 53 sends it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use etherparse::icmpv4::DestUnreachableHeader;
use etherparse::icmpv6::DestUnreachableCode;
use etherparse::{Icmpv4Header, Icmpv4Type, Icmpv6Header, Icmpv6Type, PacketBuilder};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, sendto,
    socket,
};

/// Tells the client that nothing listens at the server's port, quoting the packet that it sent.
pub(crate) fn port_unreachable(
    client: SocketAddr,
    server: SocketAddr,
    query: &[u8],
) -> Result<(), String> {
    let (family, protocol, packet) = match (client.ip(), server.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let mut quoted = Vec::new();
            PacketBuilder::ipv4(from.octets(), to.octets(), 64)
                .udp(client.port(), server.port())
                .write(&mut quoted, query)
                .map_err(|e| e.to_string())?;
            let kind = Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Port);
            let mut packet = Icmpv4Header::with_checksum(kind, &quoted)
                .to_bytes()
                .to_vec();
            packet.extend(quoted);
            (AddressFamily::Inet, SockProtocol::Icmp, packet)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut quoted = Vec::new();
            PacketBuilder::ipv6(from.octets(), to.octets(), 64)
                .udp(client.port(), server.port())
                .write(&mut quoted, query)
                .map_err(|e| e.to_string())?;
            let kind = Icmpv6Type::DestinationUnreachable(DestUnreachableCode::Port);
            let header = Icmpv6Header::with_checksum(kind, to.octets(), from.octets(), &quoted)
                .map_err(|e| e.to_string())?;
            let mut packet = header.to_bytes().to_vec();
            packet.extend(quoted);
            (AddressFamily::Inet6, SockProtocol::IcmpV6, packet)
        }
        _ => return Err("addresses of two families".to_owned()),
    };
    let raw = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)
        .map_err(|e| format!("raw socket: {e}"))?;
    let from = SockaddrStorage::from(SocketAddr::new(server.ip(), 0));
    let to = SockaddrStorage::from(SocketAddr::new(client.ip(), 0));
    bind(raw.as_raw_fd(), &from).map_err(|e| format!("raw socket's address: {e}"))?;
    sendto(raw.as_raw_fd(), &packet, &to, MsgFlags::empty())
        .map_err(|e| format!("sending ICMP: {e}"))?;
    Ok(())
}
