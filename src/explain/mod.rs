//! What a lookup does, side by side for several resolvers, and what would
//! change it. Everything here is read off runs of the machines: nothing is
//! said about a resolver that its model did not do.

pub mod advice;
pub mod cluster;
pub mod decision;
mod disagreement;
pub mod elsewhere;
pub mod live;
pub mod plan;
pub mod timeline;
pub mod transition;

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::explain::advice::Advice;
use crate::explain::cluster::{Cluster, Meaning};
use crate::explain::decision::Decision;
use crate::explain::elsewhere::Elsewhere;
use crate::explain::plan::Candidate;
use crate::explain::transition::{Detail, Silence, Transitions};
use crate::loopback::Lead;
use crate::order::Order as _;
use crate::resolver::Resolver;
use crate::resolver::reading::Reading;
use crate::scenario::Scenario;
use crate::simulation::Run;
use crate::text::ordered;

/// A lookup as several resolvers do it.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The question.
    pub scenario: &'a Scenario,
    /// What is known about the files.
    pub context: Context,
    /// The Kubernetes search path, if there is one.
    pub cluster: Option<Cluster>,
    /// Resolvers that send the same, in the order in which they were asked for.
    pub groups: Vec<Group<'a>>,
    /// What would save queries, and what it costs.
    pub advice: Vec<Advice>,
}

/// What is known about the scenario's files beyond their text.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// What was assumed or could not be read, as sentences.
    pub about: Vec<String>,
    /// Where loopback servers of the file lead, in file order.
    pub leads: Vec<PlacedLead>,
}

/// Where a server of the file leads.
#[derive(Clone, Debug)]
pub struct PlacedLead {
    /// `FILE:LINE:COLUMN` of the server.
    pub place: String,
    /// Who the server is, and where its queries go.
    pub lead: Lead,
}

/// Resolvers that send the same queries when nothing exists, and in the
/// world of the scenario.
#[derive(Debug)]
pub struct Group<'a> {
    /// The resolvers; never empty.
    pub members: Vec<Member<'a>>,
    /// The names they try, in order, with those the scenario's answers spare.
    pub candidates: Vec<Row>,
}

/// A candidate and what it would be in the cluster.
#[derive(Clone, Debug)]
pub struct Row {
    /// The candidate.
    pub candidate: Candidate,
    /// Whether it is asked in the world of the scenario.
    pub is_asked: bool,
    /// What the name would be; `None` without a Kubernetes search path.
    pub meaning: Option<Meaning>,
    /// Whether this is the one that a user most likely means.
    pub is_useful: bool,
}

/// One resolver of a group.
#[derive(Debug)]
pub struct Member<'a> {
    /// The resolver.
    pub resolver: &'static Resolver,
    /// What it takes from the configuration.
    pub reading: Reading<'a>,
    /// Why it asks in this order.
    pub decision: Decision,
    /// The lookup when nothing exists.
    pub plan: Run,
    /// The lookup in the world of the scenario.
    pub run: Run,
    /// What each candidate's answer leads to.
    pub transitions: Transitions,
    /// Where the lookup ended in the world of the scenario, if not at the name
    /// that is meant.
    pub elsewhere: Option<Elsewhere>,
    /// The lookup when no server answers.
    pub silence: Silence,
    /// Queries until the name that is most likely meant is found, when nothing
    /// else exists; `None`: no such name is known, or it is never found.
    pub cost: Option<usize>,
    /// Where servers disagree: those whose NXDOMAIN, if it comes first, ends
    /// the lookup of a name that the others have. Empty where the file has one
    /// server.
    pub believed: Vec<IpAddr>,
}

