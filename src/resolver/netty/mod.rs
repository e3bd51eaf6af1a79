//! Netty, 4.1: `DnsNameResolver.resolveAll`, as it is built without further
//! settings but with TCP, which Vert.x and Reactor Netty give it.
//!
//! `read` is what it takes from `resolv.conf`, `hosts` its hosts file, `context`
//! the queries for one name (`DnsResolveContext`). There is no nsswitch and no
//! environment variable.

mod aliases;
mod context;
mod hosts;
mod options;
mod platform;
mod question;
mod read;

use std::rc::Rc;

use hickory_proto::rr::RecordType;

use crate::address::{Address, Server};
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::netty::aliases::Shared;
use crate::resolver::netty::context::{Context, End};
use crate::resolver::netty::options::FOR_EVER;
use crate::resolver::netty::read::{Configuration, parse_silently};
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};

/// What differs between versions of Netty.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Whether all words of the first `options` line and those of `RES_OPTIONS` count: `ndots`, `timeout`, and
    /// `attempts`, which is how many queries a name may cost. Since 4.1.50 (#10207).
    /// Observed: 4.1.68. Source: `UnixResolverDnsServerAddressStreamProvider.java: parseEtcResolverOptions`.
    counts_options: bool,
    /// Whether all addresses of the hosts file count, not the first one. Observed: 4.1.68.
    has_all_hosts: bool,
}

/// Netty 4.1.48.
pub const V4_1_48: Version = Version {
    counts_options: false,
    has_all_hosts: false,
};

/// Netty 4.1.68.
pub const V4_1_68: Version = Version {
    counts_options: true,
    has_all_hosts: true,
};

/// Source: `DnsNameResolver.java: IPV4_PREFERRED_RESOLVED_RECORD_TYPES`
const BOTH: &[RecordType] = &[RecordType::A, RecordType::AAAA];

/// The lookup of `scenario`.
///
/// Source: Netty `DnsNameResolver.java: doResolveAll` (4.1.48)
pub async fn lookup(io: Rc<Io>, scenario: &Scenario, version: &Version) -> Outcome {
    let record_type;
    let types = match &scenario.lookup {
        Lookup::Addresses(Family::Both) => BOTH,
        Lookup::Addresses(Family::Inet) => &[RecordType::A],
        Lookup::Addresses(Family::Inet6) => &[RecordType::AAAA],
        Lookup::Records(wanted) => {
            record_type = [*wanted];
            &record_type
        }
    };
    if scenario.name.is_empty() {
        return Outcome::Found(vec![hosts::loopback(types)]);
    }
    if let Some(ip) = hosts::ip_address(scenario.name.as_bytes()) {
        return Outcome::Found(vec![hosts::in_java_text(ip)]);
    }
    let Some(mut name) = question::to_ascii(&scenario.name) else {
        return Outcome::Failed(ILLEGAL);
    };
    let mut known = hosts::addresses(scenario, &name, types);
    if !known.is_empty() {
        known.truncate(if version.has_all_hosts {
            known.len()
        } else {
            1
        });
        return Outcome::Found(known);
    }
    // A question's name ends with a dot.
    let is_question = matches!(scenario.lookup, Lookup::Records(_));
    if is_question && !name.ends_with('.') {
        name.push('.');
    }
    let configuration = parse_silently(scenario, *version);
    let servers = configuration.servers_for(&name);
    if servers.contains(&None) {
        io.note(BY_NAME);
    }
    if configuration.limits.queries == 0 {
        io.note("with `attempts:0` Netty sends no query");
    }
    if configuration.limits.timeout == FOR_EVER {
        io.note("with `timeout:0` Netty waits for ever: a lookup that gets no reply does not end");
    }
    let names = Names {
        io: &io,
        servers,
        configuration: &configuration,
        types,
    };
    names.resolve(&name).await
}

/// What it takes from the configuration.
pub fn reading<'a>(scenario: &'a Scenario, version: &Version) -> Reading<'a> {
    parse_silently(scenario, *version).reading
}

/// When it is asked, as a sentence without a full stop.
pub const CONDITION: &str = "programs that give Netty its DnsNameResolver, as Vert.x, Reactor Netty and what is built on them do; otherwise Netty asks InetAddress, and so the C library: --resolver glibc, musl; from 4.1.88 on it differs in part, in what it asks for CNAME and after a time-out";

/// What is not modelled.
const BY_NAME: &str = "a name server is given by name: Netty asks the C library and the other servers for it, which is not shown here";

const ILLEGAL: &str = "IllegalArgumentException";
const UNKNOWN_HOST: &str = "UnknownHostException";
const UNKNOWN_IN_SEARCH: &str = "SearchDomainUnknownHostException";

/// A lookup: the names that are tried, one after the other.
struct Names<'r> {
    io: &'r Io,
    /// `None`: a name that is no address, whose server is passed over.
    servers: &'r [Option<Server>],
    configuration: &'r Configuration<'r>,
    types: &'r [RecordType],
}

impl Names<'_> {
    /// Source: `DnsResolveContext.java: resolve` (4.1.48)
    async fn resolve(&self, name: &str) -> Outcome {
        let search = &self.configuration.search;
        let ndots = self.configuration.ndots;
        let mut shared = Shared::new(self.io.socket());
        if search.is_empty() || ndots == 0 || name.ends_with('.') {
            return match self.one(name, Because::AsIs, &mut shared).await {
                End::Found(found) => Outcome::Found(found),
                End::Illegal => Outcome::Failed(ILLEGAL),
                End::Failed { .. } => Outcome::Failed(UNKNOWN_HOST),
                End::Hung => Outcome::Hung,
            };
        }
        let dots = name.bytes().filter(|&byte| byte == b'.').count();
        let is_first = dots > 0 && i64::try_from(dots).is_ok_and(|dots| dots >= ndots);
        let own = || (name.to_owned(), Because::AsIs);
        let below = search.iter().enumerate().map(|(index, domain)| {
            let domain = String::from_utf8_lossy(domain);
            (format!("{name}.{domain}"), Because::Search(index))
        });
        let first = is_first.then(own).into_iter();
        for (name, because) in first.chain(below) {
            match self.one(&name, because, &mut shared).await {
                End::Found(found) => return Outcome::Found(found),
                End::Failed { lost: true } => return Outcome::Failed(UNKNOWN_IN_SEARCH),
                End::Hung => return Outcome::Hung,
                End::Failed { lost: false } | End::Illegal => {}
            }
        }
        if is_first {
            return Outcome::Failed(UNKNOWN_IN_SEARCH);
        }
        match self.one(name, Because::AsIs, &mut shared).await {
            End::Found(found) => Outcome::Found(found),
            End::Illegal => Outcome::Failed(ILLEGAL),
            End::Failed { .. } => Outcome::Failed(UNKNOWN_HOST),
            End::Hung => Outcome::Hung,
        }
    }

    /// Asks for one name; addresses of IPv4 are first.
    async fn one(&self, name: &str, because: Because, shared: &mut Shared) -> End {
        let limits = self.configuration.limits;
        let context = Context::new(self.io, self.servers, self.types, limits, shared);
        let mut end = context.resolve(name, because).await;
        if let End::Found(found) = &mut end
            && self.types == BOTH
        {
            found.sort_by_key(|it: &Address| it.ip.is_ipv6());
        }
        end
    }
}

#[cfg(test)]
super::mutation::neighbours!(Version: counts_options has_all_hosts;);
