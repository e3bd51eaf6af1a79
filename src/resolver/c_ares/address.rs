//! How c-ares reads addresses: as networks, so that `10.1` is 10.1.0.0.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Address;
use crate::scenario::Family;

/// The longest text of an IPv6 address with a prefix length, its zero byte included.
const IPV6_BUFFER: usize = 46 + 5;

/// Whether an address may have a prefix length, as in `10.0.0.1/24`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Prefix {
    /// It may, as in 1.18.
    Allowed,
    /// It may not, as in 1.34.9.
    Refused,
}

/// Reads an IPv4 address into `target`; how many bits the text gives. What
/// the text does not give is left as it was, even where reading fails.
///
/// Source: c-ares `src/lib/inet_net_pton.c: ares_inet_net_pton_ipv4` (1.34,
/// and in Debian's patched 1.18).
pub(super) fn inet_net_pton_ipv4(
    text: &[u8],
    target: &mut [u8; 4],
    prefix: Prefix,
) -> Option<usize> {
    let (digits, length) = match split_slash(text) {
        Some(_) if prefix == Prefix::Refused => return None,
        Some((digits, length)) => (digits, Some(length)),
        None => (text, None),
    };
    let given = match digits {
        // A prefix length cannot follow a hexadecimal number's odd characters.
        [b'0', b'x' | b'X', first, ..] if first.is_ascii_hexdigit() => hexadecimal(digits, target)?,
        _ => dotted(digits, target)?,
    };
    let bits = match length {
        Some(length) => prefix_length(length, 32)?,
        None => class_bits(target[0], given),
    };
    for byte in target.get_mut(given..bits.div_ceil(8)).unwrap_or_default() {
        *byte = 0;
    }
    (bits <= 32).then_some(bits)
}

/// Decimal numbers between dots; how many.
fn dotted(text: &[u8], target: &mut [u8; 4]) -> Option<usize> {
    let mut given = 0;
    for part in text.split(|&byte| byte == b'.') {
        let mut value = 0_u16;
        for byte in part {
            let digit = byte.is_ascii_digit().then(|| u16::from(byte - b'0'))?;
            value = value * 10 + digit;
            if value > 255 {
                return None;
            }
        }
        if part.is_empty() {
            return None;
        }
        *target.get_mut(given)? = u8::try_from(value).ok()?;
        given += 1;
    }
    Some(given)
}

/// Pairs of hexadecimal digits after `0x`; how many, the last one padded.
fn hexadecimal(text: &[u8], target: &mut [u8; 4]) -> Option<usize> {
    let digits = text.get(2..)?;
    let value = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    for (index, pair) in digits.chunks(2).enumerate() {
        let high = value(*pair.first()?)?;
        let low = pair.get(1).map_or(Some(0), |&byte| value(byte))?;
        *target.get_mut(index)? = high << 4 | low;
    }
    Some(digits.len().div_ceil(2))
}

/// The width of an address without a prefix length: that of its class, but
/// all bytes that were given.
fn class_bits(first: u8, given: usize) -> usize {
    let class = match first {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    };
    match class.max(given * 8) {
        8 if first == 224 => 4,
        bits => bits,
    }
}

/// Decimal digits up to `most`.
fn prefix_length(text: &[u8], most: usize) -> Option<usize> {
    let mut bits = 0;
    for byte in text {
        bits = bits * 10 + usize::from(byte.is_ascii_digit().then(|| byte - b'0')?);
        if bits > most {
            return None;
        }
    }
    (!text.is_empty()).then_some(bits)
}

/// Reads an IPv6 address into `target`; with a prefix length only its bytes.
///
/// Source: c-ares `src/lib/inet_net_pton.c: ares_inet_net_pton_ipv6` (Debian's
/// 1.18), `ares_inet_pton` (1.34).
pub(super) fn inet_net_pton_ipv6(text: &[u8], target: &mut [u8; 16], prefix: Prefix) -> Option<()> {
    if prefix == Prefix::Refused {
        *target = ipv6(text, prefix)?;
        return Some(());
    }
    if text.len() >= IPV6_BUFFER {
        return None;
    }
    let (digits, bits) = match split_slash(text) {
        // No zero before other digits.
        Some((_, [b'0', _, ..])) => return None,
        Some((digits, length)) => (digits, prefix_length(length, 128)?),
        None => (text, 128),
    };
    let octets = ipv6(digits, prefix)?;
    for (byte, octet) in target.iter_mut().zip(octets).take(bits.div_ceil(8)) {
        *byte = octet;
    }
    Some(())
}

