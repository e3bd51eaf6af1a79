//! Lookups of models as packets.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use kdns::engine::io::Came;
use kdns::engine::message::{Data, Query, Question, Reply, Transport as Over};
use kdns::name::Name;
use kdns::packet::{Content, Quoted, SeenMessage, StreamId, Transport, Unreachable};
use kdns::simulation::Run;

/// Something that will be seen.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) time: i64,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) transport: Transport,
    pub(crate) ip_id: Option<u16>,
    pub(crate) interface: u32,
    pub(crate) what: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Message(Vec<u8>),
    Unreachable(Unreachable, Vec<u8>),
    Connect,
    Connected,
    Reset,
    Closed,
}

impl Packet {
    /// As it is seen, with its number.
    pub(crate) fn seen(&self, number: u64) -> SeenMessage<'_> {
        let bytes = match &self.what {
            Kind::Message(bytes) | Kind::Unreachable(_, bytes) => bytes.as_slice(),
            _ => &[],
        };
        let content = match &self.what {
            Kind::Message(_) => Content::Message,
            Kind::Unreachable(kind, _) => Content::Unreachable {
                kind: *kind,
                quoted: Quoted {
                    from: self.to,
                    to: self.from,
                    is_tcp: false,
                },
            },
            Kind::Connect => Content::Connect,
            Kind::Connected => Content::Connected,
            Kind::Reset => Content::Reset,
            Kind::Closed => Content::Closed,
        };
        SeenMessage {
            number,
            time: self.time,
            is_time_known: true,
            interface: self.interface,
            from: self.from,
            to: self.to,
            transport: self.transport,
            ip_id: self.ip_id,
            content,
            bytes,
        }
    }
}

/// Draws ports and ids.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) client: IpAddr,
    /// Whether a query has one id in all sockets of its lookup, as glibc's has.
    pub(crate) has_one_id: bool,
    dice: u64,
    streams: u64,
    ip_id: u16,
}

/// How long every answer takes, in nanoseconds.
pub(crate) const DELAY: i64 = 3_000_000;

impl Wire {
    pub(crate) fn new(client: IpAddr, seed: u64) -> Self {
        Self {
            client,
            has_one_id: false,
            dice: seed | 1,
            streams: 0,
            ip_id: 1,
        }
    }

    /// A number below `below`.
    pub(crate) fn draw(&mut self, below: u64) -> u64 {
        // Source: Marsaglia, Xorshift RNGs.
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % below.max(1)
    }

    fn number(&mut self) -> u16 {
        u16::try_from(self.draw(65_000)).unwrap()
    }

    /// The packets of a lookup that begins at `start`, queries and what came.
    #[expect(
        clippy::too_many_lines,
        clippy::map_entry,
        reason = "one packet after the other"
    )]
    pub(crate) fn lookup(&mut self, run: &Run, start: i64) -> Vec<Packet> {
        let mut packets = Vec::new();
        let mut ports: BTreeMap<(u32, IpAddr), (u16, Transport)> = BTreeMap::new();
        let mut ids: BTreeMap<(u32, Vec<u8>, u16, Option<u16>), u16> = BTreeMap::new();
        for sent in &run.sent {
            let query = &sent.query;
            let Question::Asked(name, kind) = &query.question else {
                continue;
            };
            let is_tcp = query.transport == Over::Tcp;
            let time = start + i64::try_from(sent.at.as_nanos()).unwrap();
            let server = SocketAddr::new(query.server.address.reached(), query.server.port);
            let of_port = (
                query.socket.0,
                if is_tcp { server.ip() } else { [0; 4].into() },
            );
            if !ports.contains_key(&of_port) {
                let port = 1024 + u16::try_from(self.draw(60_000)).unwrap();
                self.streams += u64::from(is_tcp);
                let transport = if is_tcp {
                    Transport::Tcp(StreamId(self.streams))
                } else {
                    Transport::Udp
                };
                ports.insert(of_port, (port, transport));
                if is_tcp {
                    let client = SocketAddr::new(self.client, port);
                    for (from, to, what) in [
                        (client, server, Kind::Connect),
                        (server, client, Kind::Connected),
                    ] {
                        packets.push(Packet {
                            time,
                            from,
                            to,
                            transport,
                            ip_id: None,
                            interface: 1,
                            what,
                        });
                    }
                }
            }
            let (port, transport) = ports[&of_port];
            let size = query.edns.as_ref().map(|it| it.size);
            let key = (
                if self.has_one_id { 0 } else { query.socket.0 },
                name.as_wire().to_vec(),
                u16::from(*kind),
                size,
            );
            let new = self.number();
            let id = *ids.entry(key).or_insert(new);
            let client = SocketAddr::new(self.client, port);
            let bytes = message(query, id, None);
            self.ip_id = self.ip_id.wrapping_add(1);
            packets.push(Packet {
                time,
                from: client,
                to: server,
                transport,
                ip_id: Some(self.ip_id),
                interface: 1,
                what: Kind::Message(bytes.clone()),
            });
            let what = match &sent.came {
                None => continue,
                Some(Came::Reply(reply)) => Kind::Message(message(query, id, Some(reply))),
                Some(Came::Refused) if !is_tcp => Kind::Unreachable(Unreachable::Port, bytes),
                Some(_) => Kind::Reset,
            };
            packets.push(Packet {
                time: time + DELAY,
                from: server,
                to: client,
                transport,
                ip_id: Some(self.number()),
                interface: 1,
                what,
            });
        }
        packets
    }
}

