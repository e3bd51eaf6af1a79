//! Entries of the connection tracking table, as `/proc/net/nf_conntrack`,
//! `conntrack -L` and `conntrack -L -o extended` write them.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One side of an entry: the addresses of packets in one direction. In JSON source and
/// destination, each with its port.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(from = "Sockets", into = "Sockets")]
pub struct Tuple {
    /// Where they come from.
    pub source: IpAddr,
    /// Where they go.
    pub destination: IpAddr,
    /// Port they come from; 0 where the protocol has none.
    pub source_port: u16,
    /// Port they go to.
    pub destination_port: u16,
}

type Sockets = (IpAddr, u16, IpAddr, u16);

impl From<Sockets> for Tuple {
    fn from((source, source_port, destination, destination_port): Sockets) -> Self {
        Self {
            source,
            destination,
            source_port,
            destination_port,
        }
    }
}

impl From<Tuple> for Sockets {
    fn from(it: Tuple) -> Self {
        let to = (it.destination, it.destination_port);
        (it.source, it.source_port, to.0, to.1)
    }
}

/// A flow that the kernel remembers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Entry {
    /// Number of the protocol: 17 is UDP, 6 is TCP.
    pub protocol: u8,
    /// Seconds until it is forgotten, if nothing more comes.
    pub timeout: Option<u32>,
    /// TCP's state: `ESTABLISHED`.
    pub state: Option<Box<str>>,
    /// Packets as the asker sends them.
    pub original: Tuple,
    /// Packets as the answer comes: where it was translated to.
    pub reply: Tuple,
    /// Whether nothing has come back yet.
    pub is_unreplied: bool,
    /// Whether it is kept when the table is full.
    pub is_assured: bool,
    /// The mark of the connection.
    pub mark: u32,
    /// Its zone.
    pub zone: u16,
    /// Where it is written; line 0: the kernel said it.
    #[serde(skip)]
    pub line: u32,
}

/// The entry of a line; `None`: it is none.
pub(crate) fn parse(line: &str, number: u32) -> Option<Entry> {
    let mut words = line.split_whitespace().peekable();
    let first = words.next()?;
    // `ipv4     2 udp      17 29 src=…`, `udp      17 29 src=…`
    let protocol_name = match first {
        "ipv4" | "ipv6" => {
            words.next()?.parse::<u8>().ok()?;
            words.next()?
        }
        name => name,
    };
    let is_name = |it: char| it.is_ascii_alphanumeric();
    if !protocol_name.chars().all(is_name) {
        return None;
    }
    let protocol = words.next()?.parse().ok()?;
    let mut entry = Builder {
        protocol,
        ..Builder::default()
    };
    if let Some(timeout) = words.peek().and_then(|it| it.parse().ok()) {
        entry.timeout = Some(timeout);
        words.next();
    }
    for word in words {
        entry.take(word)?;
    }
    entry.finish(number)
}

#[derive(Default)]
struct Builder {
    protocol: u8,
    timeout: Option<u32>,
    state: Option<Box<str>>,
    addresses: Vec<(IpAddr, IpAddr)>,
    source: Option<IpAddr>,
    ports: Vec<(u16, u16)>,
    port: Option<u16>,
    is_unreplied: bool,
    is_assured: bool,
    mark: u32,
    zone: u16,
}

impl Builder {
    fn take(&mut self, word: &str) -> Option<()> {
        match word.split_once('=') {
            Some(("src", ip)) => self.source = Some(ip.parse().ok()?),
            Some(("dst", ip)) => {
                let source = self.source.take()?;
                self.addresses.push((source, ip.parse().ok()?));
            }
            Some(("sport", port)) => self.port = Some(port.parse().ok()?),
            Some(("dport", port)) => {
                let source = self.port.take()?;
                self.ports.push((source, port.parse().ok()?));
            }
            Some(("mark", mark)) => self.mark = mark.parse().ok()?,
            Some(("zone", zone)) => self.zone = zone.parse().ok()?,
            Some(_) => {}
            None => match word {
                "[UNREPLIED]" => self.is_unreplied = true,
                "[ASSURED]" => self.is_assured = true,
                word if word.bytes().all(|it| it.is_ascii_uppercase() || it == b'_') => {
                    self.state = Some(word.into());
                }
                _ => {}
            },
        }
        Some(())
    }

    fn finish(self, line: u32) -> Option<Entry> {
        let tuple = |index: usize| {
            let (source, destination) = *self.addresses.get(index)?;
            let (source_port, destination_port) = self.ports.get(index).copied().unwrap_or((0, 0));
            Some(Tuple {
                source,
                destination,
                source_port,
                destination_port,
            })
        };
        Some(Entry {
            protocol: self.protocol,
            timeout: self.timeout,
            state: self.state.clone(),
            original: tuple(0)?,
            reply: tuple(1)?,
            is_unreplied: self.is_unreplied,
            is_assured: self.is_assured,
            mark: self.mark,
            zone: self.zone,
            line,
        })
    }
}
