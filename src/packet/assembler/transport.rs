//! What is behind an IP header: datagrams, segments, errors.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use etherparse::{TcpSlice, UdpSlice};

use super::copies::Print;
use super::streams::{End, Ends, Segment};
use super::{Around, Assembler, Net, icmp};
use crate::packet::dns::HEADER;
use crate::packet::{Content, SeenMessage, Transport};

/// DNS over TLS and QUIC (RFC 7858, RFC 9250).
pub(super) const ENCRYPTED: u16 = 853;

/// The port of DNS over HTTPS (RFC 8484), and of everything else over it.
pub const HTTPS: u16 = 443;

/// Public servers of DNS over HTTPS that serve nothing else there: Google's,
/// Cloudflare's, Quad9's. Any other connection over HTTPS can be one, and nobody
/// can tell.
pub const OVER_HTTPS: [IpAddr; 12] = [
    IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8)),
    IpAddr::V4(Ipv4Addr::new(8, 8, 4, 4)),
    IpAddr::V4(Ipv4Addr::new(1, 1, 1, 1)),
    IpAddr::V4(Ipv4Addr::new(1, 0, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(9, 9, 9, 9)),
    IpAddr::V4(Ipv4Addr::new(149, 112, 112, 112)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8844)),
    IpAddr::V6(Ipv6Addr::new(0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1111)),
    IpAddr::V6(Ipv6Addr::new(0x2606, 0x4700, 0x4700, 0, 0, 0, 0, 0x1001)),
    IpAddr::V6(Ipv6Addr::new(0x2620, 0xfe, 0, 0, 0, 0, 0, 0xfe)),
    IpAddr::V6(Ipv6Addr::new(0x2620, 0xfe, 0, 0, 0, 0, 0, 9)),
];

impl Assembler {
    pub(super) fn is_dns(&self, source: u16, destination: u16) -> bool {
        self.ports
            .iter()
            .any(|it| *it == source || *it == destination)
    }

    pub(super) fn datagram(
        &mut self,
        bytes: &[u8],
        net: Net,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        let Ok(udp) = UdpSlice::from_slice_lax(bytes) else {
            self.counters.damaged += 1;
            return;
        };
        let (source, destination) = (udp.source_port(), udp.destination_port());
        if !self.is_dns(source, destination) {
            return self.other_datagram(&udp, around, sink);
        }
        let message = udp.payload();
        // A length of 0 means all there is (RFC 2675).
        let length = usize::from(udp.length()).checked_sub(8);
        let length = length.unwrap_or(message.len()).max(message.len());
        let (from, to) = (
            SocketAddr::new(net.from, source),
            SocketAddr::new(net.to, destination),
        );
        let print = Print {
            from,
            to,
            ip_id: net.ip_id,
            inside: word(message, 0),
            length,
            flags: 0,
        };
        if self.copies.is_copy(print, around.place, around.time) {
            self.counters.copies += 1;
            return;
        }
        let content = if message.len() < HEADER {
            self.counters.no_message += 1;
            return;
        } else if message.len() < length {
            self.counters.cut += 1;
            Content::Cut { length }
        } else {
            self.counters.messages += 1;
            Content::Message
        };
        sink(SeenMessage {
            bytes: message,
            ..seen((from, to), Transport::Udp, net, around, content)
        });
    }

    pub(super) fn segment(
        &mut self,
        bytes: &[u8],
        net: Net,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        let Ok(tcp) = TcpSlice::from_slice(bytes) else {
            self.counters.damaged += 1;
            return;
        };
        let (source, destination) = (tcp.source_port(), tcp.destination_port());
        if !self.is_dns(source, destination) {
            return self.other_segment(&tcp, net.to);
        }
        let (from, to) = (
            SocketAddr::new(net.from, source),
            SocketAddr::new(net.to, destination),
        );
        self.counters.segments += 1;
        let header = tcp.header_slice().len();
        let length = net.length.saturating_sub(header).max(tcp.payload().len());
        let flags = bytes.get(13).copied().unwrap_or_default();
        let print = Print {
            from,
            to,
            ip_id: net.ip_id,
            inside: tcp.sequence_number(),
            length,
            flags,
        };
        if self.copies.is_copy(print, around.place, around.time) {
            self.counters.copies += 1;
            return;
        }
        let (end, client, server) = if self.ports.contains(&destination) {
            (End::Client, from, to)
        } else {
            (End::Server, to, from)
        };
        let segment = Segment {
            ends: Ends { client, server },
            from: end,
            sequence: tcp.sequence_number(),
            acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            reset: tcp.rst(),
            bytes: tcp.payload(),
            length,
        };
        // What was missing of the other direction may be given up now.
        self.streams.push(
            &segment,
            around.time,
            &mut self.counters,
            &mut |is_own, stream, content, bytes| {
                let ends = if is_own { (from, to) } else { (to, from) };
                sink(SeenMessage {
                    bytes,
                    ..seen(ends, Transport::Tcp(stream), net, around, content)
                });
            },
        );
    }

    /// A segment of no port of DNS. The first one stands for its connection.
    fn other_segment(&mut self, tcp: &TcpSlice<'_>, to: IpAddr) {
        let is_opening = tcp.syn() && !tcp.ack();
        let is_https = tcp.destination_port() == HTTPS && OVER_HTTPS.contains(&to);
        let is_encrypted = tcp.destination_port() == ENCRYPTED || is_https;
        if is_encrypted && is_opening {
            self.counters.encrypted += 1;
        } else {
            self.counters.other += 1;
        }
    }

    pub(super) fn error(
        &mut self,
        bytes: &[u8],
        net: Net,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        let kind = if net.from.is_ipv4() {
            icmp::error_v4(bytes)
        } else {
            icmp::error_v6(bytes)
        };
        let quoted = icmp::quoted(bytes);
        let quoted = quoted.filter(|(it, _)| self.is_dns(it.from.port(), it.to.port()));
        let (Some(kind), Some((quoted, bytes))) = (kind, quoted) else {
            self.counters.other += 1;
            return;
        };
        let (from, to) = (SocketAddr::new(net.from, 0), SocketAddr::new(net.to, 0));
        let print = Print {
            from,
            to,
            ip_id: net.ip_id,
            inside: u32::from(quoted.from.port()) << 16 | word(bytes, 0) >> 16,
            length: net.length,
            flags: 0,
        };
        if self.copies.is_copy(print, around.place, around.time) {
            self.counters.copies += 1;
            return;
        }
        self.counters.errors += 1;
        let content = Content::Unreachable { kind, quoted };
        sink(SeenMessage {
            bytes,
            ..seen((from, to), Transport::Udp, net, around, content)
        });
    }
}

fn seen(
    (from, to): (SocketAddr, SocketAddr),
    transport: Transport,
    net: Net,
    around: Around,
    content: Content,
) -> SeenMessage<'static> {
    SeenMessage {
        number: around.number,
        time: around.time,
        is_time_known: around.is_time_known,
        interface: around.place.interface,
        from,
        to,
        transport,
        ip_id: net.ip_id,
        content,
        bytes: &[],
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |it| u32::from_be_bytes(*it))
}
