//! What is before the IP header of a frame.

use crate::packet::{Frame, LinkType};

/// Ethertypes. Source: IEEE 802 numbers, as IANA lists them.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// VLAN and `QinQ`, and what some made of it before there was a number.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// More tags on one frame are somebody's idea of a joke.
const MAX_TAGS: usize = 8;
/// Smaller ones are lengths of IEEE 802.3.
const LEAST_TYPE: u16 = 0x0600;

/// Source: `linux/if_packet.h`.
const PACKET_OUTGOING: u16 = 4;

/// Where in a capture a frame was seen.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Place {
    /// The interface, as well as it is known.
    pub(super) interface: u32,
    /// Whether the frame was leaving.
    pub(super) outgoing: Option<bool>,
    /// Tunnels around the packet.
    pub(super) depth: u8,
    /// Whether several interfaces can look alike here, as with `-i any` and the
    /// header that has no number of an interface.
    pub(super) is_vague: bool,
}

/// What is behind the header of the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Behind<'a> {
    /// An IP packet.
    Ip(&'a [u8]),
    /// Something else.
    NotIp,
    /// A link that is not known.
    Unknown,
    /// Less than the header of the link.
    Short,
}

/// Takes the header of the link off.
pub(super) fn strip<'a>(frame: &Frame<'a>) -> (Behind<'a>, Place) {
    let mut place = Place {
        interface: frame.interface,
        outgoing: frame.outgoing,
        ..Place::default()
    };
    let bytes = frame.bytes;
    let behind = match frame.link {
        LinkType::Ethernet => ethernet(bytes),
        LinkType::Raw => ip(bytes),
        LinkType::Loopback => bytes.get(4..).map_or(Behind::Short, ip),
        LinkType::CookedV1 => {
            place.is_vague = true;
            let kind = half(bytes, 0);
            place.outgoing = kind.map(|it| it == PACKET_OUTGOING);
            typed(half(bytes, 14), bytes, 16)
        }
        LinkType::CookedV2 => {
            if let Some(&[a, b, c, d]) = bytes.get(4..8) {
                place.interface = u32::from_be_bytes([a, b, c, d]);
            }
            let kind = bytes.get(10).copied().map(u16::from);
            place.outgoing = kind.map(|it| it == PACKET_OUTGOING);
            typed(half(bytes, 0), bytes, 20)
        }
        LinkType::Other(_) => Behind::Unknown,
    };
    (behind, place)
}

/// What is behind the header of an Ethernet frame.
pub(super) fn ethernet(bytes: &[u8]) -> Behind<'_> {
    typed(half(bytes, 12), bytes, 14)
}

/// What a frame has at `at`, where its type is this one.
pub(super) fn typed(ethertype: Option<u16>, bytes: &[u8], mut at: usize) -> Behind<'_> {
    let Some(mut ethertype) = ethertype else {
        return Behind::Short;
    };
    for _ in 0..MAX_TAGS {
        if !TAGS.contains(&ethertype) {
            break;
        }
        let Some(next) = half(bytes, at + 2) else {
            return Behind::Short;
        };
        (ethertype, at) = (next, at + 4);
    }
    // LLC and SNAP, which name the type again.
    let is_snap = ethertype < LEAST_TYPE && bytes.get(at..at + 6) == Some(b"\xaa\xaa\x03\0\0\0");
    if is_snap && let Some(next) = half(bytes, at + 6) {
        (ethertype, at) = (next, at + 8);
    }
    if ethertype != IPV4 && ethertype != IPV6 {
        return Behind::NotIp;
    }
    bytes.get(at..).map_or(Behind::Short, Behind::Ip)
}

/// Bytes that begin with an IP header, or with nothing that is known.
fn ip(bytes: &[u8]) -> Behind<'_> {
    match bytes.first().map(|it| it >> 4) {
        Some(4 | 6) => Behind::Ip(bytes),
        Some(_) => Behind::NotIp,
        None => Behind::Short,
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|it| u16::from_be_bytes(*it))
}
