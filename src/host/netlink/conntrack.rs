//! Entries and counters of the connection tracking table.
//!
//! Source: Linux `include/uapi/linux/netfilter/nfnetlink_conntrack.h`,
//! `net/netfilter/nf_conntrack_netlink.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{NlaBuffer, NlasIterator};
use nix::sys::socket::SockProtocol;

use super::{Netlink, NetlinkError};
use crate::node::kernel::ConntrackCounters;
use crate::rules::conntrack::{Entry, Tuple};
use crate::text::WordList;

/// More entries are not read: at some 200 bytes each.
pub const MAX_ENTRIES: usize = 1 << 20;

/// `NFNL_SUBSYS_CTNETLINK`, in the upper byte of a message's type.
const SUBSYSTEM: u16 = 1 << 8;
const GET: u16 = SUBSYSTEM | 1;
const GET_STATS_CPU: u16 = SUBSYSTEM | 4;

/// The header of every message to netfilter: family, version, number.
const HEADER: usize = 4;

/// `IPS_SEEN_REPLY`, `IPS_ASSURED`.
const SEEN_REPLY: u32 = 1 << 1;
const ASSURED: u32 = 1 << 2;

/// A socket to the part of the kernel that knows connections.
#[derive(Debug)]
pub struct ConntrackSocket(Netlink);

/// Entries of the table.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Entries {
    /// In the order of the table, at most [`MAX_ENTRIES`].
    pub entries: Vec<Entry>,
    /// Whether the table has more entries than were read.
    pub is_cut: bool,
}

impl ConntrackSocket {
    /// Opens one in this thread's network namespace. The kernel loads what
    /// answers if it is not there: whoever does not want that looks before.
    ///
    /// # Errors
    ///
    /// The kernel has no such part.
    pub fn open() -> Result<Self, NetlinkError> {
        Netlink::open(SockProtocol::NetlinkNetFilter, "connections").map(Self)
    }

    /// The entries that `wanted` holds for.
    ///
    /// # Errors
    ///
    /// The kernel does not say: that needs `CAP_NET_ADMIN`.
    pub fn entries(self, wanted: impl Fn(&Entry) -> bool) -> Result<Entries, NetlinkError> {
        let mut found = Entries::default();
        self.0
            .dump("connections", GET, &[0; HEADER], &mut |message| {
                let Some((_, body)) = message else {
                    found = Entries::default();
                    return true;
                };
                let entry = entry(body.get(HEADER..).unwrap_or_default());
                found.entries.extend(entry.filter(&wanted));
                found.is_cut = found.entries.len() > MAX_ENTRIES;
                found.entries.truncate(MAX_ENTRIES);
                !found.is_cut
            })?;
        Ok(found)
    }

    /// The counters, over all processors.
    ///
    /// # Errors
    ///
    /// The kernel does not say: that needs `CAP_NET_ADMIN`.
    pub fn counters(&self) -> Result<ConntrackCounters, NetlinkError> {
        let mut all = ConntrackCounters::default();
        self.0.dump(
            "counters of connections",
            GET_STATS_CPU,
            &[0; HEADER],
            &mut |message| {
                match message {
                    None => all = ConntrackCounters::default(),
                    Some((_, body)) => add(&mut all, body.get(HEADER..).unwrap_or_default()),
                }
                true
            },
        )?;
        Ok(all)
    }
}

/// Adds what one processor has counted.
fn add(all: &mut ConntrackCounters, attributes: &[u8]) {
    for attribute in parse_attributes(attributes) {
        let count = u64::from(number(attribute.value()));
        match attribute.kind() {
            // CTA_STATS_INSERT_FAILED, CTA_STATS_DROP, CTA_STATS_EARLY_DROP,
            // CTA_STATS_CLASH_RESOLVE.
            9 => all.insert_failed += count,
            10 => all.drop += count,
            11 => all.early_drop += count,
            14 => all.clash_resolve += count,
            _ => {}
        }
    }
}

/// An entry; `None`: it has not both directions.
fn entry(attributes: &[u8]) -> Option<Entry> {
    let (mut original, mut reply) = (None, None);
    let (mut status, mut timeout, mut mark, mut zone, mut state) = (0, None, 0, 0, None);
    for attribute in parse_attributes(attributes) {
        let value = attribute.value();
        match attribute.kind() {
            // CTA_TUPLE_ORIG, CTA_TUPLE_REPLY.
            1 => original = tuple(value),
            2 => reply = tuple(value),
            // CTA_STATUS, CTA_PROTOINFO, CTA_TIMEOUT, CTA_MARK, CTA_ZONE.
            3 => status = number(value),
            4 => state = tcp_state(value),
            7 => timeout = Some(number(value)),
            8 => mark = number(value),
            18 => zone = short(value),
            _ => {}
        }
    }
    let (protocol, original) = original?;
    let (_, reply) = reply?;
    Some(Entry {
        protocol,
        timeout,
        state: state.map(Into::into),
        original,
        reply,
        is_unreplied: status & SEEN_REPLY == 0,
        is_assured: status & ASSURED != 0,
        mark,
        zone,
        line: 0,
    })
}

