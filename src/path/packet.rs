//! The packet that is sent through a node.

use std::net::IpAddr;

/// What a packet carries.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Protocol {
    /// UDP.
    Udp,
    /// TCP: its first packet, with SYN.
    Tcp,
}

impl Protocol {
    /// Its number in the IP header.
    pub fn number(self) -> u8 {
        match self {
            Self::Udp => 17,
            Self::Tcp => 6,
        }
    }

    /// Its word: `udp`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

/// Where a packet comes into the network namespace whose rules it meets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Start {
    /// A process of the namespace sends it.
    Host,
    /// It comes in through a link: the node's end of a pod's link.
    Link {
        /// The link's name; `None`: not known which one.
        name: Option<Box<str>>,
    },
    /// No link of its sender has its other end here: it may never come to these rules.
    Elsewhere,
}

/// The first packet of a conversation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Packet {
    /// What it carries.
    pub protocol: Protocol,
    /// Who sends it; unspecified: a pod whose address is not known, or the node.
    pub source: IpAddr,
    /// From which port; `None`: from any that a client draws, from 1024 on.
    pub source_port: Option<u16>,
    /// To whom.
    pub destination: IpAddr,
    /// To which port.
    pub port: u16,
    /// Where it starts.
    pub start: Start,
    /// Length of the whole IP packet in bytes; `None`: any.
    pub length: Option<u16>,
}

impl Packet {
    /// Whether a pod sends it of which no address is known.
    pub fn is_of_some_pod(&self) -> bool {
        self.source.is_unspecified() && self.start != Start::Host
    }

    /// A pod's query to the Service, that tests begin with.
    #[cfg(test)]
    pub(crate) fn query() -> Self {
        Self {
            protocol: Protocol::Udp,
            source: [10, 244, 0, 7].into(),
            source_port: None,
            destination: [10, 96, 0, 10].into(),
            port: 53,
            start: Start::Host,
            length: None,
        }
    }
}
