mod bounds;
mod datagrams;
mod streams;

use std::fmt::Write as _;

use etherparse::PacketBuilder;

use super::*;
use crate::packet::{Content, LinkType, Transport};

/// A client and a server.
const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 53];
const PORT: u16 = 4000;

/// A message with this id about a name of this length and some bytes behind it.
fn message(id: u16, behind: usize) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend(b"\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01");
    message.resize(message.len() + behind, 0xee);
    message
}

fn udp(from: ([u8; 4], u16), to: ([u8; 4], u16), payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv4(from.0, to.0, 64)
        .udp(from.1, to.1)
        .write(&mut packet, payload)
        .unwrap();
    packet
}

fn query(payload: &[u8]) -> Vec<u8> {
    udp((CLIENT, PORT), (SERVER, 53), payload)
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    let ethertype: [u8; 2] = if packet[0] >> 4 == 4 {
        [8, 0]
    } else {
        [0x86, 0xdd]
    };
    [&[2; 12], &ethertype[..], packet].concat()
}

/// What frames at these times, in milliseconds, have in them.
struct Bench {
    assembler: Assembler,
    number: u64,
    seen: Vec<String>,
}

impl Bench {
    fn new(options: &Options) -> Self {
        Self {
            assembler: Assembler::new(options),
            number: 0,
            seen: Vec::new(),
        }
    }

    fn frame(&mut self, link: LinkType, time: i64, bytes: &[u8]) {
        self.frame_of(link, time, 0, bytes, bytes.len());
    }

    fn frame_of(&mut self, link: LinkType, time: i64, interface: u32, bytes: &[u8], length: usize) {
        self.number += 1;
        let frame = Frame {
            is_time_known: true,
            number: self.number,
            time: time * 1_000_000,
            interface,
            outgoing: None,
            link,
            bytes,
            original_length: u32::try_from(length).unwrap(),
        };
        let seen = &mut self.seen;
        self.assembler.push(&frame, &mut |it| seen.push(line(&it)));
    }

    fn ip(&mut self, time: i64, packet: &[u8]) {
        self.frame(LinkType::Raw, time, packet);
    }

    /// What was seen since the last time.
    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.seen)
    }

    fn end(&mut self) -> Vec<String> {
        let seen = &mut self.seen;
        self.assembler.end(&mut |it| seen.push(line(&it)));
        self.take()
    }
}

/// `#3 10.0.0.1:4000>10.0.0.53:53 message 0007 30`: number, ends, what, id, length.
fn line(seen: &SeenMessage<'_>) -> String {
    let mut line = format!("#{} {}>{} ", seen.number, seen.from, seen.to);
    if let Transport::Tcp(stream) = seen.transport {
        let _ = write!(line, "tcp{} ", stream.0);
    }
    let start = || {
        let [high, low] = *seen.bytes.first_chunk().unwrap();
        format!(
            "{:04x} {}",
            u16::from_be_bytes([high, low]),
            seen.bytes.len()
        )
    };
    let _ = match seen.content {
        Content::Message => write!(line, "message {}", start()),
        Content::Cut { length } => write!(line, "cut {}/{length}", start()),
        Content::Incomplete { length } => write!(line, "incomplete {}/{length}", start()),
        Content::Connect => write!(line, "connect"),
        Content::Connected => write!(line, "connected"),
        Content::Reset => write!(line, "reset"),
        Content::Closed => write!(line, "closed"),
        Content::Unreachable { kind, quoted } => {
            let protocol = if quoted.is_tcp { "tcp" } else { "udp" };
            let (from, to, length) = (quoted.from, quoted.to, seen.bytes.len());
            write!(line, "{kind:?} {protocol} {from}>{to} {length}")
        }
    };
    line
}
