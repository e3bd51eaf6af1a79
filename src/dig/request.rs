//! The message of a query, byte by byte: options may make it one that no
//! library would write.

use crate::dig::lookup::{Edns, Lookup, Subnet};
use crate::dig::message::flag;
use crate::name::Name;

/// The UDP payload size of queries that do not say one.
/// Source: BIND bin/dig/dighost.h: `DEFAULT_EDNS_BUFSIZE` (9.18)
pub(crate) const DEFAULT_SIZE: u16 = 1232;
/// A larger query goes over TCP.
/// Source: BIND bin/dig/dighost.c: `setup_lookup` (9.18)
pub const MAX_UDP_QUERY: usize = 512;

const IXFR: u16 = 251;
const AXFR: u16 = 252;
const OPT: u16 = 41;

/// What a query is made of besides the options of its lookup.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'p> {
    /// The whole name.
    pub name: &'p Name,
    /// The id, unless the command line chose one.
    pub id: u16,
    /// The cookie to send; empty: none is sent even where one is wanted.
    pub cookie: &'p [u8],
}

/// The message, without the length that TCP puts before it.
///
/// Source: BIND bin/dig/dighost.c: `setup_lookup` (9.18)
pub fn message(lookup: &Lookup, parts: &Parts<'_>) -> Vec<u8> {
    let mut wire = Vec::with_capacity(MAX_UDP_QUERY);
    put(&mut wire, lookup.qid.unwrap_or(parts.id));
    put(&mut wire, header_flags(lookup));
    put(&mut wire, u16::from(!lookup.header_only));
    put(&mut wire, 0);
    put(&mut wire, u16::from(lookup.rdtype == IXFR));
    let has_opt = wants_opt(&lookup.edns);
    put(&mut wire, u16::from(has_opt));
    if !lookup.header_only {
        put_name(&mut wire, parts.name);
        put(&mut wire, lookup.rdtype);
        put(&mut wire, lookup.rdclass);
    }
    if lookup.rdtype == IXFR {
        put_soa(&mut wire, lookup, parts.name);
    }
    if has_opt {
        put_opt(&mut wire, &lookup.edns, parts.cookie);
    }
    wire
}

/// Whether a query has an OPT record.
pub fn wants_opt(edns: &Edns) -> bool {
    edns.version.is_some() || edns.size.is_some() || edns.dnssec || edns.subnet.is_some()
}

fn header_flags(lookup: &Lookup) -> u16 {
    let flags = lookup.flags;
    let transfer = matches!(lookup.rdtype, IXFR | AXFR);
    let bit = |set: bool, bit: u16| if set { bit } else { 0 };
    u16::from(lookup.opcode & 15) << 11
        | bit(flags.authoritative, flag::AA)
        | bit(flags.truncated, flag::TC)
        | bit(flags.recurse && !transfer, flag::RD)
        | bit(flags.available, flag::RA)
        | bit(flags.zero, flag::Z)
        | bit(flags.authentic, flag::AD)
        | bit(flags.checking_disabled, flag::CD)
}

/// The SOA record that tells which version of the zone is there already.
///
/// Source: BIND bin/dig/dighost.c: `insert_soa` (9.18)
fn put_soa(wire: &mut Vec<u8>, lookup: &Lookup, name: &Name) {
    if lookup.header_only {
        put_name(wire, name);
    } else {
        put(wire, 0xc00c);
    }
    put(wire, 6);
    put(wire, lookup.rdclass);
    wire.extend([0; 4]);
    put(wire, 22);
    wire.extend([0, 0]);
    wire.extend(lookup.ixfr_serial.to_be_bytes());
    wire.extend([0; 16]);
}

