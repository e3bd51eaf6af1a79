//! What holds for every resolver and every scenario: those of the vectors, and
//! generated ones, the same in every run.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod bytes;
mod generate;
mod lint;
mod servers;
mod strangers;

use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use kdns::engine::machine::Outcome;
use kdns::engine::message::{Because, Transport};
use kdns::explain::plan::{Candidate, candidates};
use kdns::explain::transition::{Detail, run_when};
use kdns::explain::{Context, explain};
use kdns::name::{MAX_LABEL_BYTES, MAX_WIRE_BYTES, Name};
use kdns::render::{explanation, prediction, scenario_json};
use kdns::resolver::{self, Resolver};
use kdns::scenario::{Scenario, json};
use kdns::simulation::courses::Courses;
use kdns::simulation::{self, Run, Sent};
use kdns::world::{Effect, Rule, World};
use serde_json::Value;

/// The scenarios of the vectors, then generated ones.
fn scenarios() -> Vec<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors/visible.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let observed = text
        .lines()
        .map(|line| json::parse(line.as_bytes(), "1").unwrap());
    observed.chain(generate::scenarios(150)).collect()
}

/// Of those that have to be named each is asked so seldom: they are versions, and every scenario meets
/// some of them.
const ONE_IN: usize = 4;

/// Those that need not be named, and one of each other family.
fn one_of_each_family() -> impl Iterator<Item = &'static Resolver> {
    let mut families = BTreeSet::new();
    let is_first = move |it: &&Resolver| families.insert(it.family) || it.is_usual;
    resolver::ALL.iter().filter(is_first)
}

