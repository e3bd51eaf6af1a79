//! What the answers show, the likeliest cause of trouble first.

use super::checks::is_trouble;
use super::joined::{is_later, joined, known_by_rule, log_of, seen_by_asking};
use super::{Asked, Cause, Check, Fact, Kind, Route, State, Whom};
use crate::check_loop::facts::Trouble;
use crate::check_loop::{self, Verdict};
use crate::finding::{Finding, Severity};
use crate::order::Order as _;
use crate::path;
use crate::why::log::Advice;

/// All causes, each once.
pub(super) fn all<'o>(checks: &[Check<'o>]) -> Vec<Cause<'o>> {
    let loops = checks.iter().find(|it| it.code == "loop");
    let loop_state = loops.map_or(State::Unknown, |it| it.state);
    let mut causes: Vec<Cause<'o>> = Vec::new();
    for (number, check) in checks.iter().enumerate() {
        let found = kinds(check, loop_state).into_iter();
        causes.extend(found.map(|(state, kind)| Cause {
            places: match &kind {
                Kind::Setting(finding) => vec![finding.primary.place()],
                _ => check.places.clone(),
            },
            kind,
            evidence: vec![number],
            state,
        }));
    }
    let mut causes = each_once(causes);
    joined(&mut causes);
    // Who waits for others in vain does not answer in time.
    let logs = causes.iter().filter_map(|it| log_of(&it.kind)?.pod.clone());
    let waiting: Vec<String> = logs.collect();
    let waits = |it: &&Asked| matches!(&it.whom, Whom::Pod(pod) if waiting.contains(pod));
    known_by_rule(&mut causes);
    seen_by_asking(&mut causes);
    let has = |wanted: fn(&Kind<'_>) -> bool| causes.iter().any(|it| wanted(&it.kind));
    // A full table keeps queries in.
    let is_kept = has(is_not_sent);
    // Why nobody is behind the Service comes before that nobody is.
    let of_ended = if has(is_unserved) { 2 } else { 6 };
    let is_by_corefile = has(is_ended) && !has(is_killed);
    causes.order_by_key(|it| {
        let is_first = is_of_kernel(it, checks) && (is_kept || it.state == State::Error);
        match &it.kind {
            Kind::Silent(all) if all.iter().all(&waits) => 7,
            Kind::Setting(rule) if is_by_corefile && keeps_from_start(rule) => of_ended - 1,
            _ => rank(it, is_first, of_ended),
        }
    });
    causes
}

/// What a rule says of several copies of a file is one cause, with all places.
fn each_once(causes: Vec<Cause<'_>>) -> Vec<Cause<'_>> {
    let mut once: Vec<Cause<'_>> = Vec::new();
    for cause in causes {
        let is_same = |it: &&mut Cause<'_>| match (&it.kind, &cause.kind) {
            (Kind::Setting(one), Kind::Setting(other)) => {
                (one.code, &one.message) == (other.code, &other.message)
            }
            _ => false,
        };
        match once.iter_mut().find(is_same) {
            Some(first) => first.places.extend(cause.places),
            None => once.push(cause),
        }
    }
    once
}

/// Whether the Service has no endpoints.
fn is_unserved(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Lost(tree) if tree.verdict == path::Verdict::NoEndpoints)
}

/// Whether DNS servers have ended, or do again and again.
fn is_ended(kind: &Kind<'_>) -> bool {
    matches!(
        kind,
        Kind::Crashing(_)
            | Kind::Trouble(
                Trouble::Down { .. } | Trouble::Paused { .. } | Trouble::Waits(_),
                _
            )
    )
}

/// Whether one of them was killed for want of memory, with which its Corefile has nothing to do.
fn is_killed(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Trouble(Trouble::Down { ended, .. }, _) if ended.reason.as_deref() == Some("OOMKilled"))
}

/// Whether it is a mistake in a Corefile with which CoreDNS can end.
fn keeps_from_start(rule: &Finding) -> bool {
    rule.severity == Severity::Error && rule.code.starts_with("KC")
}

/// Whether the node itself keeps queries in.
fn is_not_sent(kind: &Kind<'_>) -> bool {
    matches!(kind, Kind::Silent(all) if all.iter().all(|it| it.is_not_sent()))
}

fn is_of_kernel(cause: &Cause<'_>, checks: &[Check<'_>]) -> bool {
    let mut evidence = cause.evidence.iter().filter_map(|it| checks.get(*it));
    evidence.any(|it| it.code == "kernel")
}

