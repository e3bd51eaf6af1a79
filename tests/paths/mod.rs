//! Where packets go: outcomes that were written down before the first run.

use std::fs;

use kdns::text::is_unprintable;
use serde_json::Value;

use super::{cases, expect_valid, run, run_case, schema};

/// `expect` was written down before the first run.
#[test]
fn paths_are_those_expected() {
    let validator = schema("path");
    let mut seen = 0;
    for case in cases("path") {
        let Ok(expected) = fs::read_to_string(case.join("expect")) else {
            continue;
        };
        let args = fs::read_to_string(case.join("args")).unwrap();
        let formats = ["--format", "concise", "svg", "json", "--verbose"];
        let words = args.lines().filter(|it| !formats.contains(it));
        let words: Vec<&str> = words
            .map(|it| it.strip_prefix("./").unwrap_or(it))
            .chain(["--format", "json"])
            .collect();
        let [(_, out), ..] = run(&words, &case, b"");
        expect_valid(&validator, &case, &out);
        let found: Value = serde_json::from_str(&out).unwrap();
        let name = case.display();
        let (verdict, outcomes) = expected.split_once('\n').unwrap();
        assert_eq!(found["verdict"], verdict, "{name}");
        let mut expected: Vec<&str> = outcomes.lines().collect();
        expected.sort_unstable();
        let outcomes = found["outcomes"].as_array().unwrap();
        let mut outcomes: Vec<String> = outcomes.iter().map(outcome_line).collect();
        outcomes.sort_unstable();
        assert_eq!(outcomes, expected, "{name}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

/// `1/2 endpoint 10.244.1.5:53 masqueraded`.
fn outcome_line(outcome: &Value) -> String {
    let text = |key: &str| outcome[key].as_str().unwrap_or_default();
    let (share, kind) = (text("share"), text("kind"));
    let mut line = format!("{share} {kind} {}:{}", text("address"), outcome["port"]);
    if outcome["masqueraded"] == true {
        line.push_str(" masqueraded");
    }
    if let Some(error) = outcome["error"].as_str() {
        line.push(' ');
        line.push_str(error);
    }
    if outcome["depends_on"]
        .as_array()
        .is_some_and(|it| !it.is_empty())
    {
        line.push_str(" if");
    }
    line
}

#[test]
fn path_output_is_harmless_and_fits_its_schema() {
    let validator = schema("path");
    for case in cases("path") {
        let [(_, out), ..] = run_case(&case);
        let is_harmless = |c| c == '\n' || !is_unprintable(c);
        assert!(out.chars().all(is_harmless), "{}", case.display());
        if out.starts_with('{') {
            expect_valid(&validator, &case, &out);
        }
    }
}
