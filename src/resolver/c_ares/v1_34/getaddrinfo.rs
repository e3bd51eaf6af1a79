//! `ares_getaddrinfo`.
//!
//! Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::engine::machine::Outcome;
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::address::{Prefix, is_of, literal_ipv4, literal_ipv6};
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::dots;
use crate::resolver::c_ares::status::{Status, addresses, found, reply_status};
use crate::resolver::c_ares::v1_34::channel::{Answered, Channel, Qid};
use crate::resolver::c_ares::v1_34::hosts_file::ares_hosts_search_host;
use crate::resolver::c_ares::v1_34::search::ares_search_name_list;
use crate::scenario::{Family, Scenario};

/// `struct host_query`.
struct HostQuery<'h, 'c> {
    channel: &'h mut Channel<'c>,
    scenario: &'h Scenario,
    name: &'h [u8],
    family: Family,
    names: std::vec::IntoIter<Candidate>,
    nodes: Vec<IpAddr>,
    /// The queries that are out.
    qids: Vec<Qid>,
    nodata: bool,
}

/// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: ares_getaddrinfo_int, next_lookup`.
pub(in crate::resolver::c_ares) async fn ares_getaddrinfo(
    channel: &mut Channel<'_>,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    family: Family,
) -> Outcome {
    if let Some(ip) = literal_ipv4(name).or_else(|| literal_ipv6(name, family, Prefix::Refused)) {
        return found([ip]);
    }
    let is_old = channel.version.is_before_1_28;
    let mut query = HostQuery {
        channel,
        scenario,
        name,
        family,
        names: ares_search_name_list(scenario, config, name, is_old).into_iter(),
        nodes: Vec::new(),
        qids: Vec::new(),
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

impl HostQuery<'_, '_> {
    /// Asks name after name; `None` when there is none left.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: next_dns_lookup`.
    async fn dns_lookup(&mut self, status: &mut Status) -> Option<Outcome> {
        if self.is_localhost() {
            return None;
        }
        while let Some(candidate) = self.names.next() {
            let is_single_label = dots(&candidate.name) == 0;
            let record_types = self.family.record_types();
            self.qids.clear();
            for &record_type in record_types {
                let qid = self
                    .channel
                    .ares_query_nolock(candidate.clone(), record_type)
                    .await;
                self.qids.extend(qid);
            }
            let mut remaining = record_types.len();
            while remaining > 0 {
                let answered = self.channel.next_answer().await;
                remaining -= 1;
                match self.host_callback(&answered, remaining, is_single_label) {
                    Ok(next) => *status = next,
                    Err(outcome) => return Some(outcome),
                }
            }
        }
        None
    }

    /// How the lookup ends with this answer, or the status so far. Only the
    /// answer that comes last decides.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: host_callback`,
    /// `src/lib/ares_parse_into_addrinfo.c: ares_parse_into_addrinfo`.
    fn host_callback(
        &mut self,
        answered: &Answered,
        remaining: usize,
        is_single_label: bool,
    ) -> Result<Status, Outcome> {
        let mut status = answered.status;
        let mut no_data = false;
        if let (Status::Success, Some(reply)) = (status, &answered.reply) {
            status = reply_status(reply);
            if status == Status::Success {
                let before = self.nodes.len();
                self.nodes.extend(addresses(reply));
                no_data = before == self.nodes.len();
                let needs_ipv4 = self.channel.version.ipv4_ends_retries;
                let has_all = !needs_ipv4 || self.nodes.iter().any(IpAddr::is_ipv4);
                if !no_data && has_all {
                    self.terminate_retries(answered.qid);
                }
            }
        }
        if remaining > 0 {
            return Ok(status);
        }
        if !self.nodes.is_empty() {
            return Err(found(std::mem::take(&mut self.nodes)));
        }
        no_data |= status == Status::NoData;
        let goes_on = match status {
            Status::NotFound => true,
            // systemd-resolved may say so of single labels.
            Status::ServFail | Status::Refused => {
                is_single_label && self.channel.version.single_labels_may_fail
            }
            _ => no_data,
        };
        if !goes_on {
            return Err(status.outcome());
        }
        self.nodata |= no_data;
        Ok(if self.nodata { Status::NoData } else { status })
    }

    /// `localhost` and every name below it (RFC 6761, section 6.3).
    ///
    /// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: ares_is_localhost`.
    fn is_localhost(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        let is_known = self.channel.version.hosts_by_family || name == self.name;
        is_known && (name == b"localhost" || name.ends_with(b".localhost"))
    }

    /// With an IPv4 address at hand, the other query is not sent again.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: terminate_retries`.
    fn terminate_retries(&mut self, qid: Option<Qid>) {
        for &other in self.qids.iter().filter(|other| Some(**other) != qid) {
            if let Some(query) = self.channel.query(other) {
                query.no_retries = true;
            }
        }
    }

    /// Source: c-ares 1.34 `src/lib/ares_getaddrinfo.c: file_lookup`,
    /// `src/lib/ares_addrinfo_localhost.c: ares_addrinfo_localhost`.
    fn file_lookup(&mut self) -> Option<Outcome> {
        let hosts = self.scenario.hosts.as_ref();
        let entry = hosts.and_then(|file| ares_hosts_search_host(file, self.name, self.family));
        if let Some(nodes) = &entry
            && !self.channel.version.hosts_by_family
        {
            return Some(found(nodes.iter().copied()));
        }
        let mut nodes = entry.unwrap_or_default();
        if self.is_localhost() {
            for ip in [
                IpAddr::from(Ipv6Addr::LOCALHOST),
                Ipv4Addr::LOCALHOST.into(),
            ] {
                let has_family = nodes.iter().any(|node| node.is_ipv4() == ip.is_ipv4());
                if is_of(self.family, ip) && !has_family {
                    nodes.push(ip);
                }
            }
        }
        (!nodes.is_empty()).then(|| found(nodes))
    }
}
