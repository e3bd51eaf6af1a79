//! systemd-resolved, asked over Varlink as nss-resolve does, or through its
//! stub listener.
//!
//! Read side by side with systemd's `src/resolve`: `read` is
//! `resolved-resolv-conf.c` and `resolved-conf.c`, `manager` with `event`
//! the event loop, `dns_query` and `dns_query_candidate` are
//! `resolved-dns-query.c`, `transaction` and `transaction_reply`
//! `resolved-dns-transaction.c`; the others have the names of their files.
//! LLMNR, multicast DNS, DNSSEC and DNS over TLS are off, and no link has
//! servers of its own, so there is one scope, that of all links.

mod dns_cache;
mod dns_domain;
mod dns_query;
mod dns_query_candidate;
mod dns_scope;
mod dns_server;
mod dns_stream;
mod dns_stub;
mod etc_hosts;
mod event;
mod idna;
mod manager;
mod pool;
mod read;
mod stub_client;
mod synthesize;
#[cfg(test)]
mod tests;
mod transaction;
mod transaction_reply;
mod varlink;
mod words;

use std::rc::Rc;

pub(super) use self::synthesize::LOCAL_ADDRESSES;
use crate::engine::io::{Io, Wrong};
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::read::Configuration;
use crate::scenario::Scenario;

/// What differs between versions of systemd.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Whether NXDOMAIN from a server that knows EDNS is asked for again
    /// without it: 248 to 253. Source: `resolved-dns-transaction.c:
    /// dns_transaction_process_reply`, "DVE-2018-0001".
    repeats_nxdomain: bool,
    /// Whether a name of the machine is answered before servers are asked, not
    /// after they know nothing. Observed: 257.
    own_names_first: bool,
    /// Whether names below `alt` are asked for nowhere (RFC 9476). Observed: 257.
    refuses_alt: bool,
    /// Whether a name in the hosts file is an alias of the first one that its address has there.
    /// Observed: 257; since 254, and 253.7 (systemd #28370). Source: `resolved-etc-hosts.c:
    /// etc_hosts_lookup_by_name`.
    hosts_have_aliases: bool,
    /// Whether it is older than 247. Then a server has no port; the file that programs see has six
    /// domains at most, and none where none is configured; `_gateway` is asked for below the
    /// search domains, also with a dot behind it, as other single labels are; SERVFAIL is kept for
    /// 30 s. Source (245.4): `resolved-conf.c: manager_add_dns_server_by_string`,
    /// `resolved-resolv-conf.c: write_resolv_conf_search`, `resolved-dns-scope.c:
    /// dns_scope_good_domain`, `resolved-bus.c: bus_method_resolve_hostname`,
    /// `resolved-dns-cache.c: CACHE_TTL_STRANGE_RCODE_USEC`.
    is_before_247: bool,
    /// Whether it is older than 248. Then queries offer 512 bytes; SERVFAIL is
    /// not asked for twice before EDNS is left out; REFUSED leads to the next
    /// server until all attempts are used, a closed port until one is asked twice
    /// in a row, and each question goes one server further, whoever else did; a
    /// connection that the server closes counts as lost; the root and names that nobody has get no answer
    /// of its own, and `_outbound` is a name like any other; records of one type
    /// are enough; eight CNAME records are followed, not sixteen, and the
    /// target of one is asked for whatever else the answer has, so that the
    /// cache answers, and one without a dot cannot be; the stub then says SERVFAIL; the
    /// second type is waited for as long as ever when the first has an answer.
    /// Observed: 247. Source: `resolved-dns-transaction.c:
    /// dns_transaction_process_reply, on_dns_packet, on_stream_complete`,
    /// `resolved-dns-server.c: manager_next_dns_server`, `resolved-dns-query.c:
    /// dns_query_process_cname`, `resolved-dns-synthesize.c`.
    is_before_248: bool,
}

/// systemd 245, as in Ubuntu 20.04, which asks again after NXDOMAIN, as its messages say
/// (systemd #8608; in 248 as #18638). Source: systemd 245.4.
pub const V245: Version = Version {
    repeats_nxdomain: true,
    is_before_247: true,
    ..V247
};

/// systemd 247, as in Debian 11.
pub const V247: Version = Version {
    repeats_nxdomain: false,
    is_before_248: true,
    ..V252
};

/// systemd 252, as in Debian 12.
pub const V252: Version = Version {
    repeats_nxdomain: true,
    own_names_first: false,
    refuses_alt: false,
    hosts_have_aliases: false,
    is_before_247: false,
    is_before_248: false,
};

/// systemd 257, as in Debian 13.
pub const V257: Version = Version {
    repeats_nxdomain: false,
    own_names_first: true,
    refuses_alt: true,
    hosts_have_aliases: true,
    ..V252
};

/// How systemd-resolved is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Door {
    /// `ResolveHostname` over Varlink, what nss-resolve calls.
    Varlink,
    /// The stub listener 127.0.0.53, asked by glibc.
    Stub,
}

/// What every run of a lookup begins with.
#[derive(Debug)]
pub struct Setup<'a> {
    version: &'static Version,
    configuration: Configuration,
    client: Client<'a>,
}

/// Who asks.
#[derive(Debug)]
enum Client<'a> {
    /// nss-resolve, over Varlink.
    NssResolve(&'a Scenario),
    /// glibc, in the scenario as it sees it behind the stub, and what it has read there.
    Glibc(Box<Scenario>, Rc<Reading<'static>>),
}

impl<'a> Setup<'a> {
    /// Reads the configuration of `scenario`.
    pub fn from_scenario(scenario: &'a Scenario, version: &'static Version, door: Door) -> Self {
        match door {
            Door::Varlink => Self {
                version,
                configuration: Configuration::from_resolv_conf(scenario, *version),
                client: Client::NssResolve(scenario),
            },
            Door::Stub => {
                let configuration = Configuration::from_resolved_conf(scenario, *version);
                let seen = stub_client::seen_by_client(scenario, &configuration.file, *version);
                let conf = stub_client::reading_of_client(&seen).into_owned();
                Self {
                    version,
                    configuration,
                    client: Client::Glibc(Box::new(seen), Rc::new(conf)),
                }
            }
        }
    }

    /// What it takes from the configuration.
    pub fn reading(self) -> Reading<'a> {
        match &self.client {
            Client::NssResolve(_) => self.configuration.file.reading.clone(),
            Client::Glibc(_, conf) => stub_client::reading(&self.configuration.file, conf),
        }
    }
}

/// The lookup.
pub async fn lookup(io: Rc<Io>, setup: Rc<Setup<'_>>) -> Outcome {
    // A reply with another question ends the transaction; other wrong ones are left out.
    io.takes(&[Wrong::Question]);
    let manager = Manager::new(Rc::clone(&io), *setup.version, &setup.configuration);
    match &setup.client {
        Client::NssResolve(scenario) => varlink::lookup(manager, scenario).await,
        Client::Glibc(seen, conf) => stub_client::lookup(io, seen, conf, manager).await,
    }
}

#[cfg(test)]
super::mutation::neighbours!(Version: repeats_nxdomain own_names_first refuses_alt hosts_have_aliases is_before_247 is_before_248;);
