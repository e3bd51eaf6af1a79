//! What `kdns lint` finds in files written after the public defaults of the
//! distributions.
//!
//! `testdata/lint-real/MANIFEST.tsv` names the repository, path and version that
//! each file is written after, and whether the source was read; `expected.tsv` has every finding with the reason why it is right.
//! Any other finding is a false one.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::string_slice, reason = "the same")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// At least so many files are there.
const LEAST: usize = 150;

/// Of at least so many the source was read.
const LEAST_OPENED: usize = 185;

/// Directories of a node: what lies beside them is one node's.
const OF_NODES: [&str; 6] = ["etc", "var", "run", "lib", "usr", "proc"];

#[test]
fn only_what_is_expected_is_found() {
    let expected = expected();
    let mut found = BTreeSet::new();
    for set in sets() {
        found.extend(lint(&set));
    }
    let wanted: BTreeSet<String> = expected.keys().cloned().collect();
    let false_findings: Vec<&String> = found.difference(&wanted).collect();
    let missing: Vec<&String> = wanted.difference(&found).collect();
    assert!(
        false_findings.is_empty() && missing.is_empty(),
        "found and not expected:\n{false_findings:#?}\nexpected and not found:\n{missing:#?}"
    );
    for (finding, reason) in &expected {
        assert!(reason.len() > 20, "{finding} is not argued");
    }
}

/// Given alone, a file tells less, and never more than its neighbours explain.
#[test]
fn every_file_is_read_alone() {
    let mut judged = 0;
    for (path, _) in manifest() {
        let output = run(&["--allow-empty", &path]);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{path}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let is_template = path.rsplit('.').next() == Some("j2");
        assert!(
            is_template || !text.contains("[unparseable-file]"),
            "{text}"
        );
        judged += usize::from(!text.starts_with("nothing found in 0 files"));
    }
    // Some say nothing of DNS: an empty file of flags, a unit without any.
    assert!(judged >= LEAST, "{judged}");
}

#[test]
fn every_file_has_its_origin() {
    let manifest = manifest();
    assert!(manifest.len() >= LEAST, "{}", manifest.len());
    let named: BTreeSet<String> = manifest.keys().cloned().collect();
    let mut there = BTreeSet::new();
    files(&root(), &mut there);
    let of_tables = ["MANIFEST.tsv", "expected.tsv"];
    there.retain(|it| !of_tables.contains(&it.as_str()));
    assert_eq!(named, there);
    for (path, origin) in &manifest {
        let [repository, _, _, commit, how] = origin.as_slice() else {
            panic!("{path}: {origin:?}");
        };
        assert!(origin.iter().all(|it| !it.is_empty()), "{path}");
        assert!(repository.contains('/'), "{path}");
        // What was read has a commit, what was not has none.
        match how.as_str() {
            "opened" => assert!(commit != "-", "{path}"),
            "documentation" | "captured" => assert!(commit == "-", "{path}"),
            _ => panic!("{path}: {how}"),
        }
    }
    let opened = manifest
        .values()
        .filter(|it| it.last().unwrap() == "opened");
    assert!(opened.count() >= LEAST_OPENED);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lint-real")
}

/// What is linted together: the deepest directories that hold all of a node or
/// of a set of manifests.
fn sets() -> BTreeSet<String> {
    let set_of = |path: &String| -> String {
        let parts: Vec<&str> = path.split('/').collect();
        match parts.as_slice() {
            [set, _] => (*set).to_owned(),
            [set, part, ..] if OF_NODES.contains(part) => (*set).to_owned(),
            [set, part, ..] => format!("{set}/{part}"),
            _ => path.clone(),
        }
    };
    manifest().keys().map(set_of).collect()
}

fn lint(set: &str) -> Vec<String> {
    let output = run(&["--exit-zero", "--allow-empty", "--format", "concise", set]);
    assert!(output.status.success(), "{set}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| summary(line).to_owned()).collect()
}

/// `path:line:col: CODE[name]`.
fn summary(line: &str) -> &str {
    let end = line.find("] ").map_or(line.len(), |at| at + 1);
    &line[..end]
}

fn run(args: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.current_dir(root()).arg("lint").args(args);
    command.output().unwrap()
}

/// Each file with its repository, path, version, commit, and how it is known.
fn manifest() -> BTreeMap<String, Vec<String>> {
    rows("MANIFEST.tsv")
}

/// Each finding with the reason why it is right.
fn expected() -> BTreeMap<String, String> {
    let rows = rows("expected.tsv").into_iter();
    rows.map(|(finding, reason)| (finding, reason.join(" ")))
        .collect()
}

fn rows(table: &str) -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(root().join(table)).unwrap();
    let rows = text
        .lines()
        .filter(|it| !it.is_empty() && !it.starts_with('#'));
    let columns = rows.map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
    columns.map(|mut it| (it.remove(0), it)).collect()
}

fn files(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let path = path.strip_prefix(root()).unwrap();
            found.insert(path.to_str().unwrap().to_owned());
        }
    }
}
