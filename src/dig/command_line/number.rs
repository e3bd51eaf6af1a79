//! Numbers and addresses of the command line, as C reads them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use data_encoding::HEXLOWER_PERMISSIVE;

use crate::dig::lookup::Subnet;
use crate::name;

/// Why a number is refused, in BIND's words.
pub(super) const BAD_NUMBER: &str = "not a valid number";
/// Why a number is refused, in BIND's words.
pub(super) const OUT_OF_RANGE: &str = "out of range";

/// A number in decimal digits up to `max`.
///
/// Source: BIND lib/isc/parseint.c: `isc_parse_uint32`,
/// bin/dig/dighost.c: `parse_uint` (9.18)
pub(super) fn uint(text: &[u8], max: u32) -> Result<u32, &'static str> {
    number(text, 10, max)
}

/// The same, also in hexadecimal (`0x10`) and octal (`010`) digits.
///
/// Source: BIND bin/dig/dighost.c: `parse_xint` (9.18)
pub(super) fn xint(text: &[u8], max: u32) -> Result<u32, &'static str> {
    match text {
        [b'0', b'x' | b'X', digits @ ..] if !digits.is_empty() => number(digits, 16, max),
        [b'0', digits @ ..] if !digits.is_empty() => number(digits, 8, max),
        digits => number(digits, 10, max),
    }
}

fn number(digits: &[u8], radix: u32, max: u32) -> Result<u32, &'static str> {
    let is_digit = |&byte: &u8| char::from(byte).is_digit(radix);
    if digits.is_empty() || !digits.iter().all(is_digit) {
        return Err(BAD_NUMBER);
    }
    let text = std::str::from_utf8(digits).map_err(|_| BAD_NUMBER)?;
    let value = u32::from_str_radix(text, radix).map_err(|_| OUT_OF_RANGE)?;
    if value > max {
        return Err(OUT_OF_RANGE);
    }
    Ok(value)
}

/// `ADDRESS`, `ADDRESS/BITS`, `0`, and an IPv4 address that lacks its end,
/// `10.1/16`; too many bits are cut.
///
/// # Errors
///
/// What dig says before it ends.
///
/// Source: BIND bin/dig/dighost.c: `parse_netprefix` (9.18)
pub(super) fn netprefix(value: &[u8]) -> Result<Subnet, String> {
    let shown = String::from_utf8_lossy(value);
    if value == b"0" {
        return Ok(Subnet {
            address: None,
            prefix: 0,
        });
    }
    let (address, bits) = match shown.split_once('/') {
        Some((address, bits)) => {
            let bits = uint(bits.as_bytes(), u32::MAX)
                .map_err(|why| format!("invalid prefix length in '{shown}': {why}"))?;
            (address, Some(bits))
        }
        None => (&*shown, None),
    };
    let cut = |max: u8| bits.map_or(max, |bits| u8::try_from(bits).unwrap_or(max).min(max));
    if let Ok(address) = address.parse::<Ipv6Addr>() {
        return Ok(Subnet {
            address: Some(IpAddr::V6(address)),
            prefix: cut(128),
        });
    }
    let mut whole = address.to_owned();
    for _ in 0..4 {
        if let Ok(address) = whole.parse::<Ipv4Addr>() {
            return Ok(Subnet {
                address: Some(IpAddr::V4(address)),
                prefix: cut(32),
            });
        }
        if bits.is_none() {
            break;
        }
        whole.push_str(".0");
    }
    Err(format!("invalid address '{shown}'"))
}

/// The name of an address below `ip6.arpa` or `in-addr.arpa`; what is no
/// IPv6 address has its parts turned round, whatever they are.
///
/// Source: BIND bin/dig/dighost.c: `get_reverse` (9.18)
pub(super) fn reverse_name(value: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return name::reverse_name(address.into()).into_bytes();
    }
    let parts: Vec<&[u8]> = value.rsplit(|&byte| byte == b'.').collect();
    let mut name = parts.join(&b'.');
    name.extend(b".in-addr.arpa.");
    name
}

/// Bytes from hexadecimal digits.
///
/// # Errors
///
/// What BIND says.
pub(super) fn hex(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let is_digit = |byte: &&u8| !byte.is_ascii_whitespace();
    let digits: Vec<u8> = text.iter().filter(is_digit).copied().collect();
    let bytes = HEXLOWER_PERMISSIVE.decode(&digits);
    bytes.map_err(|_| "bad hex encoding")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(uint(b"5", 10), Ok(5));
        assert_eq!(uint(b"11", 10), Err(OUT_OF_RANGE));
        assert_eq!(uint(b"99999999999", u32::MAX), Err(OUT_OF_RANGE));
        assert_eq!(uint(b"", 10), Err(BAD_NUMBER));
        assert_eq!(uint(b"-1", 10), Err(BAD_NUMBER));
        assert_eq!(uint(b"1s", 10), Err(BAD_NUMBER));
        assert_eq!(xint(b"0x80", 255), Ok(128));
        assert_eq!(xint(b"010", 255), Ok(8));
        assert_eq!(xint(b"0", 255), Ok(0));
    }

    #[test]
    fn reverse_names_of_anything() {
        for (value, name) in [
            ("10.0.0.1", "1.0.0.10.in-addr.arpa."),
            ("10.1", "1.10.in-addr.arpa."),
            ("a.b", "b.a.in-addr.arpa."),
            (
                "2001:db8::1",
                "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
            ),
        ] {
            assert_eq!(reverse_name(value.as_bytes()), name.as_bytes(), "{value}");
        }
    }

    #[test]
    fn subnets() {
        let check = |text: &str, address: Option<&str>, prefix: u8| {
            let address = address.map(|address| address.parse().unwrap());
            assert_eq!(netprefix(text.as_bytes()), Ok(Subnet { address, prefix }));
        };
        check("0", None, 0);
        check("10.1.2.3", Some("10.1.2.3"), 32);
        check("10.1/16", Some("10.1.0.0"), 16);
        check("10/99", Some("10.0.0.0"), 32);
        check("2001:db8::/56", Some("2001:db8::"), 56);
        assert!(netprefix(b"10.1").is_err());
        assert!(netprefix(b"x/8").is_err());
        assert!(netprefix(b"10.0.0.0/x").is_err());
    }
}
