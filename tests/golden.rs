//! Runs every case in `testdata/explain/CASE/` and compares what it writes.
//!
//! A case is a directory: `args` (one argument a line), files that they name,
//! and the expected `stdout`, `stderr` and `status`. `KDNS_BLESS=1 cargo test`
//! writes the expected files; read the diff before you commit it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use kdns::cli::{self, Streams};

#[test]
fn explain() {
    let mut failures = Vec::new();
    for case in cases("explain") {
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

fn cases(command: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(command);
    let mut cases: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no case in {}", directory.display());
    cases
}

/// Runs the case in this process; paths of its folder are shown without it.
fn run_case(case: &Path) -> [(&'static str, String); 3] {
    let text = fs::read_to_string(case.join("args")).unwrap();
    let words = text.lines().map(|word| match word.strip_prefix("./") {
        Some(file) => case.join(file).into_os_string(),
        None => OsString::from(word),
    });
    let input = fs::read(case.join("stdin")).unwrap_or_default();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams {
        input: &mut input.as_slice(),
        out: &mut out,
        err: &mut err,
        colors: false,
    };
    let args = std::iter::once(OsString::from("kdns")).chain(words);
    let status = cli::run(args, &mut streams);
    let folder = format!("{}/", case.display());
    let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&folder, "");
    [
        ("stdout", shown(out)),
        ("stderr", shown(err)),
        ("status", format!("{}\n", status as u8)),
    ]
}