fn put_opt(wire: &mut Vec<u8>, edns: &Edns, cookie: &[u8]) {
    let bit = |set: bool, bit: u16| if set { bit } else { 0 };
    let flags = edns.flags & 0x3fff | bit(edns.dnssec, 0x8000) | bit(edns.compact, 0x4000);
    wire.push(0);
    put(wire, OPT);
    put(wire, edns.size.unwrap_or(DEFAULT_SIZE));
    wire.extend([0, edns.version.unwrap_or(0)]);
    put(wire, flags);
    let mut options = Vec::new();
    let mut option = |code: u16, data: &[u8]| {
        put(&mut options, code);
        put(&mut options, length(data.len()));
        options.extend(data);
    };
    if edns.nsid {
        option(3, &[]);
    }
    if let Some(subnet) = &edns.subnet {
        option(8, &subnet_data(*subnet));
    }
    if edns.send_cookie && !cookie.is_empty() {
        option(10, cookie);
    }
    if edns.expire {
        option(9, &[]);
    }
    if edns.keepalive {
        option(11, &[]);
    }
    for (code, data) in &edns.options {
        option(*code, data);
    }
    if edns.padding != 0 {
        let block = usize::from(edns.padding);
        // Its own four bytes, and the two of the length of all options.
        let used = wire.len() + 2 + options.len() + 4;
        let missing = used.div_ceil(block) * block - used;
        put(&mut options, 12);
        put(&mut options, length(missing));
        options.resize(options.len() + missing, 0);
    }
    put(wire, length(options.len()));
    wire.extend(options);
}

/// Family, both lengths, and as many bytes as the prefix touches.
fn subnet_data(subnet: Subnet) -> Vec<u8> {
    let (family, bytes) = match subnet.address {
        None => (1, Vec::new()),
        Some(std::net::IpAddr::V4(ip)) => (1, ip.octets().to_vec()),
        Some(std::net::IpAddr::V6(ip)) => (2, ip.octets().to_vec()),
    };
    let mut data = vec![0, family, subnet.prefix, 0];
    let count = usize::from(subnet.prefix).div_ceil(8);
    let kept = bytes.get(..count).unwrap_or(&bytes);
    data.extend(kept);
    if !subnet.prefix.is_multiple_of(8)
        && let Some(last) = data.last_mut()
    {
        *last &= 0xff << (8 - subnet.prefix % 8);
    }
    data
}

fn put(wire: &mut Vec<u8>, value: u16) {
    wire.extend(value.to_be_bytes());
}

fn put_name(wire: &mut Vec<u8>, name: &Name) {
    wire.extend(name.as_wire());
    wire.push(0);
}

fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(lookup: &Lookup) -> String {
        let name = Name::from_plain(b"a").unwrap();
        let parts = Parts {
            name: &name,
            id: 0x1234,
            cookie: &[1, 2, 3, 4, 5, 6, 7, 8],
        };
        let wire = message(lookup, &parts);
        let digits: Vec<String> = wire.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    }

    #[test]
    fn a_plain_query_has_a_cookie() {
        let expected = concat!(
            "123401200001000000000001",
            "0161000001",
            "0001",
            "0000",
            "2904d0000000",
            "00000c000a00080102030405060708"
        );
        assert_eq!(hex(&Lookup::default()), expected);
    }

    #[test]
    fn without_edns_it_is_short() {
        let mut lookup = Lookup::default();
        lookup.edns.version = None;
        lookup.qid = Some(1);
        assert_eq!(
            hex(&lookup),
            "0001012000010000000000000161000001".to_owned() + "0001"
        );
        lookup.header_only = true;
        assert_eq!(hex(&lookup), "000101200000000000000000");
    }

    #[test]
    fn padding_fills_the_block() {
        let mut lookup = Lookup::default();
        lookup.edns.padding = 128;
        assert_eq!(hex(&lookup).len(), 256);
    }

    #[test]
    fn a_subnet_is_cut_to_its_prefix() {
        let subnet = Subnet {
            address: Some("10.1.255.3".parse().unwrap()),
            prefix: 20,
        };
        assert_eq!(subnet_data(subnet), [0, 1, 20, 0, 10, 1, 0xf0]);
    }
}
