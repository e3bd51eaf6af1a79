//! Processor time, duration and peak memory of other programs.
//!
//! The kernel adds up what a process's children used, and keeps the largest of
//! their peaks, in which it counts the memory of the process that they were
//! started from. So each measurement is made by a small process of its own:
//! this program, started with [`HIDDEN`].

use std::env;
use std::io;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// The first argument of a process that measures: then come the number of runs
/// and the command.
const HIDDEN: &str = "--measure";

/// What runs of a program cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Processor time of one run, user and system, in seconds.
    pub(crate) seconds: f64,
    /// From the start of one run to its end, in seconds.
    pub(crate) duration: f64,
    /// Largest resident memory of a run.
    pub(crate) peak_kib: u32,
}

/// Runs `command` so many times and says what one run costs; `None` if there
/// is no such program.
pub(crate) fn cost(runs: u32, command: &[&str]) -> Option<Cost> {
    let output = Command::new(env::current_exe().unwrap())
        .args([HIDDEN, &runs.to_string()])
        .args(command)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut numbers = text.split_whitespace();
    let mut of_one = || Some(f64::from_str(numbers.next()?).unwrap() / 1e6 / f64::from(runs));
    let (seconds, duration) = (of_one()?, of_one()?);
    let peak = numbers.next()?;
    Some(Cost {
        seconds,
        duration,
        peak_kib: peak.parse().unwrap(),
    })
}

/// Measures, if this process was started for that.
pub(crate) fn run_hidden() -> bool {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [hidden, runs, program, rest @ ..] = arguments.as_slice() else {
        return false;
    };
    if hidden != HIDDEN {
        return false;
    }
    let since = Instant::now();
    for _ in 0..runs.parse().unwrap() {
        let status = Command::new(program)
            .args(rest)
            // Cargo's: nobody who runs kdns has it.
            .env_remove("LD_LIBRARY_PATH")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match status {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            // 1 is a finding.
            status => {
                let code = status.unwrap().code();
                assert!(matches!(code, Some(0 | 1)), "{program} {rest:?} failed");
            }
        }
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    println!(
        "{} {} {}",
        processor_time(&usage).as_micros(),
        since.elapsed().as_micros(),
        usage.max_rss()
    );
    true
}

/// Processor time of this process so far, in seconds.
pub(crate) fn own_seconds() -> f64 {
    processor_time(&getrusage(UsageWho::RUSAGE_SELF).unwrap()).as_secs_f64()
}

fn processor_time(usage: &Usage) -> Duration {
    let duration = |time: TimeVal| {
        let seconds = Duration::from_secs(time.tv_sec().unsigned_abs());
        seconds + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    duration(usage.user_time()) + duration(usage.system_time())
}