/// What one check shows.
fn kinds<'o>(check: &Check<'o>, loop_state: State) -> Vec<(State, Kind<'o>)> {
    // Why a pod ends, or gets no answers, is no question then.
    let is_explained = matches!(loop_state, State::Error | State::Warning);
    let state = check.state;
    match &check.fact {
        Fact::Loop(report) => of_loop(report),
        // A loop is such an end, too.
        Fact::Upstream { dead, broken, .. } => {
            let dead = dead.filter(|_| loop_state != State::Error);
            let broken = broken.iter().map(|it| Kind::NoServer(it));
            let all = dead
                .map(|(it, role)| Kind::Dead(it, role))
                .into_iter()
                .chain(broken);
            all.map(|it| (State::Error, it)).collect()
        }
        Fact::Pods {
            crashing,
            drifting,
            unread,
            ..
        } => {
            let unread = unread.iter();
            let unread = unread.map(|it| (State::Warning, Kind::Unreadable(it)));
            let old = of_pods(crashing, drifting);
            old.filter(|_| !is_explained).chain(unread).collect()
        }
        Fact::Lint { worst, .. } => worst.iter().map(|it| (state, Kind::Setting(it))).collect(),
        Fact::Logs(Some(logs)) => {
            let shown = |it: &&Advice| match it {
                // check-loop has read the same lines.
                Advice::Error(_) | Advice::Timeouts { .. } => !is_explained,
                _ => is_trouble(it),
            };
            let advice = logs.summary.advice.iter().filter(shown);
            advice.map(|it| (state, Kind::Logged(it))).collect()
        }
        Fact::Path(Ok(route)) => of_route(route),
        Fact::Kernel { findings, counted } => {
            let dropping = counted
                .is_losing()
                .then_some((State::Warning, Kind::Dropping(counted)));
            let findings = findings.iter().map(|it| (state, Kind::Setting(it)));
            let short = counted.short_of_disk();
            let short = short.map(|(state, disk)| (state, Kind::ShortOfDisk(disk)));
            findings.chain(dropping).chain(short).collect()
        }
        Fact::Servers(asked) => of_servers(asked, state),
        Fact::Lookup(Ok(lookup)) if matches!(state, State::Warning | State::Error) => {
            vec![(state, Kind::Failing(lookup))]
        }
        Fact::Here(..)
        | Fact::Logs(None)
        | Fact::Path(Err(_))
        | Fact::NotAsked(_)
        | Fact::Lookup(_) => Vec::new(),
    }
}

fn of_pods<'o>(
    crashing: &[String],
    drifting: &[String],
) -> impl Iterator<Item = (State, Kind<'o>)> {
    let some = |it: &[String]| (!it.is_empty()).then(|| it.to_vec());
    let crashing = some(crashing).map(|it| (State::Error, Kind::Crashing(it)));
    let drifting = some(drifting).map(|it| (State::Warning, Kind::Drifting(it)));
    crashing.into_iter().chain(drifting)
}

fn of_route(route: &Route) -> Vec<(State, Kind<'_>)> {
    let is_explained = |tree: &path::Tree| route.findings.iter().any(|it| it.explains(tree));
    let mut trees = route.trees.iter();
    let lost = trees.find(|it| it.fails() && !is_explained(it));
    let lost = lost.map(|it| (State::Error, Kind::Lost(it)));
    let state = |severity| match severity {
        Severity::Error => State::Error,
        Severity::Warning | Severity::Info => State::Warning,
    };
    let wrong = route.wrong();
    let wrong = wrong.map(|it| (state(it.severity), Kind::Way(it)));
    wrong.chain(lost).collect()
}

fn of_loop(report: &check_loop::Report) -> Vec<(State, Kind<'_>)> {
    match (&report.concern, report.verdict) {
        (_, Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop) => {
            vec![(State::Error, Kind::Loop(report))]
        }
        (Some(concern), _) => {
            let troubles = concern.troubles.iter();
            troubles
                .map(|it| (State::Warning, Kind::Trouble(it, report)))
                .collect()
        }
        (None, _) => Vec::new(),
    }
}

fn of_servers(asked: &[Asked], state: State) -> Vec<(State, Kind<'_>)> {
    let chosen = |wanted: fn(&Asked) -> bool| -> Vec<&Asked> {
        asked.iter().filter(|it| wanted(it)).collect()
    };
    let mut silent = chosen(Asked::is_silent);
    // DNS pods ask it what they were asked.
    if silent.iter().any(|it| it.whom == Whom::Upstream) {
        silent.retain(|it| !matches!(it.whom, Whom::Pod(_)));
    }
    let without_tcp = chosen(Asked::is_without_tcp);
    let slow = chosen(Asked::is_slow);
    let mut found = Vec::new();
    let (kept, silent): (Vec<_>, Vec<_>) = silent.into_iter().partition(|it| it.is_not_sent());
    let silent = [kept, silent].into_iter().filter(|it| !it.is_empty());
    found.extend(silent.map(|it| (state, Kind::Silent(it))));
    if !without_tcp.is_empty() {
        found.push((State::Warning, Kind::WithoutTcp(without_tcp)));
    }
    if !slow.is_empty() {
        found.push((State::Warning, Kind::Slow(slow)));
    }
    found
}

/// What is seen to go wrong comes before what will, and among these what stops all
/// lookups before what stops some; `of_ended` is the rank of servers that have ended.
fn rank(cause: &Cause<'_>, is_first_of_kernel: bool, of_ended: u32) -> u32 {
    let is_error = cause.state == State::Error;
    match &cause.kind {
        Kind::Loop(_) => 0,
        // Without room pods are ended, and no new one starts.
        Kind::Way(_) | Kind::ShortOfDisk(_) if is_error => 1,
        Kind::Lost(_) => 2,
        Kind::Setting(_) | Kind::Dropping(_) if is_first_of_kernel => 3,
        Kind::Silent(_) => 4,
        // It says why something else was seen.
        Kind::Setting(_) if is_error && cause.evidence.len() > 1 => 5,
        Kind::Trouble(Trouble::Log(_), _) => 5,
        Kind::Slow(_) if cause.evidence.len() > 1 => 5,
        Kind::Dead(..) | Kind::NoServer(_) => 6,
        kind if is_later(kind) => 7,
        Kind::Failing(_) if is_error => 8,
        Kind::Setting(_) if is_error => 9,
        Kind::Trouble(Trouble::Files(_), _) | Kind::Drifting(_) => 10,
        Kind::Dropping(_) | Kind::ShortOfDisk(_) => 11,
        Kind::Slow(_) | Kind::WithoutTcp(_) => 12,
        Kind::Logged(_) => 13,
        Kind::Failing(_) => 14,
        Kind::Unreadable(_) => 15,
        Kind::Way(_) => 16,
        Kind::Setting(_) => 17,
        Kind::Trouble(..) | Kind::Crashing(_) => of_ended,
    }
}
