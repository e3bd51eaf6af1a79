//! Speed, with bounds that are checked: ends non-zero when one is missed.
//!
//! Processor time is counted, not the time on the clock, and each figure is
//! compared with a peer's in the same run, in turn with it, so that it holds
//! on a machine that does something else beside. `cargo bench --bench speed`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench prints and may stop at the first surprise"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use kdns::config::resolv_conf::{Line, ResolvConf};
use kdns::text::Source;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

/// The resolv.conf of a pod with the policy `ClusterFirst`.
const POD: &str = "search default.svc.cluster.local svc.cluster.local cluster.local\n\
                   nameserver 10.96.0.10\noptions ndots:5\n";

/// Rounds of a comparison; the median counts.
const ROUNDS: usize = 15;

/// Whole processes in a round.
const PROCESSES: u32 = 20;

/// The names that scenarios ask for.
const NAMES: [&str; 6] = [
    "web",
    "web.prod",
    "api.example.com",
    "kubernetes.default.svc",
    "www.example.com",
    "db-0.db.prod.svc.cluster.local",
];

fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let mut bounds = Bounds { missed: 0 };
    // In the order of the memory they need: the peak of children only grows.
    one_name(folder.path(), &mut bounds);
    scenarios(folder.path(), &mut bounds);
    parsing(&mut bounds);
    if bounds.missed == 0 {
        ExitCode::SUCCESS
    } else {
        println!("{} bounds missed", bounds.missed);
        ExitCode::FAILURE
    }
}

struct Bounds {
    missed: usize,
}

impl Bounds {
    fn at_most(&mut self, what: &str, value: f64, bound: f64) {
        self.check(what, value, bound, value <= bound, "at most");
    }

    fn at_least(&mut self, what: &str, value: f64, bound: f64) {
        self.check(what, value, bound, value >= bound, "at least");
    }

    fn check(&mut self, what: &str, value: f64, bound: f64, holds: bool, relation: &str) {
        let verdict = if holds { "ok" } else { "MISSED" };
        println!("{verdict:6}  {what}: {value:.2} ({relation} {bound})");
        self.missed += usize::from(!holds);
    }
}

/// `explain` of one name against `getent` and `dig`.
fn one_name(folder: &Path, bounds: &mut Bounds) {
    let file = folder.join("resolv.conf");
    std::fs::write(&file, POD).unwrap();
    let explain = || {
        let mut command = Command::new(KDNS);
        command
            .args(["explain", "kubernetes.default", "--file"])
            .arg(&file);
        command
    };
    let getent = || peer("getent", &["hosts", "127.0.0.1"]);
    let dig = || peer("dig", &["-v"]);
    explain().stdout(Stdio::null()).status().unwrap();
    bounds.at_most("explain: peak memory, MiB", peak_mib(), 8.0);
    for (name, command, bound) in [
        (
            "getent hosts 127.0.0.1",
            &getent as &dyn Fn() -> Command,
            1.5,
        ),
        ("dig -v", &dig, 0.25),
    ] {
        if is_missing(command) {
            let required = std::env::var_os("KDNS_REQUIRE_REAL").is_some();
            println!(
                "{}  {name}: not here",
                if required { "MISSED" } else { "left" }
            );
            bounds.missed += usize::from(required);
            continue;
        }
        let mut ratios: Vec<f64> = (0..ROUNDS)
            .map(|_| seconds(&explain, PROCESSES) / seconds(command, PROCESSES))
            .collect();
        let what = format!("explain: processor time over that of {name}");
        bounds.at_most(&what, median(&mut ratios), bound);
    }
}

fn peer(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args);
    command
}

fn is_missing(command: &dyn Fn() -> Command) -> bool {
    let quiet = command()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_err()
}

