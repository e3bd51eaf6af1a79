//! `/etc/hosts`, and names that are addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Address;
use crate::resolver::ruby::Error;
use crate::resolver::ruby::read::SPACES;
use crate::scenario::Scenario;

/// The addresses of the scenario's name without DNS, the last line first.
///
/// Source: resolv.rb `Resolv#each_address, Resolv::Hosts` (0.2.1)
pub(super) fn each_address(scenario: &Scenario) -> Result<Vec<Address>, Error> {
    let name = scenario.name.as_str();
    if is_address(name) {
        return Ok(vec![text(name)]);
    }
    let file = scenario.hosts.as_ref().ok_or("Errno::ENOENT")?;
    let mut found = Vec::new();
    for line in file.lines() {
        let bytes = line.bytes();
        let bytes = bytes.split(|&byte| byte == b'#').next().unwrap_or_default();
        // A line that begins with a blank has an empty word there.
        let mut words = bytes.split(|byte| SPACES.contains(byte));
        let address = words.next().unwrap_or_default();
        let names = words.filter(|word| !word.is_empty());
        let own = names.filter(|word| *word == name.as_bytes());
        found.extend(own.map(|_| text(&String::from_utf8_lossy(address))));
    }
    found.reverse();
    Ok(found)
}

/// An address as it is written: nothing looks whether it is one.
fn text(word: &str) -> Address {
    let ip = word.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let written = Some(word.into());
    Address {
        written,
        ..ip.into()
    }
}

/// Source: resolv.rb `Resolv::AddressRegex` (0.2.1)
fn is_address(name: &str) -> bool {
    if name.parse::<Ipv4Addr>().is_ok() || name.parse::<Ipv6Addr>().is_ok() {
        return true;
    }
    let Some((ip, scope)) = name.split_once('%') else {
        return false;
    };
    let is_scope = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_local = ip
        .get(..5)
        .is_some_and(|it| it.eq_ignore_ascii_case("fe80:"));
    let has_scope = !scope.is_empty() && scope.bytes().all(is_scope);
    is_local && has_scope && ip.parse::<Ipv6Addr>().is_ok()
}
