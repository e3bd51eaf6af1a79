//! Ten thousand names: `kdns dig -f` beside `dig -f` and `dnsperf`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::explain::KDNS;
use crate::figures::{Bound, Figures, median};
use crate::server;

const NAMES: u32 = 10_000;
/// dig asks one after the other: these are enough to know its rate.
const NAMES_OF_DIG: u32 = 200;
const DELAY: Duration = Duration::from_millis(5);
const ROUNDS: usize = 5;

/// Names a second, as a multiple of the peer's.
const LEAST_OF_DIG: f64 = 20.0;
const LEAST_OF_DNSPERF: f64 = 0.5;

pub(crate) fn run(figures: &mut Figures) {
    let directory = tempfile::tempdir().unwrap();
    let all = list(&directory, "all", NAMES, "");
    beside_dig(figures, &directory, &all);
    beside_dnsperf(figures, &directory, &all);
}

fn beside_dig(figures: &mut Figures, directory: &TempDir, all: &Path) {
    let port = server::start(DELAY).to_string();
    let few = list(directory, "few", NAMES_OF_DIG, "");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let own = own(&port, all);
        let Some(peer) = rate("dig", &few, &port, &[], NAMES_OF_DIG) else {
            figures.missing("dig");
            return;
        };
        ratios.push(own / peer);
    }
    figures.check(
        &format!("dig -f with {NAMES} names, answers after 5 ms, names a second / dig -f"),
        median(ratios),
        Bound::AtLeast(LEAST_OF_DIG),
        "64 in flight",
    );
}

/// How many names a second kdns gets answers for; nothing is lost, and what is
/// printed is in the order of the file.
fn own(port: &str, all: &Path) -> f64 {
    let words = ["+inflight=64"];
    let since = Instant::now();
    let output = dig(KDNS, &["dig"], all, port, &words).output().unwrap();
    let rate = f64::from(NAMES) / since.elapsed().as_secs_f64();
    let mut expected = String::new();
    for number in 0..NAMES {
        writeln!(expected, "{}", server::address(number)).unwrap();
    }
    assert!(
        output.stdout == expected.as_bytes(),
        "something is lost or in another place"
    );
    rate
}

fn rate(program: &str, file: &Path, port: &str, words: &[&str], names: u32) -> Option<f64> {
    let mut command = dig(program, &[], file, port, words);
    let since = Instant::now();
    let status = command.stdout(Stdio::null()).status().ok()?;
    assert!(status.success(), "{command:?} failed");
    Some(f64::from(names) / since.elapsed().as_secs_f64())
}

fn dig(program: &str, first: &[&str], file: &Path, port: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(first).args(["@127.0.0.1", "-p", port]);
    command
        .args(["+short", "+tries=1", "-f"])
        .arg(file)
        .args(words);
    // Cargo's: nobody who runs kdns has it.
    command.env_remove("LD_LIBRARY_PATH").stdin(Stdio::null());
    command
}

fn beside_dnsperf(figures: &mut Figures, directory: &TempDir, all: &Path) {
    let port = server::start(Duration::ZERO).to_string();
    let queries = list(directory, "queries", NAMES, " A");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let own = own(&port, all);
        let Some(peer) = dnsperf(&queries, &port) else {
            figures.missing("dnsperf");
            return;
        };
        ratios.push(own / peer);
    }
    figures.check(
        &format!("dig -f with {NAMES} names, names a second / dnsperf's queries a second"),
        median(ratios),
        Bound::AtLeast(LEAST_OF_DNSPERF),
        "64 in flight, answers at once",
    );
}

/// Queries a second; `None`: it is not here.
fn dnsperf(queries: &Path, port: &str) -> Option<f64> {
    let mut command = Command::new("dnsperf");
    command.args([
        "-s",
        "127.0.0.1",
        "-p",
        port,
        "-n",
        "1",
        "-q",
        "64",
        "-c",
        "1",
        "-T",
        "1",
    ]);
    let output = command.arg("-d").arg(queries).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|it| it.contains("Queries per second:"));
    let number = line.and_then(|it| it.split_whitespace().last());
    Some(number.unwrap().parse().unwrap())
}

/// A file with so many names, one a line.
fn list(directory: &TempDir, name: &str, names: u32, behind: &str) -> std::path::PathBuf {
    let mut text = String::new();
    for number in 0..names {
        writeln!(text, "n{number}.test{behind}").unwrap();
    }
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    path
}
