//! What would save queries, and which other names would pay for it. Every
//! number is counted on runs with the change made.

use std::net::Ipv4Addr;

use crate::engine::machine::Outcome;
use crate::explain::Group;
use crate::explain::cluster::Cluster;
use crate::explain::transition::run_when;
use crate::resolver::Resolver;
use crate::resolver::reading::Origin;
use crate::scenario::{Scenario, file};
use crate::simulation::Run;
use crate::world::{Effect, Rule};

/// A change that saves queries for the name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advice {
    /// What to change.
    pub change: Change,
    /// Queries until the name is found, for each resolver that saves some.
    pub savings: Vec<Saving>,
    /// What the change does to other names; empty for [`Change::FinalDot`],
    /// which touches no other name.
    pub costs: Vec<Cost>,
}

/// What to change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Change {
    /// Write this name, which ends in a dot.
    FinalDot(String),
    /// Set `ndots` to this number.
    Ndots(u32),
}

/// Queries of one resolver until the name is found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Saving {
    /// Its id.
    pub resolver: &'static str,
    /// Queries as things are.
    pub before: usize,
    /// With the change.
    pub after: usize,
}

/// What a change does to another name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cost {
    /// The other name, as a program would write it.
    pub name: String,
    /// The resolver's id.
    pub resolver: &'static str,
    /// What happens to it.
    pub effect: Harm,
}

/// What happens to another name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Harm {
    /// It is not found any more.
    Lost,
    /// It takes so many queries more, the first of them for the bare name,
    /// which leaves the cluster.
    Slower(usize),
}

/// Changes that save queries until the scenario's name is found.
pub fn advice(
    scenario: &Scenario,
    groups: &[Group<'_>],
    cluster: Option<&Cluster>,
    wanted: Option<String>,
) -> Vec<Advice> {
    let Some(name) = wanted else {
        return Vec::new();
    };
    let members = groups.iter().flat_map(|group| &group.members);
    let before: Vec<_> = members.map(|it| (it.resolver, it.cost)).collect();
    let resolvers: Vec<_> = before.iter().map(|(resolver, _)| *resolver).collect();
    let wanted = Wanted { name, before };
    let final_dot = final_dot(scenario, &wanted);
    let ndots = cluster.and_then(|cluster| lower_ndots(scenario, &wanted, &resolvers, cluster));
    final_dot.into_iter().chain(ndots).collect()
}

/// The name that is meant.
struct Wanted {
    name: String,
    /// How many queries it takes each resolver to find it as things are.
    before: Vec<(&'static Resolver, Option<usize>)>,
}

fn final_dot(scenario: &Scenario, wanted: &Wanted) -> Option<Advice> {
    let mut changed = scenario.clone();
    changed.name = format!("{}.", wanted.name);
    let savings = savings(&changed, wanted);
    (!savings.is_empty()).then(|| Advice {
        change: Change::FinalDot(changed.name),
        savings,
        costs: Vec::new(),
    })
}

/// The largest `ndots` with which the name is asked as it is first, and what
/// it does to the short names of services.
fn lower_ndots(
    scenario: &Scenario,
    wanted: &Wanted,
    resolvers: &[&'static Resolver],
    cluster: &Cluster,
) -> Option<Advice> {
    let dots = u32::try_from(scenario.name.matches('.').count()).ok()?;
    // A short name needs the search list: no smaller number makes it cheaper.
    if dots == 0 || !wanted.name.eq_ignore_ascii_case(&scenario.name) {
        return None;
    }
    let changed = with_ndots(scenario, resolvers.first()?, dots);
    let savings = savings(&changed, wanted);
    if savings.is_empty() {
        return None;
    }
    // Names with fewer dots than either number are searched for as before.
    let costs = ["web", "web.other", "web.other.svc", "db-0.db.other.svc"]
        .into_iter()
        .filter(|name| name.matches('.').count() >= dots as usize)
        .flat_map(|name| costs(scenario, &changed, name, resolvers, cluster))
        .collect();
    Some(Advice {
        change: Change::Ndots(dots),
        savings,
        costs,
    })
}

/// The scenario with another `ndots`: in place of the word that set it, or in
/// a line of its own.
fn with_ndots(scenario: &Scenario, resolver: &Resolver, ndots: u32) -> Scenario {
    let mut changed = scenario.clone();
    let source = scenario.resolv_conf.as_ref().map(|conf| &conf.source);
    let mut bytes = source
        .map(|source| source.bytes.clone())
        .unwrap_or_default();
    let word = format!("ndots:{ndots}").into_bytes();
    match resolver
        .reading(scenario)
        .ndots
        .map(|setting| setting.origin)
    {
        Some(Origin::File(span)) if span.end as usize <= bytes.len() => {
            bytes.splice(span.start as usize..span.end as usize, word);
        }
        _ => bytes.extend([b"\noptions ", word.as_slice(), b"\n"].concat()),
    }
    let name = source.map_or("/etc/resolv.conf", |source| source.name.as_str());
    changed.resolv_conf = Some(file(name, bytes));
    changed
}

fn savings(changed: &Scenario, wanted: &Wanted) -> Vec<Saving> {
    let saving = |(resolver, before): &(&'static Resolver, Option<usize>)| {
        let before = (*before)?;
        let after = found(changed, resolver, &wanted.name)?;
        (after < before).then_some(Saving {
            resolver: resolver.id,
            before,
            after,
        })
    };
    wanted.before.iter().filter_map(saving).collect()
}

fn costs(
    before: &Scenario,
    after: &Scenario,
    name: &str,
    resolvers: &[&'static Resolver],
    cluster: &Cluster,
) -> Vec<Cost> {
    let named = |scenario: &Scenario| Scenario {
        name: name.to_owned(),
        ..scenario.clone()
    };
    let (before, after) = (named(before), named(after));
    // What is below `svc` is meant to be in the cluster, however it is written.
    let Some(wanted) = cluster.intended(name) else {
        return Vec::new();
    };
    let cost = |resolver: &&'static Resolver| {
        let queries = found(&before, resolver, &wanted)?;
        let effect = match found(&after, resolver, &wanted) {
            None => Harm::Lost,
            Some(more) if more > queries => Harm::Slower(more - queries),
            Some(_) => return None,
        };
        Some(Cost {
            name: name.to_owned(),
            resolver: resolver.id,
            effect,
        })
    };
    resolvers.iter().filter_map(cost).collect()
}

/// How many queries it takes until `wanted` is found, if it is, when nothing
/// else exists.
pub(super) fn found(scenario: &Scenario, resolver: &Resolver, wanted: &str) -> Option<usize> {
    let rule = Rule {
        name: Some(wanted.to_owned()),
        effect: Effect::Answer {
            a: vec![Ipv4Addr::new(192, 0, 2, 1)],
            aaaa: Vec::new(),
            cname: None,
        },
        ..Rule::default()
    };
    let Run { sent, outcome, .. } = run_when(scenario, resolver, &[rule]);
    match outcome {
        Outcome::Found(addresses) if !addresses.is_empty() => Some(sent.len()),
        _ => None,
    }
}
