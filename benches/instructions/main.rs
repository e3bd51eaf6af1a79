//! How many instructions the main paths take, beside what is kept in
//! `counts.json`: a rise over 5 % ends the run with status 1.
//!
//! Time depends on the machine and on what else runs there; this does not. The
//! commands are run under valgrind's callgrind, with an empty environment, on
//! files of this repository. `KDNS_BLESS=1` keeps what was counted.
//!
//! `cargo bench` counts the release that it builds, `cargo test` the program
//! of `packaging/release`, if there is one.

#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is what a bench is for"
)]

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use tempfile::TempDir;

/// What a count may be of the one that is kept.
const MOST: f64 = 1.05;
/// Below this, what is kept is out of date.
const LEAST: f64 = 0.95;

/// What the kubelet writes for a pod.
const POD: &str = "\
search default.svc.cluster.local svc.cluster.local cluster.local
nameserver 10.96.0.10
options ndots:5
";

/// The main paths: a name, and kdns's arguments. `DIR` is a directory with the
/// files of [`write_inputs`], `DATA` is `testdata`.
const PATHS: [(&str, &str); 12] = [
    ("start", "--version"),
    (
        "explain a service",
        "explain kubernetes.default --file DIR/pod",
    ),
    (
        "explain an external name",
        "explain api.example.com --file DIR/pod",
    ),
    (
        "explain for all resolvers",
        "explain api.example.com --file DIR/pod --resolver all --format json",
    ),
    (
        "predict 3,000 times",
        "explain --scenario DIR/scenarios --format jsonl",
    ),
    (
        "parse a megabyte",
        "explain web --file DIR/megabyte --resolver glibc",
    ),
    (
        "check-loop, a loop",
        "check-loop --root DATA/nodes/cluster-loop",
    ),
    ("check-loop, none", "check-loop --root DATA/nodes/aks"),
    ("pods", "pods --root DATA/nodes/cluster-loop"),
    ("pod-file", "pod-file --root DATA/nodes/cluster-loop"),
    ("lint a node", "lint --root DATA/nodes/cluster-loop"),
    ("lint a megabyte of YAML", "lint DIR/kubelet.yaml"),
];

pub(crate) fn main() -> ExitCode {
    let program = program();
    if !program.is_file() || !is_here("valgrind") {
        println!("skipped: this needs valgrind and {}", program.display());
        let required = env::var("KDNS_REQUIRE_REAL").is_ok_and(|value| value == "1");
        return ExitCode::from(u8::from(required));
    }
    let inputs = tempfile::tempdir().unwrap();
    write_inputs(&inputs);
    let kept = kept();
    let mut counts = BTreeMap::new();
    let mut missed = 0;
    for (name, arguments) in PATHS {
        let count = instructions(&program, &inputs, arguments);
        missed += usize::from(!print(name, count, kept.get(name).copied()));
        counts.insert(name, count);
    }
    if env::var("KDNS_BLESS").is_ok_and(|value| value == "1") {
        let text = serde_json::to_string_pretty(&counts).unwrap();
        fs::write(counts_file(), text + "\n").unwrap();
        return ExitCode::SUCCESS;
    }
    if missed == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("{missed} counts are not as kept; KDNS_BLESS=1 keeps these");
    ExitCode::FAILURE
}

/// Prints a line, and says whether the count is as it was.
fn print(name: &str, count: u64, kept: Option<u64>) -> bool {
    let Some(kept) = kept else {
        println!("new     {name}: {count} instructions");
        return false;
    };
    let ratio = ratio(count, kept);
    let verdict = if ratio > MOST {
        "MISSED"
    } else if ratio < LEAST {
        "fewer"
    } else {
        "ok"
    };
    println!("{verdict:<7} {name}: {count} instructions, {ratio:.3} of the {kept} that are kept");
    ratio <= MOST
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
fn ratio(count: u64, kept: u64) -> f64 {
    count as f64 / kept as f64
}

/// The release: a debug build counts nothing that matters.
fn program() -> PathBuf {
    if cfg!(debug_assertions) {
        return Path::new(env!("CARGO_MANIFEST_DIR")).join("target/dist/kdns");
    }
    PathBuf::from(env!("CARGO_BIN_EXE_kdns"))
}

fn is_here(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|it| it.join(program).is_file())
}

/// What callgrind counts.
fn instructions(program: &Path, inputs: &TempDir, arguments: &str) -> u64 {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let arguments = arguments
        .replace("DIR", inputs.path().to_str().unwrap())
        .replace("DATA", data.to_str().unwrap());
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments.split(' '))
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "kdns {arguments} failed: {text}"
    );
    let (_, count) = text.rsplit_once("Collected : ").unwrap();
    count.split_whitespace().next().unwrap().parse().unwrap()
}

fn counts_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions/counts.json")
}

fn kept() -> BTreeMap<String, u64> {
    fs::read_to_string(counts_file()).map_or_else(
        |_| BTreeMap::new(),
        |text| serde_json::from_str(&text).unwrap(),
    )
}

fn write_inputs(inputs: &TempDir) {
    let write = |name: &str, text: &str| fs::write(inputs.path().join(name), text).unwrap();
    write("pod", POD);
    let line = "nameserver 192.0.2.1\n# a comment that says nothing\noptions ndots:5 timeout:2\n";
    write("megabyte", &line.repeat((1 << 20) / line.len()));
    let mut scenarios = String::new();
    for number in 0..1000 {
        let scenario = serde_json::json!({
            "id": format!("case-{number}"),
            "resolv_conf": POD,
            "name": "api.example.com",
            "answers": [{"name": "api.example.com", "reply": "ANSWER", "a": ["192.0.2.1"]}],
        });
        writeln!(scenarios, "{scenario}").unwrap();
    }
    write("scenarios", &scenarios);
    let head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n\
        clusterDNS: [10.96.0.10]\nclusterDomain: cluster.local\n\
        resolvConf: /run/systemd/resolve/resolv.conf\n";
    let document = format!("---\n{head}registryBurst: 10\n");
    write("kubelet.yaml", &document.repeat((1 << 20) / document.len()));
}
