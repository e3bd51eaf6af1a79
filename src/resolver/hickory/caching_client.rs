//! Special names, the cache, and CNAME records.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use hickory_proto::rr::RecordType;

use crate::engine::message::{Because, Data, Rcode, Record, Reply};
use crate::name::Name;
use crate::resolver::hickory::error::NetError;
use crate::resolver::hickory::name_server_pool::NameServerPool;

/// So many names of a chain of CNAME records are asked for.
/// Source: hickory-resolver `src/caching_client.rs: DepthTracker::MAX_QUERY_DEPTH`.
const MAX_QUERY_DEPTH: u8 = 8;
/// How long a negative answer with an SOA record is kept. Scenarios have no
/// times to live; the SOA records of the observed ones had this minimum.
const NEGATIVE_TTL: Duration = Duration::from_secs(5);
/// Zones whose names are the loopback addresses, in wire format.
/// Source: hickory-proto `src/rr/domain/usage.rs: LOCALHOST, IN_ADDR_ARPA_127, IP6_ARPA_1`.
const LOOPBACK_ZONES: [&[u8]; 3] = [
    b"\x09localhost",
    b"\x03127\x07in-addr\x04arpa",
    b"\x011\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\
      \x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\x010\
      \x03ip6\x04arpa",
];
/// Zones without names, in wire format.
/// Source: hickory-proto `src/rr/domain/usage.rs: INVALID, ONION`.
const EMPTY_ZONES: [&[u8]; 2] = [b"\x07invalid", b"\x05onion"];

/// A question, and why it is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Query {
    /// The name.
    pub(super) name: Name,
    /// The type.
    pub(super) record_type: RecordType,
    /// Where the name comes from.
    pub(super) because: Because,
}

/// Source: hickory-resolver `src/caching_client.rs: CachingClient`.
///
/// Positive answers are kept too, but they end a lookup.
#[derive(Debug)]
pub(super) struct CachingClient<'a> {
    /// Whom it asks.
    pub(super) pool: NameServerPool<'a>,
    negative: RefCell<BTreeMap<Question, Kept>>,
}

/// A name in lower case, in wire format, a type, and whether the name has no final dot.
type Question = (Vec<u8>, u16, bool);

/// A negative answer in the cache.
#[derive(Debug)]
struct Kept {
    error: NetError,
    valid_until: Duration,
}

/// What a reply comes to.
enum Records {
    /// The answer, never empty of records.
    Exist(Vec<IpAddr>),
    /// An alias: this name is to be asked for.
    CnameChain(Name),
    /// No record that helps.
    Missing(NetError),
}

impl<'a> CachingClient<'a> {
    /// With an empty cache.
    pub(super) fn new(pool: NameServerPool<'a>) -> Self {
        Self {
            pool,
            negative: RefCell::default(),
        }
    }

    /// Source: hickory-resolver `src/caching_client.rs: CachingClient::lookup`.
    pub(super) async fn lookup(&self, query: Query) -> Result<Vec<IpAddr>, NetError> {
        self.pool.lookups.set(self.pool.lookups.get() + 1);
        let found = self.inner_lookup(query, false, 0).await;
        self.pool.lookups.set(self.pool.lookups.get() - 1);
        found
    }

    /// `preserved`: a reply before this one had CNAME records.
    ///
    /// Source: hickory-resolver `src/caching_client.rs: CachingClient::inner_lookup`.
    async fn inner_lookup(
        &self,
        query: Query,
        preserved: bool,
        query_depth: u8,
    ) -> Result<Vec<IpAddr>, NetError> {
        if let Some(local) = special_use(&query) {
            return local;
        }
        if let Some(error) = self.lookup_from_cache(&query) {
            return Err(error);
        }
        let reply = match self.pool.send_with_retries(&query).await {
            Ok(reply) => reply,
            Err(error) => return Err(self.cache(&query, error)),
        };
        let counts = !preserved || self.pool.version.is_before_26;
        match handle_noerror(&query, &reply, counts, query_depth) {
            Records::Exist(ips) => Ok(ips),
            Records::Missing(error) => Err(error),
            Records::CnameChain(target) => {
                self.pool.fall_behind(&query).await;
                let next = Query {
                    name: target,
                    record_type: query.record_type,
                    because: Because::Cname,
                };
                Box::pin(self.inner_lookup(next, true, query_depth + 1))
                    .await
                    .map_err(|error| self.cache(&query, error))
            }
        }
    }