/// Calls `check` for each scenario and the usual resolvers, and in turns for the others: what is
/// wrong, if anything.
fn for_all(check: impl Fn(&Scenario, &'static Resolver) -> Option<String>) {
    let mut wrong = Vec::new();
    for (number, scenario) in scenarios().iter().enumerate() {
        for (at, resolver) in resolver::ALL.iter().enumerate() {
            if !resolver.is_usual && (number + at) % ONE_IN != 0 {
                continue;
            }
            let found = check(scenario, resolver);
            wrong.extend(found.map(|it| format!("{}: {it}", what(scenario, resolver))));
        }
    }
    let count = wrong.len();
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{count}:\n{}", wrong.join("\n"));
}

/// The resolver and the scenario in a form that `--scenario` reads.
fn what(scenario: &Scenario, resolver: &Resolver) -> String {
    let mut text = Vec::new();
    scenario_json::write(scenario, &mut text).unwrap();
    format!(
        "{} {}",
        resolver.id,
        String::from_utf8_lossy(&text).trim_end()
    )
}

/// A candidate is answered: no other one of the search is asked after it.
#[test]
fn nothing_follows_a_final_success() {
    for_all(|scenario, resolver| {
        // One asks for all of its names at once, and picks from the answers; the other
        // begins again for AAAA.
        if matches!(resolver.id, "busybox-nslookup" | "ruby-resolv-all") {
            return None;
        }
        let plan = run_when(scenario, resolver, &[]);
        candidates(&plan).iter().take(4).find_map(|candidate| {
            let run = run_when(scenario, resolver, &[found(candidate)]);
            let is_found = matches!(&run.outcome, Outcome::Found(list) if !list.is_empty());
            let later = after(&run, candidate);
            (is_found && !later.is_empty()).then(|| format!("{later:?}"))
        })
    });
}

fn found(candidate: &Candidate) -> Rule {
    Rule {
        name: candidate.name.as_ref().map(ToString::to_string),
        effect: Effect::Answer {
            a: vec![Ipv4Addr::new(192, 0, 2, 1)],
            aaaa: vec!["2001:db8::1".parse().unwrap()],
            cname: None,
        },
        ..Rule::default()
    }
}

/// Other names of the search that are asked after the first query for `candidate`.
fn after(run: &Run, candidate: &Candidate) -> Vec<String> {
    let name = candidate.name.as_ref();
    let queries = run.sent.iter().map(|sent| &sent.query);
    queries
        .skip_while(|query| query.name() != name)
        .filter(|query| matches!(query.because, Because::Search(_) | Because::AsIs))
        .filter(|query| query.name() != name)
        .map(|query| format!("{:?}", query.question))
        .collect()
}

#[test]
fn every_name_fits_a_message() {
    for_all(|scenario, resolver| {
        let excess = match resolver.id {
            // They do not count, and send what no server can read (vector name-256).
            "nginx" | "haproxy" => MAX_WIRE_BYTES,
            id if id.starts_with("netty-4.1") => MAX_WIRE_BYTES,
            // It counts without the root.
            "netty-4.2.13" => 1,
            "ruby-resolv" | "ruby-resolv-all" => MAX_WIRE_BYTES,
            // It counts without the length bytes of the first label and the root (name-255).
            "envoy" => 2,
            id if id.starts_with("node-resolve") => 2,
            id if id.starts_with("c-ares-1.2") || id.starts_with("c-ares-1.3") => 2,
            _ => 0,
        };
        let runs = [
            run_when(scenario, resolver, &[]),
            resolver.predict(scenario),
        ];
        let mut names = runs
            .iter()
            .flat_map(|run| &run.sent)
            .filter_map(|sent| sent.query.name());
        let is_long = |name: &&Name| {
            let longest = name.labels().map(<[u8]>::len).max().unwrap_or(0);
            name.wire_len() > MAX_WIRE_BYTES + excess || longest > MAX_LABEL_BYTES
        };
        names.find(is_long).map(ToString::to_string)
    });
}

/// A resolver waits for ever only for a server that keeps a TCP connection
/// open and says nothing: glibc over TCP, also when that server is the stub of
/// systemd-resolved, whose own queries are all that is seen. c-ares before 1.34.9 takes
/// `attempts:-1` for four billion attempts (observed).
#[test]
fn every_lookup_ends() {
    for_all(|scenario, resolver| {
        let run = resolver.predict(scenario);
        if run.outcome != Outcome::Hung {
            return None;
        }
        let is_open = |sent: &Sent| sent.came.is_none() && sent.query.transport == Transport::Tcp;
        let is_hidden =
            resolver.id.starts_with("systemd-resolved-stub") && has_word(scenario, b"use-vc");
        let before_1_34_9 = [
            "c-ares-1.2",
            "c-ares-1.31",
            "c-ares-1.32",
            "c-ares-1.33",
            "c-ares-1.34.3",
        ];
        let is_before = before_1_34_9.iter().any(|it| resolver.id.starts_with(it));
        let tries_on = is_before && has_word(scenario, b"attempts:-");
        match run.sent.last() {
            Some(last) if is_open(last) => None,
            _ if is_hidden || tries_on => None,
            last => Some(format!("hangs after {last:?}")),
        }
    });
}

fn has_word(scenario: &Scenario, word: &[u8]) -> bool {
    let file = scenario
        .resolv_conf
        .as_ref()
        .map(|file| file.source.bytes.as_slice());
    let variable = scenario.env("RES_OPTIONS").map(str::as_bytes);
    let texts = file.into_iter().chain(variable);
    texts
        .into_iter()
        .any(|text| text.windows(word.len()).any(|window| window == word))
}

/// What `--format json` explains is what `--format jsonl` predicts.
#[test]
fn the_explanation_is_the_machines_own_run() {
    for_all(|scenario, resolver| {
        let explanation = explain(scenario, Context::default(), &[resolver], Detail::Short);
        let mut text = Vec::new();
        explanation::json::write(&explanation, &mut text).unwrap();
        let document: Value = serde_json::from_slice(&text).unwrap();
        let predicted = predict(scenario, resolver);
        let explained = explained(document.pointer("/groups/0").unwrap(), scenario);
        let predicted = (summary(&predicted), asked(&predicted, scenario));
        (explained != predicted).then(|| format!("{explained:?} and {predicted:?}"))
    });
}

type Summary = (usize, Value, Value);

fn summary(predicted: &Value) -> Summary {
    let queries = predicted["queries"].as_array().unwrap().len();
    let outcome = &predicted["outcome"];
    (queries, outcome["code"].clone(), outcome["addrs"].clone())
}

/// The names of a prediction, in order; sorted where answers are assumed,
/// which can put a later candidate of the plan first.
fn asked(predicted: &Value, scenario: &Scenario) -> Vec<Option<String>> {
    let mut asked: Vec<(&Value, &Value)> = Vec::new();
    for query in predicted["queries"].as_array().unwrap() {
        let key = (&query["qname"], &query["because"]);
        if !asked.contains(&key) {
            asked.push(key);
        }
    }
    let names = asked
        .iter()
        .map(|(name, _)| name.as_str().map(str::to_owned));
    sorted(names.collect(), scenario)
}

fn explained(group: &Value, scenario: &Scenario) -> (Summary, Vec<Option<String>>) {
    let resolver = group.pointer("/resolvers/0").unwrap();
    let outcome = &resolver["outcome"];
    let queries = usize::try_from(resolver["queries"].as_u64().unwrap()).unwrap();
    let summary = (
        queries,
        outcome["code"].clone(),
        outcome["addresses"].clone(),
    );
    let candidates = group["candidates"].as_array().unwrap().iter();
    let asked = candidates.filter(|candidate| candidate["asked"] == true);
    let names = asked.map(|candidate| {
        let name = candidate["name"].as_str()?;
        let bare = name.strip_suffix('.').filter(|it| !it.is_empty());
        Some(bare.unwrap_or(name).to_owned())
    });
    (summary, sorted(names.collect(), scenario))
}

fn sorted(mut names: Vec<Option<String>>, scenario: &Scenario) -> Vec<Option<String>> {
    if !scenario.answers.is_empty() {
        names.sort();
    }
    names
}

/// A saved scenario asks the same question.
#[test]
fn saved_scenarios_are_the_same() {
    for scenario in scenarios() {
        let mut text = Vec::new();
        scenario_json::write(&scenario, &mut text).unwrap();
        let read = json::parse(&text, "1").unwrap();
        for resolver in one_of_each_family() {
            let (before, after) = (predict(&scenario, resolver), predict(&read, resolver));
            assert_eq!(before, after, "{}", what(&scenario, resolver));
        }
    }
}

fn predict(scenario: &Scenario, resolver: &Resolver) -> Value {
    let (run, courses) = resolver.predict_courses(scenario);
    let mut line = Vec::new();
    prediction::line(&scenario.id, resolver, (&run, &courses), &mut line).unwrap();
    serde_json::from_slice(&line).unwrap()
}

/// Whatever lots fall, the run ends as one of those that the prediction lists. Where rules count queries, lots that are
/// far from each other can decide together; such scenarios are left out. (`tests/resolvers` compares the queries themselves with those of the real ones.)
#[test]
fn every_fall_of_lots_is_among_the_courses() {
    for_all(|scenario, resolver| {
        let (usual, courses) = resolver.predict_courses(scenario);
        let lots = usual.chance.as_ref().map_or(0, |it| it.lots.len());
        let counts = |rule: &Rule| rule.nth.is_some() || rule.up_to.is_some();
        let counted = scenario.answers.iter().any(counts);
        if courses.is_open || counted || lots == 0 || lots > 40 {
            return None;
        }
        let ends = ends(&usual, &courses);
        let mut dice: u64 = 0x9E37_79B9_7F4A_7C15;
        for _ in 0..4 {
            let script = (0..lots + 8).map(|_| {
                dice ^= dice << 13;
                dice ^= dice >> 7;
                dice ^= dice << 17;
                usize::from(dice & 64 != 0)
            });
            let machine = resolver.machine(scenario).with_lots(script.collect());
            let world = World::new(&scenario.answers);
            let mut world = world.with_interfaces(scenario.interfaces.len());
            let run = simulation::run(machine, &mut world);
            if !ends.contains(&run.outcome) {
                return Some(format!("{:?} is not among {ends:?}", run.outcome));
            }
        }
        None
    });
}

/// How the courses end.
fn ends(usual: &Run, courses: &Courses) -> Vec<Outcome> {
    let mut found = vec![usual.outcome.clone()];
    let mut left: Vec<&Courses> = vec![courses];
    while let Some(courses) = left.pop() {
        found.extend(courses.one_of.iter().filter_map(|it| it.outcome.clone()));
        left.extend(courses.one_of.iter().map(|it| &it.courses));
    }
    found
}
