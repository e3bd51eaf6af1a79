//! Whether what was seen is one of a model's runs, where a prediction says that it does not list them all: the model
//! is played along what was seen, and where it goes another way, with another of its lots turned.

use std::collections::{BTreeSet, BinaryHeap};

use kdns::engine::chance::Also;
use kdns::engine::message::{Query, Question};
use kdns::render::prediction;
use kdns::resolver::{self, Resolver};
use kdns::scenario::{self, Scenario};
use kdns::simulation::courses::Courses;
use kdns::simulation::{Run, Sent, run_while};
use serde_json::Value;

use crate::lab::Observation;
use crate::lab::compare::judge;
use crate::lab::observation::Query as Seen;

/// So many runs are played at most.
const MOST_RUNS: usize = 4_000;

/// Something where the prediction is open and the model has a run for what was seen, and one for each of its variants.
pub(crate) fn is_run(is_open: bool, question: &str, id: &str, seen: &Observation) -> Option<()> {
    (is_open && has_run(question, id, seen)).then_some(())
}

/// The same, whether the prediction is open or not.
fn has_run(question: &str, id: &str, seen: &Observation) -> bool {
    let Ok(scenario) = scenario::json::parse(question.as_bytes(), "1") else {
        return false;
    };
    let Some(resolver) = resolver::find(id) else {
        return false;
    };
    let mut runs = std::iter::once(seen).chain(&seen.variants);
    runs.all(|run| {
        // Of one run of several, cookies and sockets are not compared.
        let alone = Observation {
            variants: Vec::new(),
            stable: Value::Bool(false),
            ..run.clone()
        };
        follow(resolver, &scenario, &alone)
    })
}

/// Goes on first from the run that was like the one seen for longest.
fn follow(resolver: &Resolver, scenario: &Scenario, seen: &Observation) -> bool {
    let mut begun = BinaryHeap::from([(0, 0, Vec::new())]);
    let mut known = BTreeSet::new();
    for _ in 0..MOST_RUNS {
        let Some((_, _, lots)) = begun.pop() else {
            return false;
        };
        let fixed = lots.len();
        let played = play(resolver, scenario, lots, &seen.queries);
        let alike = alike(&played.sent, &seen.queries);
        let is_whole = alike == seen.queries.len();
        if is_whole && told(resolver, scenario, &played).is_some_and(|it| judge(&it, seen).is_ok())
        {
            return true;
        }
        let drawn = played.chance.iter().flat_map(|it| &it.lots);
        let drawn: Vec<_> = drawn.collect();
        for (index, lot) in drawn.iter().enumerate().skip(fixed) {
            let after = played.sent.partition_point(|it| it.id.0 < lot.after);
            if after > alike {
                continue;
            }
            let before: Vec<usize> = drawn.iter().take(index).map(|it| it.picked).collect();
            for other in (0..lot.among).filter(|it| *it != lot.picked) {
                let turned = [before.as_slice(), &[other]].concat();
                if known.insert(turned.clone()) {
                    begun.push((alike, after, turned));
                }
            }
        }
    }
    false
}

/// With how many queries the run begins that are like those seen.
fn alike(sent: &[Sent], seen: &[Seen]) -> usize {
    let pairs = sent.iter().zip(seen);
    pairs
        .take_while(|(own, seen)| is_like(&own.query, seen))
        .count()
}

fn is_like(own: &Query, seen: &Seen) -> bool {
    let is_asked = match &own.question {
        Question::Asked(name, record_type) => {
            seen.qname
                .as_ref()
                .is_some_and(|it| *it == name.to_string())
                && seen
                    .qtype
                    .as_ref()
                    .is_some_and(|it| *it == record_type.to_string())
        }
        Question::Malformed(_) => seen.qname.is_none(),
    };
    is_asked
        && seen.proto == own.transport.word()
        && seen.server == own.server.address.reached().to_string()
}

/// The lookup with these lots, as far as it is like the one seen; the order of what is sent at once is a lot, too.
fn play(resolver: &Resolver, scenario: &Scenario, lots: Vec<usize>, seen: &[Seen]) -> Run {
    let machine = resolver.machine(scenario).with_lots(lots);
    machine.draw_also(Also::Order);
    let goes_on = |sent: &[Sent]| alike(sent, seen) == sent.len();
    run_while(machine, &mut scenario.world(&scenario.answers), goes_on)
}

/// One run as a prediction.
fn told(resolver: &Resolver, scenario: &Scenario, run: &Run) -> Option<Value> {
    let mut line = Vec::new();
    let certain = Courses::default();
    prediction::line(&scenario.id, resolver, (run, &certain), &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}
