//! Runs `kdns check-loop` on every `testdata/nodes/NAME` that has a
//! `NAME.expected.json`: `verdict`, `now`, `next_start`, and `why` it must be
//! so. They were written before the first run; nothing blesses them. Some have
//! the steps of the fix, `then`, with the line `npd`.
//!
//! Where times of files count, `NAME.times` has them.
//!
//! `NAME.txt`, where it is there, is the whole text for people;
//! `KDNS_BLESS=1 cargo test` writes those.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod pod_corefiles;
mod schemas;
mod trees;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kdns::host::root::{Resolution, Root};
use kdns::text::is_unprintable;
use serde_json::Value;

use self::schemas::close;
use self::trees::{collect, name, sibling, timed, unsound};

/// Fewer situations than these are no proof.
const MIN_NODES: usize = 45;

const FORMATS: [&str; 8] = [
    "text",
    "json",
    "concise",
    "sarif",
    "github",
    "junit",
    "npd",
    "prometheus",
];

/// What node-problem-detector takes.
const MAX_NPD_BYTES: usize = 80;

#[test]
fn verdicts_are_those_that_were_expected() {
    let nodes = nodes();
    let wrong: Vec<String> = nodes.iter().filter_map(|it| verdict(it)).collect();
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} of {}:\n{}",
        nodes.len(),
        wrong.join("\n")
    );
}

/// A screen: what is longer stands behind `--verbose`.
#[test]
fn the_text_fits_a_screen() {
    for node in nodes() {
        for command in ["check-loop", "doctor"] {
            let (_, out, _) = run(command, &node, "text");
            let lines = out.lines().count();
            let name = name(&node);
            assert!(lines <= 30, "{command} {name}: {lines} lines:\n{out}");
        }
    }
}

/// What is wrong with the verdict on a node.
fn verdict(node: &Path) -> Option<String> {
    let expected = expected(node);
    let (status, out, err) = check_loop(node, "json");
    let name = name(node);
    let Ok(actual) = serde_json::from_str::<Value>(&out) else {
        return Some(format!("{name}: no JSON: {out}{err}"));
    };
    let keys = ["verdict", "now", "next_start"];
    let differs = keys.iter().any(|key| actual[key] != expected[key]);
    let line = |value: &Value| keys.map(|key| value[key].to_string()).join(" ");
    if differs {
        let (expected_line, actual_line) = (line(&expected), line(&actual));
        let why = &expected["why"];
        let headline = &actual["headline"];
        return Some(format!(
            "{name}: expected {expected_line}, is {actual_line}\n    why: {why}\n    kdns: {headline} {err}"
        ));
    }
    let wanted = match expected["verdict"].as_str().unwrap() {
        "no loop" => 0,
        "unknown" => 2,
        _ => 1,
    };
    (status != wanted).then(|| format!("{name}: status {status}, expected {wanted}"))
}

#[test]
fn there_are_enough_nodes_and_each_says_why() {
    let nodes = nodes();
    assert!(nodes.len() >= MIN_NODES, "only {} nodes", nodes.len());
    for node in &nodes {
        let expected = expected(node);
        let why = expected["why"].as_str().unwrap_or_default();
        assert!(why.len() > 40, "{}: why?", name(node));
        assert!(node.is_dir(), "{} is missing", name(node));
    }
}

/// The manifests of `deploy/` always give the cluster's Corefile. Where that is
/// the one that a pod has, the answer is the same; NodeLocal DNSCache keeps its own.
#[test]
fn the_clusters_corefile_can_be_given() {
    let names = ["aks-localdns", "cluster-loop", "kubeadm"];
    let is_chosen = |it: &PathBuf| {
        let name = name(it);
        let rows = ["row07", "row08", "row09", "row10", "row11"];
        names.contains(&name.as_str()) || rows.iter().any(|row| name.starts_with(row))
    };
    let mut seen = 0;
    for node in nodes().into_iter().filter(is_chosen) {
        let Some(corefile) = corefile(&node.join("var/lib/kubelet/pods")) else {
            continue;
        };
        seen += 1;
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
        command.args(["check-loop", "--format", "json", "--root"]);
        command.arg(&node).arg("--corefile").arg(&corefile);
        let actual: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        for key in ["verdict", "now", "next_start"] {
            assert_eq!(actual[key], expected(&node)[key], "{}: {key}", name(&node));
        }
    }
    assert!(seen > 7, "{seen}");
}

/// A Corefile below this directory that serves the names of the cluster.
fn corefile(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?;
    let mut paths: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths.iter().find_map(|path| {
        let serves = || fs::read_to_string(path).is_ok_and(|it| it.contains("kubernetes "));
        if path.ends_with("Corefile") && serves() {
            return Some(path.clone());
        }
        corefile(path)
    })
}

