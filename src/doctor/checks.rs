//! What each command says.

use std::net::SocketAddr;

use super::{Check, Fact, Observed, State};
use crate::check_loop::{self, Verdict};
use crate::finding::Severity;
use crate::node::{Pod, is_dns_server};
use crate::text::Place;
use crate::upstream::{End, Health, Step};

/// All of them: where queries go first, then what decides that.
pub(super) fn all<'o>(observed: &Observed<'o>) -> Vec<Check<'o>> {
    let mut checks = vec![
        loops(observed.loops),
        upstream(observed),
        pods(observed),
        lint(observed),
    ];
    checks.extend(servers(observed));
    checks
}

fn loops(report: &check_loop::Report) -> Check<'_> {
    let state = match report.verdict {
        Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop => State::Error,
        Verdict::NoLoop if report.concern.is_some() => State::Warning,
        Verdict::NoLoop => State::Ok,
        Verdict::Unknown => State::Unknown,
    };
    let mut places: Vec<Place> = report.fix.iter().map(|it| it.edit.place.clone()).collect();
    places.extend(report.evidence.iter().map(|it| it.place.clone()));
    Check {
        code: "loop",
        state,
        fact: Fact::Loop(report),
        places,
        command: "kdns check-loop -v",
    }
}

fn upstream<'o>(observed: &Observed<'o>) -> Check<'o> {
    let steps = || observed.upstream.files.iter().flat_map(|it| &it.servers);
    let mut outside = Vec::new();
    steps().for_each(|it| ends(it, &mut outside));
    let dead = steps().find_map(first_dead);
    let state = match observed.health {
        Health::Clean => State::Ok,
        Health::Dead => State::Error,
        Health::Unknown | Health::Nothing => State::Unknown,
    };
    Check {
        code: "upstream",
        state,
        fact: Fact::Upstream {
            outside,
            dead,
            health: observed.health,
        },
        places: dead.and_then(|it| it.place.clone()).into_iter().collect(),
        command: "kdns upstream",
    }
}

/// The addresses outside the node where queries end, each once.
fn ends(step: &Step, found: &mut Vec<SocketAddr>) {
    if let (End::Outside, Some(address)) = (&step.end, step.address)
        && !found.contains(&address)
    {
        found.push(address);
    }
    step.next.iter().for_each(|it| ends(it, found));
}

fn first_dead(step: &Step) -> Option<&Step> {
    match step.end {
        End::Cycle | End::Refused(_) => Some(step),
        _ => step.next.iter().find_map(first_dead),
    }
}

fn pods<'o>(observed: &Observed<'o>) -> Check<'o> {
    let node = observed.node;
    let labels = |wanted: &dyn Fn(&&Pod) -> bool| -> Vec<String> {
        node.pods.iter().filter(wanted).map(Pod::label).collect()
    };
    let drifting = labels(&|it| it.drifts() == Some(true));
    let crashing = labels(&|it| is_dns_server(it) && it.crashes());
    let unread = node.skipped.iter().map(String::as_str);
    let unread: Vec<&str> = unread.filter(|it| it.starts_with("pod ")).collect();
    let state = if !crashing.is_empty() {
        State::Error
    } else if !drifting.is_empty() || !unread.is_empty() {
        State::Warning
    } else if node.pods.is_empty() {
        State::Unknown
    } else {
        State::Ok
    };
    Check {
        code: "pods",
        state,
        fact: Fact::Pods {
            count: node.pods.len(),
            drifting,
            crashing,
            unread,
        },
        places: Vec::new(),
        command: "kdns pods -v",
    }
}

fn lint<'o>(observed: &Observed<'o>) -> Check<'o> {
    let all = &observed.findings.findings;
    let worst = all.iter().map(|it| it.severity).max();
    let state = match worst {
        Some(Severity::Error) => State::Error,
        Some(Severity::Warning) => State::Warning,
        None if observed.findings.files == 0 => State::Unknown,
        Some(Severity::Info) | None => State::Ok,
    };
    let counts = |it: &Severity| *it > Severity::Info;
    let worst: Vec<_> = all
        .iter()
        .filter(|it| Some(it.severity) == worst.filter(counts))
        .collect();
    let place = |it: &&crate::finding::Finding| Place {
        file: it.primary.file.clone(),
        line: it.primary.start.line,
        column: it.primary.start.column,
    };
    Check {
        code: "lint",
        state,
        places: worst.iter().map(place).collect(),
        fact: Fact::Lint {
            others: all.len() - worst.len(),
            files: observed.findings.files,
            worst,
        },
        command: "kdns lint --node",
    }
}

fn servers<'o>(observed: &Observed<'o>) -> Option<Check<'o>> {
    let asked = observed.asked;
    let all_silent = asked.iter().all(super::Asked::is_silent);
    let state = match asked {
        [] => return None,
        _ if all_silent => State::Error,
        _ if asked
            .iter()
            .any(|it| it.is_silent() || it.is_slow() || it.is_without_tcp()) =>
        {
            State::Warning
        }
        _ => State::Ok,
    };
    Some(Check {
        code: "servers",
        state,
        fact: Fact::Servers(asked),
        places: Vec::new(),
        command: "kdns dig @SERVER . NS",
    })
}
