//! `/etc/hosts`, and names that are addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::config::hosts::entries;
use crate::scenario::Scenario;

/// The addresses of `name` in the hosts file, IPv4 before IPv6.
///
/// Source: Netty `HostsFileParser.java: parse`,
/// `DefaultHostsFileEntriesResolver.java: address` (4.1.48)
pub(super) fn addresses(scenario: &Scenario, name: &str, types: &[RecordType]) -> Vec<Address> {
    let mut found = Vec::new();
    for entry in scenario.hosts.iter().flat_map(entries) {
        let has_name = |it: &[u8]| it.eq_ignore_ascii_case(name.as_bytes());
        if !entry.names.iter().any(|word| has_name(word.bytes)) {
            continue;
        }
        found.extend(ip_address(entry.address.bytes));
    }
    let record_type = |ip: &IpAddr| match ip {
        IpAddr::V4(_) => RecordType::A,
        IpAddr::V6(_) => RecordType::AAAA,
    };
    found.retain(|it| types.contains(&record_type(it)));
    found.sort_by_key(IpAddr::is_ipv6);
    found.into_iter().map(in_java_text).collect()
}

/// In the text of Java's `getHostAddress`, which shortens no IPv6 address.
pub(super) fn in_java_text(ip: IpAddr) -> Address {
    let written = match ip {
        IpAddr::V4(_) => None,
        IpAddr::V6(ip) => {
            let groups = ip.segments().map(|it| format!("{it:x}"));
            Some(groups.join(":").into())
        }
    };
    Address {
        written,
        ..ip.into()
    }
}

/// The address that an empty name means.
pub(super) fn loopback(types: &[RecordType]) -> Address {
    let ip = if types.contains(&RecordType::A) {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        IpAddr::V6(Ipv6Addr::LOCALHOST)
    };
    in_java_text(ip)
}

/// The address that a name is; with `keeps_scopes` one that has a scope only if that is a number.
///
/// Source: Netty `NetUtil.java: createInetAddressFromIpAddressString` (4.1.101)
pub(super) fn literal(name: &str, keeps_scopes: bool) -> Option<Address> {
    let address = in_java_text(ip_address(name.as_bytes())?);
    match ipv6(name) {
        Some((_, Some(scope))) if keeps_scopes => {
            let scope = scope.parse::<i32>().ok()?;
            // Java shows no scope below 1.
            let shown = if scope > 0 {
                format!("%{scope}")
            } else {
                String::new()
            };
            let written = address.written.map(|it| format!("{it}{shown}").into());
            Some(Address { written, ..address })
        }
        _ => Some(address),
    }
}

/// The address that a text is: IPv6 also in brackets; a scope is passed over.
///
/// Source: Netty `NetUtil.java: createByteArrayFromIpAddressString` (4.1.48)
pub(super) fn ip_address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(ip) = ipv4(text) {
        return Some(ip.into());
    }
    let ip = ipv6(text)?.0;
    Some(ip.to_ipv4_mapped().map_or(ip.into(), IpAddr::V4))
}

/// Four decimal numbers of up to three digits.
///
/// Source: `NetUtil.java: isValidIpV4Word` (4.1.48)
pub(super) fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let mut bytes = [0; 4];
    let mut words = text.split('.');
    for byte in &mut bytes {
        let word = words.next()?;
        let is_number = (1..=3).contains(&word.len()) && word.bytes().all(|it| it.is_ascii_digit());
        *byte = if is_number {
            word.parse().ok()?
        } else {
            return None;
        };
    }
    words.next().is_none().then(|| bytes.into())
}

/// An IPv6 address and the scope behind it.
///
/// Source: `NetUtil.java: isValidIpV6Address` (4.1.48)
pub(super) fn ipv6(text: &str) -> Option<(Ipv6Addr, Option<&str>)> {
    let bare = text.strip_prefix('[').map(|it| it.strip_suffix(']'));
    let text = bare.unwrap_or(Some(text))?;
    let (ip, scope) = match text.split_once('%') {
        Some((ip, scope)) => (ip, Some(scope)),
        None => (text, None),
    };
    Some((ip.parse().ok()?, scope))
}