#[test]
fn every_format_is_harmless_and_ends_alike() {
    for node in nodes() {
        let name = name(&node);
        let (status, ..) = check_loop(&node, "json");
        for format in FORMATS {
            let (other, out, err) = check_loop(&node, format);
            assert_eq!(other, status, "{name}: {format}: {err}");
            let odd = |c: char| c != '\n' && is_unprintable(c);
            assert!(!out.chars().any(odd), "{name}: {format}: {out}");
            assert!(!out.is_empty(), "{name}: {format}: nothing");
            if format == "npd" {
                assert!(out.len() <= MAX_NPD_BYTES, "{name}: {out}");
                assert!(out.is_ascii(), "{name}: {out}");
                assert_eq!(out.lines().count(), 1, "{name}: {out}");
            }
        }
    }
}

#[test]
fn what_cannot_be_done_is_a_record_in_every_format() {
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes/not-there");
    for format in FORMATS {
        let (status, out, err) = check_loop(&node, format);
        assert_eq!(status, 2, "{format}");
        assert!(
            err.starts_with("kdns: ") && err.contains("not-there"),
            "{format}: {err}"
        );
        assert_eq!(
            out.contains("not-there"),
            format != "text",
            "{format}: {out}"
        );
    }
}

#[test]
fn json_fits_its_schema() {
    let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args(["schema", "check-loop"])
        .output()
        .unwrap();
    let mut schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for node in nodes() {
        let (_, out, _) = check_loop(&node, "json");
        let value: Value = serde_json::from_str(&out).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}\n{out}", name(&node));
    }
}

#[test]
fn sarif_fits_the_official_schema() {
    let schema = include_str!("../testdata/schemas/sarif-2.1.0.json");
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    // These patterns are no regular expressions of ECMA 262; kdns writes no language.
    for of in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][of]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern").unwrap();
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    for node in nodes() {
        let (_, out, _) = check_loop(&node, "sarif");
        let value: Value = serde_json::from_str(&out).unwrap();
        let error = validator.iter_errors(&value).next();
        assert!(error.is_none(), "{}: {error:?}\n{out}", name(&node));
    }
}

#[test]
fn fixes_are_those_that_were_expected() {
    for node in nodes() {
        let expected = expected(&node);
        let Some(steps) = expected.get("then") else {
            continue;
        };
        let (_, out, _) = check_loop(&node, "json");
        let report: Value = serde_json::from_str(&out).unwrap();
        let then = report["fix"]["then"].as_array().unwrap();
        let texts: Value = then.iter().map(|it| it["text"].clone()).collect();
        assert_eq!(texts, *steps, "{}", name(&node));
        let (_, npd, _) = check_loop(&node, "npd");
        let line = expected["npd"].as_str().unwrap();
        assert_eq!(npd.trim_end(), line, "{}", name(&node));
    }
}

#[test]
fn places_exist_and_hold_what_is_said() {
    let mut wrong = Vec::new();
    for node in nodes() {
        let (_, out, _) = check_loop(&node, "json");
        let report: Value = serde_json::from_str(&out).unwrap();
        let root = Root::below(&node, Resolution::default()).unwrap();
        let mut places = Vec::new();
        collect(&report, &mut places);
        let unsound = places.iter().filter_map(|it| unsound(it, &root));
        wrong.extend(unsound.map(|why| format!("{}: {why}", name(&node))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn texts_are_as_they_were() {
    let mut wrong = Vec::new();
    for node in nodes() {
        let golden = sibling(&node, "txt");
        if !golden.is_file() {
            continue;
        }
        let (_, actual, _) = check_loop(&node, "text");
        if std::env::var_os("KDNS_BLESS").is_some() {
            fs::write(&golden, &actual).unwrap();
        } else if actual != fs::read_to_string(&golden).unwrap() {
            wrong.push(format!("--- {}\n{actual}", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The roots with an expectation, sorted.
fn nodes() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let files = fs::read_dir(directory).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let mut nodes: Vec<PathBuf> = paths
        .filter_map(|path| {
            let name = path.to_str()?.strip_suffix(".expected.json")?;
            Some(PathBuf::from(name))
        })
        .collect();
    nodes.sort();
    nodes
}

fn expected(node: &Path) -> Value {
    let text = fs::read_to_string(sibling(node, "expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Status, standard output, standard error. Started in the folder of the
/// nodes, with a relative root: no output depends on where the tree lies.
fn check_loop(node: &Path, format: &str) -> (i32, String, String) {
    run("check-loop", node, format)
}

fn run(command: &str, node: &Path, format: &str) -> (i32, String, String) {
    let timed = timed(node);
    let node = timed.as_deref().unwrap_or(node);
    let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args([command, "--format", format, "--root", &name(node)])
        .current_dir(node.parent().unwrap())
        .env_clear()
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}
