//! Every observation in `testdata/vectors/*.jsonl` is predicted: queries in
//! order, sockets, EDNS, outcome.
//!
//! `exceptions.json` lists those that are not, each with the source that makes
//! it unpredictable. A listed case that is among the runs of its prediction after all fails.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use kdns::render::prediction;
use kdns::{resolver, scenario};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;
use serde_json::Value;

use crate::follow::is_run;
use crate::lab::Observation;
use crate::lab::compare::judge;

/// At most one observation in so many may be an exception, for each resolver
/// but glibc, musl and Go, which have none. An observation all of whose runs but one are predicted is
/// listed, too, but does not count: any of its runs is right.
const RARELY: usize = 20;

/// An observation that is not predicted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    case: String,
    resolver: String,
    reason: String,
}

/// `predict SCENARIOS.jsonl RESOLVER`: predictions, one JSON object a line, for people.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [command, file, id] = words.as_slice() else {
        return None;
    };
    (command == "predict").then(|| {
        let text = fs::read_to_string(file).unwrap_or_default();
        for line in text.lines() {
            if let Ok(prediction) = predict(line, id) {
                let _ = writeln!(std::io::stdout(), "{prediction}");
            }
        }
        ExitCode::SUCCESS
    })
}

/// A trial for each resolver of each file of vectors.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for path in files() {
        let file = path.file_stem().unwrap_or_default().display().to_string();
        // Each is read once, by whom comes first.
        let cases = Arc::new(LazyLock::new(move || cases(&path)));
        for resolver in resolver::ALL {
            let (cases, id) = (Arc::clone(&cases), resolver.id);
            let name = format!("vectors::{file}::{id}");
            trials.push(Trial::test(name, move || match &**cases {
                Ok(cases) => check(cases, id),
                Err(e) => Err(e.as_str().into()),
            }));
        }
    }
    trials
}

/// A line of a file of vectors, and whom it was observed of.
struct Case {
    line: String,
    observed: Vec<Observed>,
}

/// One of its observations, as far as it says who that was.
#[derive(Deserialize)]
struct Observed {
    resolver: String,
}

fn cases(path: &Path) -> Result<Vec<Case>, String> {
    #[derive(Deserialize)]
    struct Line {
        observed: Vec<Observed>,
    }
    let failed = |e: &dyn Display| format!("{}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| failed(&e))?;
    let case = |line: &str| {
        let Line { observed } = serde_json::from_str(line)?;
        let line = line.to_owned();
        Ok(Case { line, observed })
    };
    let cases: serde_json::Result<_> = text.lines().map(case).collect();
    cases.map_err(|e| failed(&e))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors")
}

fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    files.sort();
    files
}

fn check(cases: &[Case], id: &str) -> Result<(), Failed> {
    let exceptions = exceptions(id)?;
    let (mut failures, mut seen, mut excepted) = (Vec::new(), 0, 0);
    let is_own = |it: &&Case| it.observed.iter().any(|it| it.resolver == id);
    for line in cases.iter().filter(is_own).map(|it| &it.line) {
        let case: Value = serde_json::from_str(line)?;
        let name = case.get("id").and_then(Value::as_str).unwrap_or_default();
        let all = observations(&case, id)?;
        let prediction = predict(line, id)?;
        let is_open = prediction.get("more") == Some(&Value::Bool(true));
        for observed in all {
            seen += 1;
            let listed = judge(&prediction, &observed);
            let is_sought = is_open && !exceptions.contains_key(name);
            let judged = listed.or_else(|why| is_run(is_sought, line, id, &observed).ok_or(why));
            match (judged, exceptions.get(name)) {
                (Ok(()), None) => {}
                (Ok(()), Some(_)) => {
                    failures.push(format!("{name}: is listed as an exception, but predicted"));
                }
                (Err(_), Some(_)) => excepted += usize::from(!any_is_right(&prediction, &observed)),
                (Err(difference), None) => failures.push(format!("{name}: {difference}")),
            }
        }
    }
    if excepted * RARELY > seen {
        failures.push(format!(
            "{excepted} exceptions among {seen} observations are too many"
        ));
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {seen}:\n{}", failures.len(), failures.join("\n")).into())
}

/// Whether one of the runs that were seen is predicted.
fn any_is_right(prediction: &Value, observed: &Observation) -> bool {
    let alone = |run: &Observation| Observation {
        variants: Vec::new(),
        ..run.clone()
    };
    let mut runs = std::iter::once(observed).chain(&observed.variants);
    runs.any(|run| judge(prediction, &alone(run)).is_ok())
}

/// The observations of this resolver in the case: one for each version that was run.
fn observations(case: &Value, id: &str) -> Result<Vec<Observation>, Failed> {
    let list = case["observed"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let own: Vec<&Value> = list.iter().filter(|it| it["resolver"] == id).collect();
    let versions = resolver::find(id).map_or(&[][..], |resolver| resolver.observed);
    let is_known = |it: &&Value| versions.iter().any(|version| it["version"] == *version);
    if !own.iter().all(is_known) {
        return Err(format!("{}: another version was observed", case["id"]).into());
    }
    let parsed = own.into_iter().map(|it| serde_json::from_value(it.clone()));
    Ok(parsed.collect::<Result<_, _>>()?)
}

/// What kdns predicts, as it writes it.
pub(crate) fn predict(scenario: &str, id: &str) -> Result<Value, Failed> {
    let scenario = scenario::json::parse(scenario.as_bytes(), "1")?;
    let resolver = resolver::find(id).ok_or("no such resolver")?;
    let (run, courses) = resolver.predict_courses(&scenario);
    let mut line = Vec::new();
    prediction::line(&scenario.id, resolver, (&run, &courses), &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// The reasons for this resolver's exceptions, by case.
fn exceptions(id: &str) -> Result<BTreeMap<String, String>, Failed> {
    let text = fs::read_to_string(folder().join("exceptions.json"))?;
    let all: Vec<Exception> = serde_json::from_str(&text)?;
    let own = all.into_iter().filter(|it| it.resolver == id);
    let mut reasons = BTreeMap::new();
    for exception in own {
        if exception.reason.len() < 40 || exception.reason.contains("unstable") {
            return Err(format!(
                "{}: a reason names the source that makes it unpredictable",
                exception.case
            )
            .into());
        }
        if ["glibc", "musl", "go"]
            .iter()
            .any(|family| id.starts_with(family))
        {
            return Err(format!("{id} has no exceptions, see {}", exception.case).into());
        }
        reasons.insert(exception.case, exception.reason);
    }
    Ok(reasons)
}
