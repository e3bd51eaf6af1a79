//! Formats against the programs that read them.
//!
//! What needs a program that is not here is ignored, with the reason in its
//! name; with `KDNS_REQUIRE_REAL=1` that is a failure. `.ci/install-real`
//! installs it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod needs;

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

/// A program, its Debian package, and what is checked with it.
type Check = (&'static str, &'static str, fn(&Path) -> Result<(), Failed>);

const CHECKS: [Check; 4] = [
    ("promtool", "prometheus", check_metrics),
    ("xmllint", "libxml2-utils", check_junit),
    ("xmllint", "libxml2-utils", check_svg),
    ("mandoc", "mandoc", check_pages),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = CHECKS.into_iter().map(trial).collect();
    needs::run(&arguments, trials)
}

fn trial((program, package, check): Check) -> Trial {
    let path = found(program);
    let missing = format!("needs {program} (Debian's package {package})");
    let missing = path.is_none().then_some(missing);
    needs::trial(program, missing, move || check(&path.unwrap()))
}

fn found(program: &str) -> Option<PathBuf> {
    let real = env::var_os("KDNS_REAL_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real"),
        PathBuf::from,
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = vec![real.join("prometheus/usr/bin")];
    places.extend(env::split_paths(&path));
    let programs = places.into_iter().map(|it| it.join(program));
    programs.into_iter().find(|it| it.is_file())
}

/// Every node's and every tree's `JUnit` fits the XSD of Jenkins, and that of
/// runs that failed.
fn check_junit(xmllint: &Path) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = root.join("testdata/schemas/junit-10.xsd");
    let nodes = root.join("testdata/nodes");
    let entries = fs::read_dir(&nodes).unwrap().map(|it| it.unwrap().path());
    let mut runs: Vec<Vec<PathBuf>> = entries
        .filter(|it| it.is_dir())
        .map(|it| vec!["check-loop".into(), "--root".into(), it])
        .collect();
    runs.sort();
    for tree in ["lint-formats/tree", "lint", "corefiles", "not-there"] {
        runs.push(vec!["lint".into(), root.join("testdata").join(tree)]);
    }
    let assumed = ["--assume", "systemd-resolved", "--fail-on", "error"];
    let words = ["lint".into(), root.join("testdata/lint-formats/tree")];
    runs.push([&words[..], &assumed.map(PathBuf::from)].concat());
    for run in runs {
        let written = Command::new(env!("CARGO_BIN_EXE_kdns"))
            .args(&run)
            .args(["--format", "junit"])
            .output()
            .unwrap()
            .stdout;
        let mut command = Command::new(xmllint);
        command
            .args(["--noout", "--nonet", "--schema"])
            .arg(&schema)
            .arg("-");
        let (status, said) = fed(command, &written);
        if !status || written.is_empty() {
            let written = String::from_utf8_lossy(&written);
            return Err(format!("{run:?}: {said}\n{written}").into());
        }
    }
    Ok(())
}

/// Pictures are XML, whatever names have in them.
fn check_svg(xmllint: &Path) -> Result<(), Failed> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/explain");
    let mut seen = 0;
    for entry in fs::read_dir(cases).unwrap() {
        let case = entry.unwrap().path();
        let picture = fs::read(case.join("stdout")).unwrap_or_default();
        if !picture.starts_with(b"<svg ") {
            continue;
        }
        let mut command = Command::new(xmllint);
        command.args(["--noout", "--nonet", "-"]);
        let (status, said) = fed(command, &picture);
        if !status || !said.is_empty() {
            return Err(format!("{}: {said}", case.display()).into());
        }
        seen += 1;
    }
    assert!(seen > 4, "{seen}");
    Ok(())
}

/// Manual pages are written as mandoc's own lint wants them.
fn check_pages(mandoc: &Path) -> Result<(), Failed> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    for entry in fs::read_dir(pages).unwrap() {
        let page = entry.unwrap().path();
        let mut command = Command::new(mandoc);
        command.args(["-T", "lint", "-W", "style"]).arg(&page);
        let (status, said) = fed(command, b"");
        if !status || !said.is_empty() {
            return Err(format!("{}: {said}", page.display()).into());
        }
    }
    Ok(())
}

/// Whether a program that reads `input` is content, and what it said.
fn fed(mut command: Command, input: &[u8]) -> (bool, String) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.success(), said)
}

/// `promtool check metrics` has nothing to say about any node, nor about a
/// root that is not there.
fn check_metrics(promtool: &Path) -> Result<(), Failed> {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let entries = fs::read_dir(&nodes).unwrap().map(|it| it.unwrap().path());
    let mut roots: Vec<PathBuf> = entries.filter(|it| it.is_dir()).collect();
    roots.sort();
    roots.push(nodes.join("not-there\\ \"\n\u{1b}é"));
    for root in roots {
        let metrics = Command::new(env!("CARGO_BIN_EXE_kdns"))
            .args(["check-loop", "--format", "prometheus", "--root"])
            .arg(&root)
            .output()
            .unwrap()
            .stdout;
        let mut command = Command::new(promtool);
        command.args(["check", "metrics"]);
        let (is_content, said) = fed(command, &metrics);
        if !is_content || !said.trim().is_empty() || metrics.is_empty() {
            let metrics = String::from_utf8_lossy(&metrics);
            let root = root.display();
            return Err(format!("{root}: {said}\n{metrics}").into());
        }
    }
    Ok(())
}
