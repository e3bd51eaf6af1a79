//! Why a resolver asks in the order it does.

use crate::engine::machine::Outcome;
use crate::engine::message::Because;
use crate::explain::plan::Candidate;
use crate::resolver::reading::{Origin, Reading, Setting};
use crate::scenario::Scenario;
use crate::simulation::Run;

/// What a resolver decides about a name before it asks anything.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// The order of candidates.
    pub order: Order,
    /// Dots in the name, a final one not counted.
    pub dots: usize,
    /// The number it compares them with, if the resolver knows one.
    pub ndots: Option<Setting<u32>>,
    /// Entries of the search list that it holds.
    pub search: usize,
    /// Where the search list comes from, if there is one.
    pub search_origin: Option<Origin>,
}

/// The order of candidates.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Order {
    /// Nothing is asked: the answer is known, or the name or file is refused.
    Nothing(Outcome),
    /// A final dot: this name only.
    Rooted,
    /// The name as it is, then the search list.
    AsIsFirst,
    /// The search list, then the name as it is.
    SearchFirst,
    /// The search list, never the name as it is.
    SearchOnly,
    /// The name as it is, although there is a search list.
    AsIsOnly,
    /// The name as it is: there is no search list.
    NoSearchList,
    /// Something else is asked: a reverse name, an alias, a server's name.
    Other,
}

impl Decision {
    /// Whether the name has at least as many dots as `ndots`; `None` if the
    /// resolver knows no such number.
    pub fn has_enough_dots(&self) -> Option<bool> {
        let ndots = self.ndots?.value;
        Some(self.dots >= ndots as usize)
    }

    /// Reads the decision off the lookup in which nothing exists.
    pub fn from_plan(
        scenario: &Scenario,
        reading: &Reading<'_>,
        planned: &[Candidate],
        plan: &Run,
    ) -> Self {
        let name = scenario.name.strip_suffix('.').unwrap_or(&scenario.name);
        let is_search = |candidate: &Candidate| matches!(candidate.because, Because::Search(_));
        let searches = planned.iter().any(is_search);
        let as_is = planned.iter().position(|it| it.because == Because::AsIs);
        let order = match (as_is, searches) {
            _ if planned.is_empty() => Order::Nothing(plan.outcome.clone()),
            (Some(0), _) if scenario.name.ends_with('.') => Order::Rooted,
            (Some(0), true) => Order::AsIsFirst,
            (Some(0), false) if reading.search.is_empty() => Order::NoSearchList,
            (Some(0), false) => Order::AsIsOnly,
            (Some(_), _) => Order::SearchFirst,
            (None, true) => Order::SearchOnly,
            (None, false) => Order::Other,
        };
        Self {
            order,
            dots: name.matches('.').count(),
            ndots: reading.ndots,
            search: reading.search.len(),
            search_origin: reading.search.first().map(|entry| entry.origin),
        }
    }
}
