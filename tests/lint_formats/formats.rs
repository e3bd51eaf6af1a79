//! The formats.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use serde_json::Value;

use super::readers::{READERS, of_json};
use super::{Ended, FORMATS, data, ended, folder, kdns, lint, tree};
use kdns::text::is_unprintable;

const ASSUMED: [&str; 2] = ["--assume", "systemd-resolved"];

#[test]
fn outputs_are_those_that_were_read() {
    let mut failures = Vec::new();
    for format in FORMATS {
        let args = [&ASSUMED[..], &["--format", format]].concat();
        let Ended { status, out, err } = lint(&tree(), &args);
        assert_eq!((status, err.as_str()), (1, ""), "{format}");
        let out = out.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        let path = data().join("expected").join(format);
        if std::env::var_os("KDNS_BLESS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &out).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if format == "sarif" {
            // Pages of rules are not this test's.
            let (mut out, mut expected) = (json(&out), json(&expected));
            without_pages(&mut out);
            without_pages(&mut expected);
            assert_eq!(out, expected);
        } else if out != expected {
            failures.push(format!("--- {format}\n{expected}+++ actual\n{out}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn without_pages(log: &mut Value) {
    let rules = &mut log["runs"][0]["tool"]["driver"]["rules"];
    for rule in rules.as_array_mut().unwrap() {
        assert!(
            rule["help"]["markdown"]
                .as_str()
                .unwrap()
                .starts_with("# K")
        );
        rule.as_object_mut().unwrap().remove("help");
    }
}

#[test]
fn formats_agree() {
    for args in [
        &ASSUMED[..],
        &[],
        &["--ignore", "KS", "--fail-on", "error"],
        &["manifests"],
    ] {
        let run = |format: &str| lint(&tree(), &[args, &["--format", format]].concat());
        let first = run("json");
        let expected = of_json(&first.out);
        assert!(expected.len() > 3, "{args:?}");
        for (format, read) in READERS {
            let ended = run(format);
            assert_eq!(ended.status, first.status, "{format} {args:?}");
            assert_eq!(read(&ended.out), expected, "{format} {args:?}");
        }
    }
}

#[test]
fn sarif_fits_the_official_schema() {
    let schema = include_str!("../../testdata/schemas/sarif-2.1.0.json");
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    // Its brackets are no regular expression of ECMA 262, and kdns writes no language.
    for definition in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][definition]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    for args in [&["."][..], &["missing"], &["--assume", "none", "image"]] {
        let ended = lint(&tree(), &[args, &["--format", "sarif"]].concat());
        check_valid(&validator, &ended.out);
    }
}

#[test]
fn json_fits_its_own() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.args(["schema", "lint"]);
    let schema = json(&ended(command).out);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for args in [&["."][..], &["missing"], &["--assume", "none", "image"]] {
        let ended = lint(&tree(), &[args, &["--format", "json"]].concat());
        check_valid(&validator, &ended.out);
    }
}

fn check_valid(validator: &jsonschema::Validator, text: &str) {
    let value = json(text);
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|it| it.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
}

/// GitHub's rules: <https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>.
#[test]
fn sarif_is_what_github_wants() {
    let log = json(&lint(&tree(), &[&ASSUMED[..], &["--format", "sarif"]].concat()).out);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        let uri = rule["helpUri"].as_str().unwrap();
        let anchor = uri.split_once("docs/rules.md#").unwrap().1;
        let code = rule["id"].as_str().unwrap().to_lowercase();
        assert!(anchor.starts_with(&code), "{uri}");
        assert!(rule["shortDescription"]["text"].is_string());
        assert!(rule["fullDescription"]["text"].is_string());
        assert!(rule["help"]["text"].is_string());
    }
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.starts_with('/') && !uri.contains(':'), "{uri}");
        let region = &place["region"];
        assert!(
            ["startLine", "startColumn", "endLine", "endColumn"]
                .iter()
                .all(|it| region[it].is_u64())
        );
        let fingerprint = &result["partialFingerprints"]["primaryLocationLineHash"];
        assert!(fingerprint.as_str().unwrap().contains(':'));
    }
    let is_suppressed = |it: &&Value| !it["suppressions"].as_array().unwrap().is_empty();
    let suppressed: Vec<&Value> = results.iter().filter(is_suppressed).collect();
    assert_eq!(suppressed.len(), 1);
    let suppression = &suppressed[0]["suppressions"][0];
    assert_eq!(suppression["kind"], "inSource");
    assert!(
        suppression["justification"]
            .as_str()
            .unwrap()
            .starts_with("the pod has")
    );
}

