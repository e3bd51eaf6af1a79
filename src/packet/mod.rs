//! From captured packets to DNS messages.
//!
//! [`Reader`] takes a capture apart into frames, [`Assembler`] takes frames
//! apart down to the DNS messages in them, and [`dns::Header`] looks at the
//! beginning of a message. What the messages mean is decided elsewhere.
//! Whatever was not understood is in [`Counters`]; nothing is dropped in
//! silence, and nothing that a stranger can send needs more memory than
//! [`Limits`] says.

mod assembler;
mod carried;
mod counters;
pub mod dns;
mod reader;
mod steady;
mod writer;

pub use assembler::transport::{HTTPS, OVER_HTTPS};
pub use assembler::{Assembler, Options};
pub use carried::Carried;
pub use counters::Counters;
pub use reader::{CaptureError, Reader};
pub use steady::Steady;
pub use writer::Writer;

use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

/// A frame as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Its number in the capture, from 1, as Wireshark counts.
    pub number: u64,
    /// When it was captured, in nanoseconds since the epoch.
    pub time: i64,
    /// Whether that is so; else it was captured some time after, before the next one.
    pub is_time_known: bool,
    /// The interface it was seen on: the number of an Interface Description
    /// Block, or the kernel's index.
    pub interface: u32,
    /// Whether the kernel said that it left this network namespace; `None`: not
    /// known.
    pub outgoing: Option<bool>,
    /// What its bytes begin with.
    pub link: LinkType,
    /// As much of it as was captured.
    pub bytes: &'a [u8],
    /// How long it was on the wire, in bytes; at least as long as `bytes`.
    pub original_length: u32,
}

/// What the bytes of a frame begin with.
///
/// Source: <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LinkType {
    /// An Ethernet header (`LINKTYPE_ETHERNET`).
    Ethernet,
    /// An IP header (`LINKTYPE_RAW`, `IPV4`, `IPV6`).
    Raw,
    /// The address family in the byte order of the host that captured
    /// (`LINKTYPE_NULL`), or in network byte order (`LINKTYPE_LOOP`).
    Loopback,
    /// `LINKTYPE_LINUX_SLL`: what `tcpdump -i any` wrote until 2020.
    CookedV1,
    /// `LINKTYPE_LINUX_SLL2`: what it writes since.
    CookedV2,
    /// Another one, by its number.
    Other(u32),
}

/// A connection over TCP, by the order in which they were seen.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamId(pub u64);

/// How a message travelled.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Transport {
    /// One datagram.
    Udp,
    /// Part of a connection.
    Tcp(StreamId),
}

/// Gives an address to a hasher, in one word.
pub(crate) fn hash_ip(ip: IpAddr, hasher: &mut impl Hasher) {
    match ip {
        IpAddr::V4(ip) => hasher.write_u32(ip.to_bits()),
        IpAddr::V6(ip) => hasher.write_u128(ip.to_bits()),
    }
}

/// Gives both ends of a packet to a hasher, in few words.
pub(crate) fn hash_ends(from: SocketAddr, to: SocketAddr, hasher: &mut impl Hasher) {
    if let (IpAddr::V4(from), IpAddr::V4(to)) = (from.ip(), to.ip()) {
        hasher.write_u64(u64::from(from.to_bits()) << 32 | u64::from(to.to_bits()));
    } else {
        hash_ip(from.ip(), hasher);
        hash_ip(to.ip(), hasher);
    }
    hasher.write_u32(u32::from(from.port()) << 16 | u32::from(to.port()));
}

/// One DNS message, or what was seen in its place.
#[derive(Clone, Copy, Debug)]
pub struct SeenMessage<'a> {
    /// The number of the frame that completed it.
    pub number: u64,
    /// The time of that frame, in nanoseconds since the epoch.
    pub time: i64,
    /// Whether that is so; else it was seen some time after, before the next one.
    pub is_time_known: bool,
    /// The interface of that frame.
    pub interface: u32,
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it was sent to.
    pub to: SocketAddr,
    /// How it travelled.
    pub transport: Transport,
    /// The identification of its IPv4 header, which NAT leaves as it is;
    /// `None`: IPv6.
    pub ip_id: Option<u16>,
    /// What was seen.
    pub content: Content,
    /// What there is of its message, or of the one that an ICMP error quotes, which is
    /// often nothing.
    pub bytes: &'a [u8],
}

/// What was seen of a conversation.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// A whole message.
    Message,
    /// The beginning of a message: the rest was not captured.
    Cut {
        /// How many bytes the whole message has.
        length: usize,
    },
    /// The beginning of a message in a datagram whose other fragments were not
    /// seen. It comes late: number and time are those of its first fragment.
    Incomplete {
        /// How many bytes the whole message has.
        length: usize,
    },
    /// `from` asks for a connection (SYN), for the first time or again.
    Connect,
    /// `from` accepts a connection (SYN and ACK).
    Connected,
    /// `from` breaks a connection off, or refuses it (RST); not said of a server of
    /// whose bytes some are missing: it can have answered.
    Reset,
    /// `from` has nothing more to say (FIN); the same holds.
    Closed,
    /// An ICMP error, which `from` sent to the host of `to` about a packet of
    /// the other direction.
    Unreachable {
        /// What it says.
        kind: Unreachable,
        /// The packet that it is about.
        quoted: Quoted,
    },
}

/// What an ICMP error says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unreachable {
    /// Nobody listens on the port.
    Port,
    /// There is no route to the network or host, or nobody answers for it.
    Host,
    /// A filter forbids it.
    Prohibited,
    /// It is longer than the link takes: its next hop's MTU, in bytes, if said.
    TooBig(Option<u32>),
    /// It went through too many hops.
    HopsExceeded,
    /// Its fragments did not all arrive in time.
    ReassemblyExceeded,
    /// Something else: type and code.
    Other(u8, u8),
}

/// A packet that an ICMP error quotes.
#[derive(Clone, Copy, Debug)]
pub struct Quoted {
    /// Who had sent it.
    pub from: SocketAddr,
    /// Whom it had been sent to.
    pub to: SocketAddr,
    /// Whether it was a segment of TCP, and not a datagram of UDP.
    pub is_tcp: bool,
}

/// How much is remembered at once, whatever is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Connections.
    pub streams: usize,
    /// Bytes of messages that are not complete, of one direction of a connection.
    pub stream_bytes: usize,
    /// Datagrams whose fragments have not all been seen.
    pub fragmented: usize,
    /// Bytes of all fragments and of all streams together.
    pub bytes: usize,
    /// How long a quiet connection is remembered, in nanoseconds.
    pub age: i64,
    /// How long a fragment is remembered, in nanoseconds.
    pub fragment_age: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            streams: 16_384,
            // A message of the greatest length, and as much again that came early.
            stream_bytes: 128 << 10,
            fragmented: 1024,
            bytes: 16 << 20,
            // After so long without a word it is nobody's lookup any more.
            age: 30_000_000_000,
            // Linux waits 30 s for them (ip_frag_time), but they are sent at once.
            fragment_age: 5_000_000_000,
        }
    }
}
