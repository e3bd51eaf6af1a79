//! Lines, fields, numbers and addresses as Go reads them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Address;
use crate::config::resolv_conf::{Line, ResolvConf};
use crate::resolver::go::Version;

/// What separates fields. Source: Go `src/net/parse.go: getFields`.
pub(super) const FIELD_BLANKS: &[u8] = b" \r\t";
/// Longest line that Go reads; at a longer one it stops.
/// Source: Go `src/net/parse.go: open`, a buffer of 64 KiB.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024 - 1;
/// Where numbers stop growing. Source: Go `src/net/parse.go: big`.
const BIG: u32 = 0xff_ffff;

/// The lines that Go sees.
///
/// Source: Go `src/net/parse.go: file.readLine`.
pub(super) fn lines(file: &ResolvConf) -> impl Iterator<Item = Line<'_>> {
    file.lines()
        .take_while(|line| line.span().len() <= MAX_LINE_BYTES)
}

/// The number at the start of `text`, 0 if there is none, and how many bytes
/// were read.
///
/// Source: Go `src/net/parse.go: dtoi`.
pub(super) fn dtoi(text: &[u8]) -> (u32, usize) {
    let mut number = 0;
    for (at, byte) in text.iter().enumerate() {
        if !byte.is_ascii_digit() {
            return (number, at);
        }
        number = number * 10 + u32::from(byte - b'0');
        if number >= BIG {
            return (BIG, at);
        }
    }
    (number, text.len())
}

/// The address that `text` spells, with its zone.
///
/// Source: Go `src/net/netip/netip.go: ParseAddr`; before it,
/// `src/net/ip.go: parseIPZone`.
pub(super) fn parse_addr(text: &[u8], version: &Version) -> Option<Address> {
    let first = text.iter().find(|byte| matches!(byte, b'.' | b':'))?;
    if *first == b'.' {
        let text = std::str::from_utf8(text).ok()?;
        let ip: Ipv4Addr = if version.leading_zeros {
            without_leading_zeros(text).parse().ok()?
        } else {
            text.parse().ok()?
        };
        return Some(IpAddr::from(ip).into());
    }
    let (ip, zone) = split_host_zone(text, version)?;
    let scope = zone.map(|zone| String::from_utf8_lossy(zone).into());
    Some(Address::scoped(parse_ipv6(ip, version)?.into(), scope))
}

/// The numbers between dots with no more digits than they need.
fn without_leading_zeros(text: &str) -> String {
    let short = |number: &str| match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0".to_owned(),
        rest => rest.to_owned(),
    };
    let numbers: Vec<String> = text.split('.').map(short).collect();
    numbers.join(".")
}

/// The text before the zone, and the zone.
///
/// Source: Go `src/net/netip/netip.go: parseIPv6`, `src/net/ipsock.go: splitHostZone`.
fn split_host_zone<'t>(text: &'t [u8], version: &Version) -> Option<(&'t [u8], Option<&'t [u8]>)> {
    let percent = |byte: &u8| *byte == b'%';
    let at = if version.netip {
        text.iter().position(percent)
    } else {
        text.iter().rposition(percent)
    };
    let Some(at) = at else {
        return Some((text, None));
    };
    let (ip, zone) = (text.get(..at)?, text.get(at + 1..)?);
    (!version.netip || !zone.is_empty()).then_some((ip, Some(zone)))
}

/// Source: Go `src/net/netip/netip.go: parseIPv6`, `src/net/ip.go: parseIPv6`.
fn parse_ipv6(text: &[u8], version: &Version) -> Option<Ipv6Addr> {
    let text = std::str::from_utf8(text).ok()?;
    if !version.long_groups {
        return text.parse().ok();
    }
    let groups: Vec<&str> = text
        .split(':')
        .map(|group| match group.len().checked_sub(4) {
            Some(more) if group.bytes().take(more).all(|byte| byte == b'0') => {
                group.get(more..).unwrap_or(group)
            }
            _ => group,
        })
        .collect();
    groups.join(":").parse().ok()
}

/// An IPv4 address in an IPv6 one as itself: a `net.IP` does not tell them apart.
///
/// Source: Go `src/net/ip.go: IP.To4`.
pub(super) fn to4(address: Address) -> Address {
    Address::scoped(address.ip.to_canonical(), address.scope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::go::{V1_19, V1_27};

    #[test]
    fn numbers_end_at_the_first_other_byte() {
        let check = |text: &str, expected| assert_eq!(dtoi(text.as_bytes()), expected, "{text}");
        check("", (0, 0));
        check("5", (5, 1));
        check("5x", (5, 1));
        check("-1", (0, 0));
        check("99999999", (16_777_215, 7));
    }

    #[test]
    fn addresses_are_strict() {
        let check = |text: &str, old: Option<&str>, new: Option<&str>| {
            for (version, expected) in [(&V1_19, old), (&V1_27, new)] {
                let found = parse_addr(text.as_bytes(), version).map(|address| address.to_string());
                assert_eq!(found.as_deref(), expected, "{text} {version:?}");
            }
        };
        check("10.0.0.1", Some("10.0.0.1"), Some("10.0.0.1"));
        check("fe80::1%eth0", Some("fe80::1%eth0"), Some("fe80::1%eth0"));
        check("fe80::1%", Some("fe80::1%"), None);
        check("fe80::1%a%b", None, Some("fe80::1%a%b"));
        check("::00001", Some("::1"), None);
        check(
            "::ffff:1.2.3.4",
            Some("::ffff:1.2.3.4"),
            Some("::ffff:1.2.3.4"),
        );
        for bad in [
            "",
            "10.0.0",
            "10.0.0.01",
            "10.0.0.1%eth0",
            "10.0.0.1:53",
            "[::1]",
            "::1 ",
            "1:2:3:4:5:6:7:8::",
            "db",
            "%eth0",
            "%:",
        ] {
            check(bad, None, None);
        }
    }
}
