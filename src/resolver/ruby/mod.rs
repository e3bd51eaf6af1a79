//! Ruby's `Resolv`, as in resolv.rb 0.2: the hosts file, then DNS by itself.
//!
//! `read` is `Resolv::DNS::Config`, `hosts` is `Resolv::Hosts`, `requester` is
//! `Resolv::DNS.fetch_resource` with its sockets. A family that is wanted is
//! `Resolv::DNS#getresources` for its type, without the hosts file.

mod hosts;
mod read;
mod requester;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::resolver::ruby::read::Config;
use crate::resolver::ruby::requester::Fetch;
use crate::scenario::{Family, Lookup, Scenario};

/// How `Resolv` is called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Call {
    /// `Resolv.getaddress`, which takes the first address.
    GetAddress,
    /// `Resolv.getaddresses` and `each_address`
    GetAddresses,
}

/// Why it ends: the class of the exception, or that there is no address.
type Error = &'static str;

const NO_ADDRESS: Error = "no address";

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "Resolv, and for sockets after `require \"resolv-replace\"`; all other sockets of Ruby ask the C library: --resolver glibc, musl";

/// The lookup of `scenario`.
///
/// Source: resolv.rb `Resolv#each_address, Resolv::DNS#each_address` (0.2.1);
/// `use_ipv6?` is true, as where an interface has a global IPv6 address.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, call: Call) -> Outcome {
    // resolv.rb: Requester#request looks at the sender and the id.
    io.takes(&[Wrong::Question]);
    let types: &[RecordType] = match &scenario.lookup {
        Lookup::Addresses(Family::Both) => {
            match hosts::each_address(scenario) {
                Err(error) => return Outcome::Failed(error),
                Ok(found) if !found.is_empty() => return ended(found, call),
                Ok(_) => {}
            }
            &[RecordType::A, RecordType::AAAA]
        }
        Lookup::Addresses(Family::Inet) => &[RecordType::A],
        Lookup::Addresses(Family::Inet6) => &[RecordType::AAAA],
        Lookup::Records(record_type) => &[*record_type],
    };
    let config = Config::from_scenario(scenario);
    let mut found = Vec::new();
    for record_type in types {
        let fetch = Fetch::new(&io, scenario, &config, *record_type);
        match fetch.resource().await {
            Ok(more) => found.extend(more),
            Err(error) => return Outcome::Failed(error),
        }
        if call == Call::GetAddress && !found.is_empty() {
            break;
        }
    }
    ended(found, call)
}

fn ended(mut found: Vec<Address>, call: Call) -> Outcome {
    if found.is_empty() {
        return Outcome::Failed(NO_ADDRESS);
    }
    if call == Call::GetAddress {
        found.truncate(1);
    }
    Outcome::Found(found)
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    Config::from_scenario(scenario).reading
}
