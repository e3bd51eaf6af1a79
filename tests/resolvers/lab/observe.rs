//! Many runs at once: each in a child of its own, which is this very program with a hidden argument.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use super::compare::{self, Difference};
use super::observation::{Observation, Scenario};
use super::programs::ResolverId;
use super::{hickory, random, real, sandbox};

/// The hidden argument of a sandbox; after it the resolver. The scenario is on standard input.
const SANDBOX: &str = "kdns-lab-sandbox";

/// Time for the set-up and the end of a run, beyond its limit.
const MARGIN: Duration = Duration::from_secs(60);

/// Held by every run of [`observe_until`]: for reading among others, for writing alone.
static ALONE: RwLock<()> = RwLock::new(());

/// Does what a hidden argument asks for; `None`: there is none, go on with the tests.
///
/// Besides the lab's own (`kdns-lab-sandbox`, `kdns-lab-hickory`) there are three for people:
///
/// ```text
/// observe SCENARIOS.jsonl RESOLVER[,RESOLVER…]|all [-j N]   observations, one JSON object a line
/// judge PREDICTIONS.jsonl OBSERVATIONS.jsonl                what differs, and figures by resolver
/// scenarios SEED COUNT                                      random scenarios, one JSON object a line
/// ```
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [SANDBOX, "check"] => sandbox::check(),
        [SANDBOX, resolver] => sandbox_child(resolver),
        [hickory::ARGUMENT, name, family] => print(&hickory::lookup(name, family)),
        ["observe", file, resolvers] => observe_file(file, resolvers, 8),
        ["observe", file, resolvers, "-j", jobs] => {
            observe_file(file, resolvers, jobs.parse().unwrap_or(8))
        }
        ["scenarios", seed, count] => {
            let scenarios =
                random::scenarios(seed.parse().unwrap_or(0), count.parse().unwrap_or(10));
            scenarios.iter().try_for_each(print)
        }
        ["judge", predictions, observations] => judge_files(predictions, observations),
        _ => return None,
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "{e}");
            ExitCode::FAILURE
        }
    })
}

fn print(value: &impl serde::Serialize) -> Result<(), String> {
    let line = serde_json::to_string(value).map_err(|e| e.to_string())?;
    writeln!(std::io::stdout(), "{line}").map_err(|e| e.to_string())
}

fn sandbox_child(resolver: &str) -> Result<(), String> {
    let resolver: ResolverId = resolver.parse()?;
    let scenario: Scenario =
        serde_json::from_reader(std::io::stdin()).map_err(|e| format!("scenario: {e}"))?;
    let observation = sandbox::run(&scenario, resolver)
        .unwrap_or_else(|e| Observation::failed(&scenario.id, resolver.as_str(), &e));
    print(&observation)
}

fn observe_file(file: &str, resolvers: &str, jobs: usize) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let resolvers: Vec<ResolverId> = if resolvers == "all" {
        ResolverId::all().collect()
    } else {
        resolvers
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()?
    };
    let mut runs = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let scenario: Scenario =
            serde_json::from_str(line).map_err(|e| format!("{file}:{}: {e}", number + 1))?;
        runs.extend(resolvers.iter().map(|r| (scenario.clone(), *r)));
    }
    let mut result = Ok(());
    observe_each(&runs, jobs, |_, observation| {
        if result.is_ok() {
            result = print(&observation);
        }
    });
    result
}

/// Compares predictions (or other observations) with observations, by case and resolver.
fn judge_files(predictions: &str, observations: &str) -> Result<(), String> {
    let lines = |file: &str| {
        let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        let parsed: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        parsed.map_err(|e| format!("{file}: {e}"))
    };
    let word = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    let key = |v: &Value| format!("{} {}", word(v, "case"), word(v, "resolver"));
    let predicted: BTreeMap<String, Value> = lines(predictions)?
        .into_iter()
        .map(|v| (key(&v), v))
        .collect();
    let mut tally: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for line in lines(observations)? {
        let key = key(&line);
        let observed: Observation =
            serde_json::from_value(line).map_err(|e| format!("{key}: {e}"))?;
        let (same, different) = tally.entry(observed.resolver.clone()).or_default();
        match predicted
            .get(&key)
            .map(|p| compare::judge_as_sent(p, &observed))
        {
            Some(Ok(())) => *same += 1,
            Some(Err(difference)) => {
                *different += 1;
                print(&format!("{key}: {difference}"))?;
            }
            None => {}
        }
    }
    tally.iter().try_for_each(|figures| print(&figures))
}

