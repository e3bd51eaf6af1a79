//! A rule, whoever wrote it: tests and actions, in the order in which the
//! kernel goes through them.

use std::net::IpAddr;

use super::nft::Comparison;
use super::nft::Expression;
use super::{Share, View};
use crate::address::{number, prefix_mask};

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it is written.
    pub view: View,
    /// How many packets have met it; `None`: not counted.
    pub packets: Option<u64>,
    /// What it tests and does. What follows a test that fails is not done.
    pub parts: Vec<Part>,
    /// Its comment.
    pub comment: Option<Box<str>>,
}

/// A piece of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A condition.
    If(Test),
    /// Something done.
    Do(Action),
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Whether it is turned around (`!`).
    pub is_negated: bool,
    /// What must be so.
    pub what: Match,
}

/// Which end of a packet.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Side {
    /// Its source.
    Source,
    /// Its destination.
    Destination,
}

/// What a condition looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum Match {
    /// The address is in one of these networks or ranges.
    Address(Side, Vec<Addresses>),
    /// The protocol is this one.
    Protocol(u8),
    /// A port of one of these sides is in one of these ranges.
    Ports(Vec<Side>, Vec<(u16, u16)>),
    /// It came in through such a link.
    InLink(LinkName),
    /// It leaves through such a link.
    OutLink(LinkName),
    /// Its mark under the mask is the value.
    Mark(Masked),
    /// The mark of its connection under the mask is the value.
    ConnectionMark(Masked),
    /// Its connection is in one of these states ([`state`]).
    State(u16),
    /// Its connection has one of these properties ([`status`]).
    Status(u16),
    /// The connection's first packet had such an address.
    Original(Side, Addresses),
    /// The connection's first packet had such a port.
    OriginalPort(Side, (u16, u16)),
    /// The connection's answers have such an address.
    ReplyAddress(Side, Addresses),
    /// It goes the way of the connection's first packet.
    IsOriginalDirection,
    /// The address is of one of these types ([`kind`]).
    AddressType(Side, u16),
    /// So many packets match, by lot or by turns.
    Chance(Share),
    /// The whole IP packet is so long.
    Length(u16, u16),
    /// Its time to live is in this range.
    TimeToLive(u8, u8),
    /// Of these TCP flags, exactly those are set.
    TcpFlags {
        /// Which are looked at.
        mask: u8,
        /// Which are set.
        set: u8,
    },
    /// The set has these sides of the packet in it.
    Set(Box<str>, Vec<Side>),
    /// `-m recent`: the list of this name has the packet's source.
    Recent(Box<str>),
    /// Never so for a first packet of UDP or TCP: another protocol's, a fragment.
    Never,
    /// Always so.
    Always,
    /// nftables compares values.
    Compare(Box<Comparison>),
    /// One that kdns does not know, in its own words.
    Unknown(Box<str>),
}

/// A value of which only some bits count.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Masked {
    /// The value.
    pub value: u32,
    /// The bits that count.
    pub mask: u32,
}

/// The name of a link, or how it begins (`cali+`).
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LinkName {
    /// The name, without `+`.
    pub name: Box<str>,
    /// Whether longer names count, too.
    pub is_prefix: bool,
}

/// Addresses, as numbers of their family.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Addresses {
    /// From the first to the last.
    Range(u128, u128),
    /// Those whose bits under the mask are the value: a mask with holes.
    Masked(u128, u128),
}

impl Addresses {
    /// Whether `ip` is one of these addresses.
    pub fn have(self, ip: IpAddr) -> bool {
        let ip = number(ip);
        match self {
            Self::Range(first, last) => (first..=last).contains(&ip),
            Self::Masked(value, mask) => ip & mask == value & mask,
        }
    }

    /// The network `ADDRESS[/BITS|/MASK]`.
    pub fn network(text: &str) -> Option<Self> {
        let (ip, bits) = text.split_once('/').unwrap_or((text, ""));
        let ip: IpAddr = ip.parse().ok()?;
        let width: u32 = if ip.is_ipv4() { 32 } else { 128 };
        let all = u128::MAX >> (128 - width);
        let mask = if bits.is_empty() {
            all
        } else if let Ok(bits) = bits.parse::<u32>() {
            prefix_mask(width, bits)?
        } else {
            number(bits.parse().ok()?)
        };
        let value = number(ip) & mask;
        let is_prefix = (!mask & all).wrapping_add(1) & (!mask & all) == 0;
        Some(if is_prefix {
            Self::Range(value, value | (!mask & all))
        } else {
            Self::Masked(value, mask)
        })
    }

    /// The range `FIRST-LAST`, or one address.
    pub fn range(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(Self::Range(
            number(first.parse().ok()?),
            number(last.parse().ok()?),
        ))
    }
}

