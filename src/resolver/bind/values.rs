//! The values of `resolv.conf`: numbers and addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{Address, inet_aton, split_scope};
use crate::scenario::Scenario;

/// A number as C's `strtol` reads it, the whole text; nothing is 0.
///
/// Source: lib/irs/resconf.c: `resconf_optionnumber` (9.18)
pub(super) fn option_number(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).unwrap_or("?");
    match text {
        "" => Some(0),
        // As for C, `-0` is a number.
        _ if text.trim_start_matches(['+', '-']).len() + 1 < text.len() => None,
        _ => text.parse::<i64>().ok().and_then(|n| u8::try_from(n).ok()),
    }
    .map(u32::from)
}

/// An address as `getaddrinfo` with `AI_NUMERICHOST` reads it, and with the zones that the tools' own
/// functions take, up to 9.16.
///
/// Source: lib/irs/resconf.c: `add_server` (9.18), glibc
/// nss/getaddrinfo.c: `gaih_inet`, `inet/inet6_scopeid_pton.c` (2.36)
pub(super) fn numeric_address(
    text: &[u8],
    scenario: &Scenario,
    has_own_zones: bool,
) -> Option<Address> {
    if let Some(ip) = inet_aton(text) {
        let ip = if ip.is_unspecified() {
            Ipv4Addr::LOCALHOST
        } else {
            ip
        };
        return Some(IpAddr::from(ip).into());
    }
    // No name at all: the loopback address.
    if text == b"*" {
        return Some(IpAddr::from(Ipv6Addr::LOCALHOST).into());
    }
    let text = std::str::from_utf8(text).ok()?;
    let (ip, scope) = split_scope(text);
    let ip: Ipv6Addr = ip.parse().ok()?;
    let link_local =
        ip.is_unicast_link_local() || matches!(ip.octets(), [0xff, flags, ..] if flags & 0xf == 2);
    let is_number = |scope: &str| !scope.starts_with('+') && scope.parse::<u32>().is_ok();
    let is_known = |scope: &str| {
        let is_named = (link_local || has_own_zones) && scenario.has_interface(scope);
        is_named || is_number(scope) || has_own_zones && is_strtoul(scope)
    };
    let scoped = || Address::scoped(ip.into(), scope.map(Into::into));
    scope.is_none_or(is_known).then(scoped)
}

/// Whether C's `strtoul` reads the whole text. A sign is one of a number for it, and no number is too large.
///
/// Source: lib/lwres/lwconfig.c: `lwres_create_addr` (9.11); observed of 9.16
fn is_strtoul(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Source: lib/irs/resconf.c: `create_addr` (9.18)
pub(super) fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}
