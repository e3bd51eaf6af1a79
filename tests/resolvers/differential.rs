//! Random scenarios through the real resolvers, compared with the models.
//!
//! `KDNS_SEED` and `KDNS_SCENARIOS` choose them; the seed is printed. The same
//! seed makes the same scenarios. A disagreement is printed as a scenario that
//! `kdns explain --scenario` takes; once understood it goes into
//! `testdata/vectors/regressions.jsonl`.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::lab::compare::{Difference, draws_lots, judge};
use crate::lab::{Observation, ResolverId, Scenario, observe_until, random, real};
use crate::vectors::predict;

/// Scenarios of a run.
const SCENARIOS: usize = 300;

/// systemd-resolved needs a daemon for each run: it gets every so-manieth scenario.
const RESOLVED_EVERY: usize = 6;

/// How often a run that differs is made: on a busy machine a packet may be late.
const ATTEMPTS: usize = 6;

/// A trial for each scenario, with every resolver that is here.
pub(crate) fn trials() -> Vec<Trial> {
    let here: Vec<ResolverId> = ResolverId::ALL
        .into_iter()
        .filter(|id| real::missing(*id).is_none())
        .collect();
    if here.is_empty() {
        return Vec::new();
    }
    let seed = number("KDNS_SEED").unwrap_or_else(clock);
    let count = number("KDNS_SCENARIOS").and_then(|it| usize::try_from(it).ok());
    let count = count.unwrap_or(SCENARIOS);
    // Standard error: standard output is the report of the trials.
    let _ = writeln!(
        std::io::stderr(),
        "differential: KDNS_SEED={seed} KDNS_SCENARIOS={count}"
    );
    let scenarios = random::scenarios(seed, count);
    let numbered = scenarios.into_iter().enumerate();
    numbered
        .map(|(number, scenario)| {
            let here = here.clone();
            let name = format!("differential::{seed}::{number}");
            Trial::test(name, move || check(number, &scenario, &here))
        })
        .collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

fn check(number: usize, scenario: &Value, here: &[ResolverId]) -> Result<(), Failed> {
    let text = scenario.to_string();
    let question: Scenario = serde_json::from_value(scenario.clone())?;
    let mut failures = Vec::new();
    for &id in here {
        if is_left_out(number, &question, id.as_str()) {
            continue;
        }
        let prediction = predict(&text, id.as_str())?;
        let mirrored = mirrored_code(scenario, id.as_str());
        let verdict = observe_until(&question, id, ATTEMPTS, |seen| {
            judge(&prediction, seen).or_else(|difference| match (&difference, &mirrored) {
                (Difference::Outcome(_), Some(code))
                    if seen.outcome.code.as_ref() == Some(code) =>
                {
                    Ok(())
                }
                _ => Err(difference),
            })
        });
        if let Err((difference, observed)) = verdict {
            failures.push(format!(
                "{id}: {difference}\n  predicted {prediction}\n  observed  {}",
                json(&observed)
            ));
        }
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{text}\n{}", failures.join("\n")).into())
}

/// The error that Go gives when, of A and AAAA failing in different ways, the other one is told last: it asks
/// them in two goroutines, and on a busy machine either may end first. The same question with the two types
/// exchanged predicts it.
///
/// Source: Go `src/net/dnsclient_unix.go: Resolver.goLookupIPCNAMEOrder`, `lastErr`.
fn mirrored_code(scenario: &Value, id: &str) -> Option<String> {
    if !id.starts_with("go-") {
        return None;
    }
    let mut scenario = scenario.clone();
    for rule in scenario.get_mut("answers")?.as_array_mut()? {
        let other = match rule.get("type").and_then(Value::as_str) {
            Some("A") => "AAAA",
            Some("AAAA") => "A",
            _ => continue,
        };
        *rule.get_mut("type")? = other.into();
    }
    let prediction = predict(&scenario.to_string(), id).ok()?;
    let code = prediction.get("outcome")?.get("code")?.as_str()?;
    Some(code.to_owned())
}

/// Whether a run would prove nothing: lots are drawn, or the machine's own
/// stub listener stands where the scenario's server should, or resolved does
/// not start because glibc, which refuses the whole nsswitch.conf, finds no
/// user for it.
fn is_left_out(number: usize, question: &Scenario, id: &str) -> bool {
    let is_resolved = id.starts_with("systemd-resolved");
    let own_address = |text: &String| text.contains("127.0.0.5");
    let is_refused = |text: &String| text.contains("[BOGUS");
    let mut nsswitch = question.nsswitch.iter().flatten();
    is_resolved && (!number.is_multiple_of(RESOLVED_EVERY) || nsswitch.any(is_refused))
        || id == "systemd-resolved-stub" && question.resolv_conf.as_ref().is_some_and(own_address)
        || draws_lots(question, id)
}

fn json(observation: &Observation) -> String {
    serde_json::to_string(observation).unwrap_or_default()
}
