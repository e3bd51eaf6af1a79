//! ICMP errors and the packets that they quote.
//!
//! Source: RFC 792, RFC 1191 (MTU), RFC 1812 (codes); RFC 4443.

use etherparse::LaxIpSlice;
use std::net::SocketAddr;

use crate::packet::{Quoted, Unreachable};

/// Bytes before what is quoted.
const HEADER: usize = 8;

/// What a message of ICMP for IPv4 says, if it is an error.
pub(super) fn error_v4(bytes: &[u8]) -> Option<Unreachable> {
    let &[kind, code, ..] = bytes else {
        return None;
    };
    Some(match (kind, code) {
        (3, 3) => Unreachable::Port,
        (3, 4) => {
            let mtu = bytes.get(6..HEADER)?.first_chunk();
            let mtu = mtu.map(|it| u32::from(u16::from_be_bytes(*it)));
            Unreachable::TooBig(mtu.filter(|it| *it != 0))
        }
        (3, 0 | 1 | 5..=8 | 11 | 12) => Unreachable::Host,
        (3, 9 | 10 | 13) => Unreachable::Prohibited,
        (11, 0) => Unreachable::HopsExceeded,
        (11, 1) => Unreachable::ReassemblyExceeded,
        (3 | 4 | 11 | 12, _) => Unreachable::Other(kind, code),
        _ => return None,
    })
}

/// The same for IPv6.
pub(super) fn error_v6(bytes: &[u8]) -> Option<Unreachable> {
    let &[kind, code, ..] = bytes else {
        return None;
    };
    Some(match (kind, code) {
        (1, 4) => Unreachable::Port,
        (1, 0 | 3) => Unreachable::Host,
        (1, 1 | 5 | 6) => Unreachable::Prohibited,
        (2, _) => {
            let mtu = bytes.get(4..HEADER)?.first_chunk();
            Unreachable::TooBig(mtu.map(|it| u32::from_be_bytes(*it)))
        }
        (3, 0) => Unreachable::HopsExceeded,
        (3, 1) => Unreachable::ReassemblyExceeded,
        (1 | 3 | 4, _) => Unreachable::Other(kind, code),
        _ => return None,
    })
}

/// The packet that an error quotes, of which at least the ports are there, and what
/// follows on them of a datagram.
pub(super) fn quoted(bytes: &[u8]) -> Option<(Quoted, &[u8])> {
    const UDP_HEADER: usize = 8;
    let (packet, _) = LaxIpSlice::from_slice(bytes.get(HEADER..)?).ok()?;
    let inside = packet.payload();
    let is_tcp = inside.ip_number == etherparse::IpNumber::TCP;
    if !is_tcp && inside.ip_number != etherparse::IpNumber::UDP {
        return None;
    }
    let &[a, b, c, d, ..] = inside.payload else {
        return None;
    };
    let behind = if is_tcp {
        None
    } else {
        inside.payload.get(UDP_HEADER..)
    };
    let quoted = Quoted {
        from: SocketAddr::new(packet.source_addr(), u16::from_be_bytes([a, b])),
        to: SocketAddr::new(packet.destination_addr(), u16::from_be_bytes([c, d])),
        is_tcp,
    };
    Some((quoted, behind.unwrap_or_default()))
}
