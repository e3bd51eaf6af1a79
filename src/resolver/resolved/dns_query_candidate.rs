//! The search for a query: one search domain after the other.
//!
//! Source: systemd `src/resolve/resolved-dns-query.c`.

use std::time::Duration;

use crate::engine::message::Because;
use crate::resolver::resolved::dns_domain::{dns_name_concat, dns_name_is_single_label};
use crate::resolver::resolved::dns_query::DnsQueryCandidate;
use crate::resolver::resolved::dns_scope::dns_scope_good_key;
use crate::resolver::resolved::event::Timer;
use crate::resolver::resolved::manager::Manager;
use crate::resolver::resolved::transaction::{DnsTransaction, Key, State, TRANSACTION_UDP_TIMEOUT};

/// How long the second type is waited for when the first has an answer.
///
/// Source: `resolved-timeouts.h: CANDIDATE_EXPEDITED_TIMEOUT_USEC`.
const CANDIDATE_EXPEDITED_TIMEOUT: Duration =
    TRANSACTION_UDP_TIMEOUT.saturating_add(Duration::from_secs(1));

/// What is left to chance, in a sentence.
///
/// Source: `src/basic/hashmap.c: get_hash_key`.
const EITHER_FIRST: &str = "A and AAAA are sent in either order: systemd-resolved keeps them in a set with a random hash key";

