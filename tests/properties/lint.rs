//! `kdns lint` on files that were written by people and then broken.

#![expect(
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kdns::cli::{self, Status, Streams};
use serde_json::Value;

use crate::generate::Random;

/// Trees that are made.
const TREES: usize = 320;

/// What people write, some of it in places where it is wrong.
const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    "\u{feff}",
    "\0",
    "é",
    "\u{1f4a5}",
    "\u{202e}",
    "#",
    "# kdns: ignore[KR001] r\n",
    " # kdns: ignore[KK001, KC]",
    "# kdns: file-ignore[KP]\n",
    "{",
    "}",
    "[",
    "]",
    ":",
    "-",
    "---\n",
    "...",
    "'",
    "\"",
    "|",
    "&a",
    "*a",
    "%",
    ",",
    "127.0.0.53",
    "::1",
    "nameserver 127.0.0.1\n",
    "resolvConf: /etc/resolv.conf\n",
    "resolverConfig: x\n",
    "forward . 127.0.0.1\n",
    "forward . /etc/resolv.conf\n",
    "hostNetwork: true\n",
    "dnsPolicy: ClusterFirst\n",
    "--resolv-conf=",
    "ClusterFirst",
    "true",
    "yes",
    "0777",
    "10.96.0.10",
    "cluster.local",
];

/// The files of some folders of the testdata, with their names.
fn seeds(folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut seeds = Vec::new();
    for folder in folders {
        collect(&root.join(folder), &mut seeds);
    }
    seeds.sort();
    seeds.retain(|(name, bytes)| bytes.len() < 8192 && name != "kdns.toml" && name != "args");
    assert!(seeds.len() > 10, "{}", seeds.len());
    seeds
}

fn collect(directory: &Path, seeds: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            collect(&entry.path(), seeds);
        } else if kind.is_file() {
            let name = entry.file_name().into_string().unwrap();
            seeds.push((name, fs::read(entry.path()).unwrap()));
        }
    }
}

/// Some bytes taken away, said twice, moved or replaced.
fn mutated(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at + 1).min(40));
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
            2 => bytes.truncate(end),
            3 => drop(bytes.splice(at..end, [u8::try_from(random.below(256)).unwrap()])),
            _ => drop(bytes.splice(at..at, random.pick(PIECES).bytes())),
        }
    }
    if random.chance(8) {
        let text = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
        bytes = text.into_bytes();
    }
    bytes
}

struct Run {
    status: Status,
    out: String,
}

fn lint(tree: &Path, args: &[&str]) -> Run {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut std::io::empty(),
        is_input_read: false,
        out: &mut out,
        err: &mut err,
        colors: false,
        terminal: None,
    };
    let words = ["kdns", "lint", "--allow-empty"].iter().chain(args);
    let words = words.map(OsString::from).chain([tree.into()]);
    let status = cli::run(words, &mut streams);
    Run {
        status,
        out: String::from_utf8(out).unwrap(),
    }
}

/// The bytes of every file.
fn content(tree: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(tree).unwrap().map(|it| it.unwrap().path());
    entries
        .map(|it| (it.clone(), fs::read(&it).unwrap()))
        .collect()
}

#[test]
fn places_are_right_formats_agree_and_fixes_are_done_once() {
    // What is wrong already, and what is right on real nodes.
    let seeds = [
        seeds(&["lint", "lint-formats/tree"]),
        seeds(&["corefiles", "kubelet", "pod-file"]),
    ];
    let mut random = Random(5);
    let (mut found, mut fixed) = (0, 0);
    for _ in 0..TREES {
        let tree = tempfile::tempdir().unwrap();
        for _ in 0..=random.below(4) {
            let seeds = &seeds[usize::from(random.chance(4))];
            let (name, bytes) = random.pick(seeds);
            fs::write(tree.path().join(name), mutated(bytes.clone(), &mut random)).unwrap();
        }
        let assume = *random.pick(&[
            "--assume=systemd-resolved",
            "--assume=none",
            "--role=kubelet",
            "--role=pod",
        ]);
        let first = lint(tree.path(), &["--format", "json", assume]);
        let document: Value = serde_json::from_str(&first.out).unwrap();
        let findings = document["findings"].as_array().unwrap();
        check_places(&document, tree.path());
        check_formats(&first, findings.len(), tree.path(), assume);
        found += findings.len();
        fixed += check_fixes(&document, tree.path(), assume);
    }
    assert!(found > 100 && fixed > 10, "{found} {fixed}");
}

