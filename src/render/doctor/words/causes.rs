//! The words of causes, and what to do about them.

use super::{address, name, several, some_of};
use crate::check_loop::Report as LoopReport;
use crate::doctor::{Asked, Kind};
use crate::render::check_loop::words as loops;
use crate::render::command::Command;
use crate::render::live::concluded;
use crate::render::path;
use crate::render::sentence::{Sentence, sentence};
use crate::render::upstream::words as upstream;
use crate::render::why::log::words::said;
use crate::upstream::Step;

pub(super) fn dead_end(step: &Step) -> Sentence {
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
pub(in crate::render::doctor) fn cause_text(kind: &Kind<'_>) -> Sentence {
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
            let what = several(
                asked.len(),
                "was asked and does not answer",
                "were asked and do not answer",
            );
            sentence!("server-silent", "{} {what}", names(asked))
        }
        Kind::WithoutTcp(asked) => {
            let what = several(asked.len(), "answers", "answer");
            sentence!(
                "no-tcp",
                "{} {what} over UDP and not over TCP",
                names(asked)
            )
        }
        Kind::Slow(asked) => {
            let what = several(asked.len(), "answers late", "answer late");
            sentence!("server-slow", "{} {what}", names(asked))
        }
        Kind::Crashing(pods) => sentence!(
            "dns-pod-crashes",
            "{} {}",
            some_of(pods),
            several(pods.len(), "does not stay up", "do not stay up")
        ),
        Kind::Drifting(pods) => sentence!(
            "old-file",
            "{} {} another resolv.conf than the runtime keeps",
            some_of(pods),
            several(pods.len(), "reads", "read")
        ),
        Kind::Lost(tree) => Sentence::new("packets-lost", path::words::verdict(tree)),
        Kind::Way(finding) => path::findings::words(finding).what,
        Kind::Dropping(counted) => Sentence::new("packets-dropped", super::more::dropping(counted)),
        Kind::Logged(advice) => said(advice).fact,
        Kind::Failing(lookup) => {
            let what = concluded(&lookup.scenario, &lookup.lived).what;
            sentence!("lookup-fails", "In {}, {what}", lookup.whom)
        }
        Kind::Unreadable(sentence) => Sentence::new("pod-unreadable", *sentence),
        Kind::Setting(finding) => Sentence::new(finding.name, finding.message.clone()),
    }
}

fn names(asked: &[&Asked]) -> String {
    let names: Vec<String> = asked.iter().map(|it| name(it)).collect();
    some_of(&names)
}

/// What to do about a cause, a step each, without full stops; empty: nothing is
/// known that was tried.
pub(in crate::render::doctor) fn fix(kind: &Kind<'_>) -> Vec<String> {
    match kind {
        Kind::Loop(report) => of_loop(report),
        Kind::Trouble(_, report) => {
            let then = report.concern.iter().flat_map(|it| &it.then);
            then.map(|it| loops::action(it).sentence().text).collect()
        }
        Kind::Dead(step) => {
            let place = step.place.iter();
            place
                .map(|it| format!("Name a server that answers at {it}"))
                .collect()
        }
        Kind::Silent(asked) | Kind::WithoutTcp(asked) => of_first(asked, |it| {
            Some(format!(
                "See whether it runs and a firewall lets port 53 through, UDP and TCP: {}; {}",
                dig("", it),
                dig(" +tcp", it)
            ))
        }),
        Kind::Slow(asked) => of_first(asked, |it| {
            Some(format!("See what keeps it: {}; kdns watch", dig("", it)))
        }),
        Kind::Crashing(pods) => {
            of_first(pods, |it| kubectl(it, "Read why", &["logs", "--previous"]))
        }
        Kind::Drifting(pods) => of_first(pods, |it| kubectl(it, "Recreate it", &["delete", "pod"])),
        Kind::Lost(_) => steps(&[
            "See which rule it is: kdns path -v",
            "Have kube-proxy write its rules again: kubectl -n kube-system rollout restart \
             daemonset kube-proxy",
        ]),
        Kind::Way(finding) => {
            let steps = path::findings::words(finding).fix;
            steps.iter().map(|it| it.text().to_owned()).collect()
        }
        Kind::Dropping(_) => steps(&[
            "See who fills the table: conntrack -S; kdns path",
            "Run NodeLocal DNSCache, whose queries make no connections",
        ]),
        Kind::Logged(advice) => {
            let fix = said(advice).fix;
            Some(fix).filter(|it| !it.is_empty()).into_iter().collect()
        }
        Kind::Failing(lookup) => {
            let concluded = concluded(&lookup.scenario, &lookup.lived);
            concluded.why.into_iter().chain(concluded.fix).collect()
        }
        Kind::Unreadable(_) => steps(&["See what its file system waits for, then recreate it"]),
        Kind::Setting(finding) => {
            let rule = format!("More about it: kdns rule {}", finding.code);
            finding.help.iter().cloned().chain([rule]).collect()
        }
    }
}

fn steps(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|it| (*it).to_owned()).collect()
}

/// Asks a server as kdns did.
fn dig(options: &str, asked: &Asked) -> Command {
    let ask = Command::new(format!("kdns dig{options}"));
    ask.args([&format!("@{}", asked.server.ip()), ".", "NS"])
}

/// A command about a pod, `NAMESPACE/NAME`.
fn kubectl(pod: &str, what: &str, verb: &[&str]) -> Option<String> {
    let (namespace, name) = pod.split_once('/')?;
    let command = Command::new("kubectl -n").arg(namespace);
    Some(format!("{what}: {}", command.args(verb).arg(name)))
}

/// What to do about the first of several.
fn of_first<T>(all: &[T], step: impl Fn(&T) -> Option<String>) -> Vec<String> {
    all.first().and_then(step).into_iter().collect()
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