impl Manager<'_> {
    /// Whether the candidate could be made: not if its first name is too long.
    ///
    /// Source: `dns_query_add_candidate`.
    pub(super) fn dns_query_add_candidate(&mut self, q: usize) -> bool {
        let query = &mut self.queries[q];
        let searches = !query.no_search && dns_name_is_single_label(&query.name_idna);
        query.candidate = Some(DnsQueryCandidate::default());
        if searches {
            self.dns_query_candidate_next_search_domain(q);
        }
        self.dns_query_candidate_setup_transactions(q).is_some()
    }

    /// Goes to the next search domain; whether there is one.
    ///
    /// Source: `dns_query_candidate_next_search_domain`.
    fn dns_query_candidate_next_search_domain(&mut self, q: usize) -> bool {
        let Some(candidate) = &mut self.queries[q].candidate else {
            return false;
        };
        let first = candidate.search_domain.map_or(0, |index| index + 1);
        let domains = self
            .configuration
            .file
            .search_domains
            .iter()
            .enumerate()
            .skip(first);
        let mut searched = domains.filter(|(_, domain)| !domain.route_only);
        let Some((next, _)) = searched.next() else {
            return false;
        };
        candidate.search_domain = Some(next);
        true
    }

    /// A transaction for each type that may be asked; how many there are, or
    /// `None` if the name is too long.
    ///
    /// Source: `dns_query_candidate_setup_transactions`.
    fn dns_query_candidate_setup_transactions(&mut self, q: usize) -> Option<usize> {
        self.dns_query_candidate_detach(q, false);
        let query = &self.queries[q];
        let index = query.candidate.as_ref()?.search_domain;
        let name = match index.and_then(|index| self.configuration.file.search_domains.get(index)) {
            None => query.name_idna.clone(),
            Some(domain) => dns_name_concat(&query.name_idna, &domain.name)?,
        };
        let because = self.because(q, index);
        for record_type in query.record_types.clone() {
            let key = Key {
                name: name.clone(),
                record_type,
            };
            if dns_scope_good_key(&key) {
                self.dns_query_candidate_add_transaction(q, key, because.clone());
            }
        }
        Some(self.queries[q].candidate.as_ref()?.transactions.len())
    }

    fn because(&self, q: usize, search_domain: Option<usize>) -> Because {
        match search_domain {
            // Domains for routing only are not in the search list.
            Some(index) => {
                let before = self.configuration.file.search_domains.iter().take(index);
                Because::Search(before.filter(|it| !it.route_only).count())
            }
            None if self.queries[q].n_cname_redirects > 0 => Because::Cname,
            // The stub's clients have reasons of their own.
            None => {
                let request = self.queries[q].request.as_ref();
                request.map_or(Because::AsIs, |packet| packet.query.because.clone())
            }
        }
    }

    /// Source: `dns_query_candidate_add_transaction`, `dns_scope_find_transaction`.
    fn dns_query_candidate_add_transaction(&mut self, q: usize, key: Key, because: Because) {
        let same = |t: &DnsTransaction| {
            !t.freed && t.key.record_type == key.record_type && t.key.name.eq_ignore_case(&key.name)
        };
        let t = match self.transactions.find(same) {
            Some(t) => t,
            None => self.transactions.push(DnsTransaction::new(key, because)),
        };
        if !self.transactions[t].notify_queries.contains(&q) {
            self.transactions[t].notify_queries.push(q);
        }
        if let Some(candidate) = &mut self.queries[q].candidate
            && !candidate.transactions.contains(&t)
        {
            candidate.transactions.push(t);
        }
    }

    /// Starts the transactions, in the order in which a set has them.
    ///
    /// Source: `dns_query_candidate_go`.
    pub(super) async fn dns_query_candidate_go(&mut self, q: usize) {
        let Some(candidate) = &mut self.queries[q].candidate else {
            return;
        };
        if candidate.transactions.len() > 1 && self.io.choose(2, EITHER_FIRST) == 1 {
            candidate.transactions.reverse();
        }
        for t in candidate.transactions.clone() {
            if self.transactions[t].state == State::Null {
                self.dns_transaction_go(t).await;
            }
        }
    }

    /// Source: `dns_query_candidate_state`.
    pub(super) fn dns_query_candidate_state(&self, q: usize) -> State {
        let Some(candidate) = &self.queries[q].candidate else {
            return State::NoServers;
        };
        if candidate.failed {
            return State::Errno;
        }
        let mut state = State::NoServers;
        for &t in &candidate.transactions {
            match self.transactions[t].state {
                State::Null | State::Pending => return State::Pending,
                State::Success => state = State::Success,
                failure if state != State::Success => state = failure,
                _ => {}
            }
        }
        state
    }

    /// One of the transactions has ended: goes on to the next search domain,
    /// or to the end of the query.
    ///
    /// Source: `dns_query_candidate_notify`.
    pub(super) async fn dns_query_candidate_notify(&mut self, q: usize) {
        let state = self.dns_query_candidate_state(q);
        if state.is_live() {
            return self.dns_query_candidate_expedite(q);
        }
        let searches = |it: &DnsQueryCandidate| it.search_domain.is_some();
        let searching = self.queries[q].candidate.as_ref().is_some_and(searches);
        if state != State::Success && searching {
            self.timers.stop(Timer::Candidate(q));
            if self.dns_query_candidate_next_search_domain(q) {
                match self.dns_query_candidate_setup_transactions(q) {
                    Some(0) => {}
                    Some(_) => return self.dns_query_candidate_go(q).await,
                    None => {
                        if let Some(candidate) = &mut self.queries[q].candidate {
                            candidate.failed = true;
                        }
                    }
                }
            }
        }
        self.dns_query_ready(q);
    }

    /// Source: `dns_query_candidate_notify`, its beginning.
    fn dns_query_candidate_expedite(&mut self, q: usize) {
        let candidate = self.queries[q].candidate.iter();
        let mut transactions = candidate.flat_map(|it| &it.transactions);
        let partially = transactions.any(|t| self.transactions[*t].state == State::Success);
        let expedites = !self.version.is_before_248;
        if expedites && partially && !self.timers.runs(Timer::Candidate(q)) {
            let at = self.io.now() + CANDIDATE_EXPEDITED_TIMEOUT;
            self.timers.set(Timer::Candidate(q), at);
        }
    }

    /// Leaves the transactions; with `wait_for_answer` they go on for the cache.
    ///
    /// Source: `dns_query_candidate_stop`, `dns_query_candidate_abandon`.
    pub(super) fn dns_query_candidate_detach(&mut self, q: usize, wait_for_answer: bool) {
        self.timers.stop(Timer::Candidate(q));
        let Some(candidate) = &mut self.queries[q].candidate else {
            return;
        };
        for t in std::mem::take(&mut candidate.transactions) {
            self.transactions[t].wait_for_answer |= wait_for_answer;
            self.transactions[t].notify_queries.retain(|it| *it != q);
            self.dns_transaction_gc(t);
        }
    }
}
