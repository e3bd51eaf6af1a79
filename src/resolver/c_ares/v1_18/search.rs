//! `ares_search`.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_search.c`.

use std::borrow::Cow;

use hickory_proto::rr::RecordType;

use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::c_ares::Candidate;
use crate::resolver::c_ares::config::Config;
use crate::resolver::c_ares::name::{cat_domain, host_aliases, is_space, name_list};
use crate::resolver::c_ares::status::{Status, addresses, found};
use crate::resolver::c_ares::v1_18::lines::file_lines;
use crate::resolver::c_ares::v1_18::process::{Answered, Channel};
use crate::scenario::Scenario;

/// Source: c-ares 1.18.1 `src/lib/ares_search.c: ares_search, search_callback`.
pub(in crate::resolver::c_ares) async fn ares_search(
    mut channel: Channel,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    record_type: RecordType,
) -> Outcome {
    if let Some(candidate) = ares_single_domain(scenario, config, name) {
        channel.ares_query(candidate, record_type).await;
        return outcome(channel.next_answer().await);
    }
    let mut status_as_is = Status::Success;
    let mut ever_got_nodata = false;
    for candidate in name_list(Candidate::new(name, Because::AsIs), config, cat_domain) {
        let is_as_is = candidate.because == Because::AsIs;
        channel.ares_query(candidate, record_type).await;
        let answered = channel.next_answer().await;
        let status = answered.status;
        if !matches!(status, Status::NoData | Status::ServFail | Status::NotFound) {
            return outcome(answered);
        }
        if is_as_is {
            status_as_is = status;
        }
        ever_got_nodata |= status == Status::NoData;
    }
    match status_as_is {
        Status::NotFound if ever_got_nodata => Status::NoData.outcome(),
        status => status.outcome(),
    }
}

/// Asks for the name as it is.
///
/// Source: c-ares 1.18.1 `src/lib/ares_query.c: ares_query`.
pub(in crate::resolver::c_ares) async fn ares_query(
    mut channel: Channel,
    name: &[u8],
    record_type: RecordType,
) -> Outcome {
    let as_is = Candidate::new(name, Because::AsIs);
    channel.ares_query(as_is, record_type).await;
    outcome(channel.next_answer().await)
}

fn outcome(answered: Answered) -> Outcome {
    match (answered.status, answered.reply) {
        (Status::Success, Some(reply)) => found(addresses(&reply)),
        (status, _) => status.outcome(),
    }
}

/// The only name that is to be asked, if there is but one: for a name with a
/// final dot, a host alias, or without a search list.
///
/// Source: c-ares 1.18.1 `src/lib/ares_search.c: ares__single_domain`.
pub(in crate::resolver::c_ares) fn ares_single_domain(
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
) -> Option<Candidate> {
    let as_is = || Candidate::new(name, Because::AsIs);
    if name.ends_with(b".") {
        return Some(as_is());
    }
    if let Some(alias) = host_alias(scenario, name) {
        return Some(Candidate::new(&alias, Because::HostAlias));
    }
    config.reading.search.is_empty().then(as_is)
}

fn host_alias<'a>(scenario: &'a Scenario, name: &[u8]) -> Option<Cow<'a, [u8]>> {
    let path = host_aliases(scenario, name)?;
    file_lines(scenario, path).into_iter().find_map(|line| {
        let start = line.text.get(..name.len())?;
        let is_word = line
            .text
            .get(name.len())
            .is_some_and(|&byte| is_space(byte));
        if !start.eq_ignore_ascii_case(name) || !is_word {
            return None;
        }
        let alias = line.words(name.len()..line.text.len()).next()?;
        Some(line.part(alias))
    })
}
