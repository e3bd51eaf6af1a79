//! The words of what was found about a node, shared by the formats.

use crate::address::DNS_PORT;
use crate::check_loop::Report as LoopReport;
use crate::doctor::{Answer, Asked, Check, Fact, Kind, Report, Verdict, Whom};
use crate::finding::Finding;
use crate::render::check_loop::words as loops;
use crate::render::sentence::{Sentence, sentence};
use crate::render::upstream::words as upstream;
use crate::render::words::counted;
use crate::upstream::{Health, Step};

/// Things of a kind that are named.
const MAX_NAMED: usize = 3;

/// The verdict in one line, without a full stop.
pub(super) fn headline(report: &Report<'_>) -> String {
    let open = report.checks.iter().find(|it| it.code == "loop");
    match (report.verdict, report.causes.first()) {
        (Verdict::Wrong, Some(cause)) => cause_text(&cause.kind).text,
        (Verdict::Unknown, _) => open.map(|it| fact(it)).unwrap_or_default(),
        _ => "Nothing that was seen is wrong".to_owned(),
    }
}

/// What a check found, as a sentence without a full stop.
pub(super) fn fact(check: &Check<'_>) -> String {
    match &check.fact {
        Fact::Loop(report) => loops::headline(report),
        Fact::Upstream {
            outside,
            dead,
            health,
        } => match (dead, health) {
            (Some(step), _) => dead_end(step).text,
            (None, Health::Nothing) => "no resolv.conf could be read here".to_owned(),
            (None, Health::Unknown) => {
                "where queries of the node end is not known: a file could not be read".to_owned()
            }
            (None, Health::Clean | Health::Dead) => match outside.as_slice() {
                [] => "no server outside the node is named in its files".to_owned(),
                servers => {
                    let names: Vec<String> = servers.iter().map(|it| address(*it)).collect();
                    format!("queries end at {} (not asked)", some_of(&names))
                }
            },
        },
        Fact::Pods {
            count,
            drifting,
            crashing,
            unread,
        } => pods(*count, drifting, crashing, unread),
        Fact::Lint {
            worst,
            others,
            files,
        } => lint(worst, *others, *files),
        Fact::Servers(asked) => servers(asked),
    }
}

fn pods(count: usize, drifting: &[String], crashing: &[String], unread: &[&str]) -> String {
    if !crashing.is_empty() {
        return format!("{} does not stay up", some_of(crashing));
    }
    if let Some(first) = unread.first() {
        return (*first).to_owned();
    }
    if !drifting.is_empty() {
        return format!(
            "{} reads another resolv.conf than the runtime keeps for it",
            some_of(drifting)
        );
    }
    match count {
        0 => "no pods are to be seen here".to_owned(),
        _ => format!(
            "{}, each with the file that was made for it",
            counted(count, "pod", "pods")
        ),
    }
}

fn lint(worst: &[&Finding], others: usize, files: usize) -> String {
    let Some(first) = worst.first() else {
        return match (files, others) {
            (0, _) => "no settings could be read here".to_owned(),
            (_, 0) => format!("nothing wrong in {}", counted(files, "file", "files")),
            _ => format!(
                "nothing wrong in {}; {} worth knowing",
                counted(files, "file", "files"),
                counted(others, "thing", "things")
            ),
        };
    };
    let more = match worst.len() - 1 {
        0 => String::new(),
        rest => format!(", and {rest} more"),
    };
    format!("{} {}{more}", first.code, first.message)
}

fn servers(asked: &[Asked]) -> String {
    let silent: Vec<String> = asked.iter().filter(|it| it.is_silent()).map(name).collect();
    if silent.len() == asked.len() {
        return format!(
            "none of {} answers",
            counted(asked.len(), "server", "servers")
        );
    }
    if !silent.is_empty() {
        return format!("{} does not answer", some_of(&silent));
    }
    let chosen = |wanted: fn(&Asked) -> bool| -> Vec<String> {
        asked.iter().filter(|it| wanted(it)).map(name).collect()
    };
    let without_tcp = chosen(Asked::is_without_tcp);
    if !without_tcp.is_empty() {
        return format!(
            "{} answers over UDP and not over TCP",
            some_of(&without_tcp)
        );
    }
    let slow = chosen(Asked::is_slow);
    if !slow.is_empty() {
        return format!("{} answers late", some_of(&slow));
    }
    let all: Vec<String> = asked.iter().map(name).collect();
    format!("{} answer over UDP and TCP", some_of(&all))
}

