//! The prefixes of DNS64.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use crate::dig::message::Message;

const AAAA: u16 = 28;

/// How many bytes stand before an embedded IPv4 address (RFC 6052, section 2.2).
const PREFIX_BYTES: [usize; 6] = [4, 5, 6, 7, 8, 12];
/// dig gives up where there are more.
const MOST: usize = 10;

/// The prefixes that the addresses of `ipv4only.arpa` stand behind (RFC 7050):
/// those that have both 192.0.0.170 and 192.0.0.171.
///
/// Source: BIND bin/dig/dig.c: `dns64prefix_answer`, lib/dns/dns64.c:
/// `dns_dns64_findprefix` (9.18)
pub(super) fn write(message: &Message, out: &mut String) {
    let mut addresses: Vec<[u8; 16]> = Vec::new();
    for record in &message.answers {
        let labels = record.owner.labels().map(<[u8]>::to_ascii_lowercase);
        if record.rdtype == AAAA
            && labels.eq([b"ipv4only".to_vec(), b"arpa".to_vec()])
            && let Some(octets) = record.data.first_chunk::<16>()
            && !addresses.contains(octets)
        {
            addresses.push(*octets);
        }
    }
    let mut found = Vec::new();
    for first in &addresses {
        for bytes in PREFIX_BYTES {
            let has =
                |octets: &[u8; 16], last: u8| embedded(octets, bytes) == Some([192, 0, 0, last]);
            let same = |other: &&[u8; 16]| other.get(..bytes) == first.get(..bytes);
            let mut others = addresses.iter().filter(same);
            if has(first, 170) && others.any(|other| has(other, 171)) {
                found.push((prefix(first, bytes), bytes * 8));
                break;
            }
        }
    }
    if found.len() > MOST {
        return;
    }
    for (prefix, bits) in found {
        let _ = writeln!(out, "{prefix}/{bits}");
    }
}

/// The IPv4 address behind so many bytes; byte 8 is none of it and must be 0.
fn embedded(octets: &[u8; 16], bytes: usize) -> Option<[u8; 4]> {
    if octets.get(8) != Some(&0) {
        return None;
    }
    let behind = octets.iter().enumerate().skip(bytes);
    let four: Vec<u8> = behind
        .filter(|(at, _)| *at != 8)
        .map(|(_, &byte)| byte)
        .take(4)
        .collect();
    four.first_chunk::<4>().copied()
}

fn prefix(octets: &[u8; 16], bytes: usize) -> Ipv6Addr {
    let mut prefix = *octets;
    for byte in prefix.iter_mut().skip(bytes) {
        *byte = 0;
    }
    Ipv6Addr::from(prefix)
}