/// Something that a rule does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The table is done with it.
    Accept,
    /// It vanishes.
    Drop,
    /// It is refused with this error, in the words of iptables.
    Reject(Box<str>),
    /// Back to the chain that called; in a base chain: its policy.
    Return,
    /// Through another chain and back.
    Jump(Box<str>),
    /// On in another chain for good.
    Goto(Box<str>),
    /// Another destination.
    Dnat(Translation),
    /// Another source.
    Snat(Translation),
    /// The source of the link that it leaves through.
    Masquerade,
    /// To the node itself, at this port.
    Redirect(Option<(u16, u16)>),
    /// To a socket of the node, as it is.
    Tproxy {
        /// The socket's address.
        to: Option<IpAddr>,
        /// Its port; 0: the packet's own.
        port: u16,
        /// The mark that it gets.
        mark: Masked,
    },
    /// The mark becomes `mark & !clear ^ flip`.
    Mark {
        /// Bits that are cleared first.
        clear: u32,
        /// Bits that are turned around then.
        flip: u32,
    },
    /// The same for the mark of the connection.
    ConnectionMark {
        /// Bits that are cleared first.
        clear: u32,
        /// Bits that are turned around then.
        flip: u32,
    },
    /// The packet's mark goes to the connection.
    SaveMark {
        /// Bits of the packet's mark.
        from: u32,
        /// Bits of the connection's that are replaced.
        to: u32,
    },
    /// The connection's mark goes to the packet.
    RestoreMark {
        /// Bits of the connection's mark.
        from: u32,
        /// Bits of the packet's that are replaced.
        to: u32,
    },
    /// nftables gives a mark a value.
    SetMark(Expression),
    /// nftables gives the connection's mark a value.
    SetConnectionMark(Expression),
    /// nftables takes the verdict that a map has for a value.
    VerdictMap(Expression, Expression),
    /// nftables translates to an address that is looked up.
    NftNat {
        /// Which end is translated.
        side: Side,
        /// The address; `None`: it stays.
        address: Option<Expression>,
        /// The port; `None`: it stays.
        port: Option<Expression>,
    },
    /// No connection tracking.
    NoTrack,
    /// A connection tracking zone of its own, which no other rule shares.
    Zone(u16),
    /// A program of the node decides (`NFQUEUE`).
    Queue,
    /// Something that does not change where it goes: a log line, a counter.
    Nothing,
    /// One that kdns does not know, in its own words.
    Unknown(Box<str>),
}

/// Where an address is translated to.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Translation {
    /// The first and the last address; `None`: it stays.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// The first and the last port; `None`: it stays.
    pub ports: Option<(u16, u16)>,
}

/// States of a connection, as bits of [`Match::State`].
pub mod state {
    /// Of a connection that is not known yet.
    pub const NEW: u16 = 1;
    /// Of one that has seen packets both ways.
    pub const ESTABLISHED: u16 = 2;
    /// Belongs to another one.
    pub const RELATED: u16 = 4;
    /// Of none that could be.
    pub const INVALID: u16 = 8;
    /// Not tracked.
    pub const UNTRACKED: u16 = 16;
    /// Its source was translated.
    pub const SNAT: u16 = 32;
    /// Its destination was translated.
    pub const DNAT: u16 = 64;

    /// The state of this name, in the letters of iptables or nftables.
    pub fn named(name: &str) -> Option<u16> {
        Some(match name.to_ascii_uppercase().as_str() {
            "NEW" => NEW,
            "ESTABLISHED" => ESTABLISHED,
            "RELATED" => RELATED,
            "INVALID" => INVALID,
            "UNTRACKED" => UNTRACKED,
            "SNAT" => SNAT,
            "DNAT" => DNAT,
            _ => return None,
        })
    }
}

/// Properties of a connection, as bits of [`Match::Status`].
pub mod status {
    /// It was expected.
    pub const EXPECTED: u16 = 1;
    /// An answer came.
    pub const SEEN_REPLY: u16 = 2;
    /// It is kept when the table is full.
    pub const ASSURED: u16 = 4;
    /// Its first packet has left.
    pub const CONFIRMED: u16 = 8;
    /// Its source was translated.
    pub const SNAT: u16 = 16;
    /// Its destination was translated.
    pub const DNAT: u16 = 32;
    /// The connection has none of these properties.
    pub const NONE: u16 = 64;

    /// The property of this name, in the letters of iptables or nftables.
    pub fn named(name: &str) -> Option<u16> {
        Some(match name.to_ascii_uppercase().as_str() {
            "NONE" => NONE,
            "EXPECTED" => EXPECTED,
            "SEEN_REPLY" | "SEEN-REPLY" => SEEN_REPLY,
            "ASSURED" => ASSURED,
            "CONFIRMED" => CONFIRMED,
            "SNAT" => SNAT,
            "DNAT" => DNAT,
            _ => return None,
        })
    }
}

/// Types of addresses, as bits of [`Match::AddressType`].
pub mod kind {
    /// Of the node itself.
    pub const LOCAL: u16 = 1;
    /// Elsewhere.
    pub const UNICAST: u16 = 2;
    /// Everyone on a link.
    pub const BROADCAST: u16 = 4;
    /// A group.
    pub const MULTICAST: u16 = 8;
    /// A route that refuses, or another type that no packet of ours has.
    pub const OTHER: u16 = 16;

    /// The type of this name, in the letters of iptables or nftables.
    pub fn named(name: &str) -> u16 {
        match name.to_ascii_uppercase().as_str() {
            "LOCAL" => LOCAL,
            "UNICAST" => UNICAST,
            "BROADCAST" | "ANYCAST" => BROADCAST,
            "MULTICAST" => MULTICAST,
            _ => OTHER,
        }
    }
}
