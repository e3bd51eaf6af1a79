//! The names to try, and `ares_search`.
//!
//! Source: c-ares 1.34 `src/lib/ares_search.c`.

use hickory_proto::rr::RecordType;

use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::{cat_domain, dots, host_aliases, is_hostnamech, name_list};
use crate::resolver::c_ares::status::{Status, addresses, found, reply_status};
use crate::resolver::c_ares::v1_18::ares_single_domain;
use crate::resolver::c_ares::v1_34::buffer::{fits, nonwhitespace, split, text, trim};
use crate::resolver::c_ares::v1_34::channel::Channel;
use crate::resolver::c_ares::v1_34::dns_name::question;
use crate::scenario::Scenario;

/// Room for an alias in the file, its zero byte included.
const ALIAS_BUFFER: usize = 64;
/// Room for the name that it stands for.
const TARGET_BUFFER: usize = 256;

/// Source: c-ares 1.34 `src/lib/ares_search.c: ares_search, ares_search_int,
/// search_callback`.
pub(in crate::resolver::c_ares) async fn ares_search(
    mut channel: Channel<'_>,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    record_type: RecordType,
) -> Outcome {
    // The query is copied before names are tried. Why a copy failed is
    // forgotten: a bad name looks like a lack of memory.
    let is_old = channel.version.is_before_1_28;
    if !is_old && question(name, record_type).is_err() {
        return Status::NoMem.outcome();
    }
    let single = is_old.then(|| ares_single_domain(scenario, config, name));
    let names = match single.flatten() {
        Some(only) => vec![only],
        None => ares_search_name_list(scenario, config, name, is_old),
    };
    let mut as_is = None;
    let mut ever_got_nodata = false;
    let mut last = Status::Success;
    for candidate in names {
        let is_single_label = dots(&candidate.name) == 0;
        let is_as_is = is_old && candidate.because == Because::AsIs;
        if is_old {
            channel.ares_query_nolock(candidate, record_type).await;
        } else {
            channel.ares_send_nolock(candidate, record_type).await;
        }
        let answered = channel.next_answer().await;
        last = answered
            .reply
            .as_ref()
            .map_or(answered.status, reply_status);
        match (last, answered.reply) {
            (Status::NoData | Status::NotFound, _) => {}
            (Status::ServFail, _) if is_old => {}
            (Status::ServFail | Status::Refused, _)
                if is_single_label && channel.version.single_labels_may_fail => {}
            (Status::Success, Some(reply)) => return found(addresses(&reply)),
            (status, _) => return status.outcome(),
        }
        ever_got_nodata |= last == Status::NoData;
        as_is = as_is.or(is_as_is.then_some(last));
    }
    let last = as_is.unwrap_or(last);
    if last == Status::NotFound && ever_got_nodata {
        return Status::NoData.outcome();
    }
    last.outcome()
}

/// Asks for the name as it is.
///
/// Source: c-ares 1.34 `src/lib/ares_query.c: ares_query`.
pub(in crate::resolver::c_ares) async fn ares_query(
    mut channel: Channel<'_>,
    name: &[u8],
    record_type: RecordType,
) -> Outcome {
    let as_is = Candidate::new(name, Because::AsIs);
    channel.ares_query_nolock(as_is, record_type).await;
    let answered = channel.next_answer().await;
    let reply = answered
        .reply
        .filter(|_| answered.status == Status::Success);
    match (reply.as_ref().map(reply_status), reply) {
        (Some(Status::Success), Some(reply)) => found(addresses(&reply)),
        (status, _) => status.unwrap_or(answered.status).outcome(),
    }
}

/// The names to try, in order.
///
/// Source: c-ares 1.34 `src/lib/ares_search.c: ares_search_name_list`.
pub(super) fn ares_search_name_list(
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    is_before_1_28: bool,
) -> Vec<Candidate> {
    if is_before_1_28 {
        let single = ares_single_domain(scenario, config, name);
        let name = single.unwrap_or_else(|| Candidate::new(name, Because::AsIs));
        return name_list(name, config, ares_cat_domain);
    }
    if let Some(name) = ares_lookup_hostaliases(scenario, name) {
        let because = Because::HostAlias;
        return vec![Candidate { name, because }];
    }
    let as_is = Candidate::new(name, Because::AsIs);
    name_list(as_is, config, ares_cat_domain)
}

/// The name below `domain`; below the root it gets a final dot.
///
/// Source: c-ares 1.34 `src/lib/ares_search.c: ares_cat_domain`.
fn ares_cat_domain(name: &[u8], domain: &[u8]) -> Vec<u8> {
    cat_domain(name, if domain == b"." { b"" } else { domain })
}

/// What `HOSTALIASES` has for a name without a dot.
///
/// Source: c-ares 1.34 `src/lib/ares_search.c: ares_lookup_hostaliases`.
fn ares_lookup_hostaliases(scenario: &Scenario, name: &[u8]) -> Option<Vec<u8>> {
    let path = host_aliases(scenario, name)?;
    let file = scenario.files.get(path)?;
    split(text(file), b"\n", usize::MAX, true)
        .into_iter()
        .find_map(|line| {
            let (alias, rest) = nonwhitespace(line);
            if !fits(alias.bytes, ALIAS_BUFFER) || !alias.bytes.eq_ignore_ascii_case(name) {
                return None;
            }
            let (target, _) = nonwhitespace(trim(rest));
            let is_host = target
                .bytes
                .iter()
                .all(|&byte| is_hostnamech(byte) || byte == b'*');
            let is_good = !target.bytes.is_empty() && fits(target.bytes, TARGET_BUFFER) && is_host;
            is_good.then(|| target.bytes.to_vec())
        })
}