/// Addresses and ports of one direction, with the protocol's number.
fn tuple(attributes: &[u8]) -> Option<(u8, Tuple)> {
    let (mut source, mut destination, mut protocol) = (None, None, 0);
    let (mut source_port, mut destination_port) = (0, 0);
    for part in parse_attributes(attributes) {
        for attribute in parse_attributes(part.value()) {
            let value = attribute.value();
            match (part.kind(), attribute.kind()) {
                // CTA_TUPLE_IP: CTA_IP_V4_SRC and _DST, CTA_IP_V6_SRC and _DST.
                (1, 1 | 3) => source = ip(value),
                (1, 2 | 4) => destination = ip(value),
                // CTA_TUPLE_PROTO: CTA_PROTO_NUM, _SRC_PORT, _DST_PORT.
                (2, 1) => protocol = value.first().copied()?,
                (2, 2) => source_port = short(value),
                (2, 3) => destination_port = short(value),
                _ => {}
            }
        }
    }
    let (source, destination) = (source?, destination?);
    Some((
        protocol,
        Tuple {
            source,
            destination,
            source_port,
            destination_port,
        },
    ))
}

/// Source: Linux `net/netfilter/nf_conntrack_proto_tcp.c: tcp_conntrack_names`.
const TCP_STATES: WordList = WordList(
    "NONE SYN_SENT SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE SYN_SENT2",
);

/// The state of a TCP connection.
fn tcp_state(attributes: &[u8]) -> Option<&'static str> {
    // CTA_PROTOINFO_TCP: CTA_PROTOINFO_TCP_STATE.
    let tcp = parse_attributes(attributes).find(|it| it.kind() == 1)?;
    let state = parse_attributes(tcp.value()).find(|it| it.kind() == 1)?;
    TCP_STATES.iter().nth((*state.value().first()?).into())
}

/// The attributes up to one that is none.
fn parse_attributes(bytes: &[u8]) -> impl Iterator<Item = NlaBuffer<&[u8]>> {
    NlasIterator::new(bytes).map_while(Result::ok)
}

/// A number in network order; 0 for what is none.
fn number(value: &[u8]) -> u32 {
    value.first_chunk().map_or(0, |it| u32::from_be_bytes(*it))
}

fn short(value: &[u8]) -> u16 {
    value.first_chunk().map_or(0, |it| u16::from_be_bytes(*it))
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    let four = || Some(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).into());
    let six = || Some(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).into());
    four().or_else(six)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attribute, and what is inside of it.
    fn nla(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = u16::try_from(4 + value.len()).unwrap();
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn side(kind: u16, source: [u8; 4], destination: [u8; 4], ports: (u16, u16)) -> Vec<u8> {
        let ip = [nla(1, &source), nla(2, &destination)].concat();
        let ports = [
            nla(2, &ports.0.to_be_bytes()),
            nla(3, &ports.1.to_be_bytes()),
        ]
        .concat();
        let proto = [nla(1, &[17]), ports].concat();
        nla(kind, &[nla(0x8001, &ip), nla(0x8002, &proto)].concat())
    }

    #[test]
    fn an_entry_has_both_directions() {
        let original = side(0x8001, [10, 244, 0, 7], [10, 96, 0, 10], (5000, 53));
        let reply = side(0x8002, [10, 244, 0, 3], [10, 244, 0, 7], (53, 5000));
        let all = [
            original.clone(),
            reply,
            nla(3, &0x18e_u32.to_be_bytes()),
            nla(7, &29_u32.to_be_bytes()),
        ]
        .concat();
        let found = entry(&all).unwrap();
        assert_eq!(found.reply.source.to_string(), "10.244.0.3");
        assert_eq!(
            (found.original.source_port, found.original.destination_port),
            (5000, 53)
        );
        assert_eq!(
            (found.protocol, found.timeout, found.is_assured),
            (17, Some(29), true)
        );
        assert!(!found.is_unreplied);
        assert_eq!(entry(&original), None);
        // Any cut of it is no surprise.
        for end in 0..all.len() {
            let _ = entry(&all[..end]);
        }
    }

    #[test]
    fn counters_of_all_processors_are_added() {
        let one = [nla(9, &3_u32.to_be_bytes()), nla(11, &1_u32.to_be_bytes())].concat();
        let mut all = ConntrackCounters::default();
        add(&mut all, &one);
        add(&mut all, &one);
        assert_eq!((all.insert_failed, all.drop, all.early_drop), (6, 0, 2));
    }
}
