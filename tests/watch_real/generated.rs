//! Captures with all that kdns puts together, by a seed.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use etherparse::{PacketBuilder, PacketBuilderStep, UdpHeader};
use kdns::packet::{Frame, LinkType, Writer};

/// Numbers that are the same for a seed.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

/// What was written, to be known again.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// Queries and replies that are whole in the capture.
    pub(crate) messages: usize,
    pub(crate) queries: usize,
    pub(crate) unanswered: usize,
}

struct Maker {
    writer: Writer<BufWriter<File>>,
    numbers: Numbers,
    time: i64,
    frames: u64,
    ip_id: u16,
    made: Made,
}

/// A conversation: both ends, and whether they speak IPv6.
#[derive(Clone, Copy)]
struct Ends {
    host: u8,
    port: u16,
    is_v6: bool,
    /// On which kind of link: fragments on another one are those of a copy.
    link: usize,
}

/// Writes a capture of so many lookups to `path`.
pub(crate) fn write(path: &Path, seed: u64, lookups: usize) -> Made {
    let out = BufWriter::new(File::create(path).unwrap());
    let mut maker = Maker {
        writer: Writer::begin(out, "tests", &[]).unwrap(),
        numbers: Numbers::of(seed),
        time: 1_700_000_000_000_000_000,
        frames: 0,
        ip_id: 1,
        made: Made::default(),
    };
    for lookup in 0..lookups {
        let ends = Ends {
            host: u8::try_from(1 + maker.numbers.below(9)).unwrap(),
            // Never the same twice, so that nobody has to guess.
            port: u16::try_from(2000 + lookup % 60_000).unwrap(),
            is_v6: maker.numbers.is(4),
            link: maker.numbers.below(6),
        };
        let id = u16::try_from(maker.numbers.below(65_536)).unwrap();
        match maker.numbers.below(10) {
            0 | 1 => maker.connection(ends, id),
            2 => maker.noise(ends),
            _ => maker.datagrams(ends, id),
        }
    }
    // Much later, so that nobody waits for an answer any more.
    maker.time += 300_000_000_000;
    let last = Ends {
        host: 1,
        port: 1,
        is_v6: false,
        link: 0,
    };
    maker.noise(last);
    maker.writer.end(Some(0), &[]).unwrap();
    maker.made
}

fn message(id: u16, is_reply: bool, behind: usize) -> Vec<u8> {
    let mut message = crate::network::query(id, &format!("n{id}.default.svc.cluster.local"));
    if is_reply {
        message[2] |= 0x80;
    }
    if behind > 0 {
        // A record of any size: TXT of the root, as an additional one.
        message[11] = 1;
        message.extend([0, 0, 16, 0, 1, 0, 0, 0, 9]);
        let strings: Vec<u8> = (0..behind / 200)
            .flat_map(|_| [&[199][..], &[b'x'; 199]].concat())
            .collect();
        message.extend(u16::try_from(strings.len()).unwrap().to_be_bytes());
        message.extend(strings);
    }
    message
}

impl Maker {
    fn pass(&mut self) {
        self.time += i64::try_from(1000 + self.numbers.below(3_000_000)).unwrap();
    }

    /// Writes a packet.
    fn packet(&mut self, ends: Ends, packet: &[u8], captured: Option<usize>) {
        let ethertype: [u8; 2] = if packet[0] >> 4 == 4 {
            [8, 0]
        } else {
            [0x86, 0xdd]
        };
        let (link, header) = match ends.link {
            0 => (LinkType::Raw, Vec::new()),
            1 => {
                let tag = [&[2; 12][..], &[0x81, 0, 0, 7], &ethertype].concat();
                (LinkType::Ethernet, tag)
            }
            2 => {
                let rest = [0, 0, 0, 0, 0, 5, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0];
                (LinkType::CookedV2, [&ethertype[..], &rest].concat())
            }
            3 => {
                let rest = [0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0];
                (LinkType::CookedV1, [&rest[..], &ethertype].concat())
            }
            _ => (LinkType::Ethernet, [&[2; 12][..], &ethertype].concat()),
        };
        let bytes = [header.as_slice(), packet].concat();
        let length = captured.map_or(bytes.len(), |it| header.len() + it);
        self.frames += 1;
        let frame = Frame {
            is_time_known: true,
            number: self.frames,
            time: self.time,
            interface: 0,
            outgoing: None,
            link,
            bytes: &bytes[..length],
            original_length: u32::try_from(bytes.len()).unwrap(),
        };
        self.writer.frame(&frame).unwrap();
    }