#[test]
fn github_has_the_errors_first() {
    let out = lint(
        &tree(),
        &[&ASSUMED[..], &["--format", "github", ".", "missing"]].concat(),
    )
    .out;
    let ranks: Vec<usize> = out
        .lines()
        .map(|line| {
            let names = ["::error ", "::warning ", "::notice "];
            names.iter().position(|it| line.starts_with(it)).unwrap()
        })
        .collect();
    assert!(ranks.is_sorted(), "{out}");
    assert!(ranks.len() > 4 && ranks.contains(&1), "{out}");
    // What was not looked at may hide more.
    let first = out.lines().next().unwrap();
    assert_eq!(
        first,
        "::error title=kdns lint::cannot read missing: no such file or directory"
    );
}

#[test]
fn what_does_not_count_is_skipped_in_junit() {
    let args = [&ASSUMED[..], &["--fail-on", "error", "--format", "junit"]].concat();
    let report = Report::deserialize_from_str(&lint(&tree(), &args).out).unwrap();
    let cases = &report.test_suites[0].test_cases;
    let failed = |case: &&TestCase| {
        matches!(
            &case.status,
            TestCaseStatus::NonSuccess {
                kind: NonSuccessKind::Failure,
                ..
            }
        )
    };
    let skipped = |case: &&TestCase| matches!(&case.status, TestCaseStatus::Skipped { .. });
    let (failed, skipped) = (
        cases.iter().filter(failed).count(),
        cases.iter().filter(skipped).count(),
    );
    assert_eq!(
        (report.failures, failed + skipped + 1),
        (failed, cases.len())
    );
    assert!(failed > 2 && skipped > 2, "{failed} {skipped}");
    // A test is known by class and name.
    let names: BTreeSet<String> = cases
        .iter()
        .map(|it| format!("{:?} {:?}", it.classname, it.name))
        .collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn what_could_not_be_done_is_in_every_format() {
    let wrong = folder(&[
        ("kdns.toml", "selct = []\n"),
        ("resolv.conf", "nameserver 192.0.2.1\n"),
    ]);
    let other = folder(&[
        ("resolv.conf", "nameserver 192.0.2.1\n"),
        ("README", "words\n"),
    ]);
    for (directory, args, message) in [
        (&wrong, &["."][..], "kdns.toml:1:1: unknown field `selct`"),
        (
            &other,
            &["missing", "resolv.conf"],
            "cannot read missing: no such file or directory",
        ),
        (&other, &["README"], "nothing to lint was found"),
        (
            &other,
            &["--config", "missing.toml"],
            "cannot read missing.toml: no such file or directory",
        ),
    ] {
        for format in FORMATS {
            let mut command = kdns(directory.path());
            command.args(args).args(["--format", format]);
            let Ended { status, out, err } = ended(command);
            assert_eq!(status, 2, "{format} {args:?}");
            assert!(err.contains(&format!("kdns: {message}")), "{format}: {err}");
            match format {
                "text" | "concise" => {}
                "junit" => {
                    let report = Report::deserialize_from_str(&out).unwrap();
                    assert_eq!(report.errors, 1, "{out}");
                    assert!(out.contains(message), "{out}");
                }
                _ => assert!(out.contains(message), "{format}: {out}"),
            }
            if format == "sarif" {
                let log = json(&out);
                assert_eq!(
                    log["runs"][0]["invocations"][0]["executionSuccessful"],
                    false
                );
            }
        }
    }
}

#[test]
fn formats_go_to_files_of_their_own() {
    let folder = folder(&[("Corefile", ". {\n    forward . 127.0.0.1\n}\n")]);
    let mut args = Vec::new();
    for format in ["json", "sarif", "github", "junit"] {
        args.extend(["--format", format, "--output", format]);
    }
    let ended = lint(
        folder.path(),
        &[&args[..], &["--format", "concise"]].concat(),
    );
    assert_eq!(ended.status, 1);
    assert_eq!(ended.out.lines().count(), 1);
    for format in ["json", "sarif", "github", "junit"] {
        let text = fs::read_to_string(folder.path().join(format)).unwrap();
        let alone = lint(folder.path(), &["--format", format]);
        assert_eq!((alone.status, alone.out), (1, text), "{format}");
    }
}

/// Nothing that a stranger writes reaches the terminal as he wrote it.
#[test]
fn no_control_character_is_printed() {
    let evil = "\u{1b}[31m\u{9b}1m\u{7}\u{202e}\u{7f}";
    let corefile =
        format!(". {{\n\tforward . 127.0.0.1 {evil} # kdns: ignore[K{evil}] {evil}\n}}\n");
    let pod = format!(
        "kind: Pod\nmetadata: {{name: \"\\e{evil}\"}}\nspec: {{hostNetwork: true, dnsPolicy: ClusterFirst}} # {evil}\n"
    );
    let name = format!("{evil}.Corefile");
    let folder = folder(&[
        (&name, &corefile),
        ("pod.yaml", &pod),
        ("Corefile", &corefile),
    ]);
    for format in FORMATS {
        for colors in ["never", "always"] {
            let ended = lint(folder.path(), &["--format", format, "--color", colors]);
            assert_eq!(ended.status, 1, "{format}: {}", ended.err);
            let mut out = ended.out;
            if colors == "always" {
                // Its own colours are all there is.
                out = out
                    .split("\u{1b}[")
                    .map(|it| it.split_once('m').map_or(it, |it| it.1))
                    .collect();
            }
            let odd = out
                .chars()
                .find(|c| !matches!(c, '\n' | '\t') && is_unprintable(*c));
            assert_eq!(odd, None, "{format}: {out}");
        }
    }
}

/// Ten thousand findings in one file, and on one line of 1 MiB.
#[test]
fn many_findings_cost_little() {
    let mut lines = String::from("apiVersion: v1\nkind: List\nitems:\n");
    let mut line = String::from("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for number in 0..6000 {
        writeln!(
            lines,
            "- {{kind: Pod, apiVersion: v1, spec: {{hostNetwork: true, dnsPolicy: ClusterFirst}}}}"
        )
        .unwrap();
        let comma = if number == 0 { "" } else { "," };
        write!(line, "{comma}{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"näme\"}},\"spec\":{{\"hostNetwork\":true,\"dnsPolicy\":\"ClusterFirst\"}}}}").unwrap();
    }
    line.push_str("]}\n");
    assert!(line.len() < 1 << 20);
    let folder = folder(&[("lines.yaml", &lines), ("line.json", &line)]);
    for format in FORMATS {
        let start = Instant::now();
        let ended = lint(folder.path(), &["-v", "--format", format]);
        assert_eq!(ended.status, 1);
        // A debug build on a very busy machine.
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "{format}: {:?}",
            start.elapsed()
        );
        if format == "text" {
            let longest = ended.out.lines().map(|it| it.chars().count()).max();
            assert!(longest < Some(160), "{longest:?}");
        }
        assert!(
            ended.out.lines().count() > 12_000
                || matches!(format, "json" | "sarif")
                || ended.out.len() > 1 << 20
        );
    }
}
