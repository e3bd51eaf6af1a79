//! Where the source draws lots: the server with `rotate`, the length of later
//! time-outs, and the probing of servers that have failed.
//!
//! Source: c-ares 1.34 `src/lib/ares_process.c`.

use std::time::Duration;

use crate::engine::chance::Also;
use crate::resolver::c_ares::v1_34::channel::{Channel, Qid, Query};
use crate::resolver::c_ares::v1_34::server::Moment;
use crate::resolver::c_ares::v1_34::version::TriesFailed;

/// What is left to chance, in sentences.
const ROTATED: &str = "`rotate`: c-ares draws the server of each query at random, among those with the fewest failures";
const SHORTENED: &str = "c-ares shortens time-outs after the first round by up to half, chosen at random: of queries that wait together, either can be sent again first";
const PROBED: &str =
    "c-ares also sends one query in ten, chosen at random, to a server that has failed";
const INSTEAD: &str =
    "c-ares sends one query in ten, chosen at random, to a server that has failed";
/// Of how a time-out is shortened these stand for all: not at all, and most.
const LOTS: [u16; 2] = [0, u16::MAX];
/// Stands for `SIZE_MAX` milliseconds, which would make the clock run over.
const ENDLESS: u64 = u64::MAX / 1000;

impl Channel<'_> {
    /// The server with the fewest failures; with `rotate` one of those by lot.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_send_query_int`.
    pub(super) fn choose_server(&mut self) -> usize {
        let ranked = self.ranked();
        let chosen = if self.config.rotate() {
            self.random_server(&ranked)
        } else {
            self.failover_server(&ranked)
        };
        chosen.unwrap_or_default()
    }

    /// Source: c-ares 1.33 `src/lib/ares_process.c: ares__failover_server`.
    fn failover_server(&mut self, ranked: &[usize]) -> Option<usize> {
        let first = ranked.first().copied();
        if self.version.tries_failed != TriesFailed::Instead {
            return first;
        }
        let now = self.tvnow();
        let other = self.to_try_again(ranked, now);
        let is_drawn = other.is_some() && other != first && self.io.choose(2, INSTEAD) == 1;
        if is_drawn { other } else { first }
    }

    /// The first server that has failed and may be tried again.
    fn to_try_again(&self, ranked: &[usize], now: Moment) -> Option<usize> {
        let can_be = |index: &usize| Some(self.servers.get(*index)?.can_be_probed(now));
        let mut servers = ranked.iter().copied();
        servers.find(|index| can_be(index) == Some(true))
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_random_server,
    /// count_highest_prio_servers`.
    fn random_server(&mut self, ranked: &[usize]) -> Option<usize> {
        let failures = |index: &usize| Some(self.servers.get(*index)?.consec_failures());
        let fewest = ranked.first().and_then(failures);
        let all = self.version.rotates_to_failed;
        let equals = ranked
            .iter()
            .take_while(|index| all || failures(index) == fewest);
        let mut equals: Vec<usize> = equals.copied().collect();
        // The lot falls on a server, not on a place.
        equals.sort_unstable();
        equals.get(self.io.choose(equals.len(), ROTATED)).copied()
    }

    /// Whether a server's last query failed.
    pub(super) fn has_failed(&self, server: usize) -> bool {
        let state = self.servers.get(server);
        state.is_some_and(|state| state.consec_failures() > 0)
    }

    /// The servers in the order of the source's list.
    fn ranked(&self) -> Vec<usize> {
        let mut servers: Vec<_> = self.servers.iter().enumerate().collect();
        servers.sort_by_key(|(_, state)| state.rank());
        servers.into_iter().map(|(index, _)| index).collect()
    }

    /// The server's time-out, doubled in each round through all servers and
    /// then shortened by lot, but never below itself.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_calc_query_timeout`.
    pub(super) fn ares_calc_query_timeout(&mut self, qid: Qid, server: usize) -> Duration {
        let configured = self.config.timeout();
        let timeout = self
            .servers
            .get(server)
            .map_or(0, |state| state.metrics_timeout(configured));
        let tried = self.query(qid).map_or(0, |query| query.try_count);
        let rounds = tried / self.servers.len().max(1);
        if rounds == 0 {
            return Duration::from_millis(timeout);
        }
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        let doubled = timeout
            .checked_shl(rounds)
            .filter(|value| value >> rounds == timeout);
        // Which time it is shows beside another query that waits, or where a reply is late.
        let now = self.io.now();
        let waits = |other: &Query| other.qid != qid && other.timeout.0 > now;
        let mut others = self.queries.iter();
        let is_beside = others.any(|other| self.by_timeout.contains(&other.qid) && waits(other));
        let lot = if is_beside || self.io.draws(Also::TimeOuts) {
            LOTS.get(self.io.choose(LOTS.len(), SHORTENED)).copied()
        } else {
            None
        };
        let lot = lot.unwrap_or(u16::MAX / 2);
        let timeplus = shortened(doubled.unwrap_or(ENDLESS), lot);
        Duration::from_millis(timeplus.max(timeout))
    }

    /// One query in ten, by lot, is also sent to a server that has failed, to
    /// see whether it works again.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_probe_failed_server`.
    pub(super) async fn ares_probe_failed_server(&mut self, server: usize, qid: Qid) {
        let mut ranked = self.ranked();
        if !ranked.last().is_some_and(|last| self.has_failed(*last)) {
            return;
        }
        // Here the clock is read before it is known whether it is needed.
        let now = self.tvnow();
        ranked.retain(|index| *index != server);
        let probed = self.to_try_again(&ranked, now);
        let Some(probed) = probed else { return };
        if self.io.choose(2, PROBED) == 0 {
            return;
        }
        if let Some(state) = self.servers.get_mut(probed) {
            state.probe_pending = true;
        }
        self.send_probe(qid, probed).await;
    }
}

/// A time-out less the part of its half that is drawn.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the source computes with `float`, too"
)]
fn shortened(timeplus: u64, lot: u16) -> u64 {
    let delta_multiplier = (f32::from(lot) / f32::from(u16::MAX)) * 0.5;
    timeplus.saturating_sub((timeplus as f32 * delta_multiplier) as u64)
}