/// A query as bytes, or its response.
pub(crate) fn message(query: &Query, id: u16, reply: Option<&Reply>) -> Vec<u8> {
    let Question::Asked(name, kind) = &query.question else {
        return Vec::new();
    };
    let records = reply.map_or(&[][..], |it| &it.answers);
    let soa = reply.is_some_and(|it| it.soa);
    let edns = match reply {
        None => query.edns.as_ref().map(|it| it.size),
        Some(reply) => reply.opt.then_some(1232),
    };
    let mut flags: u16 = 0x0100;
    if query.authentic_data {
        flags |= 0x0020;
    }
    if let Some(reply) = reply {
        flags |= 0x8000 | reply.rcode as u16 & 0xf;
        let bits = [
            (reply.truncated, 0x0200),
            (reply.authoritative, 0x0400),
            (reply.recursion_available, 0x0080),
        ];
        flags |= bits.iter().filter(|it| it.0).map(|it| it.1).sum::<u16>();
    }
    let counts = [
        1,
        records.len(),
        usize::from(soa),
        usize::from(edns.is_some()),
    ];
    let mut bytes = [id.to_be_bytes(), flags.to_be_bytes()].concat();
    bytes.extend(
        counts
            .iter()
            .flat_map(|it| u16::try_from(*it).unwrap().to_be_bytes()),
    );
    bytes.extend([name.as_wire(), &[0]].concat());
    bytes.extend(u16::from(*kind).to_be_bytes());
    bytes.extend([0, 1]);
    for it in records {
        bytes.extend(record(&it.name, &it.data));
    }
    if soa {
        bytes.extend(
            b"\0\0\x06\0\x01\0\0\0\x1e\0\x16\0\0\0\0\0\x01\0\0\0\x1e\0\0\0\x1e\0\0\0\x1e\0\0\0\x1e",
        );
    }
    if let Some(size) = edns {
        bytes.extend([0, 0, 41]);
        bytes.extend(size.to_be_bytes());
        bytes.extend([0; 6]);
    }
    bytes
}

/// How long records live, in seconds.
pub(crate) const TTL: u32 = 30;

fn record(name: &Name, data: &Data) -> Vec<u8> {
    let (kind, data): (u16, Vec<u8>) = match data {
        Data::A(ip) => (1, ip.octets().to_vec()),
        Data::Aaaa(ip) => (28, ip.octets().to_vec()),
        Data::Cname(target) => (5, [target.as_wire(), &[0]].concat()),
        Data::Other(kind) => (u16::from(*kind), vec![1, 0]),
    };
    let mut bytes = [name.as_wire(), &[0]].concat();
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(TTL.to_be_bytes());
    bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}
