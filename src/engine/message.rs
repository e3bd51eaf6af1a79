//! What goes out and what comes back.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::RecordType;
use serde::{Deserialize, Serialize};

use crate::address::Server;
use crate::name::Name;

/// How a query travels.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A datagram.
    Udp,
    /// A message on a connection.
    Tcp,
}

impl Transport {
    /// `udp` or `tcp`, as JSON has it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

/// One query, as the server sees it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Query {
    /// Whom it is sent to.
    pub server: Server,
    /// What is asked.
    pub question: Question,
    /// UDP or TCP.
    pub transport: Transport,
    /// The socket it leaves from.
    pub socket: SocketId,
    /// The OPT record, if there is one.
    pub edns: Option<Edns>,
    /// Whether the AD bit is set.
    pub authentic_data: bool,
    /// Why this name is asked.
    pub because: Because,
}

/// The question section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Question {
    /// A name and a type, class IN.
    Asked(Name, RecordType),
    /// A message that no server can read: its bytes after the id.
    Malformed(Vec<u8>),
}

/// An OPT record (RFC 6891).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edns {
    /// UDP payload size.
    pub size: u16,
    /// Whether the DO bit is set.
    pub dnssec_ok: bool,
    /// Option codes in order; 10 is a cookie.
    pub options: &'static [u16],
}

/// Where a candidate comes from.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Because {
    /// The n-th entry of the search list as this resolver holds it, from 0.
    Search(usize),
    /// The name as it was given.
    AsIs,
    /// The name that `HOSTALIASES` gives for it.
    HostAlias,
    /// The target of a CNAME record.
    Cname,
    /// A further record type for the name that answered.
    FollowUp,
    /// The name of an address, below `in-addr.arpa` or `ip6.arpa`.
    Reverse,
    /// A question of a module of nsswitch.conf, about no candidate.
    Module,
}

/// A socket of the resolver, in the order of their making, from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SocketId(pub u32);

/// The n-th query of a machine, from 0: what stands for the message id.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct QueryId(pub usize);

/// A reply code (RFC 1035, section 4.1.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names are the codes' own")]
pub enum Rcode {
    NoError,
    FormErr,
    ServFail,
    NxDomain,
    NotImp,
    Refused,
}

/// A response, as far as any resolver looks at it. Its question is the query's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reply {
    /// The reply code.
    pub rcode: Rcode,
    /// The answer section, in order.
    pub answers: Vec<Record>,
    /// Whether the authority section has an SOA record.
    pub soa: bool,
    /// Whether there is an OPT record.
    pub opt: bool,
    /// TC: truncated.
    pub truncated: bool,
    /// AA: authoritative.
    pub authoritative: bool,
    /// RA: recursion available.
    pub recursion_available: bool,
    /// AD: authentic data.
    pub authentic_data: bool,
}

/// A record of the answer section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Record {
    /// Its owner.
    pub name: Name,
    /// Its type and data.
    pub data: Data,
}

/// The data of a record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Data {
    /// An IPv4 address.
    A(Ipv4Addr),
    /// An IPv6 address.
    Aaaa(Ipv6Addr),
    /// Another name for the owner.
    Cname(Name),
    /// Any other type.
    Other(RecordType),
}

impl Edns {
    /// One that says the payload size and nothing else.
    pub const fn plain(size: u16) -> Self {
        Self {
            size,
            dnssec_ok: false,
            options: &[],
        }
    }
}

impl Record {
    /// A record with this owner.
    pub const fn new(name: Name, data: Data) -> Self {
        Self { name, data }
    }
}

impl Data {
    /// The type of a record with this data.
    pub fn record_type(&self) -> RecordType {
        match self {
            Self::A(_) => RecordType::A,
            Self::Aaaa(_) => RecordType::AAAA,
            Self::Cname(_) => RecordType::CNAME,
            Self::Other(record_type) => *record_type,
        }
    }

    /// The address, if it is one.
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::A(ip) => Some(IpAddr::V4(*ip)),
            Self::Aaaa(ip) => Some(IpAddr::V6(*ip)),
            Self::Cname(_) | Self::Other(_) => None,
        }
    }
}

impl Rcode {
    /// The code as dig and the vectors spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoError => "NOERROR",
            Self::FormErr => "FORMERR",
            Self::ServFail => "SERVFAIL",
            Self::NxDomain => "NXDOMAIN",
            Self::NotImp => "NOTIMP",
            Self::Refused => "REFUSED",
        }
    }
}

impl Query {
    /// The name asked for; `None` if the message is malformed.
    pub fn name(&self) -> Option<&Name> {
        match &self.question {
            Question::Asked(name, _) => Some(name),
            Question::Malformed(_) => None,
        }
    }

    /// The type asked for; `None` if the message is malformed.
    pub fn record_type(&self) -> Option<RecordType> {
        match &self.question {
            Question::Asked(_, record_type) => Some(*record_type),
            Question::Malformed(_) => None,
        }
    }
}
