//! c-ares, in two generations that share little: what 1.18 does was rewritten
//! step by step until 1.34.
//!
//! Source: c-ares 1.18.1 with Debian's patches (1.18.1-3), c-ares 1.34.9 as in
//! pycares 5.2.1.

mod address;
mod name;
mod status;
mod v1_18;
mod v1_34;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// What differs between versions.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Whose control flow it has.
    pub generation: Generation,
}

/// The control flows that are modelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Generation {
    /// Up to 1.19: servers in the order of the file, no EDNS, `retrans` and `retry`.
    V1_18,
    /// From 1.34: servers by failures, EDNS with cookies, a query cache, time-outs
    /// from latency.
    V1_34,
}

/// c-ares 1.18.1 as Debian 12 has it.
pub const V1_18: Version = Version {
    generation: Generation::V1_18,
};

/// c-ares 1.34.9.
pub const V1_34: Version = Version {
    generation: Generation::V1_34,
};

/// Which function is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `ares_getaddrinfo`
    GetAddrInfo,
    /// `ares_search`
    Search,
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Wanted {
    /// `ares_getaddrinfo` for these addresses.
    Addresses(Family),
    /// `ares_search` for this type.
    Records(RecordType),
}

/// The lookup of `scenario`.
pub async fn lookup(
    io: Rc<Io>,
    scenario: &Scenario,
    version: &'static Version,
    call: Call,
) -> Outcome {
    let wanted = wanted(scenario.lookup, call);
    match version.generation {
        Generation::V1_18 => v1_18::lookup(io, scenario, wanted).await,
        Generation::V1_34 => v1_34::lookup(io, scenario, wanted).await,
    }
}

/// What it takes from the configuration.
pub fn reading<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    match version.generation {
        Generation::V1_18 => v1_18::reading(scenario),
        Generation::V1_34 => v1_34::reading(scenario),
    }
}

fn wanted(lookup: Lookup, call: Call) -> Wanted {
    match (lookup, call) {
        (Lookup::Records(record_type), _) => Wanted::Records(record_type),
        (Lookup::Addresses(family), Call::GetAddrInfo) => Wanted::Addresses(family),
        (Lookup::Addresses(_), Call::Search) => Wanted::Records(RecordType::A),
    }
}
