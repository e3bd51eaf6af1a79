//! What the tools go by.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::{self, Address};
use crate::dig::lookup::{Globals, Server};
use crate::dig::settings::Settings;
use crate::resolver::reading::{Origin, Reading};

/// What the command line and `resolv.conf` say together; what real messages
/// are made with is the caller's to add.
///
/// Source: BIND bin/dig/dighost.c: `setup_system`, bin/dig/dig.c:
/// `dig_query_setup` (9.18)
pub fn settings(globals: &Globals, reading: &Reading<'_>) -> Settings {
    let server = |address: &Address| Server {
        port: globals.port,
        ..Server::plain(address.clone())
    };
    let allowed = |server: &&address::Server| match server.address.ip {
        IpAddr::V4(_) => !globals.ipv6_only,
        IpAddr::V6(_) => !globals.ipv4_only,
    };
    let servers = reading.servers.iter().map(|setting| &setting.value);
    let mut servers: Vec<Server> = servers
        .filter(allowed)
        .map(|it| server(&it.address))
        .collect();
    if servers.is_empty() {
        let loopback = if globals.ipv4_only {
            IpAddr::from(Ipv4Addr::LOCALHOST)
        } else {
            Ipv6Addr::LOCALHOST.into()
        };
        servers.push(server(&loopback.into()));
    }
    let search = reading.search.iter().map(|it| it.value.to_vec()).collect();
    Settings {
        servers: servers.into(),
        search: globals.domain.clone().map_or(search, |domain| vec![domain]),
        ndots: globals
            .ndots
            .unwrap_or(reading.ndots.unwrap_or_default().value),
        use_search: globals.search || globals.domain.is_some(),
        show_search: globals.show_search,
        timeout: globals.timeout.or_else(|| timeout(reading)),
        keep_open: globals.keep_open,
        keeps_warnings: globals.yaml,
        ..Settings::default()
    }
}

/// The time-out of `resolv.conf`, where it says one.
fn timeout(reading: &Reading<'_>) -> Option<u32> {
    if reading.timeout.origin == Origin::BuiltIn {
        return None;
    }
    u32::try_from(reading.timeout.value.as_secs()).ok()
}
