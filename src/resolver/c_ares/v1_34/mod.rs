//! c-ares 1.34.9.

mod buffer;
mod channel;
mod connection;
mod dns_name;
mod getaddrinfo;
mod hosts_file;
mod lots;
mod process;
mod search;
mod server;
mod sysconfig;
mod update_servers;

use std::rc::Rc;

pub(super) use self::sysconfig::config;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::c_ares::Wanted;
use crate::resolver::c_ares::config::Config;
use crate::scenario::Scenario;

/// A lookup on a fresh channel.
pub(super) async fn lookup(
    io: Rc<Io>,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    wanted: Wanted,
) -> Outcome {
    let channel = channel::Channel::new(io, config);
    match wanted {
        Wanted::Addresses(family) => {
            getaddrinfo::ares_getaddrinfo(channel, scenario, config, name, family).await
        }
        Wanted::Records(record_type) => {
            search::ares_search(channel, scenario, config, name, record_type).await
        }
        Wanted::AsIs(record_type) => search::ares_query(channel, name, record_type).await,
    }
}
