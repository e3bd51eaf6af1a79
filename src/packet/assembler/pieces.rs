//! Datagrams that come in fragments.

use std::net::SocketAddr;

use etherparse::{IpNumber, Ipv6ExtensionSlice, LaxIpSlice, UdpSlice};

use super::fragments::{Fragment, Key};
use super::{Around, Assembler, Net};
use crate::packet::{Content, SeenMessage, Transport};

impl Assembler {
    pub(super) fn fragment(
        &mut self,
        packet: &LaxIpSlice<'_>,
        net: Net,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        let (offset, has_more, id) = match packet {
            LaxIpSlice::Ipv4(four) => {
                let header = four.header();
                let offset = header.fragments_offset().byte_offset();
                (
                    offset,
                    header.more_fragments(),
                    u32::from(header.identification()),
                )
            }
            LaxIpSlice::Ipv6(six) => {
                let header = six
                    .extensions()
                    .clone()
                    .into_iter()
                    .find_map(|it| match it {
                        Ipv6ExtensionSlice::Fragment(header) => Some(header),
                        _ => None,
                    });
                let Some(header) = header else {
                    self.counters.damaged += 1;
                    return;
                };
                let offset = header.fragment_offset().byte_offset();
                (offset, header.more_fragments(), header.identification())
            }
        };
        self.counters.fragments += 1;
        let bytes = packet.payload().payload;
        if bytes.len() < net.length {
            // Of a short snap length: it will never be whole.
            return if offset == 0 {
                self.payload(bytes, net, around, sink);
            } else {
                self.counters.fragments_refused += 1;
            };
        }
        let key = Key {
            from: net.from,
            to: net.to,
            id,
            protocol: net.protocol.0,
            place: around.place,
        };
        let fragment = Fragment {
            offset: usize::from(offset),
            has_more,
            bytes,
        };
        let frame = (around.number, around.time, around.place.interface);
        let whole = self
            .fragments
            .push(&key, fragment, frame, &mut self.counters);
        if let Some(whole) = whole {
            let length = whole.len();
            self.payload(&whole, Net { length, ..net }, around, sink);
        }
    }

    /// The beginnings of DNS messages whose other fragments did not come are seen.
    pub(super) fn forget_fragments(&mut self, now: i64, sink: &mut impl FnMut(SeenMessage<'_>)) {
        for beginning in self.fragments.forget(now, &mut self.counters) {
            let key = &beginning.key;
            let Ok(udp) = UdpSlice::from_slice_lax(&beginning.bytes) else {
                continue;
            };
            let is_udp = key.protocol == IpNumber::UDP.0;
            if !is_udp || !self.is_dns(udp.source_port(), udp.destination_port()) {
                continue;
            }
            let length = usize::from(udp.length()).saturating_sub(8);
            sink(SeenMessage {
                number: beginning.number,
                time: beginning.time,
                is_time_known: true,
                interface: beginning.interface,
                from: SocketAddr::new(key.from, udp.source_port()),
                to: SocketAddr::new(key.to, udp.destination_port()),
                transport: Transport::Udp,
                ip_id: u16::try_from(key.id).ok().filter(|_| key.from.is_ipv4()),
                content: Content::Incomplete {
                    length: length.max(udp.payload().len()),
                },
                bytes: udp.payload(),
            });
        }
    }
}
