//! Packets in packets: VXLAN and Geneve.

use etherparse::UdpSlice;

use super::link::{self, Behind};
use super::transport::ENCRYPTED;
use super::{Around, Assembler};
use crate::packet::SeenMessage;

/// Source: RFC 7348; what Linux took before there was a number; RFC 8926.
pub(super) const VXLAN: [u16; 2] = [4789, 8472];
pub(super) const GENEVE: u16 = 6081;
/// Tunnels in tunnels in tunnels are not looked into.
const MAX_DEPTH: u8 = 2;

impl Assembler {
    /// A datagram of no port of DNS: perhaps there is another packet in it.
    pub(super) fn other_datagram(
        &mut self,
        udp: &UdpSlice<'_>,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        let destination = udp.destination_port();
        if udp.source_port() == ENCRYPTED || destination == ENCRYPTED {
            self.counters.encrypted += 1;
            return;
        }
        let is_geneve = destination == GENEVE;
        if !is_geneve && !VXLAN.contains(&destination) {
            self.counters.other += 1;
            return;
        }
        if !self.decap {
            self.counters.tunnelled += 1;
            return;
        }
        let payload = udp.payload();
        let behind = if is_geneve {
            geneve(payload)
        } else {
            vxlan(payload)
        };
        let mut around = around;
        around.place.depth += 1;
        let is_deep = around.place.depth > MAX_DEPTH;
        self.behind_link(if is_deep { Behind::Unknown } else { behind }, around, sink);
    }
}

/// Source: RFC 7348, section 5.
fn vxlan(bytes: &[u8]) -> Behind<'_> {
    match bytes.split_at_checked(8) {
        Some((header, frame)) if header.first().is_some_and(|it| it & 0x08 != 0) => {
            link::ethernet(frame)
        }
        Some(_) => Behind::Unknown,
        None => Behind::Short,
    }
}

/// Source: RFC 8926, section 3.4.
fn geneve(bytes: &[u8]) -> Behind<'_> {
    const ETHERNET: u16 = 0x6558;
    let Some(&[first, _, high, low]) = bytes.get(..4) else {
        return Behind::Short;
    };
    let at = 8 + usize::from(first & 0x3f) * 4;
    match u16::from_be_bytes([high, low]) {
        ETHERNET => bytes.get(at..).map_or(Behind::Short, link::ethernet),
        ethertype => link::typed(Some(ethertype), bytes, at),
    }
}
