//! `ares_search`.
//!
//! Source: c-ares 1.18.1 `src/lib/ares_search.c`.

use std::borrow::Cow;

use hickory_proto::rr::RecordType;

use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::resolver::c_ares::name::{c_string, cat_domain, dots, is_onion_domain, is_space};
use crate::resolver::c_ares::status::{Status, addresses, found};
use crate::resolver::c_ares::v1_18::init::Config;
use crate::resolver::c_ares::v1_18::lines::file_lines;
use crate::resolver::c_ares::v1_18::process::{Answered, Channel};
use crate::resolver::c_ares::v1_18::query::Candidate;
use crate::scenario::Scenario;

/// Source: c-ares 1.18.1 `src/lib/ares_search.c: ares_search, search_callback`.
pub(super) async fn ares_search(
    mut channel: Channel,
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
    record_type: RecordType,
) -> Outcome {
    if is_onion_domain(name) {
        return Status::NotFound.outcome();
    }
    if let Some(candidate) = ares_single_domain(scenario, config, name) {
        channel.ares_query(candidate, record_type).await;
        return outcome(channel.next_answer().await);
    }
    let as_is = || Candidate {
        name: name.to_vec(),
        because: Because::AsIs,
    };
    let mut next_domain = 0;
    let mut status_as_is = None;
    let mut ever_got_nodata = false;
    let mut trying_as_is = is_first(name, config.ndots);
    loop {
        if trying_as_is {
            channel.ares_query(as_is(), record_type).await;
        } else if let Some(candidate) = searched(config, name, next_domain) {
            next_domain += 1;
            channel.ares_query(candidate, record_type).await;
        }
        let answered = channel.next_answer().await;
        if !matches!(
            answered.status,
            Status::NoData | Status::ServFail | Status::NotFound
        ) {
            return outcome(answered);
        }
        if trying_as_is {
            status_as_is = Some(answered.status);
        }
        ever_got_nodata |= answered.status == Status::NoData;
        trying_as_is = next_domain >= config.reading.search.len();
        if let Some(status) = status_as_is.filter(|_| trying_as_is) {
            return match status {
                Status::NotFound if ever_got_nodata => Status::NoData.outcome(),
                status => status.outcome(),
            };
        }
    }
}

fn outcome(answered: Answered) -> Outcome {
    match (answered.status, answered.reply) {
        (Status::Success, Some(reply)) => found(addresses(&reply)),
        (status, _) => status.outcome(),
    }
}

/// `name` below the n-th domain of the search list.
pub(super) fn searched(config: &Config<'_>, name: &[u8], index: usize) -> Option<Candidate> {
    let domain = config.reading.search.get(index)?;
    Some(Candidate {
        name: cat_domain(name, &domain.value),
        because: Because::Search(index),
    })
}

/// Whether `name` has dots enough to be asked as it is first.
pub(super) fn is_first(name: &[u8], ndots: i32) -> bool {
    i32::try_from(dots(name)).unwrap_or(i32::MAX) >= ndots
}

/// The only name that is to be asked, if there is but one: for a name with a
/// final dot, a host alias, or without a search list.
///
/// Source: c-ares 1.18.1 `src/lib/ares_search.c: ares__single_domain`.
pub(super) fn ares_single_domain(
    scenario: &Scenario,
    config: &Config<'_>,
    name: &[u8],
) -> Option<Candidate> {
    let candidate = |name: &[u8], because| {
        Some(Candidate {
            name: name.to_vec(),
            because,
        })
    };
    if name.ends_with(b".") {
        return candidate(name, Because::AsIs);
    }
    if let Some(alias) = host_alias(scenario, name) {
        return candidate(&alias, Because::HostAlias);
    }
    if config.reading.search.is_empty() {
        return candidate(name, Because::AsIs);
    }
    None
}

fn host_alias<'a>(scenario: &'a Scenario, name: &[u8]) -> Option<Cow<'a, [u8]>> {
    if name.contains(&b'.') {
        return None;
    }
    let path = std::str::from_utf8(c_string(scenario.env("HOSTALIASES")?)).ok()?;
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
