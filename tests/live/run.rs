//! kdns in a child with namespaces of its own, beside a server that records.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use libtest_mimic::Failed;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::lab::observation::Outcome;
use crate::lab::programs::How;
use crate::lab::{Observation, Scenario, sandbox};

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
/// The hidden arguments; the scenario is on standard input.
const RUN: &str = "kdns-live-run";
const SERVE: &str = "kdns-live-serve";
/// Where kdns saves, in the child.
pub(crate) const SAVED: &str = "/run/lab/saved.jsonl";
/// In place of an argument: Ctrl-C after so many milliseconds.
pub(crate) const INTERRUPT: &str = "kdns-live-interrupt=";

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) observation: Observation,
    pub(crate) status: i64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What was saved, if anything.
    pub(crate) saved: Option<String>,
}

pub(crate) fn run_hidden() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mode, words) = words.split_first()?;
    let serves = mode == SERVE;
    if !serves && mode != RUN {
        return None;
    }
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut line).unwrap();
    let scenario: Scenario = serde_json::from_str(&line).unwrap();
    let observation = sandbox::record(&scenario, "kdns", How::Program, || {
        if serves {
            // Until the other side has seen enough.
            let mut out = std::io::stdout();
            writeln!(out, "ready").unwrap();
            let _ = input.read_line(&mut line);
            return Ok(Outcome::default());
        }
        ask(&scenario, words)
    });
    let observation = observation.unwrap_or_else(|e| Observation::failed("", "kdns", &e));
    let text = serde_json::to_string(&observation).unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "{text}").unwrap();
    Some(ExitCode::SUCCESS)
}

fn ask(scenario: &Scenario, words: &[String]) -> Result<Outcome, String> {
    let interrupt = words.iter().find_map(|it| it.strip_prefix(INTERRUPT));
    let words = words.iter().filter(|it| !it.starts_with(INTERRUPT));
    let child = Command::new(KDNS)
        .args(words)
        .env_clear()
        .envs(&scenario.env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    if let Some(after) = interrupt.and_then(|it| it.parse().ok()) {
        thread::sleep(Duration::from_millis(after));
        let id = i32::try_from(child.id()).unwrap();
        kill(Pid::from_raw(id), Signal::SIGINT).map_err(|e| e.to_string())?;
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let outcome = Outcome::default()
        .with("exit", output.status.code().unwrap_or(-1))
        .with("stdout", text(&output.stdout))
        .with("stderr", text(&output.stderr));
    Ok(match fs::read_to_string(SAVED) {
        Ok(saved) => outcome.with("saved", saved),
        Err(_) => outcome,
    })
}

fn child(mode: &str, scenario: &str, words: &[&str]) -> Result<Child, Failed> {
    let mut child = Command::new("/proc/self/exe")
        .arg(mode)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let line = scenario.trim().replace('\n', " ");
    let input = child.stdin.as_mut().ok_or("no input")?;
    writeln!(input, "{line}")?;
    Ok(child)
}

/// Runs kdns with these words in the scenario's world.
pub(crate) fn run(scenario: &str, words: &[&str]) -> Result<Ran, Failed> {
    let output = child(RUN, scenario, words)?.wait_with_output()?;
    let observation: Observation = serde_json::from_slice(&output.stdout)?;
    if observation.outcome.status == "lab" {
        return Err(format!("{:?}", observation.outcome).into());
    }
    let more = &observation.outcome.more;
    let text = |key: &str| more.get(key).and_then(Value::as_str).map(str::to_owned);
    Ok(Ran {
        status: more.get("exit").and_then(Value::as_i64).unwrap_or(-1),
        stdout: text("stdout").unwrap_or_default(),
        stderr: text("stderr").unwrap_or_default(),
        saved: text("saved"),
        observation,
    })
}

/// Lets `look` see the scenario's world from outside: by the id of a process in it.
pub(crate) fn beside<T>(
    scenario: &str,
    look: impl FnOnce(u32) -> T,
) -> Result<(T, Observation), Failed> {
    let mut child = child(SERVE, scenario, &[])?;
    let mut said = BufReader::new(child.stdout.take().ok_or("no output")?);
    let mut line = String::new();
    said.read_line(&mut line)?;
    let looked = look(child.id());
    drop(child.stdin.take());
    line.clear();
    said.read_line(&mut line)?;
    child.wait()?;
    Ok((looked, serde_json::from_str(&line)?))
}

/// What the saved scenarios predict for this resolver.
pub(crate) fn replayed(saved: &str, resolver: &str) -> Result<Vec<Value>, Failed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("saved.jsonl");
    fs::write(&path, saved)?;
    predictions(&path, resolver)
}

fn predictions(path: &Path, resolver: &str) -> Result<Vec<Value>, Failed> {
    let output = Command::new(KDNS)
        .args([
            "explain",
            "--resolver",
            resolver,
            "--format",
            "jsonl",
            "--scenario",
        ])
        .arg(path)
        .output()?;
    lines(&String::from_utf8_lossy(&output.stdout))
}

/// The JSON values of lines.
pub(crate) fn lines(text: &str) -> Result<Vec<Value>, Failed> {
    let values: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    Ok(values?)
}
