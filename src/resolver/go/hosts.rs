//! The hosts file as Go reads it.

use crate::address::Address;
use crate::config::hosts::may_have;
use crate::config::resolv_conf::is_one_of;
use crate::resolver::go::Version;
use crate::resolver::go::name::same_abs_domain_name;
use crate::resolver::go::parse::{FIELD_BLANKS, lines, parse_addr, to4};
use crate::scenario::Scenario;

/// The addresses of `host` in the scenario's hosts file, in file order.
///
/// Source: Go `src/net/hosts.go: lookupStaticHost, readHosts`.
pub(super) fn lookup_static_host(
    scenario: &Scenario,
    host: &[u8],
    version: &Version,
) -> Vec<Address> {
    let file = scenario.hosts.as_ref();
    let Some(file) = file.filter(|it| may_have(it, host)) else {
        return Vec::new();
    };
    let mut addresses = Vec::new();
    for line in lines(file) {
        let text = line.bytes();
        let comment = text.iter().position(|&byte| byte == b'#');
        let mut fields = text
            .get(..comment.unwrap_or(text.len()))
            .unwrap_or_default()
            .split(is_one_of(FIELD_BLANKS))
            .filter(|field| !field.is_empty());
        let Some(address) = fields.next() else {
            continue;
        };
        // A name twice on a line gives its address twice.
        for _ in fields.filter(|field| same_abs_domain_name(field, host)) {
            addresses.extend(parse_literal_ip(address, version));
        }
    }
    addresses
}

/// Source: Go `src/net/hosts.go: parseLiteralIP`.
fn parse_literal_ip(text: &[u8], version: &Version) -> Option<Address> {
    let address = parse_addr(text, version)?;
    if version.netip {
        return Some(address);
    }
    let mut address = to4(address);
    address.scope.take_if(|zone| zone.is_empty());
    Some(address)
}
