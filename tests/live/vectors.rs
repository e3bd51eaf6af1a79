//! Recorded vectors, live: the server gets what the real resolver sent.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use kdns::{resolver, scenario};
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::lab::compare::{judge, judge_as_sent};
use crate::lab::observation::Query;
use crate::lab::{Observation, Scenario};
use crate::run::{Ran, SAVED, lines, replayed, run};
use crate::trial;

/// Vectors for each resolver.
const CASES: usize = 10;
/// A case that would take longer is not taken.
const LONGEST: Duration = Duration::from_millis(2500);
/// On a busy machine a packet or a thread may be late.
const ATTEMPTS: usize = 4;

struct Case {
    id: String,
    line: String,
    scenario: Scenario,
    observed: Observation,
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial_of = |id: &'static str| trial(&format!("vectors::{id}"), move || check(id));
    let observed = resolver::ALL.iter().filter(|it| !it.observed.is_empty());
    observed.map(|it| trial_of(it.id)).collect()
}

fn check(id: &'static str) -> Result<(), Failed> {
    let wanted = std::env::var("KDNS_LIVE_CASES").ok();
    let wanted = wanted.and_then(|it| it.parse().ok()).unwrap_or(CASES);
    let all = cases(id)?;
    let step = (all.len() / wanted).max(1);
    let chosen: Vec<Case> = all.into_iter().step_by(step).collect();
    let mut failures = Vec::new();
    for case in &chosen {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            last = one(case, id).err();
            if last.is_none() {
                break;
            }
        }
        failures.extend(last.map(|it| format!("{}: {}", case.id, it.message().unwrap_or("?"))));
    }
    if failures.is_empty() && !chosen.is_empty() {
        return Ok(());
    }
    let (count, all) = (failures.len(), chosen.len());
    Err(format!("{count} of {all}:\n{}", failures.join("\n")).into())
}

fn one(case: &Case, id: &str) -> Result<(), Failed> {
    let mut words = vec!["explain", "--live", "--format", "jsonl", "--resolver", id];
    words.extend(["--save-scenario", SAVED]);
    match case.scenario.family.as_deref() {
        Some("inet") => words.extend(["--type", "A"]),
        Some("inet6") => words.extend(["--type", "AAAA"]),
        _ => {}
    }
    words.extend(["--", &case.scenario.name]);
    let ran = run(&case.line, &words)?;
    let said = lines(&ran.stdout)?;
    let said = said.first().ok_or_else(|| format!("{ran:?}"))?;
    // What the server saw, and the end that kdns says the lookup had.
    let mut seen = ran.observation.clone();
    seen.outcome = serde_json::from_value(said["outcome"].clone())?;
    let predicted = replayed(&case.line, id)?;
    let predicted = predicted.first().ok_or("nothing is predicted")?;
    // One type may find the other's answer in resolved's cache: a real server is not as fast as those of a scenario.
    let cached = id == "systemd-resolved" && asks_no_more(&seen, predicted);
    judge_as_sent(predicted, &seen)
        .or_else(|difference| if cached { Ok(()) } else { Err(difference) })
        .map_err(|difference| difference.to_string())?;
    status(&ran, said)?;
    replays(&ran, said, id)
}

/// Whether every query is among those predicted.
fn asks_no_more(seen: &Observation, predicted: &Value) -> bool {
    let asked = |it: &Query| {
        let mut queries = predicted["queries"].as_array().into_iter().flatten();
        queries.any(|q| q["qname"].as_str() == it.qname.as_deref() && q["server"] == it.server)
    };
    seen.queries.iter().all(asked)
}

fn status(ran: &Ran, said: &Value) -> Result<(), Failed> {
    let expected = i64::from(said["outcome"]["status"] != "ok");
    if ran.status == expected {
        return Ok(());
    }
    Err(format!("status {} after {said}", ran.status).into())
}

/// The saved scenario can have the same queries and the same end.
fn replays(ran: &Ran, said: &Value, id: &str) -> Result<(), Failed> {
    if ran.stderr.contains("does not replay") {
        // Rules have whole milliseconds, and which of two events of one systemd-resolved serves first is chance.
        let is_chance = id.starts_with("systemd-resolved");
        // A pair goes out in one segment; where the server ends the connection after the first, a scenario has no second.
        let mut replies = said["replies"].as_array().into_iter().flatten();
        if is_chance || replies.any(|it| it["reply"] == "FIN" || it["reply"] == "RST") {
            return Ok(());
        }
        return Err(format!("not replayed: {said}\n{:?}", ran.saved).into());
    }
    let saved = ran.saved.as_deref().ok_or("nothing was saved")?;
    let replayed = replayed(saved, id)?;
    let replayed = replayed.first().ok_or("nothing is replayed")?;
    let live = json!({"resolver": id, "queries": said["queries"], "outcome": said["outcome"]});
    judge(replayed, &serde_json::from_value(live)?)
        .map_err(|difference| format!("replayed {replayed}, live {said}: {difference}").into())
}

/// Vectors that can be told apart from chance and are over soon.
fn cases(id: &str) -> Result<Vec<Case>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors");
    let exceptions: Vec<Value> =
        serde_json::from_slice(&fs::read(folder.join("exceptions.json"))?)?;
    let of = |it: &Value| it["case"].as_str().map(str::to_owned);
    let exceptions: BTreeSet<String> = exceptions.iter().filter_map(of).collect();
    let mut cases = Vec::new();
    for file in ["visible", "regressions", "hickory", "versions"] {
        let text = fs::read_to_string(folder.join(file).with_extension("jsonl"))?;
        for line in text.lines() {
            let value: Value = serde_json::from_str(line)?;
            let observed = value["observed"].as_array().into_iter().flatten();
            let Some(observed) = observed.into_iter().find(|it| it["resolver"] == id) else {
                continue;
            };
            let case = Case {
                id: value["id"].as_str().unwrap_or_default().to_owned(),
                line: line.to_owned(),
                scenario: serde_json::from_str(line)?,
                observed: serde_json::from_value(observed.clone())?,
            };
            if !exceptions.contains(&case.id) && is_wanted(&case, id)? {
                cases.push(case);
            }
        }
    }
    Ok(cases)
}

fn is_wanted(case: &Case, id: &str) -> Result<bool, Failed> {
    let Scenario { name, flags, .. } = &case.scenario;
    let longest = name.split('.').map(str::len).max().unwrap_or_default();
    // The command line has no flags, and refuses what can be no name: `web:80` too.
    // A reply about a name that is too long cannot be read.
    let is_legal = |it: &Query| it.qname.as_ref().is_none_or(|it| it.len() < 254);
    let is_legal = case.observed.queries.iter().all(is_legal);
    let can_be_asked = is_legal
        && *flags == 0
        && !name.is_empty()
        && !name.contains(":80")
        && !name.contains('/')
        && longest < 64
        && name.len() < 254;
    // A reply that comes twice is taken once by --live, and nobody here has an address with a zone.
    let is_plain = !["\"dup\": true", "%"]
        .iter()
        .any(|it| case.line.contains(it));
    if !can_be_asked || !is_plain || case.observed.stable == Value::Bool(false) {
        return Ok(false);
    }
    let crashed = case.observed.outcome.code.as_deref() == Some("STILL_RUNNING_AT_LIMIT");
    let parsed = scenario::json::parse(case.line.as_bytes(), "1")?;
    let predicted = resolver::find(id)
        .ok_or("no such resolver")?
        .predict(&parsed);
    let is_short = predicted.elapsed <= LONGEST && predicted.sent.len() < 200;
    Ok(!crashed && is_short)
}
