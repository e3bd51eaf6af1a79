//! What the answer to a candidate leads to, found by trying each one.

use std::time::Duration;

use crate::engine::machine::Outcome;
use crate::engine::message::Rcode;
use crate::explain::plan::{Candidate, candidates};
use crate::resolver::Resolver;
use crate::scenario::Scenario;
use crate::simulation::{Run, run};
use crate::world::{Effect, Rule, World};

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
    /// The error; `None`: it succeeds without any answer.
    pub code: Option<&'static str>,
}

/// More candidates than this are not all tried: entries in the middle of a
/// search list behave like the second one.
const MAX_TRIED: usize = 8;

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
    run(resolver.machine(scenario), &mut World::new(rules))
}

/// Tries every kind of answer at every candidate of the plan.
pub fn transitions(scenario: &Scenario, resolver: &Resolver, planned: &[Candidate]) -> Transitions {
    let mut tried: Transitions = Vec::with_capacity(planned.len());
    for (index, candidate) in planned.iter().enumerate() {
        let in_the_middle = index >= MAX_TRIED && index + 2 < planned.len();
        let replies = match tried.get(1).filter(|_| in_the_middle) {
            Some(second) => second
                .iter()
                .map(|(reply, then)| (*reply, then.moved(index)))
                .collect(),
            None => REPLIES
                .iter()
                .map(|&reply| {
                    (
                        reply,
                        try_reply(scenario, resolver, planned, candidate, reply),
                    )
                })
                .collect(),
        };
        tried.push(replies);
    }
    tried
}

impl Then {
    /// The same from the candidate at `index` as from the second one.
    fn moved(self, index: usize) -> Self {
        match self {
            Self::Candidate(2) => Self::Candidate(index + 1),
            other => other,
        }
    }
}

fn try_reply(
    scenario: &Scenario,
    resolver: &Resolver,
    planned: &[Candidate],
    candidate: &Candidate,
    reply: Reply,
) -> Then {
    let rule = Rule {
        name: candidate.name.as_ref().map(ToString::to_string),
        effect: reply.effect(),
        ..Rule::default()
    };
    let run = run_when(scenario, resolver, &[rule]);
    let asked = candidates(&run);
    let here = asked.iter().position(|other| other.is_same_name(candidate));
    let next = here.and_then(|here| asked.get(here + 1));
    let next = next.and_then(|next| planned.iter().position(|other| other.is_same_name(next)));
    match (next, &run.outcome) {
        (Some(next), _) => Then::Candidate(next),
        (None, Outcome::Failed(code)) => Then::Fails(code),
        (None, Outcome::Found(_)) => Then::Succeeds,
    }
}

/// Runs the lookup against servers that never answer.
pub fn silence(scenario: &Scenario, resolver: &Resolver) -> Silence {
    let rule = Rule {
        effect: Effect::Timeout,
        ..Rule::default()
    };
    let run = run_when(scenario, resolver, &[rule]);
    let hangs = run.outcome == Outcome::Failed("HANG");
    Silence {
        after: (!hangs).then_some(run.elapsed),
        queries: run.sent.len(),
        code: match run.outcome {
            Outcome::Failed(code) => Some(code),
            Outcome::Found(_) => None,
        },
    }
}
