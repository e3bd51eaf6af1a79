//! A client's question: answered from the hosts file, by servers, or made up.
//!
//! Source: systemd `src/resolve/resolved-dns-query.c`.

use std::time::Duration;

use hickory_proto::rr::RecordType;
use smallvec::SmallVec;

use crate::engine::message::{Data, Rcode, Record};
use crate::name::Name;
use crate::resolver::resolved::dns_cache::{Answer, may_redirect};
use crate::resolver::resolved::dns_domain::dns_name_concat;
use crate::resolver::resolved::dns_stub::StubPacket;
use crate::resolver::resolved::event::Timer;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::synthesize::{Synthesized, dns_synthesize_answer};
use crate::resolver::resolved::transaction::State;

/// Source: `resolved-def.h: SD_RESOLVED_QUERY_TIMEOUT_USEC`.
const QUERY_TIMEOUT: Duration = Duration::from_secs(120);
/// Source: `CNAME_REDIRECTS_MAX`, and `CNAME_MAX` before 248.
const CNAME_REDIRECTS_MAX: u32 = 16;
const CNAME_MAX: u32 = 8;

/// What is left to chance, as a sentence.
const EITHER_ALIAS: &str =
    "a name in /etc/hosts with several addresses is an alias of the first name of any of them";

/// Source: `DnsQuery`.
#[derive(Clone, Debug)]
pub(super) struct DnsQuery {
    /// The name that servers are asked for.
    pub name_idna: Name,
    /// The name as the client gave it.
    pub name_utf8: Name,
    /// The types.
    pub record_types: SmallVec<[RecordType; 2]>,
    /// `SD_RESOLVED_NO_SEARCH`: no search domains.
    pub no_search: bool,
    /// Whether it waits, or how it ended.
    pub state: State,
    /// The search for it, if servers are asked.
    pub candidate: Option<DnsQueryCandidate>,
    /// The reply code, once it is over.
    pub answer_rcode: Rcode,
    /// The records, once it is over.
    pub answer: Answer,
    /// The search domain that the answer was found with.
    pub answer_search_domain: Option<usize>,
    /// CNAME records that were followed.
    pub n_cname_redirects: u32,
    /// The stub's client, if it is one.
    pub request: Option<StubPacket>,
    /// What the stub's client gets.
    pub reply_answer: Vec<Record>,
    /// Whether what the stub's client gets has an SOA record.
    pub reply_soa: bool,
    /// Its client has got an answer, or will never get one.
    pub freed: bool,
}

/// The search for a query in the scope.
///
/// Source: `DnsQueryCandidate`.
#[derive(Clone, Debug, Default)]
pub(super) struct DnsQueryCandidate {
    /// The search domain whose turn it is.
    pub search_domain: Option<usize>,
    /// The questions to servers; the source holds them in no fixed order.
    pub transactions: SmallVec<[usize; 2]>,
    /// Whether a name became too long.
    pub failed: bool,
}

/// What CNAME records made of a query.
///
/// Source: `DNS_QUERY_MATCH` and the like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CnameResult {
    /// The answer has what was asked for.
    Match,
    /// The answer has nothing of it.
    NoMatch,
    /// The question is another one now.
    Redirected,
    /// Too many, or in a circle.
    Loop,
}

impl DnsQuery {
    /// Source: `dns_query_new`.
    pub(super) fn new(name_idna: Name, name_utf8: Name, record_types: &[RecordType]) -> Self {
        Self {
            name_idna,
            name_utf8,
            record_types: record_types.into(),
            no_search: false,
            state: State::Null,
            candidate: None,
            answer_rcode: Rcode::NoError,
            answer: Answer::default(),
            answer_search_domain: None,
            n_cname_redirects: 0,
            request: None,
            reply_answer: Vec::new(),
            reply_soa: false,
            freed: false,
        }
    }
}

