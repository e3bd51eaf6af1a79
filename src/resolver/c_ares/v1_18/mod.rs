//! c-ares 1.18.1.

mod getaddrinfo;
mod init;
mod lines;
mod process;
mod query;
mod readaddrinfo;
mod search;
mod send;

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::c_ares::Wanted;
use crate::resolver::c_ares::name::c_string;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// A lookup on a fresh channel.
pub(super) async fn lookup(io: Rc<Io>, scenario: &Scenario, wanted: Wanted) -> Outcome {
    let config = init::config(scenario);
    if let Some(note) = config.note {
        io.note(note);
    }
    let name = c_string(&scenario.name);
    let channel = process::Channel::new(io, &config);
    match wanted {
        Wanted::Addresses(family) => {
            getaddrinfo::ares_getaddrinfo(channel, scenario, &config, name, family).await
        }
        Wanted::Records(record_type) => {
            search::ares_search(channel, scenario, &config, name, record_type).await
        }
    }
}

/// What the channel takes from the configuration.
pub(super) fn reading(scenario: &Scenario) -> Reading<'_> {
    init::config(scenario).reading
}
