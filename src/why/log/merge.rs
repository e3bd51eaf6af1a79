//! What several logs have shown together.

use std::collections::BTreeMap;

use super::tally::{Lines, NameCount, Silent, Tally};
use crate::check_loop::log::SightingKind;

impl Tally {
    /// Adds what another log has shown.
    pub fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        if self.head.is_empty() {
            self.head = other.head;
        }
        self.queries += other.queries;
        self.waste += other.waste;
        let sum = |own: &mut [u64], others: &[u64]| {
            own.iter_mut()
                .zip(others)
                .for_each(|(own, other)| *own += other);
        };
        sum(&mut self.rcodes, &other.rcodes);
        sum(&mut self.records, &other.records);
        sum(&mut self.failed, &other.failed);
        let numbers = self.clients.merge(&other.clients);
        self.lookups.merge(&other.lookups, |it| {
            numbers.get(it as usize).copied().unwrap_or(u32::MAX)
        });
        self.names.merge(other.names, NameCount::merge);
        self.zones.merge(other.zones, |own, other| {
            sum(&mut own.rcodes, &other.rcodes);
            own.times.merge(&other.times);
            own.slow += other.slow;
            sum(&mut own.broken, &other.broken);
        });
        self.upstreams
            .merge(other.upstreams, |own, other| own.merge(&other));
        self.times.merge(&other.times);
        self.slow += other.slow;
        self.truncated += other.truncated;
        self.merge_errors(other.timeouts, other.sightings);
        self.minutes.merge(other.minutes);
        self.span = match (self.span, other.span) {
            (Some(own), Some(other)) => Some((own.0.min(other.0), own.1.max(other.1))),
            (own, other) => own.or(other),
        };
        self.starts += other.starts;
        self.reloads += other.reloads;
        self.version = self.version.or(other.version);
        self.outside += other.outside;
        self.timeless += other.timeless;
        self.sources += other.sources;
    }

    fn merge_errors(&mut self, timeouts: Silent, sightings: BTreeMap<SightingKind, Lines>) {
        self.timeouts.beyond = self.timeouts.beyond.saturating_add(timeouts.beyond);
        for (server, more) in timeouts.all {
            self.timeouts.add(server, more);
        }
        for (kind, more) in sightings {
            match self.sightings.get_mut(&kind) {
                Some(own) => own.count += more.count,
                None => {
                    self.sightings.insert(kind, more);
                }
            }
        }
    }

    /// Joins lookups whose queries are in several logs.
    pub(super) fn settle(&mut self) {
        if self.sources < 2 {
            return;
        }
        let clients = &self.clients;
        let mut found = Vec::new();
        self.lookups.settle(
            |number| clients.get(number).map(|it| &it.search),
            |client, base, queries| found.push((client, base, queries)),
        );
        for (number, base, queries) in found {
            self.waste += queries;
            let labels = self.names.get(base).map(|it| it.value.labels);
            if let Some(client) = self.clients.get_mut(number) {
                client.waste(base, queries);
                if labels.is_some_and(|it| it > 2) {
                    client.saved += queries;
                }
            }
            if let Some(slot) = self.names.get_mut(base) {
                slot.count += queries;
                slot.value.waste += queries;
            }
        }
    }
}

impl NameCount {
    fn merge(&mut self, other: Self) {
        self.queries += other.queries;
        self.failed += other.failed;
        self.waste += other.waste;
        self.searched += other.searched;
        self.denied += other.denied;
        self.turns += other.turns;
        self.labels = self.labels.max(other.labels);
    }
}
