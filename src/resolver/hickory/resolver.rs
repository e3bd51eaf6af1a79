//! From a name to candidates, one after the other.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

use foldhash::quality::RandomState;
use hickory_proto::rr::{Name, RecordType};

use crate::address::Address;
use crate::engine::io::Io;
use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::hickory::caching_client::{CachingClient, Query};
use crate::resolver::hickory::error::NetError;
use crate::resolver::hickory::hosts::Hosts;
use crate::resolver::hickory::name_server_pool::NameServerPool;
use crate::resolver::hickory::system_conf::Settings;
use crate::scenario::{Family, Scenario};

/// With more than so many dots wanted, an address is looked up as a name
/// first. Source: hickory-resolver `src/resolver.rs: Resolver::lookup_ip`.
const MAX_NDOTS_FOR_ADDRESS: u32 = 4;
/// What is left to chance, in a sentence.
const AS_WOKEN: &str = "hickory goes on with AAAA and A as replies to them come";
/// Length of the label before `.onion` in an address of version 3.
/// Source: hickory-resolver
/// `src/resolver.rs: Resolver::build_names`.
const ONION_V3_LABEL: usize = 56;

/// Source: hickory-resolver `src/resolver.rs: Resolver`.
#[derive(Debug)]
pub(super) struct Resolver<'a> {
    io: &'a Io,
    /// The domain and the search list.
    search: Vec<Name>,
    ndots: u32,
    client: CachingClient<'a>,
    hosts: Arc<Hosts>,
}

/// A name to try, and why.
#[derive(Clone, Debug)]
struct Candidate {
    name: Name,
    because: Because,
}

impl<'a> Resolver<'a> {
    /// Source: hickory-resolver `src/resolver.rs: ResolverBuilder::build`.
    pub(super) fn build(io: &'a Io, settings: Settings<'_>, scenario: &Scenario) -> Self {
        let pool = NameServerPool::from_config(io, &settings);
        Self {
            io,
            hosts: Hosts::from_system(scenario),
            search: settings.search,
            ndots: settings.reading.ndots.map_or(1, |ndots| ndots.value),
            client: CachingClient::new(pool),
        }
    }

    /// Source: hickory-resolver `src/resolver.rs: Resolver::lookup_ip`,
    /// `src/lookup_ip.rs: LookupIpFuture::poll`.
    pub(super) async fn lookup_ip(&self, host: &str, family: Family) -> Outcome {
        let literal: Option<IpAddr> = host.parse().ok();
        if let Some(ip) = literal
            && self.ndots <= MAX_NDOTS_FOR_ADDRESS
        {
            return found(vec![ip]);
        }
        let name = match (Name::from_utf8(host), literal) {
            (Ok(name), _) => name,
            (Err(_), Some(ip)) => return found(vec![ip]),
            (Err(error), None) => return self.bad_name(&error.to_string()),
        };
        let mut result = Err(NetError::NoConnections);
        for candidate in self.build_names(name) {
            result = self.strategic_lookup(&candidate, family).await;
            if result.is_ok() {
                break;
            }
        }
        match (result, literal) {
            (Ok(ips), _) => found(ips),
            (Err(_), Some(ip)) => found(vec![ip]),
            (Err(error), None) => Outcome::Failed(error.code()),
        }
    }

    /// Only the first candidate is looked for in the hosts file.
    ///
    /// Source: hickory-resolver `src/resolver.rs: Resolver::lookup,
    /// LookupFuture`.
    pub(super) async fn lookup(&self, name: &str, record_type: RecordType) -> Outcome {
        let name = match Name::from_utf8(name) {
            Ok(name) => name,
            Err(error) => return self.bad_name(&error.to_string()),
        };
        let mut result = Err(NetError::NoConnections);
        for (index, candidate) in self.build_names(name).iter().enumerate() {
            result = if index == 0 {
                self.hosts_lookup(candidate, record_type).await
            } else {
                self.client.lookup(candidate.query(record_type)).await
            };
            if result.is_ok() {
                break;
            }
        }
        match result {
            Ok(ips) => found(ips),
            Err(error) => Outcome::Failed(error.code()),
        }
    }

    fn bad_name(&self, error: &str) -> Outcome {
        self.io.note(format!("hickory takes no such name: {error}"));
        Outcome::Failed("BAD_NAME")
    }

