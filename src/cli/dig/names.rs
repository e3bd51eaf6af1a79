//! The addresses of a server that is given by name.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use super::place::Place;
use crate::address::Address;
use crate::config::hosts::entries;
use crate::dig::lookup::Globals;
use crate::order::Order as _;
use crate::resolver::bind::settings;
use crate::resolver::reading::Reading;
use crate::wire::names::{self as directory, Directory};

/// Addresses by name: of `/etc/hosts`, else of the servers of `resolv.conf`,
/// with its search list. A name without addresses is not in the map.
pub(super) fn addresses(
    names: &[&[u8]],
    reading: &Reading<'_>,
    place: &Place,
) -> BTreeMap<Vec<u8>, Vec<Address>> {
    let mut found = BTreeMap::new();
    for &name in names {
        let hosts = &place.scenario.hosts;
        let mut known: Vec<Address> = hosts
            .iter()
            .flat_map(entries)
            .filter(|entry| {
                let mut names = entry.names.iter();
                names.any(|word| word.bytes.eq_ignore_ascii_case(name))
            })
            .filter_map(|entry| std::str::from_utf8(entry.address.bytes).ok()?.parse().ok())
            .map(|ip: IpAddr| Address::from(ip))
            .collect();
        if known.is_empty() {
            known = asked(name, reading);
        }
        known.order_by_key(|address| address.ip != IpAddr::V6(Ipv6Addr::LOCALHOST));
        if !known.is_empty() {
            found.insert(name.to_vec(), known);
        }
    }
    found
}

/// The addresses that the servers of `resolv.conf` give.
fn asked(name: &[u8], reading: &Reading<'_>) -> Vec<Address> {
    let servers = settings(&Globals::default(), reading).servers;
    let search = reading.search.iter();
    let directory = Directory {
        servers: servers.iter().map(|it| it.address.ip).collect(),
        search: search
            .map(|it| String::from_utf8_lossy(&it.value).into_owned())
            .collect(),
        ndots: reading.ndots.unwrap_or_default().value,
        timeout: reading.timeout.value,
        attempts: reading.attempts.value,
    };
    let found = directory::addresses(&String::from_utf8_lossy(name), &directory);
    found.into_iter().map(Address::from).collect()
}
