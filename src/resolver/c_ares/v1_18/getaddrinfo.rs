//! `ares_getaddrinfo`.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data, Reply};
use crate::name::Name;
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::address::{Prefix, is_of, literal_ipv4, literal_ipv6};
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::{cat_domain, is_hostnamech, name_list};
use crate::resolver::c_ares::status::{Status, found};
use crate::resolver::c_ares::v1_18::process::{Answered, Channel};
use crate::resolver::c_ares::v1_18::readaddrinfo::ares_readaddrinfo;
use crate::resolver::c_ares::v1_18::search::ares_single_domain;
use crate::scenario::{Family, Scenario};

/// `struct host_query`.
struct HostQuery<'h> {
    channel: Channel,
    scenario: &'h Scenario,
    name: Vec<u8>,
    family: Family,
    names: std::vec::IntoIter<Candidate>,
    nodes: Vec<IpAddr>,
    nodata: bool,
}

/// Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c: ares_getaddrinfo, next_lookup`.
pub(in crate::resolver::c_ares) async fn ares_getaddrinfo(
    channel: Channel,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    family: Family,
) -> Outcome {
    // Only the alias matters: the search list is used for it, too.
    let single = ares_single_domain(scenario, config, name);
    let name = single.unwrap_or_else(|| Candidate::new(name, Because::AsIs));
    let mut nodes = Vec::new();
    if fake_addrinfo(&name.name, family, &mut nodes) {
        return found(nodes);
    }
    let mut query = HostQuery {
        channel,
        scenario,
        name: name.name.clone(),
        family,
        names: name_list(name, config, cat_domain).into_iter(),
        nodes,
        nodata: false,
    };
    let mut status = Status::ConnRefused;
    for lookup in config.lookups.bytes() {
        let ended = match lookup {
            b'b' => query.dns_lookup(&mut status).await,
            _ => query.file_lookup(),
        };
        if let Some(outcome) = ended {
            return outcome;
        }
    }
    status.outcome()
}

/// Adds the address that `name` is; whether that ends the lookup. It does not
/// for an IPv4 address unless only IPv4 is wanted: the check for IPv6 then
/// overwrites the result, and the name is looked up although the address is
/// already there.
///
/// Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c: fake_addrinfo`.
fn fake_addrinfo(name: &[u8], family: Family, nodes: &mut Vec<IpAddr>) -> bool {
    let four = literal_ipv4(name);
    let six = literal_ipv6(name, family, Prefix::Allowed);
    nodes.extend(four);
    nodes.extend(six);
    match family {
        Family::Inet => four.is_some(),
        Family::Both | Family::Inet6 => six.is_some(),
    }
}

impl HostQuery<'_> {
    /// Asks name after name; `None` when there is none left.
    async fn dns_lookup(&mut self, status: &mut Status) -> Option<Outcome> {
        // RFC 6761, but for this one name only.
        if self.name == b"localhost" {
            return None;
        }
        while let Some(candidate) = self.names.next() {
            let record_types = self.family.record_types();
            for &record_type in record_types {
                self.channel
                    .ares_query(candidate.clone(), record_type)
                    .await;
            }
            let mut remaining = record_types.len();
            while remaining > 0 {
                let answered = self.channel.next_answer().await;
                remaining -= 1;
                match self.host_callback(&answered, remaining) {
                    Ok(next) => *status = next,
                    Err(outcome) => return Some(outcome),
                }
            }
        }
        None
    }

    /// How the lookup ends with this answer, or the status so far.
    ///
    /// Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c: host_callback`.
    fn host_callback(&mut self, answered: &Answered, remaining: usize) -> Result<Status, Outcome> {
        let status = answered.status;
        let mut parsed = Status::Success;
        if let (Status::Success, Some(reply), Some(name)) =
            (status, &answered.reply, &answered.name)
        {
            parsed = ares_parse_into_addrinfo(reply, name, &mut self.nodes);
        }
        if remaining > 0 {
            return Ok(status);
        }
        if parsed != Status::Success && parsed != Status::NoData {
            return Err(parsed.outcome());
        }
        if !self.nodes.is_empty() {
            return Err(found(std::mem::take(&mut self.nodes)));
        }
        let no_data = status == Status::NoData || parsed == Status::NoData;
        if status == Status::NotFound || no_data {
            self.nodata |= no_data;
            return Ok(if self.nodata { Status::NoData } else { status });
        }
        Err(status.outcome())
    }

    /// Source: c-ares 1.18.1 `src/lib/ares_getaddrinfo.c: file_lookup`,
    /// `src/lib/ares__addrinfo_localhost.c: ares__addrinfo_localhost`.
    fn file_lookup(&mut self) -> Option<Outcome> {
        let hosts = self.scenario.hosts.as_ref()?;
        let mut nodes = ares_readaddrinfo(hosts, &self.name, self.family);
        if nodes.is_empty() && self.name == b"localhost" {
            let loopback = [
                IpAddr::from(Ipv6Addr::LOCALHOST),
                Ipv4Addr::LOCALHOST.into(),
            ];
            nodes.extend(loopback.into_iter().filter(|&ip| is_of(self.family, ip)));
        }
        if nodes.is_empty() {
            return None;
        }
        self.nodes.extend(nodes);
        Some(found(std::mem::take(&mut self.nodes)))
    }
}

/// The addresses of the name in the question, and of what it is an alias of.
///
/// Source: c-ares 1.18.1 `src/lib/ares__parse_into_addrinfo.c`.
fn ares_parse_into_addrinfo(reply: &Reply, question: &Name, nodes: &mut Vec<IpAddr>) -> Status {
    let mut host_name = question;
    let mut new = Vec::new();
    for record in &reply.answers {
        let is_host = record.name.eq_ignore_case(host_name);
        match &record.data {
            Data::A(ip) if is_host => new.push(IpAddr::V4(*ip)),
            Data::Aaaa(ip) if is_host => new.push(IpAddr::V6(*ip)),
            Data::Cname(target) => {
                let is_plain = |label: &[u8]| {
                    label
                        .iter()
                        .all(|&byte| is_hostnamech(byte) && byte != b'.')
                };
                if !target.labels().all(is_plain) {
                    return Status::BadResp;
                }
                host_name = target;
            }
            Data::A(_) | Data::Aaaa(_) | Data::Other(_) => {}
        }
    }
    if new.is_empty() {
        return Status::NoData;
    }
    nodes.extend(new);
    Status::Success
}