    /// The candidates, in the order in which they are tried. The source
    /// builds the list from its end.
    ///
    /// Source: hickory-resolver `src/resolver.rs: Resolver::build_names`.
    fn build_names(&self, name: Name) -> Vec<Candidate> {
        let mut fqdn = name.clone();
        if !self.client.pool.version.is_before_25 {
            fqdn.set_fqdn(true);
        }
        let as_is = |name| Candidate {
            name,
            because: Because::AsIs,
        };
        if name.is_fqdn() || is_onion_v3(&name) {
            return vec![as_is(name)];
        }
        let raw_name_first = u32::from(name.num_labels()) > self.ndots || name.is_localhost();
        let mut names = Vec::with_capacity(self.search.len() + 1);
        let mut known: HashSet<Name, RandomState> = HashSet::default();
        if !raw_name_first {
            // With a final dot or without.
            let mut absolute = fqdn.clone();
            absolute.set_fqdn(true);
            known.insert(absolute);
            names.push(as_is(fqdn.clone()));
        }
        for (index, search) in self.search.iter().enumerate().rev() {
            // What gets too long is left out.
            let Ok(candidate) = name.clone().append_domain(search) else {
                continue;
            };
            if known.insert(candidate.clone()) {
                names.push(Candidate {
                    name: candidate,
                    because: Because::Search(index),
                });
            }
        }
        // The search list can have the same name again.
        if raw_name_first {
            names.push(as_is(fqdn));
        }
        names.reverse();
        names
    }

    /// Source: hickory-resolver `src/lookup_ip.rs: LookupContext::strategic_lookup`;
    /// the default is AAAA and A at once.
    async fn strategic_lookup(
        &self,
        candidate: &Candidate,
        family: Family,
    ) -> Result<Vec<IpAddr>, NetError> {
        match family {
            Family::Both => self.multi_lookup(candidate).await,
            Family::Inet => self.hosts_lookup(candidate, RecordType::A).await,
            Family::Inet6 => self.hosts_lookup(candidate, RecordType::AAAA).await,
        }
    }

    /// One type with addresses is enough; if both fail, the AAAA error counts.
    ///
    /// Source: hickory-resolver `src/lookup_ip.rs: LookupContext::multi_lookup`, before 0.26
    /// `rt_then_swap`.
    async fn multi_lookup(&self, candidate: &Candidate) -> Result<Vec<IpAddr>, NetError> {
        if self.client.pool.version.is_before_26 {
            let first = self.hosts_lookup(candidate, RecordType::A).await;
            return match first {
                Ok(ips) => Ok(ips),
                Err(_) => self.hosts_lookup(candidate, RecordType::AAAA).await,
            };
        }
        let aaaa = self.hosts_lookup(candidate, RecordType::AAAA);
        let a = self.hosts_lookup(candidate, RecordType::A);
        let (first, second) = self.io.as_woken(AS_WOKEN, aaaa, a).await;
        match (first, second) {
            (Ok(mut first), Ok(second)) => {
                first.extend(second);
                Ok(first)
            }
            (Ok(ips), Err(_)) | (Err(_), Ok(ips)) => Ok(ips),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Source: hickory-resolver `src/lookup_ip.rs: LookupContext::hosts_lookup`.
    async fn hosts_lookup(
        &self,
        candidate: &Candidate,
        record_type: RecordType,
    ) -> Result<Vec<IpAddr>, NetError> {
        let version = self.client.pool.version;
        let known = (self.hosts).lookup_static_host(&candidate.name, record_type, version);
        match known {
            Some(ips) => Ok(ips),
            None => self.client.lookup(candidate.query(record_type)).await,
        }
    }
}

impl Candidate {
    fn query(&self, record_type: RecordType) -> Query {
        // Every name of hickory's fits a message.
        let name = crate::name::Name::from_labels(self.name.iter()).unwrap_or_default();
        Query {
            name,
            record_type,
            because: self.because.clone(),
        }
    }
}

/// Whether the name is an address of version 3 below `.onion`.
fn is_onion_v3(name: &Name) -> bool {
    let mut labels = name.iter().rev();
    let under_onion = labels
        .next()
        .is_some_and(|label| label.eq_ignore_ascii_case(b"onion"));
    // For `onion` alone the source looks at that label, which is shorter.
    under_onion
        && labels
            .next()
            .is_some_and(|label| label.len() == ONION_V3_LABEL)
}

fn found(ips: Vec<IpAddr>) -> Outcome {
    Outcome::Found(ips.into_iter().map(Address::from).collect())
}

#[cfg(test)]
mod tests {
    use crate::resolver::find;
    use crate::scenario::{Scenario, file};
    use crate::world::{Effect, Rule};

    #[test]
    fn the_first_two_queries_have_an_order_and_those_after_a_timer_have_none() {
        let mut scenario = Scenario::new("1", "web.test.");
        let servers = "nameserver 10.0.0.1\nnameserver 10.0.0.2\n";
        scenario.resolv_conf = Some(file("/etc/resolv.conf", servers));
        scenario.answers = vec![Rule {
            effect: Effect::Timeout,
            ..Rule::default()
        }];
        let (run, courses) = find("hickory").unwrap().predict_courses(&scenario);
        assert!(run.sent.len() > 2, "{run:?}");
        let lanes = courses.any_order.iter().flat_map(|it| &it.lanes);
        let mut loose = lanes.flatten().copied();
        assert!(loose.all(|it| it > 1), "{courses:?}");
    }
}
