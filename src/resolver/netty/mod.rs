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
use crate::resolver::netty::platform::Unknown;
use crate::resolver::netty::read::{Configuration, parse_silently};
use crate::resolver::reading::Reading;
use crate::scenario::{Family, Lookup, Scenario};
use crate::text::excerpt;

/// What differs between versions of Netty.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Whether all words of the first `options` line and those of `RES_OPTIONS` count: `ndots`,
    /// `timeout`, and `attempts`, which is how many queries a name may cost. Since 4.1.50 (#10207).
    /// Observed: 4.1.68. Source: `UnixResolverDnsServerAddressStreamProvider.java:
    /// parseEtcResolverOptions`.
    counts_options: bool,
    /// Whether aliases in a circle end a name, or what they answer. Since 4.1.51. Observed: 4.1.68.
    /// Source: `DnsResolveContext.java: checkCnameLoop`.
    sees_circles: bool,
    /// Whether all addresses of the hosts file count, not the first one. Observed: 4.1.68.
    has_all_hosts: bool,
    /// Whether a name is an address only without a scope or with one that is a number, which is
    /// kept. Since 4.1.74. Source: `NetUtil.java: createInetAddressFromIpAddressString`.
    keeps_scopes: bool,
    /// Whether an alias is asked for even if the reply has its addresses. Until 4.1.87.
    /// Observed: 4.1.68. Source: `DnsResolveContext.java: onExpectedResponse`.
    follows_answered: bool,
    /// Whether a name server without an address makes Netty refuse the whole file, not that line
    /// alone. Until 4.1.97. Observed: 4.1.68, 4.1.97. Source: `DnsServerAddresses.java: sanitize`.
    refuses_names: bool,
    /// Whether queries over TCP have EDNS. Until 4.1.104. Observed: 4.1.101. Source:
    /// `DnsNameResolver.java: DnsResponseHandler`; later `DnsQueryContext.java: retryWithTcp`.
    has_edns_over_tcp: bool,
    /// Whether the name is asked for CNAME where no server has addresses. Until 4.1.107; later with
    /// the property `io.netty.resolver.dns.tryCnameOnAddressLookups`. Observed: 4.1.101. Source:
    /// `DnsResolveContext.java: tryToFinishResolve`.
    asks_cname: bool,
    /// Whether servers are the JDK's where Netty finds none in the file, not what else its
    /// `nameserver` lines have. Until 4.1.107. Source:
    /// `DefaultDnsServerAddressStreamProvider.java`.
    asks_jdk: bool,
    /// Whether a name that is too long or has a zero byte is no more sent, which ends a lookup.
    /// Since 4.1.133 and 4.2.13 (CVE-2026-42579). Observed: 4.2.13. Source: `DnsCodecUtil.java:
    /// encodeDomainName`.
    checks_names: bool,
}

/// Netty 4.1.48.
pub const V4_1_48: Version = Version {
    counts_options: false,
    sees_circles: false,
    has_all_hosts: false,
    keeps_scopes: false,
    follows_answered: true,
    refuses_names: true,
    has_edns_over_tcp: true,
    asks_cname: true,
    asks_jdk: true,
    checks_names: false,
};

/// Netty 4.1.68.
pub const V4_1_68: Version = Version {
    counts_options: true,
    sees_circles: true,
    has_all_hosts: true,
    ..V4_1_48
};

/// Netty 4.1.101.
pub const V4_1_101: Version = Version {
    keeps_scopes: true,
    follows_answered: false,
    refuses_names: false,
    ..V4_1_68
};

/// Netty 4.1.118 and 4.2.7.
pub const V4_1_118: Version = Version {
    has_edns_over_tcp: false,
    asks_cname: false,
    asks_jdk: false,
    ..V4_1_101
};

/// Netty 4.2.13.
pub const V4_2_13: Version = Version {
    checks_names: true,
    ..V4_1_118
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
    let configuration = parse_silently(scenario, *version);
    if configuration.has_names {
        io.limit(BY_NAME);
    }
    if let Some((why, word)) = configuration.refusing {
        let word = excerpt(word.bytes, 40);
        io.limit(match why {
            Unknown::NoName => format!("`{word}` has no address: {REFUSED}"),
            Unknown::Name => format!("where `{word}` has no address, {REFUSED}"),
        });
        return Outcome::Failed("ExceptionInInitializerError");
    }
    if scenario.name.is_empty() {
        return Outcome::Found(vec![hosts::loopback(types)]);
    }
    if let Some(ip) = hosts::literal(&scenario.name, version.keeps_scopes) {
        return Outcome::Found(vec![ip]);
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
    let servers = configuration.servers_for(&name);
    if configuration.limits.queries == 0 {
        io.note("with `attempts:0` Netty sends no query");
    }
    if configuration.limits.timeout.is_none() {
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
pub const CONDITION: &str = "programs that give Netty its DnsNameResolver, as Vert.x, Reactor Netty and \
                             what is built on them do; otherwise Netty asks InetAddress, and so the C \
                             library: --resolver glibc, musl";

/// What is not modelled.
const BY_NAME: &str = "a name server is a name: Netty asks the C library for it, which is not shown \
                       here but for the hosts file";
/// Source: Netty `DnsServerAddresses.java: sanitize` (4.1.48)
const REFUSED: &str = "Netty can make no resolver, and all its lookups fail";

const ILLEGAL: &str = "IllegalArgumentException";
const UNKNOWN_HOST: &str = "UnknownHostException";
const UNKNOWN_IN_SEARCH: &str = "SearchDomainUnknownHostException";

/// A lookup: the names that are tried, one after the other.
struct Names<'r> {
    io: &'r Io,
    servers: &'r [Server],
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
        let configuration = self.configuration;
        let context = Context::new(self.io, self.servers, self.types, configuration, shared);
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
super::mutation::neighbours!(Version:
    counts_options sees_circles has_all_hosts keeps_scopes follows_answered refuses_names has_edns_over_tcp asks_cname asks_jdk checks_names;);
