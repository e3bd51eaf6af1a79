//! What the answer to a candidate leads to, found by trying each one.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::machine::Outcome;
use crate::engine::message::{Because, Rcode};
use crate::explain::plan::Candidate;
use crate::name::Name;
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::simulation::{MAX_QUERIES, Run, Sent, run, run_while};
use crate::text::ordered;
use crate::world::{Effect, Rule};

/// What each candidate's answer leads to, in the order of the candidates.
pub type Transitions = Vec<Vec<(Reply, Then)>>;

/// Kinds of answers, as far as resolvers tell them apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names are the answers' own")]
pub enum Reply {
    NxDomain,
    NoData,
    ServFail,
    Refused,
    NotImp,
    FormErr,
    /// No answer at all.
    Silence,
    /// The server's port is closed.
    PortClosed,
}

/// How much is tried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Detail {
    /// Nothing but the plan.
    Short,
    /// What each answer to each candidate leads to.
    Full,
}

/// What follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Then {
    /// The candidate of this index is asked.
    Candidate(usize),
    /// The lookup ends with this error.
    Fails(&'static str),
    /// The lookup ends well.
    Succeeds,
}

/// A lookup when no server answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Silence {
    /// How long it takes; `None`: for ever.
    pub after: Option<Duration>,
    /// How many queries are sent.
    pub queries: usize,
    /// Whether there would be more of them: they are no longer counted.
    pub is_cut: bool,
    /// The error; `None`: it succeeds without any answer.
    pub code: Option<&'static str>,
}

/// Every kind of answer, mildest first.
pub const REPLIES: [Reply; 8] = [
    Reply::NxDomain,
    Reply::NoData,
    Reply::ServFail,
    Reply::Refused,
    Reply::NotImp,
    Reply::FormErr,
    Reply::Silence,
    Reply::PortClosed,
];

impl Reply {
    fn effect(self) -> Effect {
        match self {
            Self::NxDomain => Effect::Status(Rcode::NxDomain),
            Self::NoData => Effect::Status(Rcode::NoError),
            Self::ServFail => Effect::Status(Rcode::ServFail),
            Self::Refused => Effect::Status(Rcode::Refused),
            Self::NotImp => Effect::Status(Rcode::NotImp),
            Self::FormErr => Effect::Status(Rcode::FormErr),
            Self::Silence => Effect::Timeout,
            Self::PortClosed => Effect::Icmp,
        }
    }
}

/// The lookup in a world of these rules instead of the scenario's.
pub fn run_when(scenario: &Scenario, resolver: &Resolver, rules: &[Rule]) -> Run {
    run(resolver.machine(scenario), &mut scenario.world(rules))
}

/// Tries every kind of answer at the candidates of `plan`.
///
/// Entries of the search list behave alike, so one stands for those that
/// follow it. Nothing is tried for [`Detail::Short`].
pub fn transitions(
    scenario: &Scenario,
    resolver: &Resolver,
    planned: &[Candidate],
    plan: &Run,
    detail: Detail,
) -> Transitions {
    let mut tried: Transitions = Vec::with_capacity(planned.len());
    if detail == Detail::Short {
        return tried;
    }
    let keys = planned.iter().map(Candidate::key);
    let places = ordered(keys.zip(0..));
    for (index, candidate) in planned.iter().enumerate() {
        let before = index
            .checked_sub(1)
            .and_then(|at| planned.get(at).zip(tried.get(at)));
        let alike =
            before.filter(|(other, _)| is_alike(other, candidate) && index + 1 < planned.len());
        let replies = match alike {
            Some((_, replies)) => replies
                .iter()
                .map(|(reply, then)| (*reply, then.moved(index)))
                .collect(),
            None => REPLIES
                .iter()
                .map(|&reply| match reply {
                    Reply::NxDomain => (reply, planned_next(index, planned, plan)),
                    _ => (
                        reply,
                        try_reply(scenario, resolver, &places, candidate, reply),
                    ),
                })
                .collect(),
        };
        tried.push(replies);
    }
    tried
}