/// Explains the scenario's lookup by each of `resolvers`.
pub fn explain<'a>(
    scenario: &'a Scenario,
    context: Context,
    resolvers: &[&'static Resolver],
    detail: Detail,
) -> Explanation<'a> {
    let mut groups: Vec<(Key, Group<'a>)> = Vec::new();
    let cluster = Cluster::find(scenario);
    let wanted = cluster.as_ref().and_then(|it| it.intended(&scenario.name));
    for resolver in resolvers {
        let (key, member, candidates) = examine(scenario, resolver, wanted.as_deref(), detail);
        if let Some((_, group)) = groups.iter_mut().find(|(other, _)| *other == key) {
            group.members.push(member);
        } else {
            let candidates = rows(scenario, candidates, cluster.as_ref());
            let members = vec![member];
            groups.push((
                key,
                Group {
                    members,
                    candidates,
                },
            ));
        }
    }
    let groups: Vec<Group<'a>> = groups.into_iter().map(|(_, group)| group).collect();
    Explanation {
        advice: advice::advice(scenario, &groups, cluster.as_ref(), wanted),
        scenario,
        context,
        cluster,
        groups,
    }
}

/// What members of a group have in common: the candidates of the plan and of
/// the run, each with its queries in an order of their own.
type Key = (Vec<Candidate>, Vec<Candidate>);

fn examine<'a>(
    scenario: &'a Scenario,
    resolver: &'static Resolver,
    wanted: Option<&str>,
    detail: Detail,
) -> (Key, Member<'a>, Vec<(Candidate, bool)>) {
    let plan = transition::run_when(scenario, resolver, &[]);
    let mut run = if scenario.answers.is_empty() {
        plan.clone()
    } else {
        resolver.predict(scenario)
    };
    let chances = resolver.courses(scenario, &run).why;
    run.notes.extend(chances.into_iter().map(str::to_owned));
    let planned = plan::candidates(&plan);
    let asked = plan::candidates(&run);
    let reading = resolver.reading(scenario);
    let in_plan: BTreeSet<_> = ordered(planned.iter().map(Candidate::key));
    let in_run: BTreeSet<_> = ordered(asked.iter().map(Candidate::key));
    // In the order of the plan, so that numbers mean the same everywhere; then
    // what only the answers lead to, such as the target of an alias.
    let in_plan_order = planned
        .iter()
        .map(|it| (it.clone(), in_run.contains(&it.key())));
    let beyond = asked
        .iter()
        .filter(|it| !in_plan.contains(&it.key()))
        .map(|it| (it.clone(), true));
    let candidates = in_plan_order.chain(beyond).collect();
    let key = (sorted(&planned), sorted(&asked));
    let member = Member {
        decision: Decision::from_plan(scenario, &reading, &planned, &plan),
        transitions: transition::transitions(scenario, resolver, &planned, &plan, detail),
        elsewhere: Elsewhere::from_run(scenario, &run),
        silence: transition::silence(scenario, resolver),
        cost: wanted.and_then(|it| advice::found(scenario, resolver, it)),
        believed: disagreement::believed(scenario, resolver, &reading.servers),
        resolver,
        reading,
        plan,
        run,
    };
    (key, member, candidates)
}

/// Candidates without the order of their queries, which is a matter of chance
/// for resolvers that ask for A and AAAA at once.
fn sorted(candidates: &[Candidate]) -> Vec<Candidate> {
    let mut candidates = candidates.to_vec();
    for candidate in &mut candidates {
        candidate.queries.order();
    }
    candidates
}

fn rows(
    scenario: &Scenario,
    candidates: Vec<(Candidate, bool)>,
    cluster: Option<&Cluster>,
) -> Vec<Row> {
    let meaning = |candidate: &Candidate| {
        let name = candidate.name.as_ref()?;
        cluster.map(|cluster| cluster.meaning(name))
    };
    let useful = cluster.and_then(|cluster| {
        let names = candidates
            .iter()
            .map(|(candidate, _)| candidate.name.as_ref());
        cluster.useful(&scenario.name, names)
    });
    candidates
        .into_iter()
        .enumerate()
        .map(|(index, (candidate, is_asked))| Row {
            meaning: meaning(&candidate),
            is_useful: useful == Some(index),
            is_asked,
            candidate,
        })
        .collect()
}
