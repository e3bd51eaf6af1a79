//! What a model leaves to chance: lots that it draws, and what it does at once.
//!
//! A model says so where its source does: [`crate::engine::io::Io::choose`] where it draws
//! a number, [`crate::engine::io::Io::at_once`] where it starts threads or tasks that
//! nothing orders. [`crate::simulation::courses`] makes of it what may differ between runs.

use smallvec::SmallVec;

use crate::engine::message::QueryId;

/// What was left to chance in a lookup so far.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Chance {
    /// What is drawn because it counts here.
    also: SmallVec<[Also; 2]>,
    /// How the first lots fall; all others fall on 0.
    script: Vec<usize>,
    /// The lots that were drawn, in order.
    pub lots: Vec<Lot>,
    races: Vec<Race>,
    /// The race of each lane but the first, which is in none.
    lanes: Vec<usize>,
    /// The lane that runs now.
    current: Lane,
    /// The lane of each query, as far as any is in one.
    of_queries: Vec<Lane>,
}

/// What is drawn only where it counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Also {
    /// The order of queries that are sent at once.
    Order,
    /// How long a time-out is whose length is drawn: a reply can come before it or after it.
    TimeOuts,
}

/// A lot that was drawn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lot {
    /// How many there were to choose from.
    pub among: usize,
    /// The one that was taken, from 0.
    pub picked: usize,
    /// How many queries had been sent.
    pub after: usize,
    /// A sentence: what is drawn, and by whom.
    pub why: &'static str,
}

/// Lanes that nothing orders among each other.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Race {
    why: &'static str,
    /// The lane that started it.
    parent: Lane,
}

/// What happens in one order: a thread, a task. 0 is the lookup itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lane(usize);

/// A race, to which lanes can be added.
#[derive(Clone, Copy, Debug)]
pub struct RaceId(usize);

/// What orders the parts of a race.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// Nothing.
    None,
    /// They begin in the order of the program; nothing orders how they go on.
    AtFirst,
}

impl Chance {
    /// Lots that fall like this.
    pub(super) fn scripted(script: Vec<usize>) -> Self {
        Self {
            script,
            ..Self::default()
        }
    }

    /// This is drawn from now on, too.
    pub(super) fn draw_also(&mut self, also: Also) {
        self.also.push(also);
    }

    /// Whether this is drawn, too.
    pub(super) fn draws(&self, also: Also) -> bool {
        self.also.contains(&also)
    }

    /// Draws a lot after so many queries.
    pub(super) fn draw(&mut self, among: usize, why: &'static str, after: usize) -> usize {
        let scripted = self.script.get(self.lots.len()).copied();
        let picked = scripted.filter(|it| *it < among).unwrap_or_default();
        self.lots.push(Lot {
            among,
            picked,
            after,
            why,
        });
        picked
    }

    /// Begins a race in the current lane.
    pub(super) fn race(&mut self, why: &'static str) -> RaceId {
        self.races.push(Race {
            why,
            parent: self.current,
        });
        RaceId(self.races.len() - 1)
    }

    /// A new lane of `race`.
    pub(super) fn lane(&mut self, race: RaceId) -> Lane {
        self.lanes.push(race.0);
        Lane(self.lanes.len())
    }

    /// Lets `lane` run; the one that ran before.
    pub(super) fn enter(&mut self, lane: Lane) -> Lane {
        std::mem::replace(&mut self.current, lane)
    }

    /// The current lane sends `query`.
    pub(super) fn sends(&mut self, QueryId(query): QueryId) {
        if self.current != Lane::default() {
            self.of_queries.resize(query, Lane::default());
            self.of_queries.push(self.current);
        }
    }

    /// Whether anything was done at once.
    pub fn has_lanes(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// The lane that sent `query`.
    pub fn lane_of(&self, QueryId(query): QueryId) -> Lane {
        self.of_queries.get(query).copied().unwrap_or_default()
    }

    /// Why nothing orders the two lanes; `None` if something does.
    pub fn unordered(&self, one: Lane, other: Lane) -> Option<&'static str> {
        let (one, other) = (self.ancestry(one), self.ancestry(other));
        let mut pairs = one.iter().rev().zip(other.iter().rev());
        let (one, other) = pairs.find(|(one, other)| one.0 != other.0)?;
        let race = (one.1 == other.1).then(|| self.races.get(one.1))??;
        Some(race.why)
    }

    /// The lane and those that it is in, the innermost first, each with its race.
    fn ancestry(&self, mut lane: Lane) -> SmallVec<[(Lane, usize); 4]> {
        let mut found = SmallVec::new();
        while let Some(&race) = lane.0.checked_sub(1).and_then(|at| self.lanes.get(at)) {
            found.push((lane, race));
            lane = self.races.get(race).map_or(Lane::default(), |it| it.parent);
        }
        found
    }
}
