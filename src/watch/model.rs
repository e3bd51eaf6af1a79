//! Which resolver a client has, by what it sent.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::fast::FixedState;

use crate::order::Order as _;
use crate::resolver::{self, Resolver};
use crate::scenario::Scenario;
use crate::watch::lookup::Lookup;
use crate::watch::plan;

/// So many lookups of a client are looked at.
const SAMPLE: u32 = 48;

/// What a resolver did is this near to its plan beside that of another one, which fits best.
pub(super) const NEAR: f64 = 0.1;

/// A model fits if lookups are as alike as this on average, from 0 to 1.
pub(super) const FITS: f64 = 0.8;

/// Models whose likeness differs less are not told apart.
const ALIKE: f64 = 0.02;

/// How well models fit the lookups of a client.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The one that fits best, if any fits.
    pub best: Option<&'static Resolver>,
    /// How alike its lookups and the plans of the best one are, from 0 to 1.
    pub likeness: f64,
    /// How many lookups were looked at.
    pub lookups: usize,
    /// Others that fit as well.
    pub also: Vec<&'static Resolver>,
}

/// Lookups of a client, of which those that a model cannot tell apart are kept
/// once.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// By [`course`], with how many there were.
    courses: BTreeMap<u64, (Lookup, u32)>,
    lookups: u32,
    /// Exchanges of those that are kept.
    pub(super) exchanges: usize,
}

impl Sample {
    /// How many there were.
    pub(super) const fn count(&self) -> usize {
        self.lookups as usize
    }

    /// Takes one more; whether that is enough.
    pub(super) fn take(&mut self, lookup: &Lookup) -> bool {
        self.lookups += 1;
        let known = self.courses.entry(course(lookup)).or_insert_with(|| {
            self.exchanges += lookup.exchanges.len();
            (lookup.clone(), 0)
        });
        known.1 += 1;
        self.lookups >= SAMPLE
    }
}

/// Whether a name of this one label can be something else than the name of a host.
fn is_special(label: &[u8]) -> bool {
    let is_number = label.first().is_some_and(u8::is_ascii_digit);
    let special = [&b"localhost"[..], b"local", b"onion"];
    is_number || special.iter().any(|it| it.eq_ignore_ascii_case(label))
}

/// A hash of what a model makes a difference by: of the name its labels' number,
/// the last one of several, and whether it is a host's; what was asked of whom and when, to a
/// twentieth of a second; what came.
fn course(lookup: &Lookup) -> u64 {
    const ABOUT: i64 = 50_000_000;
    let mut hasher = FixedState::default().build_hasher();
    let asked = lookup.readings.first();
    let name = asked.map_or(&[][..], |it| it.name.as_wire());
    for reading in &lookup.readings {
        let labels = reading.name.labels();
        let is_host = |it: &u8| it.is_ascii_alphanumeric() || *it == b'-';
        let is_of_host = labels.flatten().all(is_host);
        let count = reading.name.labels().count();
        let last = reading.name.labels().last();
        let last = last.filter(|it| count > 1 || is_special(it));
        (count, last, is_of_host, reading.is_absolute).hash(&mut hasher);
    }
    let start = lookup.start();
    let about = |time: i64| time.saturating_sub(start) / ABOUT;
    let first = lookup.exchanges.first();
    for exchange in &lookup.exchanges {
        let suffix = exchange.name.as_wire().get(name.len()..);
        let is_first_socket = first.is_some_and(|it| it.client == exchange.client);
        let flags = (exchange.flags, exchange.edns, exchange.is_tcp());
        (suffix, exchange.qtype, exchange.server.ip()).hash(&mut hasher);
        (is_first_socket, flags).hash(&mut hasher);
        for sent in exchange.sent() {
            about(sent.time).hash(&mut hasher);
        }
        for reply in exchange.replies() {
            let what = std::mem::discriminant(&reply.answer);
            (about(reply.time), reply.flags, what).hash(&mut hasher);
            (reply.soa, reply.opt).hash(&mut hasher);
        }
        let ends = (exchange.unreachable(), exchange.broken());
        let at = |it: crate::watch::lookup::Sent| about(it.time);
        (ends.0.map(|it| at(it.1)), ends.1.map(at)).hash(&mut hasher);
    }
    hasher.finish()
}

/// Tries every model on a sample.
pub(super) fn fit(base: &Scenario, sample: &Sample) -> Fit {
    let all: Vec<&'static Resolver> = resolver::usual().collect();
    let mut sums = vec![0.0; all.len()];
    for (lookup, times) in sample.courses.values() {
        for (sum, resolver) in sums.iter_mut().zip(&all) {
            let likeness = plan::closest(base, resolver, lookup).map_or(0.0, |it| it.1.likeness);
            *sum += likeness * f64::from(*times);
        }
    }
    let count = f64::from(sample.lookups.max(1));
    let likeness = |number: usize| sums.get(number).copied().unwrap_or_default() / count;
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.order_by(|one, other| likeness(*other).total_cmp(&likeness(*one)));
    let first = order.first().copied().unwrap_or_default();
    let best = likeness(first);
    // The first of the list is the one that most programs have.
    let mut alike: Vec<usize> = order
        .into_iter()
        .filter(|it| best - likeness(*it) <= ALIKE)
        .collect();
    alike.sort_unstable();
    let fits = best >= FITS && sample.lookups > 0;
    let mut resolvers = alike
        .into_iter()
        .filter(|_| fits)
        .filter_map(|it| all.get(it).copied());
    Fit {
        best: resolvers.next(),
        likeness: best,
        lookups: sample.count(),
        also: resolvers.collect(),
    }
}
