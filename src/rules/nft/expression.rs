//! Values of nftables and how they are compared.

use std::net::IpAddr;

use serde_json::Value;

use crate::address::{number, prefix_mask};
use crate::rules::rule::{kind, state, status};

/// What a value is about: it says how its words are read.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// An address.
    Address,
    /// A protocol number.
    Protocol,
    /// A port.
    Port,
    /// The name of a link.
    Link,
    /// A state of connections.
    State,
    /// A property of connections.
    Status,
    /// A type of addresses.
    AddressType,
    /// A number, also a mark.
    Number,
}

/// A value that is one thing.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Atom {
    /// A number; an address is one.
    Number(u128),
    /// A name.
    Name(Box<str>),
    /// A port that a client draws: any from 1024 on.
    Drawn,
}

/// What nftables reads off a packet.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Field {
    /// `ip saddr`, `ip6 saddr`; which family.
    Source(bool),
    /// `ip daddr`, `ip6 daddr`; whether IPv6.
    Destination(bool),
    /// `meta l4proto`, `ip protocol`, `ip6 nexthdr`.
    Protocol,
    /// `meta nfproto`, 2 for IPv4 and 10 for IPv6.
    Family,
    /// `meta protocol`: the type of the frame.
    FrameType,
    /// `sport` of this protocol, or of any (`th`).
    SourcePort(Option<u8>),
    /// `dport` of this protocol, or of any (`th`).
    DestinationPort(Option<u8>),
    /// `meta mark`.
    Mark,
    /// `ct mark`.
    ConnectionMark,
    /// `ct state`.
    State,
    /// `ct status`.
    Status,
    /// `ct direction`: 0 is that of the first packet.
    Direction,
    /// `ct original saddr`, `ct original ip daddr`…: the source or not.
    Original(bool),
    /// `ct original proto-src`: the source or not.
    OriginalPort(bool),
    /// `iifname`, `iif`.
    InLink,
    /// `oifname`, `oif`.
    OutLink,
    /// `meta length`.
    Length,
    /// `ip ttl`, `ip6 hoplimit`.
    TimeToLive,
    /// `tcp flags`.
    TcpFlags,
    /// `fib saddr type`, `fib daddr type`: the source or not.
    AddressType(bool),
}

impl Field {
    /// What its values are about.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Source(_) | Self::Destination(_) | Self::Original(_) => Kind::Address,
            Self::Protocol => Kind::Protocol,
            Self::SourcePort(_) | Self::DestinationPort(_) | Self::OriginalPort(_) => Kind::Port,
            Self::State => Kind::State,
            Self::Status => Kind::Status,
            Self::InLink | Self::OutLink => Kind::Link,
            Self::AddressType(_) => Kind::AddressType,
            _ => Kind::Number,
        }
    }
}

/// An operator between numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operator {
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    Left,
    /// `>>`
    Right,
}

/// Something that has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// Read off the packet.
    Field(Field),
    /// Given.
    Values(Values),
    /// Several values one behind the other.
    Concat(Vec<Self>),
    /// Two numbers put together.
    Binary(Operator, Box<Self>, Box<Self>),
    /// One of so many numbers, by lot or by turns; the smallest is `offset`.
    Numgen {
        /// How many.
        modulus: u32,
        /// The smallest.
        offset: u32,
    },
    /// What a map has for a value.
    Map(Box<Self>, Box<Self>),
    /// A set or map of this name.
    Named(Box<str>),
    /// One that kdns does not know, as it is written.
    Unknown(Box<str>),
}

/// Constant values.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One.
    One(Vec<Atom>),
    /// From the first to the last.
    Range(u128, u128),
    /// Whatever there is.
    Any,
    /// Names that begin so.
    Prefix(Box<str>),
    /// Several of them, part by part.
    Each(Vec<Self>),
    /// One of these; what a map has for it stands beside it.
    Set(Vec<(Self, Option<Value>)>),
}

/// A client draws its port from here on.
const FIRST_DRAWN: u128 = 1024;
/// It is hardly ever one of so few.
const FEW_PORTS: u128 = 64;
const LAST_PORT: u128 = u16::MAX as u128;

