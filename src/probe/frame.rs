//! DNS queries in captured packets.

use std::net::{IpAddr, SocketAddr};

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use hickory_proto::op::{Header, MessageType, Query};
use hickory_proto::rr::RecordType;
use hickory_proto::serialize::binary::{BinDecodable as _, BinDecoder};

/// A DNS query in a packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FrameQuery {
    /// The packet's source.
    pub from: SocketAddr,
    /// Its destination.
    pub to: SocketAddr,
    /// The id of the message.
    pub id: u16,
    /// The name that is asked, lower case, with its final dot.
    pub name: String,
    /// The record type that is asked.
    pub record_type: RecordType,
}

/// The query in a packet that begins with its IP header; `None`: there is
/// none, or it is in several packets.
pub fn query_of(packet: &[u8]) -> Option<FrameQuery> {
    let packet = LaxSlicedPacket::from_ip(packet).ok()?;
    let (from, to): (IpAddr, IpAddr) = match packet.net? {
        LaxNetSlice::Ipv4(four) => {
            let header = four.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        LaxNetSlice::Ipv6(six) => {
            let header = six.header();
            (
                header.source_addr().into(),
                header.destination_addr().into(),
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let (source, destination, message) = match packet.transport? {
        TransportSlice::Udp(udp) => (
            udp.source_port(),
            udp.destination_port(),
            message_of(udp.payload())?,
        ),
        TransportSlice::Tcp(tcp) => (
            tcp.source_port(),
            tcp.destination_port(),
            stream_message_of(tcp.payload())?,
        ),
        _ => return None,
    };
    let (id, question) = message;
    Some(FrameQuery {
        from: SocketAddr::new(from, source),
        to: SocketAddr::new(to, destination),
        id,
        name: question.name().to_lowercase().to_ascii(),
        record_type: question.query_type(),
    })
}

/// A message on a connection has its length before it (RFC 1035, section
/// 4.2.2), in the same segment or in one of its own.
fn stream_message_of(payload: &[u8]) -> Option<(u16, Query)> {
    let with_length = payload.get(2..).and_then(message_of);
    with_length.or_else(|| message_of(payload))
}

/// The id and the first question of a query.
fn message_of(bytes: &[u8]) -> Option<(u16, Query)> {
    let mut decoder = BinDecoder::new(bytes);
    let header = Header::read(&mut decoder).ok()?;
    let is_query = header.message_type == MessageType::Query && header.counts.queries > 0;
    let question = is_query.then(|| Query::read(&mut decoder).ok())??;
    Some((header.id, question))
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::*;
    use crate::probe::message;

    fn udp(payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([127, 0, 0, 1], [127, 0, 0, 53], 64)
            .udp(4000, 53)
            .write(&mut packet, payload)
            .unwrap();
        packet
    }

    fn tcp(payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([0; 16], [1; 16], 64)
            .tcp(4000, 53, 1, 1000)
            .write(&mut packet, payload)
            .unwrap();
        packet
    }

    fn check(packet: &[u8], expected: Option<(&str, &str)>) {
        let found = query_of(packet);
        let found = found.map(|it| (it.to.to_string(), it.name));
        let expected = expected.map(|(to, name)| (to.to_owned(), name.to_owned()));
        assert_eq!(found, expected, "{packet:02x?}");
    }

    #[test]
    fn queries_are_found() {
        let query = message::query(7, "KDNS-1.example.", RecordType::A).unwrap();
        let expected = Some(("127.0.0.53:53", "kdns-1.example."));
        check(&udp(&query), expected);
        let length = u16::try_from(query.len()).unwrap().to_be_bytes();
        let to_v6 = "[101:101:101:101:101:101:101:101]:53";
        let expected = Some((to_v6, "kdns-1.example."));
        check(&tcp(&[&length, query.as_slice()].concat()), expected);
        check(&tcp(&query), expected);
    }

    #[test]
    fn other_packets_are_not() {
        let query = message::query(7, "kdns-1.example.", RecordType::A).unwrap();
        let mut response = query.clone();
        response[2] |= 0x80;
        check(&udp(&response), None);
        check(&udp(b"no message"), None);
        check(&tcp(b""), None);
        check(b"", None);
        let whole = udp(&query);
        for length in 0..whole.len() - 1 {
            check(&whole[..length], None);
        }
        for at in 0..whole.len() {
            let mut odd = whole.clone();
            odd[at] ^= 0xff;
            let _ = query_of(&odd);
        }
    }
}
