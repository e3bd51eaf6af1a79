//! What `deploy/` has, against the programs that read it: kubectl, Kubernetes'
//! schemas, promtool, systemd, and node-problem-detector's contract.
//!
//! What needs a program that is not here is ignored, with the reason in its
//! name; with `KDNS_REQUIRE_REAL=1` that is a failure. `.ci/install-real`
//! installs it.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, and says what it was"
)]

mod detector;
mod kubernetes;
mod metrics;
#[path = "../needs/mod.rs"]
mod needs;
mod privileges;
mod units;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

type Outcome = Result<(), Failed>;

/// A name, the programs that it needs, and what is checked.
type Check = (&'static str, &'static [&'static str], fn() -> Outcome);

const CHECKS: [Check; 9] = [
    (
        "kubernetes::builds_and_fits",
        &["kubectl", "kubernetes-validate"],
        kubernetes::builds_and_fits,
    ),
    (
        "kubernetes::privileges_are_few",
        &["kubectl", "kubernetes-validate"],
        kubernetes::privileges_are_few,
    ),
    ("detector::configuration", &[], detector::configuration),
    ("detector::contract", &[], detector::contract),
    ("metrics::rules", &["promtool"], metrics::rules),
    (
        "metrics::operator",
        &["kubernetes-validate"],
        metrics::operator,
    ),
    ("metrics::dashboard", &["promtool"], metrics::dashboard),
    ("units::verify", &["systemd-analyze"], units::verify),
    (
        "privileges::same_answer",
        &[
            "kubectl",
            "kubernetes-validate",
            "setpriv",
            "unshare",
            "root",
        ],
        privileges::same_answer,
    ),
];

fn main() -> ExitCode {
    if let Some(status) = privileges::run_hidden() {
        return status;
    }
    let arguments = Arguments::from_args();
    let trials = CHECKS.into_iter().map(trial).collect();
    needs::run(&arguments, trials)
}

fn trial((name, needs, check): Check) -> Trial {
    let missing = needs.iter().find(|it| !is_there(it));
    needs::trial(name, missing.map(|it| format!("needs {it}")), check)
}

fn is_there(program: &str) -> bool {
    match program {
        "root" => nix::unistd::geteuid().is_root(),
        program => found(program).is_some(),
    }
}

/// A program: those of `.ci/install-real` come before the machine's own.
fn found(program: &str) -> Option<PathBuf> {
    let real =
        env::var_os("KDNS_REAL_DIR").map_or_else(|| root().join("target/real"), PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = vec![real.join("kube/venv/bin"), real.join("prometheus/usr/bin")];
    places.extend(env::split_paths(&path));
    let programs = places.into_iter().map(|it| it.join(program));
    programs.into_iter().find(|it| it.is_file())
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file or folder of `deploy/`.
fn deploy(path: &str) -> PathBuf {
    root().join("deploy").join(path)
}

/// What the program writes; what it says if it is not content.
fn output(command: &mut Command) -> Result<String, Failed> {
    let output = command
        .output()
        .map_err(|it| format!("{command:?}: {it}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{text}{said}", output.status).into())
}

/// The documents of a YAML file, read by the library of kubernetes-validate.
fn documents(path: &Path) -> Result<Vec<Value>, Failed> {
    let python = found("kubernetes-validate")
        .unwrap()
        .with_file_name("python3");
    let script =
        "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let text = output(Command::new(python).args(["-c", script]).arg(path))?;
    Ok(serde_json::from_str(&text).map_err(|it| it.to_string())?)
}
