//! What cannot be known from a Corefile.

use crate::text::Place;
use crate::topology::{Doubt, Weight};

/// More doubts of a weight than this say nothing more.
const MAX_OF_WEIGHT: usize = 20;

/// The doubts of a Corefile, in its order.
#[derive(Debug, Default)]
pub(super) struct Doubts(Vec<Doubt>);

impl Doubts {
    pub(super) fn add(&mut self, doubt: Doubt) {
        self.0.push(doubt);
    }

    pub(super) fn extend(&mut self, doubt: Option<Doubt>) {
        self.0.extend(doubt);
    }

    /// Something with which CoreDNS ends at its start.
    pub(super) fn stop(&mut self, reason: &str, place: Place) {
        let reason = reason.to_owned();
        self.add(Doubt::Stops { reason, place });
    }

    /// Each once, and not too many of them.
    pub(super) fn short(self) -> Vec<Doubt> {
        let mut doubts = self.0;
        doubts.dedup();
        let mut left = [Weight::Note, Weight::Hides, Weight::Stops].map(|it| (it, MAX_OF_WEIGHT));
        doubts.retain(|doubt| {
            let weight = doubt.weight();
            let of_weight = left.iter_mut().find(|(it, _)| *it == weight);
            of_weight.is_some_and(|(_, left)| {
                let fits = *left > 0;
                *left = left.saturating_sub(1);
                fits
            })
        });
        doubts
    }
}
