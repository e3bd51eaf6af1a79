//! Takes frames apart down to the DNS messages in them.

mod copies;
mod fragments;
mod generations;
mod half;
mod icmp;
mod link;
mod pieces;
mod streams;
pub(super) mod transport;
mod tunnel;

use std::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice};

use self::copies::Copies;
use self::fragments::Fragments;
use self::link::{Behind, Place};
use self::streams::Streams;
use self::transport::ENCRYPTED;
use self::tunnel::{GENEVE, VXLAN};
use super::{Counters, Frame, Limits, SeenMessage};

/// What counts as DNS, and how much is remembered.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ports of DNS servers.
    pub ports: Vec<u16>,
    /// Whether to look into VXLAN and Geneve.
    pub decap: bool,
    /// How much is remembered.
    pub limits: Limits,
}

impl Options {
    /// Ports of all that is looked at: of DNS, of encrypted DNS, which is counted, and
    /// of tunnels if they are looked into.
    pub fn ports_on_the_wire(&self) -> Vec<u16> {
        let mut ports = self.ports.clone();
        ports.push(ENCRYPTED);
        if self.decap {
            ports.extend(VXLAN);
            ports.push(GENEVE);
        }
        ports
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            // 15053: where Istio's sidecar listens.
            ports: vec![53, 15053],
            decap: false,
            limits: Limits::default(),
        }
    }
}

/// Puts together what came in pieces.
#[derive(Debug)]
pub struct Assembler {
    ports: Vec<u16>,
    decap: bool,
    copies: Copies,
    fragments: Fragments,
    streams: Streams,
    counters: Counters,
}

/// The frame that is being looked at, and what was found around a packet in it.
#[derive(Clone, Copy, Debug)]
struct Around {
    number: u64,
    time: i64,
    is_time_known: bool,
    place: Place,
}

/// What an IP header says of what is behind it.
#[derive(Clone, Copy, Debug)]
struct Net {
    from: IpAddr,
    to: IpAddr,
    ip_id: Option<u16>,
    protocol: IpNumber,
    /// How long the payload was; less may have been captured.
    length: usize,
}

impl Assembler {
    /// One that no frame was given yet.
    pub fn new(options: &Options) -> Self {
        Self {
            ports: options.ports.clone(),
            decap: options.decap,
            copies: Copies::new(),
            fragments: Fragments::new(&options.limits),
            streams: Streams::new(&options.limits),
            counters: Counters::default(),
        }
    }

    /// What was counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Bytes of messages and datagrams that are not complete.
    pub fn kept(&self) -> usize {
        self.fragments.kept() + self.streams.kept()
    }

    /// Takes the next frame, and gives whatever it completes to `sink`.
    pub fn push(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(SeenMessage<'_>)) {
        self.counters.frames += 1;
        self.counters.bytes += u64::from(frame.original_length);
        self.counters.first.get_or_insert(frame.time);
        self.counters.last = Some(frame.time);
        if self.fragments.is_due(frame.time) {
            self.forget_fragments(frame.time, sink);
        }
        let (behind, place) = link::strip(frame);
        let around = Around {
            number: frame.number,
            time: frame.time,
            is_time_known: frame.is_time_known,
            place,
        };
        self.behind_link(behind, around, sink);
    }

    /// Ends the capture: `sink` gets what is not complete, as nothing more is to come.
    pub fn end(&mut self, sink: &mut impl FnMut(SeenMessage<'_>)) {
        let last = self.counters.last.unwrap_or_default();
        // Both generations.
        for _ in 0..2 {
            self.forget_fragments(last, sink);
            self.streams.forget(last, &mut self.counters);
        }
    }

    fn behind_link(
        &mut self,
        behind: Behind<'_>,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        match behind {
            Behind::Ip(packet) => self.packet(packet, around, sink),
            Behind::NotIp => self.counters.not_ip += 1,
            Behind::Unknown => self.counters.unknown_link += 1,
            Behind::Short => self.counters.damaged += 1,
        }
    }

    fn packet(&mut self, bytes: &[u8], around: Around, sink: &mut impl FnMut(SeenMessage<'_>)) {
        let Ok((packet, broken)) = LaxIpSlice::from_slice(bytes) else {
            self.counters.damaged += 1;
            return;
        };
        let inside = packet.payload();
        if broken.is_some() {
            self.counters.damaged += 1;
            return;
        }
        let (ip_id, length) = match &packet {
            LaxIpSlice::Ipv4(four) => {
                let header = four.header();
                let length = usize::from(header.total_len());
                let before = usize::from(header.ihl()) * 4;
                // 0: segmentation is left to the network card.
                let length = length.checked_sub(before).unwrap_or(inside.payload.len());
                (Some(header.identification()), length)
            }
            LaxIpSlice::Ipv6(six) => {
                let header = six.header();
                let length = usize::from(header.payload_length());
                let before = six.extensions().slice().len();
                let length = length.checked_sub(before).unwrap_or(inside.payload.len());
                (None, length)
            }
        };
        let net = Net {
            from: packet.source_addr(),
            to: packet.destination_addr(),
            ip_id,
            protocol: inside.ip_number,
            length: length.max(inside.payload.len()),
        };
        if inside.fragmented {
            self.fragment(&packet, net, around, sink);
        } else {
            self.payload(inside.payload, net, around, sink);
        }
    }

    fn payload(
        &mut self,
        bytes: &[u8],
        net: Net,
        around: Around,
        sink: &mut impl FnMut(SeenMessage<'_>),
    ) {
        match net.protocol {
            IpNumber::UDP => self.datagram(bytes, net, around, sink),
            IpNumber::TCP => self.segment(bytes, net, around, sink),
            IpNumber::ICMP | IpNumber::IPV6_ICMP => self.error(bytes, net, around, sink),
            _ => self.counters.other += 1,
        }
    }
}

#[cfg(test)]
mod tests;
