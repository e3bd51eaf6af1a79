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
mod transaction;
mod transaction_reply;
mod varlink;
mod words;

use std::rc::Rc;

use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;

/// How systemd-resolved is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Door {
    /// `ResolveHostname` over Varlink, what nss-resolve calls.
    Varlink,
    /// The stub listener 127.0.0.53, asked by glibc.
    Stub,
}

/// The lookup of `scenario`.
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, door: Door) -> Outcome {
    match door {
        Door::Varlink => varlink::lookup(io, scenario).await,
        Door::Stub => stub_client::lookup(io, scenario).await,
    }
}

/// What it takes from the configuration.
pub fn reading(scenario: &Scenario, door: Door) -> Reading<'_> {
    match door {
        Door::Varlink => read::manager_read_resolv_conf(scenario).reading,
        Door::Stub => stub_client::reading(scenario),
    }
}