/// `--scenario` with many lines: predictions a second, growth, memory.
fn scenarios(folder: &Path, bounds: &mut Bounds) {
    let [few, many] = [10_000, 100_000].map(|lines| (lines, scenario_file(folder, lines)));
    let time = |(_, path): &(usize, PathBuf), resolvers: &str| {
        let command = || {
            let mut command = Command::new(KDNS);
            command
                .args([
                    "explain",
                    "--format",
                    "jsonl",
                    "--resolver",
                    resolvers,
                    "--scenario",
                ])
                .arg(path);
            command
        };
        (0..3)
            .map(|_| seconds(&command, 1))
            .fold(f64::INFINITY, f64::min)
    };
    let default = "glibc,musl,go";
    let short = time(&few, default);
    let before = peak_mib();
    let long = time(&many, default);
    bounds.at_most(
        "scenarios: peak memory of 100,000 lines over 10,000",
        peak_mib() / before,
        1.1,
    );
    bounds.at_least(
        "scenarios: predictions a second",
        3.0 * many.0 as f64 / long,
        200_000.0,
    );
    let growth = long / short / (many.0 as f64 / few.0 as f64);
    bounds.at_most(
        "scenarios: time a line of 100,000 over that of 10,000",
        growth,
        1.25,
    );
    let all = time(&few, "all");
    let predictions = (kdns::resolver::ALL.len() * few.0) as f64;
    println!(
        "        scenarios: predictions a second, all resolvers: {:.0}",
        predictions / all
    );
}

fn scenario_file(folder: &Path, lines: usize) -> PathBuf {
    let path = folder.join(format!("{lines}.jsonl"));
    let mut file = BufWriter::new(File::create(&path).unwrap());
    for (number, name) in NAMES.iter().cycle().take(lines).enumerate() {
        let scenario = serde_json::json!({
            "id": format!("c{number}"),
            "resolv_conf": POD,
            "name": name,
            "answers": [
                {"name": "web.default.svc.cluster.local", "reply": "ANSWER", "a": ["10.100.0.1"]},
                {"name": "*.example.com", "reply": "ANSWER", "a": ["192.0.2.2"], "aaaa": ["2001:db8::2"]},
            ],
        });
        writeln!(file, "{scenario}").unwrap();
    }
    file.flush().unwrap();
    path
}

/// Parsing against the `resolv-conf` crate.
fn parsing(bounds: &mut Bounds) {
    let large: String = (0..)
        .map(|n| {
            format!(
                "nameserver 10.0.{}.{}\nsearch a{n}.example b.example\noptions ndots:{}\n# {n}\n",
                n / 250 % 250,
                n % 250,
                n % 15
            )
        })
        .scan(0, |bytes, lines| {
            *bytes += lines.len();
            (*bytes <= 1 << 20).then_some(lines)
        })
        .collect();
    for (name, text) in [("a pod's file", POD), ("a file of 1 MiB", &large)] {
        let source = Source {
            name: String::new(),
            bytes: text.as_bytes().to_vec(),
        };
        let mut ratios: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let ours = rate(|| {
                    let conf = ResolvConf::parse(black_box(source.clone()));
                    black_box(conf.lines().flat_map(Line::words).count());
                });
                let theirs = rate(|| drop(black_box(resolv_conf::Config::parse(black_box(text)))));
                ours / theirs
            })
            .collect();
        let what = format!("parsing {name}: bytes a second over those of resolv-conf");
        bounds.at_least(&what, median(&mut ratios), 2.0);
    }
}

/// How often `work` can be done in a second.
fn rate(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut times = 0_u32;
    while start.elapsed() < Duration::from_millis(20) {
        work();
        times += 1;
    }
    f64::from(times) / start.elapsed().as_secs_f64()
}

/// Processor time of so many runs of a command.
fn seconds(command: &dyn Fn() -> Command, runs: u32) -> f64 {
    let before = children();
    for _ in 0..runs {
        command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
    }
    children() - before
}

/// Processor time of all children so far.
fn children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    micros as f64 / 1e6
}

/// The largest child so far.
fn peak_mib() -> f64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() as f64 / 1024.0
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
