//! Entries of the connection tracking table, as `/proc/net/nf_conntrack`,
//! `conntrack -L` and `conntrack -L -o extended` write them.

use std::net::IpAddr;

/// One side of an entry: the addresses of packets in one direction.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
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

/// A flow that the kernel remembers.
#[derive(Clone, Debug, Eq, PartialEq)]
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
    pub line: u32,
}