/// Source: c-ares `src/lib/inet_net_pton.c: ares_inet_pton6`. It takes what
/// Rust takes, but for an IPv4 address at the end, which it reads as above.
fn ipv6(text: &[u8], prefix: Prefix) -> Option<[u8; 16]> {
    let text = std::str::from_utf8(text).ok()?;
    let Some((head, tail)) = text.rsplit_once(':').filter(|(_, tail)| tail.contains('.')) else {
        return text.parse().ok().map(|ip: Ipv6Addr| ip.octets());
    };
    let mut last = [0; 4];
    inet_net_pton_ipv4(tail.as_bytes(), &mut last, prefix).filter(|&bits| bits > 0)?;
    let ip: Ipv6Addr = format!("{head}:{}", Ipv4Addr::from(last)).parse().ok()?;
    Some(ip.octets())
}

/// An address of either family; what its text leaves open is zero.
///
/// Source: c-ares 1.34 `src/lib/ares_hosts_file.c: ares_dns_pton`.
pub(super) fn dns_pton(text: &[u8]) -> Option<IpAddr> {
    let mut four = [0; 4];
    let mut six = [0; 16];
    if inet_net_pton_ipv4(text, &mut four, Prefix::Refused).is_some() {
        return Some(IpAddr::from(four));
    }
    inet_net_pton_ipv6(text, &mut six, Prefix::Refused).map(|()| IpAddr::from(six))
}

/// The IPv4 address that `name` is: only numbers and three dots. It is taken
/// even where only IPv6 is wanted.
///
/// Source: c-ares `src/lib/ares_getaddrinfo.c: fake_addrinfo`.
pub(super) fn literal_ipv4(name: &[u8]) -> Option<IpAddr> {
    let plain = name
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if !plain || super::name::dots(name) != 3 {
        return None;
    }
    let mut octets = [0; 4];
    inet_net_pton_ipv4(name, &mut octets, Prefix::Refused).map(|_| IpAddr::from(octets))
}

/// The IPv6 address that `name` is, if that is wanted.
pub(super) fn literal_ipv6(name: &[u8], family: Family, prefix: Prefix) -> Option<IpAddr> {
    let mut octets = [0; 16];
    (family != Family::Inet).then(|| inet_net_pton_ipv6(name, &mut octets, prefix))??;
    Some(IpAddr::from(octets))
}

/// Whether addresses like `ip` are wanted.
pub(super) fn is_of(family: Family, ip: IpAddr) -> bool {
    match family {
        Family::Both => true,
        Family::Inet => ip.is_ipv4(),
        Family::Inet6 => ip.is_ipv6(),
    }
}

/// Site-local servers (`fec0::/10`) are skipped (RFC 3879).
///
/// Source: c-ares `src/lib/ares_update_servers.c: ares_server_blacklisted`.
pub(super) fn is_blacklisted(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.segments()[0] & 0xffc0 == 0xfec0)
}

/// Whether answers of a server come from the address that was asked: c-ares
/// drops them otherwise. Those of the unspecified address come from the
/// loopback one.
pub(super) fn answers_match(address: &Address) -> bool {
    let ip = match address.ip {
        IpAddr::V6(ip) => ip.to_ipv4_mapped().map_or(address.ip, IpAddr::V4),
        ip @ IpAddr::V4(_) => ip,
    };
    !ip.is_unspecified()
}

/// Whether `connect` takes the address: a link-local one needs its scope (`EINVAL`).
pub(super) fn is_complete(address: &Address) -> bool {
    address.scope.is_some() || !matches!(address.ip, IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// What stands before the first slash, and what behind it.
fn split_slash(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (before, after) = text.split_at_checked(memchr::memchr(b'/', text)?)?;
    Some((before, after.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_networks() {
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|ip| ip.parse::<IpAddr>().unwrap());
            assert_eq!(dns_pton(text.as_bytes()), expected, "{text}");
        };
        check("10.96.0.10", Some("10.96.0.10"));
        check("10.1", Some("10.1.0.0"));
        check("010.1.2.3", Some("10.1.2.3"));
        check("0x0a600", Some("10.96.0.0"));
        check("192.0.2", Some("192.0.2.0"));
        check("::ffff:10.1", Some("::ffff:10.1.0.0"));
        for bad in [
            "",
            "10.",
            ".1",
            "1.2.3.4.5",
            "1.2.3.256",
            "10.0.0.1/24",
            "fd00::1/64",
            "fe80::1%eth0",
            "x",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn a_prefix_length_tells_how_many_bytes_are_read() {
        let mut octets = [1; 16];
        let mut read = |text: &str| {
            let found = inet_net_pton_ipv6(text.as_bytes(), &mut octets, Prefix::Allowed);
            found.map(|()| octets)
        };
        let expected = [0xfd, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(read("fd00::2/64"), Some(expected));
        for bad in ["fd00::/064", "fd00::/129", "fd00::/"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
