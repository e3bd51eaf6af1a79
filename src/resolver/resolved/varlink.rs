//! The lookup of nss-resolve: `io.systemd.Resolve.ResolveHostname`.
//!
//! Source: systemd `src/resolve/resolved-varlink.c`.

use std::net::IpAddr;

use hickory_proto::rr::RecordType;

use crate::address::Address;
use crate::engine::machine::Outcome;
use crate::resolver::resolved::dns_domain::{dns_name_dot_suffixed, dns_name_normalize};
use crate::resolver::resolved::dns_query::{CnameResult, DnsQuery};
use crate::resolver::resolved::idna::dns_name_apply_idna;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::State;
use crate::resolver::resolved::words::in_addr_ifindex_from_string_auto;
use crate::scenario::{Lookup, Scenario};

const NO_SUCH_RESOURCE_RECORD: Outcome = Outcome::Failed("NoSuchResourceRecord");
/// Source: `resolved-dns-query.c: dns_query_candidate_is_routable` (245.4), for a family
/// that no interface has an address of beside those of its link.
const ONE_FAMILY: &str =
    "where the node has IPv4 addresses only, systemd-resolved 245 does not ask for AAAA";
/// A system error, `EINVAL` or another.
const SYSTEM: Outcome = Outcome::Failed("System");

/// Asks resolved and waits for its reply.
pub(super) async fn lookup(mut manager: Manager<'_>, scenario: &Scenario) -> Outcome {
    let begun = match scenario.lookup {
        Lookup::Addresses(family) => {
            let record_types = family.record_types();
            resolve_hostname(&mut manager, &scenario.name, record_types).await
        }
        Lookup::Records(record_type) => {
            resolve_record(&mut manager, &scenario.name, record_type).await
        }
    };
    if let Err(reply) = begun {
        return reply;
    }
    loop {
        if let Some(reply) = manager.varlink_reply.take() {
            return reply;
        }
        let event = manager.next_event(manager.wake_at()).await;
        manager.run(event).await;
    }
}

/// Source: `vl_method_resolve_hostname`.
async fn resolve_hostname(
    manager: &mut Manager<'_>,
    name: &str,
    record_types: &[RecordType],
) -> Result<(), Outcome> {
    let text = name.as_bytes();
    let refused = if manager.version.is_before_248 {
        SYSTEM
    } else {
        Outcome::Failed("InvalidParameter")
    };
    let name_utf8 = dns_name_normalize(text).ok_or(refused)?;
    if let Some(word) = in_addr_ifindex_from_string_auto(text) {
        return Err(parse_as_address(&word.ip.into(), record_types));
    }
    let converted = dns_name_apply_idna(name).map_err(|_| SYSTEM)?;
    let name_idna = match converted {
        Some(text) => dns_name_normalize(text.as_bytes()).ok_or(SYSTEM)?,
        None => name_utf8.clone(),
    };
    let mut query = DnsQuery::new(name_idna, name_utf8, record_types);
    if manager.version.is_before_247 && record_types.len() > 1 {
        manager.io.limit(ONE_FAMILY);
    }
    query.no_search = !manager.version.is_before_247 && dns_name_dot_suffixed(text);
    begin(manager, query).await
}

/// Source: `resolved-bus.c: bus_method_resolve_record`.
async fn resolve_record(
    manager: &mut Manager<'_>,
    name: &str,
    record_type: RecordType,
) -> Result<(), Outcome> {
    let name = dns_name_normalize(name.as_bytes());
    let name = name.ok_or(Outcome::Failed("InvalidParameter"))?;
    let mut query = DnsQuery::new(name.clone(), name, &[record_type]);
    query.no_search = true;
    begin(manager, query).await
}

async fn begin(manager: &mut Manager<'_>, query: DnsQuery) -> Result<(), Outcome> {
    let q = manager.queries.push(query);
    if !manager.dns_query_go(q).await {
        return Err(SYSTEM);
    }
    manager.settle().await;
    manager.connect_streams().await;
    Ok(())
}

/// Source: `parse_as_address`.
fn parse_as_address(address: &Address, record_types: &[RecordType]) -> Outcome {
    let record_type = match address.ip {
        IpAddr::V4(_) => RecordType::A,
        IpAddr::V6(_) => RecordType::AAAA,
    };
    if record_types.contains(&record_type) {
        Outcome::Found(vec![address.clone()])
    } else {
        NO_SUCH_RESOURCE_RECORD
    }
}

impl Manager<'_> {
    /// Source: `vl_method_resolve_hostname_complete`.
    pub(super) async fn vl_method_resolve_hostname_complete(&mut self, q: usize) {
        if self.queries[q].state != State::Success {
            self.varlink_reply = Some(reply_query_state(self.queries[q].state));
            return;
        }
        match self.dns_query_process_cname_many(q).await {
            CnameResult::Redirected => return,
            CnameResult::Loop => {
                self.varlink_reply = Some(Outcome::Failed("CNAMELoop"));
                return;
            }
            CnameResult::Match | CnameResult::NoMatch => {}
        }
        let mut found = Vec::new();
        let mut answered = false;
        for record in &self.queries[q].answer.records {
            let wanted = self.queries[q]
                .record_types
                .contains(&record.data.record_type());
            if !(wanted && self.is_for(q, &record.name)) {
                continue;
            }
            answered = true;
            found.extend(record.data.ip().map(Into::into));
        }
        self.varlink_reply = Some(if answered {
            Outcome::Found(found)
        } else {
            NO_SUCH_RESOURCE_RECORD
        });
    }

    /// Follows CNAME records as far as the answer goes, then asks for the rest.
    ///
    /// Source: `resolved-dns-query.c: dns_query_process_cname_many`.
    async fn dns_query_process_cname_many(&mut self, q: usize) -> CnameResult {
        let first = self.dns_query_process_cname_one(q);
        if first != CnameResult::Redirected {
            return first;
        }
        loop {
            match self.dns_query_process_cname_one(q) {
                CnameResult::Redirected => {}
                CnameResult::NoMatch => {
                    if !self.dns_query_go(q).await {
                        self.varlink_reply = Some(SYSTEM);
                    }
                    return CnameResult::Redirected;
                }
                result => return result,
            }
        }
    }
}

/// Source: `reply_query_state`.
fn reply_query_state(state: State) -> Outcome {
    Outcome::Failed(match state {
        State::NoServers => "NoNameServers",
        State::Timeout => "QueryTimedOut",
        State::AttemptsMaxReached => "MaxAttemptsReached",
        State::InvalidReply => "InvalidReply",
        State::RcodeFailure => "DNSError",
        State::Errno | State::Null | State::Pending | State::Success => "System",
    })
}
