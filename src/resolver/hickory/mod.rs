//! hickory-resolver 0.26.3: Rust programs that look names up with
//! `Resolver::builder_tokio()?.build()?.lookup_ip(name)`.
//!
//! Read side by side with the crates: `resolv_conf` is resolv-conf 0.7.6;
//! `system_conf`, `resolver`, `hosts`, `caching_client`,
//! `name_server_pool` and `name_server` are files of hickory-resolver;
//! `exchange` is the UDP and TCP of hickory-net, and `error` its errors.
//! There is no nsswitch, and no environment variable is read. How a text
//! becomes a name is left to hickory-proto itself, IDNA included.
//!
//! The codes of a failed lookup are ours, from the error's value:
//!
//! | Code | Error |
//! | --- | --- |
//! | `NXDOMAIN`, `NODATA` | `DnsError::NoRecordsFound`, by its reply code |
//! | `SERVFAIL`, `REFUSED`, `FORMERR`, `NOTIMP` | `DnsError::ResponseCode` |
//! | `TIMEOUT`, `NO_CONNECTIONS`, `TRUNCATED`, `IO` | `NetError` of that name |
//! | `BAD_NAME` | `NetError::Proto`: the name that was given cannot be one |
//! | `CONFIG_ERROR` | `builder_tokio` fails; its text is in the note |
//!
//! A lookup of one family is one with `LookupIpStrategy::Ipv4Only` or
//! `Ipv6Only`; one of records is `Resolver::lookup`.

mod caching_client;
mod error;
mod exchange;
mod hosts;
mod name_server;
mod name_server_pool;
mod resolv_conf;
mod resolver;
mod system_conf;

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::hickory::resolver::Resolver;
use crate::resolver::reading::Reading;
use crate::scenario::{Lookup, Scenario};

/// The lookup of `scenario`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario) -> Outcome {
    let settings = system_conf::read_system_conf(scenario);
    if let Some(error) = settings.refused {
        io.note(format!("hickory refuses the configuration: {error}"));
        return Outcome::Failed("CONFIG_ERROR");
    }
    let resolver = Resolver::build(&io, settings, scenario);
    match scenario.lookup {
        Lookup::Addresses(family) => resolver.lookup_ip(&scenario.name, family).await,
        Lookup::Records(record_type) => resolver.lookup(&scenario.name, record_type).await,
    }
}

/// What hickory takes from the configuration.
pub fn reading(scenario: &Scenario) -> Reading<'_> {
    system_conf::read_system_conf(scenario).reading
}
