//! c-ares, in two generations that share little: what 1.18 does was rewritten
//! step by step until 1.34.
//!
//! Source: c-ares 1.18.1 with Debian's patches (1.18.1-3), c-ares 1.34.9 as in
//! pycares 5.2.1.

mod address;
mod config;
mod name;
mod status;
mod v1_18;
mod v1_34;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, QueryId};
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::c_string;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// The versions whose control flow is modelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// Up to 1.19: servers in the order of the file, no EDNS, `retrans` and `retry`.
    V1_18,
    /// From 1.34: servers by failures, EDNS with cookies, a query cache, time-outs
    /// from latency.
    V1_34,
}

/// Which function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `ares_getaddrinfo`
    GetAddrInfo,
    /// `ares_search`
    Search,
}

/// A name that is to be asked, as text.
#[derive(Clone, Debug)]
struct Candidate {
    name: Vec<u8>,
    because: Because,
}

impl Candidate {
    fn new(name: &[u8], because: Because) -> Self {
        Self {
            name: name.to_vec(),
            because,
        }
    }
}

/// The query that this one was sent for last: answers come to that.
fn last_sent(sent: &[(QueryId, usize)], id: QueryId) -> Option<usize> {
    let found = sent.iter().rev().find(|(sent, _)| *sent == id);
    found.map(|(_, query)| *query)
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Wanted {
    /// `ares_getaddrinfo` for these addresses.
    Addresses(Family),
    /// `ares_search` for this type.
    Records(RecordType),
}

/// What every run of a lookup begins with.
#[derive(Debug)]
pub struct Setup<'a> {
    scenario: &'a Scenario,
    version: Version,
    config: Config<'a>,
}

impl<'a> Setup<'a> {
    /// Reads the configuration of `scenario`.
    pub fn read(scenario: &'a Scenario, version: Version) -> Self {
        let config = match version {
            Version::V1_18 => v1_18::config(scenario),
            Version::V1_34 => v1_34::config(scenario),
        };
        Self {
            scenario,
            version,
            config,
        }
    }

    /// What it takes from the configuration.
    pub fn reading(self) -> Reading<'a> {
        self.config.reading
    }
}

/// The lookup.
pub async fn lookup(io: Rc<Io>, setup: Rc<Setup<'_>>, call: Call) -> Outcome {
    let Setup {
        scenario, config, ..
    } = &*setup;
    if let Some(note) = config.note {
        io.note(note);
    }
    let name = c_string(&scenario.name);
    let wanted = wanted(scenario.lookup, call);
    match setup.version {
        Version::V1_18 => v1_18::lookup(io, scenario, config, name, wanted).await,
        Version::V1_34 => v1_34::lookup(io, scenario, config, name, wanted).await,
    }
}

fn wanted(lookup: Lookup, call: Call) -> Wanted {
    match (lookup, call) {
        (Lookup::Records(record_type), _) => Wanted::Records(record_type),
        (Lookup::Addresses(family), Call::GetAddrInfo) => Wanted::Addresses(family),
        (Lookup::Addresses(_), Call::Search) => Wanted::Records(RecordType::A),
    }
}
