//! Runs every case in `testdata/COMMAND/CASE/` and compares what it writes.
//!
//! A case is a directory: `args` (one argument a line), files that they name
//! (as `./FILE`), `stdin`, and the expected `stdout`, `stderr` and `status`. `KDNS_BLESS=1 cargo test`
//! writes the expected files; read the diff before you commit it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod paths;
mod schemas;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kdns::text::is_unprintable;
use serde_json::Value;

use self::schemas::close;

#[test]
fn explain() {
    check("explain");
}

/// A developer reads one screen, of 80 columns.
#[test]
fn explanations_are_short() {
    let long = ["--scenario", "--format", "--verbose", "-v"];
    let mut seen = 0;
    for case in cases("explain") {
        let args = fs::read_to_string(case.join("args")).unwrap();
        if args.lines().any(|word| long.contains(&word)) {
            continue;
        }
        let [(_, out), ..] = run_case(&case);
        let name = case.display();
        assert!(out.lines().count() <= 30, "{name}:\n{out}");
        for line in out.lines() {
            let is_word = line.trim_start().split(' ').count() < 6;
            assert!(line.chars().count() <= 80 || is_word, "{name}: {line}");
        }
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn check_loop() {
    check("check-loop");
}

#[test]
fn pod_file() {
    check("pod-file");
}

#[test]
fn doctor() {
    check("doctor");
}

#[test]
fn diff() {
    check("diff");
}

#[test]
fn path() {
    check("path");
}

#[test]
fn upstream() {
    check("upstream");
}

#[test]
fn pods() {
    check("pods");
}

#[test]
fn watch() {
    check("watch");
}

#[test]
fn watch_output_fits_its_schemas() {
    let (summary, line) = (schema("watch"), schema("lookup"));
    let mut seen = 0;
    for case in cases("watch") {
        let args = fs::read_to_string(case.join("args")).unwrap();
        let has = |format: &str| args.lines().any(|word| word == format);
        if !has("json") && !has("jsonl") {
            continue;
        }
        let [(_, out), ..] = run_case(&case);
        assert!(!out.chars().any(|c| c != '\n' && is_unprintable(c)));
        if has("json") {
            expect_valid(&summary, &case, &out);
        } else {
            out.lines().for_each(|it| expect_valid(&line, &case, it));
        }
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

#[test]
fn report() {
    check("report");
}

#[test]
fn rule() {
    check("rule");
}

#[test]
fn why() {
    check("why");
}

fn check(command: &str) {
    let mut failures = Vec::new();
    for case in cases(command) {
        for (file, actual) in run_case(&case) {
            if std::env::var_os("KDNS_BLESS").is_some() {
                fs::write(case.join(file), actual).unwrap();
                continue;
            }
            let expected = fs::read_to_string(case.join(file)).unwrap_or_default();
            if actual != expected {
                let name = case.join(file).display().to_string();
                failures.push(format!("--- {name}\n{expected}+++ actual\n{actual}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// `captured` is the file of the real pod; a kubelet draws the order of its
/// options.
#[test]
fn pod_files_are_those_that_were_captured() {
    let mut seen = 0;
    for case in cases("pod-file") {
        let Ok(captured) = fs::read_to_string(case.join("captured")) else {
            continue;
        };
        let [(_, out), ..] = run_case(&case);
        let name = case.display();
        assert_eq!(sorted_options(&out), sorted_options(&captured), "{name}");
        seen += 1;
    }
    assert!(seen > 7, "{seen}");
}

fn sorted_options(text: &str) -> String {
    let sorted = |line: &str| match line.strip_prefix("options ") {
        Some(options) => {
            let mut options: Vec<&str> = options.split(' ').collect();
            options.sort_unstable();
            format!("options {}", options.join(" "))
        }
        None => line.to_owned(),
    };
    text.split('\n').map(sorted).collect::<Vec<_>>().join("\n")
}

#[test]
fn pod_file_output_fits_its_schema() {
    let validator = schema("pod-file");
    let mut seen = 0;
    for case in cases("pod-file") {
        let args = fs::read_to_string(case.join("args")).unwrap();
        if !args.lines().any(|word| word == "json") {
            continue;
        }
        let [(_, out), ..] = run_case(&case);
        assert!(!out.chars().any(|c| c != '\n' && is_unprintable(c)));
        expect_valid(&validator, &case, &out);
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

#[test]
fn upstream_output_fits_its_schema() {
    let validator = schema("upstream");
    let mut seen = 0;
    for case in cases("upstream") {
        let [(_, out), ..] = run_case(&case);
        assert!(!out.chars().any(|c| c != '\n' && is_unprintable(c)));
        let args = fs::read_to_string(case.join("args")).unwrap();
        if !args.lines().any(|word| word == "json") {
            continue;
        }
        expect_valid(&validator, &case, &out);
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

#[test]
fn pods_output_fits_its_schema() {
    let validator = schema("pods");
    let mut seen = 0;
    for case in cases("pods") {
        let [(_, out), ..] = run_case(&case);
        let name = case.display();
        let is_harmless = |c| c == '\n' || !is_unprintable(c);
        assert!(out.chars().all(is_harmless), "{name}");
        if !out.starts_with('{') {
            let is_short = |line: &str| line.chars().count() <= 80 || line.starts_with("  ");
            assert!(out.lines().all(is_short), "{name}");
            continue;
        }
        expect_valid(&validator, &case, &out);
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

#[test]
fn report_output_fits_its_schema() {
    let validator = schema("report");
    let mut seen = 0;
    for case in cases("report") {
        let [(_, out), ..] = run_case(&case);
        let is_harmless = |c| c == '\n' || !is_unprintable(c);
        assert!(out.chars().all(is_harmless), "{}", case.display());
        if out.starts_with('{') {
            expect_valid(&validator, &case, &out);
            seen += 1;
        }
    }
    assert!(seen > 1, "{seen}");
}

/// Every line and document is what `kdns schema` promises, and harmless.
#[test]
fn explain_output_fits_its_schema() {
    let document = schema("explain");
    let prediction = schema("prediction");
    let mut seen = [0, 0];
    for case in cases("explain") {
        let [(_, out), ..] = run_case(&case);
        let name = case.display();
        assert!(
            !out.chars().any(|c| c != '\n' && is_unprintable(c)),
            "{name}"
        );
        let args = fs::read_to_string(case.join("args")).unwrap();
        let texts: Vec<&str> = match args.lines().find(|word| word.starts_with("json")) {
            Some("json") => vec![&out],
            Some("jsonl") => out.lines().collect(),
            _ => continue,
        };
        let is_lines = args.lines().any(|word| word == "jsonl");
        seen[usize::from(is_lines)] += texts.len();
        let validator = if is_lines { &prediction } else { &document };
        for text in texts {
            expect_valid(validator, &case, text);
        }
    }
    assert!(seen.iter().all(|&count| count > 2), "{seen:?}");
}

/// A message's answer is what `kdns schema why` promises, harmless, and fits 80
/// columns where words can be broken.
#[test]
fn why_output_fits_its_schema() {
    let validator = schema("why");
    let mut seen = 0;
    for case in cases("why") {
        let args = fs::read_to_string(case.join("args")).unwrap();
        if !args.lines().any(|word| word == "--message") {
            continue;
        }
        let [(_, out), ..] = run_case(&case);
        let name = case.display();
        let is_harmless = |c| c == '\n' || !is_unprintable(c);
        assert!(out.chars().all(is_harmless), "{name}");
        if args.lines().any(|word| word == "json") {
            expect_valid(&validator, &case, &out);
            seen += 1;
            continue;
        }
        for line in out.lines() {
            let is_word = line.trim_start().split(' ').count() < 3;
            assert!(line.chars().count() <= 80 || is_word, "{name}: {line}");
        }
    }
    assert!(seen > 3, "{seen}");
}

/// The same of logs and metrics, whose pictures are no text.
#[test]
fn why_output_of_logs_and_metrics_fits() {
    for (option, format) in [("--log", "why-log"), ("--metrics", "why-metrics")] {
        let validator = schema(format);
        let mut seen = 0;
        for case in cases("why") {
            let args = fs::read_to_string(case.join("args")).unwrap();
            let has = |word: &str| args.lines().any(|it| it == word);
            if !has(option) || has("svg") {
                continue;
            }
            let [(_, out), ..] = run_case(&case);
            let name = case.display();
            let is_harmless = |c| c == '\n' || !is_unprintable(c);
            assert!(out.chars().all(is_harmless), "{name}");
            if has("json") {
                expect_valid(&validator, &case, &out);
                seen += 1;
                continue;
            }
            for line in out.lines() {
                let is_word = line.trim_start().split(' ').count() < 3;
                assert!(line.chars().count() <= 80 || is_word, "{name}: {line}");
            }
        }
        assert!(seen > 0, "{option}");
    }
}

fn expect_valid(validator: &jsonschema::Validator, case: &Path, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let errors = validator.iter_errors(&value).map(|error| error.to_string());
    let errors: Vec<String> = errors.collect();
    assert!(errors.is_empty(), "{}: {errors:?}\n{text}", case.display());
}

/// The schema with every object closed, so that no key is forgotten in it.
fn schema(name: &str) -> jsonschema::Validator {
    let [(_, text), ..] = run(&["schema", name], Path::new("/"), b"");
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn cases(command: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(command);
    let mut cases: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("args").is_file())
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no case in {}", directory.display());
    cases
}

/// Runs the case in its folder: text is wrapped, so the length of paths counts.
fn run_case(case: &Path) -> [(&'static str, String); 3] {
    let text = fs::read_to_string(case.join("args")).unwrap();
    let words = text
        .lines()
        .map(|word| word.strip_prefix("./").unwrap_or(word));
    let words: Vec<&str> = words.collect();
    let input = fs::read(case.join("stdin")).unwrap_or_default();
    run(&words, case, &input)
}

fn run(args: &[&str], directory: &Path, input: &[u8]) -> [(&'static str, String); 3] {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args(args)
        .current_dir(directory)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    [
        ("stdout", String::from_utf8(output.stdout).unwrap()),
        ("stderr", String::from_utf8(output.stderr).unwrap()),
        ("status", format!("{}\n", output.status.code().unwrap())),
    ]
}
