//! Lookups that end at a name of the search list although the name as it stands
//! is meant: a wildcard record at a search domain takes names of the world.

use crate::engine::io::Came;
use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Data};
use crate::explain::Row;
use crate::explain::cluster::{Cluster, Meaning, is_of_the_world};
use crate::name::Name;
use crate::scenario::Scenario;
use crate::simulation::{Run, Sent};

/// A name of the search list that was answered in place of the one that is meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Elsewhere {
    /// The name that was answered.
    pub name: Name,
    /// Its entry of the search list as the resolver holds it, from 0.
    pub entry: usize,
}

impl Elsewhere {
    /// Where the lookup ended. `None`: it found nothing, or what is meant, or
    /// something of the cluster, or what is meant is not known.
    pub fn from_run(scenario: &Scenario, run: &Run) -> Option<Self> {
        let is_meant = is_of_the_world(&scenario.name);
        Self::outside(scenario, run).filter(|_| is_meant)
    }

    /// The name outside of the cluster by which something was found, whatever is meant.
    pub fn outside(scenario: &Scenario, run: &Run) -> Option<Self> {
        if !matches!(run.outcome, Outcome::Found(_)) {
            return None;
        }
        let query = &run.sent.iter().find(|it| has_address(it))?.query;
        let (Because::Search(entry), Some(name)) = (&query.because, query.name()) else {
            return None;
        };
        let meaning = Cluster::find(scenario).map(|it| it.meaning(name));
        let is_outside = meaning.is_none_or(|it| it == Meaning::External);
        is_outside.then(|| Self {
            name: name.clone(),
            entry: *entry,
        })
    }
}

/// The entries of the search list, from 0, that are asked before a name of the
/// world and could answer it: those outside of the cluster.
pub fn before(name: &str, rows: &[Row]) -> Vec<usize> {
    if !is_of_the_world(name) {
        return Vec::new();
    }
    let tried_first = rows
        .iter()
        .take_while(|it| it.candidate.because != Because::AsIs);
    let entries = tried_first.filter_map(|row| match row.candidate.because {
        Because::Search(entry) => Some((entry, row.meaning.as_ref())),
        _ => None,
    });
    entries
        .filter(|(_, meaning)| meaning.is_none_or(|it| *it == Meaning::External))
        .map(|(entry, _)| entry)
        .collect()
}

fn has_address(sent: &Sent) -> bool {
    let Some(Came::Reply(reply)) = &sent.came else {
        return false;
    };
    let is_address = |data: &Data| !matches!(data, Data::Cname(_));
    !reply.truncated && reply.answers.iter().any(|it| is_address(&it.data))
}