impl Values {
    /// Whether a value is one of them; `None`: not known. A port that is drawn
    /// is no single one: one of ten thousands is as good as none.
    pub fn have(&self, value: &[Atom]) -> Option<bool> {
        match (self, value) {
            (Self::One(one), value) => Some(one == value),
            (Self::Any, _) => Some(true),
            (Self::Range(first, last), [Atom::Number(it)]) => Some((first..=last).contains(&it)),
            (Self::Range(first, last), [Atom::Drawn])
                if last.saturating_sub(*first.max(&(FIRST_DRAWN - 1))) <= FEW_PORTS =>
            {
                Some(false)
            }
            (Self::Range(first, last), [Atom::Drawn]) => {
                (*first <= FIRST_DRAWN && *last >= LAST_PORT).then_some(true)
            }
            (Self::Prefix(start), [Atom::Name(it)]) => Some(it.starts_with(&**start)),
            (Self::Each(parts), value) if parts.len() == value.len() => {
                let mut all = Some(true);
                for (part, it) in parts.iter().zip(value) {
                    match part.have(std::slice::from_ref(it)) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => all = None,
                    }
                }
                all
            }
            (Self::Set(all), value) => {
                let mut any = Some(false);
                for (values, _) in all {
                    match values.have(value) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => any = None,
                    }
                }
                any
            }
            _ => Some(false),
        }
    }
}

/// How two values must stand to each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Relation {
    /// `==`, and membership of a set.
    Is,
    /// `!=`
    IsNot,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `in`: of flags, any of them.
    In,
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub left: Expression,
    /// How both sides are compared.
    pub relation: Relation,
    /// The right side: what it is compared with.
    pub right: Expression,
    /// As it is written.
    pub words: Box<str>,
}

/// An atom of this kind; `None`: it has no such value.
pub(super) fn atom(value: &Value, of: Kind) -> Option<Atom> {
    if let Some(it) = value.as_u64() {
        let bits = match of {
            Kind::State => state_of(it)?,
            Kind::AddressType => type_of(it),
            _ => return Some(Atom::Number(u128::from(it))),
        };
        return Some(Atom::Number(u128::from(bits)));
    }
    if let Some(is_set) = value.as_bool() {
        return Some(Atom::Number(u128::from(is_set)));
    }
    let word = value.as_str()?;
    let bits = |it: u16| Atom::Number(u128::from(it));
    Some(match of {
        Kind::Link => Atom::Name(word.into()),
        Kind::Protocol => Atom::Number(protocol(word)?),
        Kind::Address => Atom::Number(number(word.parse::<IpAddr>().ok()?)),
        Kind::State => bits(state::named(word)?),
        Kind::Status => bits(status::named(word)?),
        Kind::AddressType => bits(kind::named(word)),
        Kind::Port if word == "domain" => Atom::Number(53),
        Kind::Port => Atom::Number(word.parse().ok()?),
        Kind::Number => Atom::Number(named_number(word)?),
    })
}

/// The state of this bit of the kernel, which `nft --numeric` gives.
///
/// Source: Linux `include/uapi/linux/netfilter/nf_conntrack_common.h`.
fn state_of(bit: u64) -> Option<u16> {
    Some(match bit {
        1 => state::INVALID,
        2 => state::ESTABLISHED,
        4 => state::RELATED,
        8 => state::NEW,
        64 => state::UNTRACKED,
        _ => return None,
    })
}

/// The type of this number of the kernel, which `nft --numeric` gives.
///
/// Source: Linux `include/uapi/linux/rtnetlink.h`: `RTN_UNICAST` and the rest.
fn type_of(number: u64) -> u16 {
    match number {
        1 => kind::UNICAST,
        2 => kind::LOCAL,
        3 | 4 => kind::BROADCAST,
        5 => kind::MULTICAST,
        _ => kind::OTHER,
    }
}

fn protocol(word: &str) -> Option<u128> {
    Some(match word {
        "icmp" => 1,
        "tcp" => 6,
        "udp" => 17,
        "ipv6-icmp" | "icmpv6" => 58,
        "esp" => 50,
        "ah" => 51,
        "dccp" => 33,
        "sctp" => 132,
        "udplite" => 136,
        number => number.parse().ok()?,
    })
}

/// Numbers that nftables writes as words.
fn named_number(word: &str) -> Option<u128> {
    Some(match word {
        // meta nfproto
        "ipv4" => 2,
        "ipv6" => 10,
        // meta protocol, as it is on the wire
        "ip" => 0x0800,
        "ip6" => 0x86dd,
        // ct direction
        "original" => 0,
        "reply" => 1,
        // tcp flags
        "fin" => 0x01,
        "syn" => 0x02,
        "rst" => 0x04,
        "psh" => 0x08,
        "ack" => 0x10,
        "urg" => 0x20,
        hex => match hex.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16).ok()?,
            None => hex
                .parse::<IpAddr>()
                .ok()
                .map(number)
                .or_else(|| hex.parse().ok())?,
        },
    })
}

/// The addresses of a prefix as values.
pub(super) fn prefix(address: &str, bits: u32) -> Option<Values> {
    let ip: IpAddr = address.parse().ok()?;
    let width = if ip.is_ipv4() { 32 } else { 128 };
    let mask = prefix_mask(width, bits)?;
    let first = number(ip) & mask;
    let all = prefix_mask(width, width)?;
    Some(Values::Range(first, first | (all & !mask)))
}