    fn ip(&mut self, ends: Ends, is_reply: bool) -> PacketBuilderStep<etherparse::IpHeaders> {
        let (client, server) = ([10, 0, 0, ends.host], [10, 0, 0, 53]);
        let six = |last: u8| [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
        self.ip_id = self.ip_id.wrapping_add(1).max(1);
        match (ends.is_v6, is_reply) {
            (true, false) => PacketBuilder::ipv6(six(ends.host), six(53), 64),
            (true, true) => PacketBuilder::ipv6(six(53), six(ends.host), 64),
            (false, false) => PacketBuilder::ipv4(client, server, 64),
            (false, true) => PacketBuilder::ipv4(server, client, 64),
        }
    }

    fn datagram(&mut self, ends: Ends, is_reply: bool, message: &[u8]) -> Vec<u8> {
        let (source, destination) = if is_reply {
            (53, ends.port)
        } else {
            (ends.port, 53)
        };
        let mut packet = Vec::new();
        let builder = self.ip(ends, is_reply).udp(source, destination);
        builder.write(&mut packet, message).unwrap();
        if !ends.is_v6 {
            packet[4..6].copy_from_slice(&self.ip_id.to_be_bytes());
        }
        packet
    }

    fn datagrams(&mut self, ends: Ends, id: u16) {
        self.pass();
        let query = self.datagram(ends, false, &message(id, false, 0));
        self.packet(ends, &query, None);
        self.made.queries += 1;
        self.made.messages += 1;
        if self.numbers.is(8) {
            self.made.unanswered += 1;
            return;
        }
        self.pass();
        let size = [0, 0, 0, 400, 3000][self.numbers.below(5)];
        let reply = self.datagram(ends, true, &message(id, true, size));
        self.made.messages += 1;
        if reply.len() > 1500 && !ends.is_v6 {
            let parts = fragments(&reply);
            for at in order(&mut self.numbers, parts.len()) {
                self.packet(ends, &parts[at], None);
            }
        } else if size == 400 && self.numbers.is(4) {
            self.packet(ends, &reply, Some(100));
        } else {
            self.packet(ends, &reply, None);
        }
    }

    fn segment(
        &mut self,
        ends: Ends,
        is_reply: bool,
        place: (u32, u32),
        flags: &str,
        bytes: &[u8],
    ) {
        let (source, destination) = if is_reply {
            (53, ends.port)
        } else {
            (ends.port, 53)
        };
        let mut builder = self
            .ip(ends, is_reply)
            .tcp(source, destination, place.0, 5000);
        for flag in flags.chars() {
            builder = match flag {
                'S' => builder.syn(),
                'F' => builder.fin(),
                _ => builder.ack(place.1),
            };
        }
        let mut packet = Vec::new();
        builder.write(&mut packet, bytes).unwrap();
        self.packet(ends, &packet, None);
    }

    /// Some queries on one connection, cut anywhere.
    fn connection(&mut self, ends: Ends, id: u16) {
        self.pass();
        let count = u16::try_from(1 + self.numbers.below(3)).unwrap();
        let prefixed = |is_reply: bool, behind: usize| -> Vec<u8> {
            let of = |it: u16| {
                let message = message(id.wrapping_add(it), is_reply, behind);
                [
                    &u16::try_from(message.len()).unwrap().to_be_bytes()[..],
                    &message,
                ]
                .concat()
            };
            (0..count).flat_map(of).collect()
        };
        let (mut client, mut server) = (1000, 5000);
        self.segment(ends, false, (client - 1, 0), "S", &[]);
        self.segment(ends, true, (server - 1, client), "SA", &[]);
        self.segment(ends, false, (client, server), "A", &[]);
        for is_reply in [false, true] {
            self.pass();
            let bytes = prefixed(is_reply, if is_reply { 600 } else { 0 });
            let size = 1 + self.numbers.below(bytes.len());
            for piece in bytes.chunks(size.max(bytes.len() / 20 + 1)) {
                let length = u32::try_from(piece.len()).unwrap();
                let place = if is_reply {
                    (server, client)
                } else {
                    (client, server)
                };
                self.segment(ends, is_reply, place, "A", piece);
                *(if is_reply { &mut server } else { &mut client }) += length;
            }
        }
        self.segment(ends, false, (client, server), "FA", &[]);
        self.segment(ends, true, (server, client + 1), "FA", &[]);
        self.made.queries += usize::from(count);
        self.made.messages += 2 * usize::from(count);
    }

    /// What is no DNS.
    fn noise(&mut self, ends: Ends) {
        self.pass();
        let mut packet = Vec::new();
        let builder = self.ip(ends, false).udp(ends.port, 9999);
        builder.write(&mut packet, b"not for us").unwrap();
        self.packet(ends, &packet, None);
    }
}

/// An IPv4 packet in fragments of at most 1480 bytes.
fn fragments(packet: &[u8]) -> Vec<Vec<u8>> {
    const SIZE: usize = 1480;
    assert!(packet.len() > 20 + UdpHeader::LEN);
    let parts: Vec<&[u8]> = packet[20..].chunks(SIZE).collect();
    let part = |(number, part): (usize, &&[u8])| {
        let mut header = packet[..20].to_vec();
        let length = u16::try_from(20 + part.len()).unwrap();
        let offset = u16::try_from(number * SIZE / 8).unwrap();
        let more = if number + 1 < parts.len() { 0x2000 } else { 0 };
        header[2..4].copy_from_slice(&length.to_be_bytes());
        header[6..8].copy_from_slice(&(offset | more).to_be_bytes());
        [header, part.to_vec()].concat()
    };
    parts.iter().enumerate().map(part).collect()
}

/// The numbers below `count`, sometimes not in order.
fn order(numbers: &mut Numbers, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    if numbers.is(2) {
        let (one, other) = (numbers.below(count), numbers.below(count));
        order.swap(one, other);
    }
    order
}