    fn lookup_from_cache(&self, query: &Query) -> Option<NetError> {
        let now = self.pool.io.now();
        let negative = self.negative.borrow();
        let kept = negative.get(&self.question(query))?;
        (now <= kept.valid_until).then_some(kept.error)
    }

    /// Keeps the error, if it is of the kind that is kept, and gives it back.
    ///
    /// Source: hickory-resolver `src/cache.rs: ResponseCache::upsert_clamped_ttl`.
    fn cache(&self, query: &Query, error: NetError) -> NetError {
        if let NetError::NoRecords { soa: true, rcode } = error
            && matches!(rcode, Rcode::NoError | Rcode::NxDomain)
        {
            let kept = Kept {
                error,
                valid_until: self.pool.io.now() + NEGATIVE_TTL,
            };
            let question = self.question(query);
            self.negative.borrow_mut().insert(question, kept);
        }
        error
    }

    /// Under what an answer is kept. Before 0.25 the name as it is has no final dot.
    fn question(&self, query: &Query) -> Question {
        let name = query.name.as_wire().to_ascii_lowercase();
        let is_bare = self.pool.version.is_before_25 && query.because == Because::AsIs;
        (name, query.record_type.into(), is_bare)
    }
}

/// The answer for names that are never asked for; `None` for all others.
fn special_use(query: &Query) -> Option<Result<Vec<IpAddr>, NetError>> {
    let within = |zone: &&[u8]| zone_of(zone, &query.name);
    if LOOPBACK_ZONES.iter().any(within) {
        return Some(match query.record_type {
            RecordType::A => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            RecordType::AAAA => Ok(vec![Ipv6Addr::LOCALHOST.into()]),
            RecordType::PTR => Ok(Vec::new()),
            _ => Err(no_records(Rcode::NoError)),
        });
    }
    EMPTY_ZONES
        .iter()
        .any(within)
        .then(|| Err(no_records(Rcode::NxDomain)))
}

/// Whether `name` is `zone` or below it.
///
/// Source: hickory-proto `src/rr/domain/name.rs: Name::zone_of`.
fn zone_of(zone: &[u8], name: &Name) -> bool {
    let mut rest = name.as_wire();
    while rest.len() > zone.len() {
        let label = rest.first().map_or(0, |&length| usize::from(length) + 1);
        rest = rest.get(label..).unwrap_or_default();
    }
    // No length byte is a letter.
    rest.eq_ignore_ascii_case(zone)
}

/// Looks for the records that were asked for, through the CNAME records of
/// the reply. `counts`: the addresses behind an alias do.
///
/// Source: hickory-resolver `src/caching_client.rs: CachingClient::handle_noerror`.
fn handle_noerror(query: &Query, reply: &Reply, counts: bool, query_depth: u8) -> Records {
    let follows = !matches!(query.record_type, RecordType::ANY | RecordType::CNAME);
    let mut search_name = &query.name;
    let mut was_cname = false;
    for record in reply.answers.iter().filter(|_| follows) {
        match &record.data {
            Data::Cname(target) if record.name.eq_ignore_case(search_name) => {
                search_name = target;
                was_cname = true;
            }
            _ => {}
        }
    }
    let found_name = reply.answers.iter().any(|record| {
        let type_matches =
            query.record_type.is_any() || query.record_type == record.data.record_type();
        type_matches
            && (record.name.eq_ignore_case(search_name) || record.name.eq_ignore_case(&query.name))
    });
    if found_name && (!was_cname || counts) {
        return Records::Exist(reply.answers.iter().filter_map(ip_addr).collect());
    }
    if was_cname && query_depth + 1 < MAX_QUERY_DEPTH {
        return Records::CnameChain(search_name.clone());
    }
    Records::Missing(NetError::NoRecords {
        rcode: reply.rcode,
        soa: reply.soa,
    })
}

fn ip_addr(record: &Record) -> Option<IpAddr> {
    match record.data {
        Data::A(ip) => Some(ip.into()),
        Data::Aaaa(ip) => Some(ip.into()),
        Data::Cname(_) | Data::Other(_) => None,
    }
}

/// Such an answer without an SOA record is not kept.
fn no_records(rcode: Rcode) -> NetError {
    NetError::NoRecords { rcode, soa: false }
}
