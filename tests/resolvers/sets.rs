//! What is left to chance: a lookup that is made many times is each time one of those predicted.
//!
//! Made only where `KDNS_SETS` says how often each lookup is made (200); `KDNS_SETS_CASES` says how many lookups each
//! resolver is given. Of sets that are small enough to be listed, the choices that were never seen are printed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kdns::{resolver, scenario};
use libtest_mimic::{Failed, Trial};
use serde::Serialize;
use serde_json::{Value, json};

use crate::differential::{is_left_out, number};
use crate::lab::compare::{Difference, judge_as_sent};
use crate::lab::{Observation, ResolverId, Scenario, observe_all, random, real};
use crate::vectors::predict;

const RECORDED: &str = concat!(
    include_str!("../../testdata/vectors/visible.jsonl"),
    include_str!("../../testdata/vectors/hickory.jsonl"),
);

/// Random scenarios to choose from, beside those that were recorded.
const RANDOM: usize = 400;
/// Lookups for each resolver.
const CASES: u64 = 12;
/// Longer ones would take hours.
const LONGEST: Duration = Duration::from_secs(3);
/// Runs at once.
const TOGETHER: usize = 4;
/// The runs of larger sets are not listed.
const MOST: usize = 1_000;
/// Of so many runs one may be outside.
const OUTSIDE_IN: usize = 200;

/// One resolver at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A trial for each resolver that is here and leaves something to chance.
pub(crate) fn trials() -> Vec<Trial> {
    let Some(runs) = number("KDNS_SETS").and_then(|it| usize::try_from(it).ok()) else {
        return Vec::new();
    };
    let here = ResolverId::all().filter(|id| real::missing(*id).is_none());
    let chancy = here.filter(|id| cases(id.as_str()).map_or(true, |it| !it.is_empty()));
    chancy
        .map(|id| Trial::test(format!("sets::{id}"), move || check(id, runs)))
        .collect()
}

fn check(id: ResolverId, runs: usize) -> Result<(), Failed> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cases = cases(id.as_str())?;
    let (mut outside, mut closed, mut first) = (0, 0, None);
    for (scenario, prediction) in &cases {
        let members = members(prediction);
        let mut known: BTreeMap<String, bool> = BTreeMap::new();
        let mut never: BTreeSet<&str> = members.iter().flatten().flat_map(Member::parts).collect();
        let parts = never.len();
        let mut strangers = 0;
        for run in observe_all(&vec![(scenario.clone(), id); runs], TOGETHER) {
            let is_known = known
                .entry(json(&(&run.queries, &run.outcome)))
                .or_insert_with(|| {
                    let judged = judge_as_sent(prediction, &run);
                    if let Err(difference) = &judged {
                        first.get_or_insert_with(|| {
                            describe(scenario, prediction, &run, difference)
                        });
                    }
                    for member in members.iter().flatten().filter(|it| it.is(&run)) {
                        never.retain(|part| !member.parts().any(|it| it == *part));
                    }
                    judged.is_ok()
                });
            strangers += usize::from(!*is_known);
        }
        // A set that says of itself that more can be promises nothing; what was outside is printed.
        if prediction["more"] != true {
            outside += strangers;
            closed += 1;
        }
        let count = members
            .as_ref()
            .map_or("too many".to_owned(), |it| it.len().to_string());
        say(&format!(
            "{id} {}: {strangers} of {runs} outside; {count} members of {parts} choices, never seen {never:?}",
            scenario.id,
        ));
    }
    let all = cases.len() * runs;
    say(&format!("{id}: {outside} of {all} outside"));
    if closed == 0 {
        return Err("all sets are open: nothing was held against one".into());
    }
    // On a busy machine a packet or a thread may be late.
    if outside * OUTSIDE_IN > all {
        return Err(first.unwrap_or_default().into());
    }
    Ok(())
}

/// Standard error: standard output is the report of the trials.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "sets: {text}");
}

fn describe(
    scenario: &Scenario,
    prediction: &Value,
    run: &Observation,
    why: &Difference,
) -> String {
    format!(
        "{}\n{why}\n  predicted {prediction}\n  observed  {}",
        json(scenario),
        json(run)
    )
}

fn json(it: &impl Serialize) -> String {
    serde_json::to_string(it).unwrap_or_default()
}

