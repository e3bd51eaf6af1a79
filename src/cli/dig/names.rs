//! The addresses of a server that is given by name.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::place::Place;
use super::run::{Wire, settings};
use crate::address::Address;
use crate::config::hosts::entries;
use crate::dig::lookup::{Globals, Lookup};
use crate::dig::machine::{Machine, Printed, Step};
use crate::resolver::reading::Reading;
use crate::wire::{client_cookie, query_id};

const A: u16 = 1;
const AAAA: u16 = 28;

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
        known.sort_by_key(|address| address.ip != IpAddr::V6(Ipv6Addr::LOCALHOST));
        if !known.is_empty() {
            found.insert(name.to_vec(), known);
        }
    }
    found
}

/// The addresses that the servers of `resolv.conf` give.
fn asked(name: &[u8], reading: &Reading<'_>) -> Vec<Address> {
    let globals = Globals {
        search: true,
        ..Globals::default()
    };
    let mut settings = settings(&globals, reading);
    settings.cookie = client_cookie();
    let mut machine = Machine::new(settings, query_id);
    machine.add([A, AAAA].map(|rdtype| Lookup {
        text: name.to_vec(),
        rdtype,
        tries: reading.attempts.value,
        ..Lookup::default()
    }));
    let mut wire = Wire::default();
    let mut found = Vec::new();
    loop {
        match machine.step() {
            Step::Done(_) => return found,
            Step::Print(Printed::Reply(_, message, _)) => {
                found.extend(message.answers.iter().filter_map(|record| {
                    let v4 = <[u8; 4]>::try_from(record.data.as_slice()).map(Ipv4Addr::from);
                    let v6 = <[u8; 16]>::try_from(record.data.as_slice()).map(Ipv6Addr::from);
                    let ip = match record.rdtype {
                        A => v4.map(IpAddr::V4),
                        AAAA => v6.map(IpAddr::V6),
                        _ => return None,
                    };
                    ip.ok().map(Address::from)
                }));
            }
            step => {
                if let Some(event) = wire.step(step, &globals) {
                    machine.report(event);
                }
            }
        }
    }
}