/// Makes all runs, so many at a time, and returns the observations in the order of the runs.
pub(crate) fn observe_all(runs: &[(Scenario, ResolverId)], parallelism: usize) -> Vec<Observation> {
    let mut all: Vec<Option<Observation>> = vec![None; runs.len()];
    observe_each(runs, parallelism, |at, observation| {
        if let Some(place) = all.get_mut(at) {
            *place = Some(observation);
        }
    });
    all.into_iter().flatten().collect()
}

/// The same, telling each observation with its run's number as soon as it is there.
pub(crate) fn observe_each(
    runs: &[(Scenario, ResolverId)],
    parallelism: usize,
    mut tell: impl FnMut(usize, Observation),
) {
    let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..runs.len()).collect());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..parallelism.max(1) {
            let (sender, waiting) = (sender.clone(), &waiting);
            scope.spawn(move || {
                loop {
                    let next = waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some((at, (scenario, resolver))) =
                        next.and_then(|at| Some((at, runs.get(at)?)))
                    else {
                        return;
                    };
                    if sender.send((at, observe(scenario, *resolver))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, observation) in receiver {
            tell(at, observation);
        }
    });
}

/// Observes until the judge agrees, so many times at most: on a busy machine a packet or a thread may be late.
/// Therefore all runs but the first have the machine for themselves.
///
/// What differs in the last run is the error, with its observation.
pub(crate) fn observe_until(
    scenario: &Scenario,
    resolver: ResolverId,
    attempts: usize,
    judge: impl Fn(&Observation) -> Result<(), Difference>,
) -> Result<(), (Difference, Box<Observation>)> {
    /// What else is busy on the machine gets so long to end, and longer each time.
    const CALM: Duration = Duration::from_millis(500);
    let mut last = Ok(());
    for attempt in 0..attempts {
        let observation = if attempt == 0 {
            let _among_others = ALONE.read().unwrap_or_else(PoisonError::into_inner);
            observe(scenario, resolver)
        } else {
            let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
            thread::sleep(CALM * u32::try_from(attempt).unwrap_or(u32::MAX));
            observe(scenario, resolver)
        };
        match judge(&observation) {
            Ok(()) => return Ok(()),
            Err(difference) => last = Err((difference, Box::new(observation))),
        }
    }
    last
}

/// Why no sandbox can be made here; `None` if it can.
pub(crate) fn no_sandbox() -> Option<String> {
    let output = Command::new("/proc/self/exe")
        .args([SANDBOX, "check"])
        .output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(e) => Some(e.to_string()),
    }
}

/// One run.
fn observe(scenario: &Scenario, resolver: ResolverId) -> Observation {
    let failed = |reason: &str| Observation::failed(&scenario.id, resolver.as_str(), reason);
    if let Some(reason) = real::missing(resolver) {
        return failed(&reason);
    }
    match child(scenario, resolver) {
        Ok(text) => {
            serde_json::from_str(&text).unwrap_or_else(|e| failed(&format!("{e}: {text:?}")))
        }
        Err(e) => failed(&e),
    }
}

fn child(scenario: &Scenario, resolver: ResolverId) -> Result<String, String> {
    let error = |e: std::io::Error| format!("the sandbox: {e}");
    let mut child = Command::new("/proc/self/exe")
        .args([SANDBOX, resolver.as_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(error)?;
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let text = serde_json::to_string(scenario).map_err(|e| e.to_string())?;
    child
        .stdin
        .take()
        .ok_or("no input")?
        .write_all(text.as_bytes())
        .map_err(error)?;
    let (sender, receiver) = mpsc::channel();
    let mut stdout = child.stdout.take().ok_or("no output")?;
    thread::spawn(move || {
        let _ = sender.send(std::io::read_to_string(&mut stdout));
    });
    let begun = Instant::now();
    let said = receiver.recv_timeout(scenario.limit(resolver.as_str()) + MARGIN);
    // The sandbox, if it has not ended, and what it started and left behind at its limit.
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    match said {
        Ok(text) => text.map_err(error),
        Err(_) => Err(format!(
            "the sandbox did not end within {} s",
            begun.elapsed().as_secs()
        )),
    }
}
