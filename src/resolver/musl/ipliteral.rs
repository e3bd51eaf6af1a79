//! Addresses as musl reads them.

use std::net::{IpAddr, Ipv6Addr};

use crate::address::{Address, inet_aton};
use crate::scenario::{Family, Scenario};

/// What a text is as an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Literal {
    /// An address of a family that is wanted.
    Address(Address),
    /// An address of the other family.
    WrongFamily,
    /// An address with a scope that does not exist.
    BadScope,
    /// No address.
    NotOne,
}

/// Reads `text` as an address: any form of `inet_aton`, or IPv6 with a scope.
///
/// Source: musl `src/network/lookup_ipliteral.c: __lookup_ipliteral`.
pub(super) fn lookup_ipliteral(text: &[u8], family: Family, scenario: &Scenario) -> Literal {
    if let Some(ip) = inet_aton(text) {
        return match family {
            Family::Inet6 => Literal::WrongFamily,
            _ => Literal::Address(IpAddr::V4(ip).into()),
        };
    }
    let percent = text.iter().position(|&byte| byte == b'%');
    // A longer text before the `%` is not cut, and so is no address.
    let percent = percent.filter(|&at| at < 64);
    let (digits, scope) = match percent.and_then(|at| text.split_at_checked(at)) {
        Some((digits, scope)) => (digits, scope.get(1..)),
        None => (text, None),
    };
    let Some(ip) = ipv6(digits) else {
        return Literal::NotOne;
    };
    if family == Family::Inet {
        return Literal::WrongFamily;
    }
    match scope {
        Some(scope) if !scope_exists(ip, scope, scenario) => Literal::BadScope,
        scope => Literal::Address(Address::scoped(
            IpAddr::V6(ip),
            // The scope 0 is none.
            scope
                .filter(|it| it.iter().any(|byte| *byte != b'0'))
                .map(|it| String::from_utf8_lossy(it).into()),
        )),
    }
}

/// Source: musl `src/network/inet_pton.c`: the forms of RFC 4291, no more.
fn ipv6(digits: &[u8]) -> Option<Ipv6Addr> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn scope_exists(ip: Ipv6Addr, scope: &[u8], scenario: &Scenario) -> bool {
    let digits = scope
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits > 0 && digits == scope.len() {
        let number: Option<u64> = std::str::from_utf8(scope)
            .ok()
            .and_then(|it| it.parse().ok());
        return number.is_some_and(|number| u32::try_from(number).is_ok());
    }
    let link_local = ip.is_unicast_link_local() || ip.segments()[0] & 0xff0f == 0xff02;
    link_local && scenario.has_interface(&String::from_utf8_lossy(scope))
}
