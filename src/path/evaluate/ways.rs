//! Ways that have become the same are put together, and where there are too
//! many none is followed any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};

use super::End;
use super::branch::Branch;
use crate::path::Condition;

/// More ways are not followed at once: lots that set different marks double them.
const MOST_WAYS: usize = 50_000;

/// Nor more sets of assumptions: with each condition that makes a difference they
/// can double.
const MOST_WORLDS: usize = 500;

/// More conditions are not assumed of one way: where each rule of a long chain
/// depends on another one, every way that it ends would be kept with all of them.
const MOST_ASSUMED: usize = 64;

/// More rules do not do something to one packet: chains that call each other
/// again and again.
const MOST_STEPS: usize = 2_000;

/// Fewer ways are compared one by one.
const FEW: usize = 32;

/// Whether there are more ways than are followed; shares of one set of
/// assumptions, as those of the endpoints of a Service, are one.
pub(super) fn are_too_many(branches: &[Branch]) -> bool {
    let worlds = || -> BTreeSet<_> { branches.iter().map(|it| &it.assumed).collect() };
    let is_long = |it: &Branch| it.assumed.len() > MOST_ASSUMED || it.steps.count() > MOST_STEPS;
    branches.iter().any(is_long)
        || branches.len() > MOST_WAYS
        || (branches.len() > MOST_WORLDS && worlds().len() > MOST_WORLDS)
}

/// Where things stand, by what they are alike in.
#[derive(Debug, Default)]
struct Index {
    random: RandomState,
    places: HashMap<u64, Vec<usize>>,
}

impl Index {
    fn alike(&mut self, what: impl std::hash::Hash) -> &mut Vec<usize> {
        let hash = self.random.hash_one(what);
        self.places.entry(hash).or_default()
    }
}

/// Puts together what has become the same: shares of one set of assumptions,
/// and ways that differ only in an assumption that made no difference.
pub(super) fn merge(branches: Vec<Branch>) -> Vec<Branch> {
    let is_many = branches.len() > FEW;
    let mut merged: Vec<Option<Branch>> = Vec::with_capacity(branches.len());
    let mut index = Index::default();
    for branch in branches {
        let alike = index.alike(is_many.then(|| branch.likeness()));
        add(&mut merged, alike, branch);
    }
    merged.into_iter().flatten().collect()
}

/// `alike` are the places of those that can be the same.
fn add(merged: &mut Vec<Option<Branch>>, alike: &mut Vec<usize>, mut branch: Branch) {
    loop {
        let is_same = |it: &Branch| it.is_alike(&branch) && it.assumed == branch.assumed;
        let same = alike
            .iter()
            .copied()
            .find(|&place| at(merged, place).is_some_and(is_same));
        if let Some(Some(same)) = same.and_then(|it| merged.get_mut(it)) {
            same.share = same.share.and(branch.share);
            return;
        }
        let twin = alike.iter().enumerate().find_map(|(index, &place)| {
            let other = at(merged, place)?;
            let is_it = other.is_alike(&branch) && other.share == branch.share;
            let condition = is_it.then(|| only_difference(&other.assumed, &branch.assumed))?;
            Some((index, condition?))
        });
        let Some((index, condition)) = twin else {
            alike.push(merged.len());
            merged.push(Some(branch));
            return;
        };
        let other = merged.get_mut(alike.remove(index)).and_then(Option::take);
        // The one that did less says more about the packet.
        if let Some(other) = other.filter(|it| it.steps.count() < branch.steps.count()) {
            branch.steps = other.steps;
        }
        branch.assumed.remove(&condition);
    }
}

fn at(merged: &[Option<Branch>], place: usize) -> Option<&Branch> {
    merged.get(place)?.as_ref()
}

/// The one condition that two ways take differently, and all else alike.
fn only_difference(
    one: &BTreeMap<Condition, bool>,
    other: &BTreeMap<Condition, bool>,
) -> Option<Condition> {
    if one.len() != other.len() {
        return None;
    }
    let mut found = None;
    for ((a, x), (b, y)) in one.iter().zip(other) {
        if a != b || (x != y && found.replace(a).is_some()) {
            return None;
        }
    }
    found.cloned()
}

/// Where ways end, in the order in which they came.
#[derive(Default)]
pub(super) struct Ends {
    ends: Vec<End>,
    index: Index,
}

impl Ends {
    /// Another one. What ends as one before is put to it: chains that call each
    /// other bring the same again and again.
    pub(super) fn add(&mut self, end: End) {
        let branch = &end.branch;
        let what = (end.kind, &end.error, branch.likeness(), &branch.assumed);
        let alike = self.index.alike(what);
        let is_same = |it: &End| {
            it.kind == end.kind
                && it.error == end.error
                && it.branch.is_alike(branch)
                && it.branch.assumed == branch.assumed
        };
        let is_at = |it: &usize| self.ends.get(*it).is_some_and(is_same);
        let same = alike.iter().copied().find(is_at);
        if let Some(same) = same.and_then(|it| self.ends.get_mut(it)) {
            same.branch.share = same.branch.share.and(end.branch.share);
        } else {
            alike.push(self.ends.len());
            self.ends.push(end);
        }
    }

    /// All of them.
    pub(super) fn all(self) -> Vec<End> {
        self.ends
    }
}
