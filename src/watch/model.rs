//! Which resolver a client has, by what it sent.

use std::collections::BTreeMap;

use crate::resolver::{self, Resolver};
use crate::scenario::Scenario;
use crate::watch::lookup::Lookup;
use crate::watch::plan;

/// So many lookups of a client are looked at.
pub(super) const SAMPLE: usize = 48;

/// A model fits if lookups are as alike as this on average, from 0 to 1.
const FITS: f64 = 0.8;

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

/// Tries every model on a sample.
pub(super) fn fit(base: &Scenario, sample: &[Lookup]) -> Fit {
    let all: Vec<&'static Resolver> = resolver::usual().collect();
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for lookup in sample {
        for (number, resolver) in all.iter().enumerate() {
            let plan = plan::of(base, resolver, lookup);
            *sums.entry(number).or_default() += plan.map_or(0.0, |it| it.1.likeness);
        }
    }
    let count = f64::from(u32::try_from(sample.len().max(1)).unwrap_or(u32::MAX));
    let likeness = |number: usize| sums.get(&number).copied().unwrap_or_default() / count;
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|one, other| likeness(*other).total_cmp(&likeness(*one)));
    let first = order.first().copied().unwrap_or_default();
    let best = likeness(first);
    // The first of the list is the one that most programs have.
    let mut alike: Vec<usize> = order
        .into_iter()
        .filter(|it| best - likeness(*it) <= ALIKE)
        .collect();
    alike.sort_unstable();
    let fits = best >= FITS && !sample.is_empty();
    let mut resolvers = alike
        .into_iter()
        .filter(|_| fits)
        .filter_map(|it| all.get(it).copied());
    Fit {
        best: resolvers.next(),
        likeness: best,
        lookups: sample.len(),
        also: resolvers.collect(),
    }
}
