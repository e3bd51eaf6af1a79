//! Formats of `kdns check-loop` against the programs that read them.
//!
//! What needs a program that is not here is ignored, with the reason in its
//! name; with `KDNS_REQUIRE_REAL=1` that is a failure. `.ci/install-real`
//! installs it.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};

const MISSING: &str = "needs promtool (Debian's package prometheus)";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, vec![trial()]).exit_code()
}

fn trial() -> Trial {
    let required = env::var("KDNS_REQUIRE_REAL").is_ok_and(|it| it == "1");
    match promtool() {
        Some(promtool) => Trial::test("promtool", move || check_metrics(&promtool)),
        None if required => Trial::test("promtool", || Err(Failed::from(MISSING))),
        None => Trial::test(format!("promtool ({MISSING})"), || Ok(())).with_ignored_flag(true),
    }
}

fn promtool() -> Option<PathBuf> {
    let real = env::var_os("KDNS_REAL_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real"),
        PathBuf::from,
    );
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = vec![real.join("prometheus/usr/bin")];
    places.extend(env::split_paths(&path));
    let programs = places.into_iter().map(|it| it.join("promtool"));
    programs.into_iter().find(|it| it.is_file())
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
        let mut child = Command::new(promtool)
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&metrics).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        if !output.status.success() || !said.trim().is_empty() || metrics.is_empty() {
            let metrics = String::from_utf8_lossy(&metrics);
            let root = root.display();
            return Err(format!("{root}: {}: {said}\n{metrics}", output.status).into());
        }
    }
    Ok(())
}
