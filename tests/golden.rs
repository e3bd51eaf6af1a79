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

/// What a case of a command prints.
struct Printed {
    case: PathBuf,
    args: String,
    text: String,
}

impl Printed {
    fn has(&self, word: &str) -> bool {
        self.args.lines().any(|it| it == word)
    }

    fn is_document(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Lines fit 80 columns where words can be broken.
    fn expect_narrow(&self) {
        for line in self.text.lines() {
            let is_word = line.trim_start().split(' ').count() < 3;
            let name = self.case.display();
            assert!(line.chars().count() <= 80 || is_word, "{name}: {line}");
        }
    }
}

/// What every case of a command prints, which steers no terminal; pod-file has the
/// bytes of the file as they are.
fn printed(command: &str) -> impl Iterator<Item = Printed> {
    cases(command).into_iter().map(move |case| {
        let args = fs::read_to_string(case.join("args")).unwrap();
        let [(_, text), ..] = run_case(&case);
        let is_harmless = |c| c == '\n' || !is_unprintable(c);
        let is_harmless = text.chars().all(is_harmless);
        let printed = Printed { case, args, text };
        let is_file = command == "pod-file" && !printed.is_document();
        assert!(is_harmless || is_file, "{}", printed.case.display());
        printed
    })
}

/// The documents of a command are what `kdns schema` promises, and there are more
/// than so many.
fn documents_fit(command: &str, more_than: usize) {
    let validator = schema(command);
    let documents = printed(command).filter(Printed::is_document);
    let seen = documents.map(|it| expect_valid(&validator, &it.case, &it.text));
    assert!(seen.count() > more_than, "{command}");
}

#[test]
fn pod_file_output_fits_its_schema() {
    documents_fit("pod-file", 2);
}

#[test]
fn upstream_output_fits_its_schema() {
    documents_fit("upstream", 2);
}

#[test]
fn pods_output_fits_its_schema() {
    documents_fit("pods", 2);
    for it in printed("pods").filter(|it| !it.is_document()) {
        let is_short = |line: &str| line.chars().count() <= 80 || line.starts_with("  ");
        assert!(it.text.lines().all(is_short), "{}", it.case.display());
    }
}

#[test]
fn report_output_fits_its_schema() {
    documents_fit("report", 1);
}

/// Every line and document is what `kdns schema` promises, and harmless.
#[test]
fn explain_output_fits_its_schema() {
    let document = schema("explain");
    let prediction = schema("prediction");
    let mut seen = [0, 0];
    for it in printed("explain") {
        let is_lines = it.has("jsonl");
        let texts: Vec<&str> = match it.args.lines().find(|word| word.starts_with("json")) {
            Some("json") => vec![&it.text],
            Some("jsonl") => it.text.lines().collect(),
            _ => continue,
        };
        seen[usize::from(is_lines)] += texts.len();
        let validator = if is_lines { &prediction } else { &document };
        for text in texts {
            expect_valid(validator, &it.case, text);
        }
    }
    assert!(seen.iter().all(|&count| count > 2), "{seen:?}");
}

/// A message's answer is what `kdns schema why` promises, harmless, and fits 80
/// columns where words can be broken.
#[test]
fn why_output_fits_its_schema() {
    why_fits("--message", "why", 3);
}

/// The same of logs and metrics, whose pictures are no text.
#[test]
fn why_output_of_logs_and_metrics_fits() {
    why_fits("--log", "why-log", 0);
    why_fits("--metrics", "why-metrics", 0);
}

fn why_fits(option: &str, format: &str, more_than: usize) {
    let validator = schema(format);
    let mut seen = 0;
    for it in printed("why").filter(|it| it.has(option) && !it.has("svg")) {
        if it.has("json") {
            expect_valid(&validator, &it.case, &it.text);
            seen += 1;
        } else {
            it.expect_narrow();
        }
    }
    assert!(seen > more_than, "{option}");
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
