//! hickory-resolver 0.26.3, and what 0.24.4 and 0.25.2 do otherwise: Rust programs that look names
//! up with `Resolver::builder_tokio()?.build()?.lookup_ip(name)`, or with
//! `TokioAsyncResolver::tokio_from_system_conf()?` in 0.24.
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
//! | `SERVFAIL`, `REFUSED`, `FORMERR`, `NOTIMP` | `DnsError::ResponseCode`; before 0.26 `NoRecordsFound` |
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
use std::time::Duration;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::hickory::resolver::Resolver;
use crate::resolver::reading::Reading;
use crate::scenario::{Lookup, Scenario};

/// What differs between versions of hickory-resolver.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Before 0.26 A is asked for first, and AAAA if there is no A; a query over UDP
    /// is sent once, and has a moment even if `timeout` is 0; what resolv.conf has that
    /// it does not know is an error; a reply code other than success is a negative answer, which
    /// is not asked for again; UDP and TCP have servers of their own, each with
    /// its time, and TCP is asked after all of UDP's; addresses behind a second alias count.
    /// Observed: 0.24.4, 0.25.2. Source: `src/name_server/name_server_pool.rs`,
    /// `src/name_server/name_server.rs`, `src/lookup_ip.rs`, `src/config.rs`.
    is_before_26: bool,
    /// Before 0.25 no reply but a positive one ends a round; every reply counts as
    /// fast; a truncated one is an answer where TCP fails; `edns0` does not count; a file
    /// without servers is taken; the final dot tells names of the hosts file and of the cache apart;
    /// replies of link-local servers are not taken.
    /// Observed: 0.24.4. Source: the same files, `src/system_conf/unix.rs`, `src/hosts.rs`, hickory-proto
    /// `src/udp/udp_client_stream.rs`.
    is_before_25: bool,
}

impl Version {
    /// How long a reply is waited for at least: tokio's clock ticks every millisecond.
    const fn shortest(self) -> Duration {
        Duration::from_millis(self.is_before_26 as u64)
    }
}

/// hickory-resolver 0.24.
pub const V0_24: Version = Version {
    is_before_26: true,
    is_before_25: true,
};

/// hickory-resolver 0.25.
pub const V0_25: Version = Version {
    is_before_25: false,
    ..V0_24
};

/// hickory-resolver 0.26.
pub const V0_26: Version = Version {
    is_before_26: false,
    ..V0_25
};

/// The lookup of `scenario`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: &'static Version) -> Outcome {
    let settings = system_conf::read_system_conf(scenario, *version);
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
pub fn reading<'a>(scenario: &'a Scenario, version: &'static Version) -> Reading<'a> {
    system_conf::read_system_conf(scenario, *version).reading
}

#[cfg(test)]
super::mutation::neighbours!(Version: is_before_26 is_before_25;);