impl Manager<'_> {
    /// Begins the query; whether that was possible.
    ///
    /// Source: `dns_query_go`.
    pub(super) async fn dns_query_go(&mut self, q: usize) -> bool {
        if self.queries[q].state != State::Null {
            return true;
        }
        let query = &self.queries[q];
        let hosts = &self.configuration.etc_hosts;
        let has_aliases = self.version.hosts_have_aliases;
        let found = hosts.lookup(&query.name_utf8, &query.record_types, has_aliases);
        if let Some(records) = found {
            let records = self.one_alias_first(records);
            let answer = Answer {
                records,
                soa: false,
                synthetic: true,
            };
            self.dns_query_set_answer(q, Rcode::NoError, answer);
            self.dns_query_complete(q, State::Success);
            return true;
        }
        let hostnames = &self.configuration.hostnames;
        let is_own = self.version.own_names_first && hostnames.has(&query.name_utf8);
        if is_own || !self.dns_scope_good_domain(q) {
            let state = self.dns_query_synthesize_reply(q, State::NoServers);
            self.dns_query_complete(q, state);
            return true;
        }
        if !self.dns_query_add_candidate(q) {
            return false;
        }
        self.dns_query_set_answer(q, Rcode::NoError, Answer::default());
        let at = self.io.now() + QUERY_TIMEOUT;
        self.timers.set(Timer::Query(q), at);
        self.queries[q].state = State::Pending;
        self.dns_query_candidate_go(q).await;
        self.dns_query_ready(q);
        true
    }

    /// The addresses of a name in the hosts file are in a hash table: the name is an alias of any
    /// of their first names.
    fn one_alias_first(&self, mut records: Vec<Record>) -> Vec<Record> {
        let target = |it: &Record| match &it.data {
            Data::Cname(target) => Some(target.clone()),
            _ => None,
        };
        let mut targets: Vec<Name> = records.iter().filter_map(target).collect();
        targets.dedup();
        if let Some(chosen) = targets.get(self.io.choose(targets.len(), EITHER_ALIAS)) {
            let first = records
                .iter()
                .position(|it| target(it).as_ref() == Some(chosen));
            records.rotate_left(first.unwrap_or_default());
        }
        records
    }

    /// Source: `dns_query_reset_answer` and what follows it.
    fn dns_query_set_answer(&mut self, q: usize, rcode: Rcode, answer: Answer) {
        let query = &mut self.queries[q];
        query.answer_rcode = rcode;
        query.answer = answer;
        query.answer_search_domain = None;
    }

    /// Makes up an answer where that is needed; the state after it.
    ///
    /// Source: `dns_query_synthesize_reply`.
    fn dns_query_synthesize_reply(&mut self, q: usize, state: State) -> State {
        let failed = matches!(
            state,
            State::RcodeFailure | State::NoServers | State::Timeout | State::AttemptsMaxReached
        );
        if !failed {
            return state;
        }
        let query = &self.queries[q];
        let synthesized = dns_synthesize_answer(
            self.version,
            &self.configuration.hostnames,
            &query.name_utf8,
            &query.record_types,
        );
        match synthesized {
            Synthesized::Nothing => state,
            Synthesized::NoSuchName => {
                self.dns_query_set_answer(q, Rcode::NxDomain, Answer::default());
                self.queries[q].answer.synthetic = true;
                State::RcodeFailure
            }
            Synthesized::Records(records) => {
                let answer = Answer {
                    records,
                    soa: false,
                    synthetic: true,
                };
                self.dns_query_set_answer(q, Rcode::NoError, answer);
                State::Success
            }
        }
    }

    /// Sees whether there is an answer.
    ///
    /// Source: `dns_query_ready`.
    pub(super) fn dns_query_ready(&mut self, q: usize) {
        let live = self.queries[q].state.is_live();
        if live && !self.dns_query_candidate_state(q).is_live() {
            self.dns_query_accept(q);
        }
    }

    /// Takes what the transactions found.
    ///
    /// Source: `dns_query_accept`.
    fn dns_query_accept(&mut self, q: usize) {
        let Some(candidate) = self.queries[q].candidate.clone() else {
            return;
        };
        let mut state = if candidate.failed {
            State::Errno
        } else {
            State::NoServers
        };
        for t in candidate.transactions {
            let transaction = &self.transactions[t];
            let query = &mut self.queries[q];
            match transaction.state {
                State::Success if state == State::Success => {
                    let answer = &transaction.answer;
                    query.answer.records.extend_from_slice(&answer.records);
                    query.answer.soa |= answer.soa;
                }
                State::Success => {
                    query.answer = transaction.answer.clone();
                    query.answer_rcode = transaction.answer_rcode;
                    state = State::Success;
                }
                failure if !failure.is_live() && state != State::Success => {
                    query.answer = transaction.answer.clone();
                    query.answer_rcode = transaction.answer_rcode;
                    state = failure;
                }
                _ => {}
            }
        }
        self.queries[q].answer_search_domain = candidate.search_domain;
        let state = self.dns_query_synthesize_reply(q, state);
        self.dns_query_complete(q, state);
    }

    /// Ends the query. Its transactions go on; its client hears of it in
    /// [`Manager::dns_query_completed`].
    ///
    /// Source: `dns_query_complete`, `dns_query_abandon`.
    pub(super) fn dns_query_complete(&mut self, q: usize, state: State) {
        self.queries[q].state = state;
        self.timers.stop(Timer::Query(q));
        self.dns_query_candidate_detach(q, true);
        self.completed_queries.push_back(q);
    }

    /// Source: `DnsQuery.complete`: `vl_method_resolve_hostname_complete`,
    /// `dns_stub_query_complete`.
    pub(super) async fn dns_query_completed(&mut self, q: usize) {
        match self.queries[q].request {
            None => self.vl_method_resolve_hostname_complete(q).await,
            Some(_) => self.dns_stub_query_complete(q).await,
        }
    }

    /// Source: `on_query_timeout`.
    pub(super) fn on_query_timeout(&mut self, q: usize) {
        self.dns_query_complete(q, State::Timeout);
    }

    /// One type answered long ago, the other does not: that is enough.
    ///
    /// Source: `on_candidate_timeout`.
    pub(super) fn on_candidate_timeout(&mut self, q: usize) {
        if self.queries[q].state.is_live() {
            self.dns_query_accept(q);
        }
    }

    /// Looks for what was asked in the answer, or for a CNAME to follow.
    ///
    /// Source: `dns_query_process_cname_one`.
    pub(super) fn dns_query_process_cname_one(&mut self, q: usize) -> CnameResult {
        let query = &self.queries[q];
        if !matches!(query.state, State::Success | State::Null) {
            return CnameResult::NoMatch;
        }
        let answered = |record_type: &RecordType| {
            let of_type = |record: &&Record| record.data.record_type() == *record_type;
            let records = query.answer.records.iter();
            records.filter(of_type).any(|it| self.is_for(q, &it.name))
        };
        let mut types = query.record_types.iter();
        if types.clone().all(answered) || self.version.is_before_248 && types.any(answered) {
            return CnameResult::Match;
        }
        let redirect = query.record_types.iter().all(|it| may_redirect(*it));
        let target = query.answer.records.iter().find_map(|it| match &it.data {
            Data::Cname(target) if redirect && self.is_for(q, &it.name) => Some(target.clone()),
            _ => None,
        });
        match target {
            None => CnameResult::NoMatch,
            Some(target) => self.dns_query_cname_redirect(q, target),
        }
    }

    /// Whether a record of this name is for the query, with its search domain or without.
    pub(super) fn is_for(&self, q: usize, name: &Name) -> bool {
        let query = &self.queries[q];
        let domain = query.answer_search_domain;
        let domain = domain.and_then(|index| self.configuration.file.search_domains.get(index));
        query.name_idna.eq_ignore_case(name)
            || domain
                .and_then(|domain| dns_name_concat(&query.name_idna, &domain.name))
                .is_some_and(|joined| joined.eq_ignore_case(name))
    }

    /// Source: `dns_query_cname_redirect`.
    fn dns_query_cname_redirect(&mut self, q: usize, target: Name) -> CnameResult {
        let query = &mut self.queries[q];
        let same = query.name_idna.eq_ignore_case(&target);
        let most = if self.version.is_before_248 {
            CNAME_MAX
        } else {
            CNAME_REDIRECTS_MAX
        };
        if query.n_cname_redirects >= most || same {
            return CnameResult::Loop;
        }
        query.n_cname_redirects += 1;
        query.no_search = true;
        query.name_idna = target.clone();
        query.name_utf8 = target;
        query.state = State::Null;
        if self.version.is_before_248 {
            query.answer = Answer::default();
        }
        self.dns_query_candidate_detach(q, false);
        self.queries[q].candidate = None;
        CnameResult::Redirected
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::engine::machine::Outcome;
    use crate::resolver::find;
    use crate::scenario::json;

    #[test]
    fn a_query_ends_after_two_minutes() {
        let text = r#"{"name": "www.example.com", "resolv_conf": "nameserver 10.96.0.10\n",
            "answers": [{"reply": "TIMEOUT"}]}"#;
        let scenario = json::parse(text.as_bytes(), "1").unwrap();
        let run = find("systemd-resolved").unwrap().predict(&scenario);
        assert_eq!(run.outcome, Outcome::Failed("QueryTimedOut"));
        let late = run.elapsed.saturating_sub(Duration::from_secs(120));
        assert!(run.elapsed >= Duration::from_secs(120) && late < Duration::from_millis(100));
    }
}
