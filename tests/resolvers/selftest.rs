//! Proves the real-resolver lab: in a sample of the vectors' scenarios it observes what they say.
//!
//! The sample is every ninth case, with every resolver that ended within ten seconds; `KDNS_LAB_EVERY=1` takes every
//! case. A run that differs is made again, twice at most: on a busy machine a packet or a thread may be late.

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::lab::{
    self, Observation, ResolverId, Scenario, compare, observe_all, observe_until, real,
};

use crate::vectors::predict;

const VECTORS: &str = concat!(
    include_str!("../../testdata/vectors/visible.jsonl"),
    include_str!("../../testdata/vectors/versions.jsonl"),
);

/// Longer runs are left out.
const LONGEST_MS: u64 = 10_000;

/// How often a run that differs is made.
const ATTEMPTS: usize = 3;

/// A trial for each case of the sample and each resolver that is here.
pub(crate) fn trials() -> Vec<Trial> {
    let every = std::env::var("KDNS_LAB_EVERY")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(9);
    let mut trials = random_scenarios();
    for resolver in ResolverId::all() {
        if real::missing(resolver).is_none() {
            trials.extend(
                VECTORS
                    .lines()
                    .step_by(every)
                    .filter_map(|line| trial(line, resolver)),
            );
        }
    }
    if ResolverId::all()
        .next()
        .is_some_and(|it| real::missing(it).is_none())
    {
        trials.push(Trial::test("lab::together", together));
    }
    trials
}

/// The random scenarios are scenarios, and the same seed makes the same ones.
fn random_scenarios() -> Vec<Trial> {
    let test = || {
        let scenarios = lab::random::scenarios(7, 300);
        if scenarios.len() != 300 || scenarios != lab::random::scenarios(7, 300) {
            return Err(Failed::from("not 300, or not twice the same"));
        }
        for scenario in scenarios {
            serde_json::from_value::<Scenario>(scenario.clone())
                .map_err(|e| format!("{e}: {scenario}"))?;
        }
        Ok(())
    };
    vec![Trial::test("lab::random_scenarios", test)]
}

/// The trial of one case and one resolver, if the case was observed with it.
fn trial(line: &'static str, resolver: ResolverId) -> Option<Trial> {
    let case: Value = serde_json::from_str(line).ok()?;
    let list = case.get("observed")?.as_array()?;
    let of = |o: &&Value| o.get("resolver").and_then(Value::as_str) == Some(resolver.as_str());
    let recorded: Observation = serde_json::from_value(list.iter().find(of)?.clone()).ok()?;
    let scenario: Scenario = serde_json::from_value(case).ok()?;
    if recorded.timing.ms_max > LONGEST_MS {
        return None;
    }
    let name = format!("lab::{resolver}::{}", scenario.id);
    Some(Trial::test(name, move || {
        check(line, &scenario, resolver, &recorded)
    }))
}

/// Where something is left to chance, the run may be another one of those predicted.
fn check(
    line: &str,
    scenario: &Scenario,
    resolver: ResolverId,
    recorded: &Observation,
) -> Result<(), Failed> {
    let prediction = predict(line, resolver.as_str())?;
    let json = |o: &Observation| serde_json::to_value(o).unwrap_or_default();
    observe_until(scenario, resolver, ATTEMPTS, |observed| {
        compare::judge(&json(observed), recorded)
            .or_else(|difference| compare::judge(&prediction, observed).map_err(|_| difference))
    })
    .map_err(|(difference, observed)| {
        Failed::from(format!(
            "{difference}\n  lab     {}\n  vectors {}",
            json(&observed),
            json(recorded)
        ))
    })
}

/// Runs made together are told in the order that they were asked for.
fn together() -> Result<(), Failed> {
    let scenario = |name: &str| {
        serde_json::from_value::<Scenario>(serde_json::json!({"id": name, "name": name}))
    };
    let glibc: ResolverId = "glibc".parse()?;
    let runs = ["127.0.0.1", "::1", "192.0.2.7"].map(|name| scenario(name).map(|s| (s, glibc)));
    let runs = runs
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| e.to_string())?;
    let seen: Vec<Option<String>> = observe_all(&runs, 3)
        .into_iter()
        .map(|o| o.outcome.addrs.and_then(|a| a.first().cloned()))
        .collect();
    if seen
        == [
            Some("127.0.0.1".to_owned()),
            Some("::1".to_owned()),
            Some("192.0.2.7".to_owned()),
        ]
    {
        Ok(())
    } else {
        Err(Failed::from(format!("{seen:?}")))
    }
}