/// Lookups in which something is left to chance, from all over the recorded and the random ones.
fn cases(id: &str) -> Result<Vec<(Scenario, Value)>, Failed> {
    let mut found = Vec::new();
    let random = random::scenarios(crate::seed::seed(), RANDOM).into_iter();
    let recorded = RECORDED.lines().map(str::to_owned);
    for text in recorded.chain(random.map(|it| it.to_string())) {
        let question: Scenario = serde_json::from_str(&text)?;
        let asked = scenario::json::parse(text.as_bytes(), "1")?;
        let own = resolver::find(id).ok_or("no such resolver")?;
        let run = own.predict(&asked);
        if run.chance.is_none() || run.elapsed > LONGEST || is_left_out(0, &question, id) {
            continue;
        }
        let prediction = predict(&text, id)?;
        if ["any_order", "one_of"]
            .iter()
            .any(|it| prediction.get(it).is_some())
        {
            found.push((question, prediction));
        }
    }
    let wanted = number("KDNS_SETS_CASES").unwrap_or(CASES);
    let wanted = usize::try_from(wanted)?.clamp(1, found.len().max(1));
    let chosen = (0..wanted).filter_map(|it| found.get(it * found.len() / wanted).cloned());
    Ok(chosen.collect())
}

/// One of the runs of a set.
#[derive(Clone, Debug, Default)]
struct Member {
    queries: Vec<Value>,
    outcome: Value,
    /// The choices that make it: `one_of[1]`, `one_of[1].any_order[0][1, 0]`.
    parts: Vec<String>,
}

impl Member {
    /// The same, going on so.
    fn then<'q>(
        &self,
        queries: impl IntoIterator<Item = &'q Value>,
        outcome: &Value,
        parts: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut longer = self.clone();
        longer.queries.extend(queries.into_iter().cloned());
        longer.parts.extend(parts);
        if !outcome.is_null() {
            longer.outcome = outcome.clone();
        }
        longer
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }

    /// Whether the run is this one.
    fn is(&self, run: &Observation) -> bool {
        let alone = json!({"queries": self.queries, "outcome": self.outcome});
        // Cookies are not compared where something is left to chance.
        let stable = json!("order");
        judge_as_sent(
            &alone,
            &Observation {
                stable,
                ..run.clone()
            },
        )
        .is_ok()
    }
}

/// All runs of a set, unless they are too many.
fn members(course: &Value) -> Option<Vec<Member>> {
    let list = |key: &str| {
        course[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let queries = list("queries");
    let mut whole: Vec<Member> = Vec::new();
    let begin = Member::default().then([], &course["outcome"], []);
    let mut begun = vec![(begin, 0, true)];
    while let Some((member, at, is_fresh)) = begun.pop() {
        if whole.len() + begun.len() > MOST {
            return None;
        }
        for (number, other) in list("one_of").iter().enumerate() {
            if !is_fresh || other["from"] != at {
                continue;
            }
            let to = usize::try_from(other["to"].as_u64()?).ok()?;
            for inner in members(other)? {
                let own = format!("one_of[{number}]");
                let within = inner.parts().map(|it| format!("{own}.{it}"));
                let parts = within.chain([own.clone()]);
                begun.push((
                    member.then(&inner.queries, &inner.outcome, parts),
                    to,
                    to > at,
                ));
            }
        }
        let mut groups = list("any_order").iter().enumerate();
        let begins = |group: &Value| lanes(group).iter().flatten().min() == Some(&at);
        if let Some((number, group)) = groups.find(|(_, group)| begins(group)) {
            for order in orders(&lanes(group))? {
                let queries = order.iter().filter_map(|it| queries.get(*it));
                let part = format!("any_order[{number}]{order:?}");
                begun.push((
                    member.then(queries, &Value::Null, [part]),
                    at + order.len(),
                    true,
                ));
            }
        }
        match queries.get(at) {
            Some(query) => begun.push((member.then([query], &Value::Null, []), at + 1, true)),
            None => whole.push(member),
        }
    }
    Some(whole)
}

fn lanes(group: &Value) -> Vec<Vec<usize>> {
    let number = |it: &Value| it.as_u64().and_then(|it| usize::try_from(it).ok());
    let lane = |it: &Value| match it.as_array() {
        Some(numbers) => numbers.iter().filter_map(number).collect(),
        None => number(it).into_iter().collect(),
    };
    group.as_array().into_iter().flatten().map(lane).collect()
}

/// Every order in which lanes can be mixed, unless they are too many.
fn orders(lanes: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
    let mut all = Vec::new();
    for (number, lane) in lanes.iter().enumerate() {
        let Some((first, rest)) = lane.split_first() else {
            continue;
        };
        let mut left = lanes.to_vec();
        if let Some(lane) = left.get_mut(number) {
            *lane = rest.to_vec();
        }
        all.extend(
            orders(&left)?
                .into_iter()
                .map(|it| [vec![*first], it].concat()),
        );
        if all.len() > MOST {
            return None;
        }
    }
    Some(if all.is_empty() {
        vec![Vec::new()]
    } else {
        all
    })
}