fn name(asked: &Asked) -> String {
    let server = address(asked.server);
    match (&asked.whom, &asked.udp) {
        (Whom::Pod(pod), _) => format!("pod {pod} ({server})"),
        (Whom::Upstream, Answer::Reply(time, _)) => format!("{server} ({} ms)", time.as_millis()),
        (Whom::Upstream, _) => server,
    }
}

fn address(server: std::net::SocketAddr) -> String {
    match server.port() {
        DNS_PORT => server.ip().to_string(),
        _ => server.to_string(),
    }
}

fn some_of(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

fn dead_end(step: &Step) -> Sentence {
    let who = upstream::who(&step.who);
    let server = step
        .address
        .map_or_else(String::new, |it| format!("{} (", address(it)));
    let close = if server.is_empty() { "" } else { ")" };
    sentence!(
        "dead-server",
        "{server}{who}{close} gets queries and nobody there answers them"
    )
}

/// A cause as a sentence without a full stop, with its code.
pub(super) fn cause_text(kind: &Kind<'_>) -> Sentence {
    match kind {
        Kind::Loop(report) => {
            let code = match report.verdict.word() {
                "will loop" => "will-loop",
                word => word,
            };
            Sentence::new(code, loops::headline(report))
        }
        Kind::Trouble(trouble, _) => loops::trouble(trouble).begun(),
        Kind::Dead(step) => dead_end(step),
        Kind::Silent(asked) => {
            let names: Vec<String> = asked.iter().map(|it| name(it)).collect();
            let is_silent = asked.iter().any(|it| it.is_silent());
            let (code, what) = if is_silent {
                ("server-silent", "was asked and does not answer")
            } else {
                ("no-tcp", "answers over UDP and not over TCP")
            };
            sentence!(code, "{} {what}", some_of(&names))
        }
        Kind::Slow(asked) => {
            let names: Vec<String> = asked.iter().map(|it| name(it)).collect();
            sentence!("server-slow", "{} answers late", some_of(&names))
        }
        Kind::Crashing(pods) => sentence!("dns-pod-crashes", "{} does not stay up", some_of(pods)),
        Kind::Unreadable(sentence) => Sentence::new("pod-unreadable", *sentence),
        Kind::Setting(finding) => Sentence::new(finding.name, finding.message.clone()),
    }
}

/// What to do about a cause, a step each, without full stops; empty: nothing is
/// known that was tried.
pub(super) fn fix(kind: &Kind<'_>) -> Vec<String> {
    match kind {
        Kind::Loop(report) => of_loop(report),
        Kind::Trouble(_, report) => {
            let then = report.concern.iter().flat_map(|it| &it.then);
            then.map(|it| loops::action(it).sentence().text).collect()
        }
        Kind::Dead(step) => {
            let place = step.place.as_ref();
            place
                .map(|it| format!("Name a server that answers at {it}"))
                .into_iter()
                .collect()
        }
        Kind::Silent(asked) => asked
            .iter()
            .take(1)
            .map(|it| {
                let ip = it.server.ip();
                format!(
                    "See whether the server runs and a firewall lets port 53 through, UDP and \
                     TCP: kdns dig @{ip} . NS; kdns dig +tcp @{ip} . NS"
                )
            })
            .collect(),
        Kind::Crashing(pods) => pods
            .iter()
            .take(1)
            .filter_map(|it| it.split_once('/'))
            .map(|(namespace, pod)| {
                format!("Read why: kubectl -n {namespace} logs --previous {pod}")
            })
            .collect(),
        Kind::Slow(_) | Kind::Unreadable(_) => Vec::new(),
        Kind::Setting(finding) => {
            let rule = format!("More about it: kdns rule {}", finding.code);
            finding.help.iter().cloned().chain([rule]).collect()
        }
    }
}

fn of_loop(report: &LoopReport) -> Vec<String> {
    let Some(fix) = &report.fix else {
        return vec!["See what is known of it: kdns check-loop -v".to_owned()];
    };
    let mut steps = Vec::new();
    if fix.edit.old.as_ref() != Some(&fix.edit.new) {
        let (place, new) = (&fix.edit.place, &fix.edit.new);
        steps.push(match (&fix.edit.old, new.is_empty()) {
            (Some(old), true) => format!("Remove at {place}: {old}"),
            (Some(old), false) => format!("Change at {place}: {old} -> {new}"),
            (None, _) => format!("Write at {place}: {new}"),
        });
    }
    steps.extend(fix.then.iter().map(|it| loops::action(it).sentence().text));
    steps
}
