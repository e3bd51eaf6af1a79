//! Random scenarios through the real resolvers, compared with the models.
//!
//! `KDNS_SEED` and `KDNS_SCENARIOS` choose them; the seed is printed. The same
//! seed makes the same scenarios. A disagreement is printed as a scenario that
//! `kdns explain --scenario` takes; once understood it goes into
//! `testdata/vectors/regressions.jsonl`.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::follow;
use crate::lab::compare::judge_as_sent;
use crate::lab::{Observation, ResolverId, Scenario, observe_until, random, real};
use crate::vectors::predict;

/// Scenarios of a run.
const SCENARIOS: usize = 300;

/// systemd-resolved needs a daemon for each run: it gets every so-manieth scenario.
const RESOLVED_EVERY: usize = 6;

/// Versions beside the usual one and other calls do nearly the same, and what they do in another
/// way is recorded: they get every so-manieth.
const OTHERS_EVERY: usize = 3;

/// nginx and `HAProxy` know no time-outs of a second: they get every so-manieth, too.
const DAEMONS_EVERY: usize = 3;

/// How often a run that differs is made: on a busy machine a packet may be late.
const ATTEMPTS: usize = 6;

/// hickory sorts its servers by times that it measures, and a set can say that it is not
/// whole: of so many scenarios one may take a course that is not in it, time after time.
/// It is printed.
const ONE_OUTSIDE_IN: usize = 100;

/// Those that were outside so far.
static OUTSIDE: AtomicUsize = AtomicUsize::new(0);

/// A trial for each scenario and resolver that is here.
pub(crate) fn trials() -> Result<Vec<Trial>, serde_json::Error> {
    let here: Vec<ResolverId> = ResolverId::all()
        .filter(|id| real::missing(*id).is_none())
        .collect();
    if here.is_empty() {
        return Ok(Vec::new());
    }
    let seed = crate::seed::seed();
    let count = number("KDNS_SCENARIOS").and_then(|it| usize::try_from(it).ok());
    let count = count.unwrap_or(SCENARIOS);
    // Standard error: standard output is the report of the trials.
    let _ = writeln!(
        std::io::stderr(),
        "differential: KDNS_SEED={seed} KDNS_SCENARIOS={count}"
    );
    let most_outside = count / ONE_OUTSIDE_IN;
    let mut trials = Vec::new();
    for (number, scenario) in random::scenarios(seed, count).into_iter().enumerate() {
        let scenario = Arc::new(scenario);
        let question: Scenario = serde_json::from_value((*scenario).clone())?;
        for &id in &here {
            if is_left_out(number, &question, id.as_str()) {
                continue;
            }
            let name = format!("differential::{seed}::{number}::{id}");
            let scenario = Arc::clone(&scenario);
            trials.push(Trial::test(name, move || {
                check(&scenario, id, most_outside)
            }));
        }
    }
    Ok(trials)
}

pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn check(scenario: &Value, id: ResolverId, most_outside: usize) -> Result<(), Failed> {
    let text = scenario.to_string();
    let question: Scenario = serde_json::from_value(scenario.clone())?;
    let prediction = predict(&text, id.as_str())?;
    let note = prediction.get("note").and_then(Value::as_str);
    if note.is_some_and(|it| it.contains(NOT_SHOWN)) {
        return Ok(());
    }
    let is_open = prediction.get("more") == Some(&Value::Bool(true));
    let verdict = observe_until(&question, id, ATTEMPTS, |seen| {
        let listed = judge_as_sent(&prediction, seen);
        listed.or_else(|why| follow::is_run(is_open, &text, id.as_str(), seen).ok_or(why))
    });
    let Err((difference, observed)) = verdict else {
        return Ok(());
    };
    let observed = json(&observed);
    let failure = format!("{text}\n{difference}\n  predicted {prediction}\n  observed  {observed}");
    if (is_open || id.as_str().starts_with("hickory"))
        && OUTSIDE.fetch_add(1, Ordering::Relaxed) < most_outside
    {
        let _ = writeln!(std::io::stderr(), "outside the set: {id}: {failure}");
        return Ok(());
    }
    Err(failure.into())
}

/// A model that says so does not say all.
const NOT_SHOWN: &str = "which is not shown here";

/// Models that are held against what was recorded, and not yet against random
/// questions: of names outside ASCII, of odd host names and of comments behind options
/// Node and dnspython make something else.
const RECORDED_ONLY: [&str; 2] = ["node-resolve", "dnspython"];

/// Programs that start slowly, or wait for a minute in silence: they get every so-manieth.
const SLOW_EVERY: usize = 10;
const SLOW: [&str; 3] = ["netty-", "ruby-resolv", "erlang-"];

/// Whether a run would prove nothing: the machine's own
/// stub listener stands where the scenario's server should, or resolved does
/// not start because glibc, which refuses the whole nsswitch.conf, finds no
/// user for it, nor does nginx. Erlang looks its own host's name up when it starts, in
/// DNS where /etc/hosts has no such line.
pub(crate) fn is_left_out(number: usize, question: &Scenario, id: &str) -> bool {
    let is_resolved = id.starts_with("systemd-resolved");
    let is_daemon = matches!(id, "nginx" | "haproxy");
    let is_usual = kdns::resolver::find(id).is_some_and(|it| it.is_usual && it.id == id);
    // The lab answers a name without records if it is longer than a message allows.
    let words = question
        .resolv_conf
        .iter()
        .flat_map(|it| it.split_whitespace());
    let domain = words.map(str::len).max().unwrap_or_default();
    let is_long = question.name.len() > 253;
    let is_long_in_search = question.name.len() + 1 + domain > 253;
    let is_own = question.hosts.is_none() && question.nsswitch.is_none();
    // What Erlang makes of these is not modelled, nor what the client of a stub does while the stub waits on.
    let is_wrong = question.answers.iter().any(|it| it.wrong.is_some());
    let is_late_or_wrong = is_wrong || question.answers.iter().any(|it| it.delay_ms.is_some());
    let own_address = |text: &String| text.contains("127.0.0.5");
    let is_bogus = |text: &String| text.contains("[BOGUS");
    let is_refused = question.nsswitch.iter().flatten().any(is_bogus);
    RECORDED_ONLY.iter().any(|it| id.starts_with(it))
        || is_resolved && (!number.is_multiple_of(RESOLVED_EVERY) || is_refused)
        || !is_usual && !number.is_multiple_of(OTHERS_EVERY)
        || is_daemon && (!number.is_multiple_of(DAEMONS_EVERY) || is_long)
        || SLOW.iter().any(|it| id.starts_with(it))
            && (!number.is_multiple_of(SLOW_EVERY) || is_long_in_search)
        || (id.starts_with("c-ares-1.2") || id.starts_with("c-ares-1.3")) && is_long_in_search
        || id.starts_with("erlang") && (!is_own || question.hostname != "pod-1" || is_late_or_wrong)
        || id == "nginx" && is_refused
        || id.starts_with("systemd-resolved-stub")
            && (is_wrong || question.resolv_conf.as_ref().is_some_and(own_address))
}

fn json(observation: &Observation) -> String {
    serde_json::to_string(observation).unwrap_or_default()
}