/// Whether both are entries of the search list, and both not the root.
fn is_alike(one: &Candidate, other: &Candidate) -> bool {
    let is_long = |name: &Name| name.labels().nth(1).is_some();
    let is_entry = |candidate: &Candidate| {
        matches!(candidate.because, Because::Search(_))
            && candidate.name.as_ref().is_some_and(is_long)
    };
    is_entry(one) && is_entry(other)
}

/// What follows in the plan, where nothing exists.
fn planned_next(index: usize, planned: &[Candidate], plan: &Run) -> Then {
    if index + 1 < planned.len() {
        return Then::Candidate(index + 1);
    }
    plan.outcome.code().map_or(Then::Succeeds, Then::Fails)
}

impl Then {
    /// The same, seen from the next candidate, which is at `index`.
    fn moved(self, index: usize) -> Self {
        match self {
            Self::Candidate(next) if next == index => Self::Candidate(index + 1),
            other => other,
        }
    }
}

/// The index of each candidate of the plan.
type Places<'p> = BTreeMap<(Option<&'p Name>, &'p Because), usize>;

fn try_reply(
    scenario: &Scenario,
    resolver: &Resolver,
    planned: &Places<'_>,
    candidate: &Candidate,
    reply: Reply,
) -> Then {
    let rule = Rule {
        name: candidate.name.as_ref().map(ToString::to_string),
        effect: reply.effect(),
        ..Rule::default()
    };
    // The first new name after this one is all that matters, if it is planned.
    let mut next = None;
    let (mut seen, mut checked, mut is_behind) = (BTreeSet::new(), 0, false);
    let mut last = None;
    let mut goes_on = |sent: &[Sent]| {
        for it in sent.get(checked..).unwrap_or_default() {
            let key = (it.query.name().cloned(), it.query.because.clone());
            // Most names are asked for twice in a row.
            if last.as_ref() == Some(&key) {
                continue;
            }
            let is_new = seen.insert(key.clone());
            if is_new && is_behind {
                next.get_or_insert_with(|| planned.get(&(key.0.as_ref(), &key.1)).copied());
            }
            is_behind |= candidate.key() == (key.0.as_ref(), &key.1);
            last = Some(key);
        }
        checked = sent.len();
        next.flatten().is_none()
    };
    let rules = [rule];
    let run = run_while(
        resolver.machine(scenario),
        &mut scenario.world(&rules),
        &mut goes_on,
    );
    goes_on(&run.sent);
    match (next.flatten(), run.outcome.code()) {
        (Some(next), _) => Then::Candidate(next),
        (None, Some(code)) => Then::Fails(code),
        (None, None) => Then::Succeeds,
    }
}

/// Runs the lookup against servers that never answer.
pub fn silence(scenario: &Scenario, resolver: &Resolver) -> Silence {
    let rule = Rule {
        effect: Effect::Timeout,
        ..Rule::default()
    };
    let run = run_when(scenario, resolver, &[rule]);
    Silence {
        after: (run.outcome != Outcome::Hung).then_some(run.elapsed),
        queries: run.sent.len(),
        is_cut: run.sent.len() >= MAX_QUERIES,
        code: run.outcome.code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::plan::candidates;
    use crate::scenario;

    #[test]
    fn an_entry_that_stands_for_others_is_like_them() {
        let mut scenario = Scenario::new("1", "db");
        let file = "nameserver 10.0.0.1\nsearch . a.test b.test c.test\n";
        scenario.resolv_conf = Some(scenario::file("/etc/resolv.conf", file));
        for resolver in crate::resolver::ALL {
            let plan = run_when(&scenario, resolver, &[]);
            let planned = candidates(&plan);
            let places = ordered(planned.iter().map(Candidate::key).zip(0..));
            let found = transitions(&scenario, resolver, &planned, &plan, Detail::Full);
            for (candidate, replies) in planned.iter().zip(found) {
                for (reply, then) in replies.into_iter().skip(1) {
                    let tried = try_reply(&scenario, resolver, &places, candidate, reply);
                    assert_eq!(then, tried, "{} {candidate:?} {reply:?}", resolver.id);
                }
            }
        }
    }
}