/// Every range is one of its file, and its lines and columns are those of its
/// bytes.
fn check_places(document: &Value, tree: &Path) {
    let all = |key: &str| document[key].as_array().unwrap().clone();
    for finding in all("findings").iter().chain(&all("suppressed")) {
        let mut places = vec![finding];
        places.extend(finding["related"].as_array().unwrap());
        if let Some(edits) = finding["fix"]["edits"].as_array() {
            places.extend(edits);
        }
        for place in places {
            if place["line"].is_null() {
                continue;
            }
            let path = place["file"].as_str().unwrap();
            let bytes = fs::read(path).unwrap();
            let number = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
            let (start, end) = (number("start_byte"), number("end_byte"));
            assert!(start <= end && end <= bytes.len(), "{path}: {finding}");
            let source = kdns::text::Source::new("", bytes);
            for (offset, line, column) in
                [(start, "line", "column"), (end, "end_line", "end_column")]
            {
                let at = source.position(u32::try_from(offset).unwrap());
                assert_eq!(
                    (at.line, at.column),
                    (number(line), number(column)),
                    "{path}: {finding}"
                );
            }
        }
    }
    assert!(tree.is_dir());
}

/// As many findings, and the same status.
fn check_formats(first: &Run, count: usize, tree: &Path, assume: &str) {
    for format in ["text", "concise", "sarif", "github", "junit"] {
        let run = lint(tree, &["--format", format, assume]);
        assert_eq!(run.status, first.status, "{format}");
        let found = match format {
            "sarif" => {
                let log: Value = serde_json::from_str(&run.out).unwrap();
                let results = log["runs"][0]["results"].as_array().unwrap().clone();
                let counts = results
                    .iter()
                    .filter(|it| it["suppressions"] == Value::Array(Vec::new()));
                counts.count()
            }
            "junit" => {
                let report = quick_junit::Report::deserialize_from_str(&run.out).unwrap();
                report.tests - 1
            }
            "text" => {
                let place = format!("{}/", tree.display());
                run.out.lines().filter(|it| it.starts_with(&place)).count()
            }
            "github" => run
                .out
                .lines()
                .filter(|it| !it.contains(" title=kdns lint::"))
                .count(),
            _ => run.out.lines().count(),
        };
        assert_eq!(found, count, "{format}: {}", run.out);
    }
}

/// What `--fix` changes has a finding with a fix, `--diff` changes nothing, and
/// the second time there is nothing to do. Gives the number of changed files.
fn check_fixes(document: &Value, tree: &Path, assume: &str) -> usize {
    let before = content(tree);
    let diff = lint(tree, &["--diff", "--unsafe-fixes", assume]);
    assert_eq!(content(tree), before);
    let fixed = lint(
        tree,
        &["--fix", "--unsafe-fixes", "--format", "json", assume],
    );
    let after = content(tree);
    let changed: BTreeSet<&PathBuf> = after
        .iter()
        .filter(|it| before[it.0] != *it.1)
        .map(|it| it.0)
        .collect();
    assert_eq!(diff.out.is_empty(), changed.is_empty(), "{}", diff.out);
    let with_finding: BTreeSet<PathBuf> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["file"].as_str().unwrap().into())
        .collect();
    assert!(
        changed.iter().all(|it| with_finding.contains(*it)),
        "{changed:?}"
    );
    // What was fixed is read as it was written.
    let again = lint(tree, &["--format", "json", assume]);
    assert_eq!((again.status, &again.out), (fixed.status, &fixed.out));
    lint(tree, &["--fix", "--unsafe-fixes", assume]);
    assert_eq!(content(tree), after);
    changed.len()
}
