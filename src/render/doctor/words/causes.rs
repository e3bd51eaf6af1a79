//! The words of causes.

use super::{MAX_NAMED, address, name, several};
use crate::check_loop::Verdict;
use crate::doctor::{Answer, Asked, Kind};
use crate::render::check_loop::words as loops;
use crate::render::path;
use crate::render::sentence::{Sentence, sentence};
use crate::render::upstream::words::{problem, who};
use crate::render::why::log::words::said;
use crate::text::some_of;
use crate::upstream;

pub(super) fn dead_end(step: &upstream::Step) -> Sentence {
    let who = who(&step.who);
    let server = step
        .address
        .map_or_else(String::new, |it| format!("{} (", address(it)));
    let close = if server.is_empty() { "" } else { ")" };
    sentence!(
        "dead-server",
        "{server}{who}{close} gets queries and nobody there answers them"
    )
}

pub(super) fn without_server(file: &upstream::FileReport) -> Sentence {
    let said = file.problem.as_ref().map(problem);
    let what = said.map_or_else(String::new, |it| it.text);
    sentence!("file-without-server", "{}: {what}", file.path)
}

/// A cause as a sentence without a full stop, with its code.
pub(in crate::render::doctor) fn cause_text(kind: &Kind<'_>) -> Sentence {
    match kind {
        Kind::Loop(report) => {
            let code = match report.verdict {
                Verdict::WillLoop => "will-loop",
                verdict => verdict.word(),
            };
            Sentence::new(code, loops::headline(report))
        }
        Kind::Trouble(trouble, _) => loops::trouble(trouble).begun(),
        Kind::Dead(step, _) => dead_end(step),
        Kind::NoServer(file) => without_server(file),
        Kind::Silent(asked) => silent(asked),
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
            some_of(pods, MAX_NAMED),
            several(pods.len(), "does not stay up", "do not stay up")
        ),
        Kind::Drifting(pods) => sentence!(
            "old-file",
            "{} {} another resolv.conf than the runtime keeps",
            some_of(pods, MAX_NAMED),
            several(pods.len(), "reads", "read")
        ),
        Kind::Lost(tree) => Sentence::new("packets-lost", path::words::verdict(tree)),
        Kind::Way(finding) => path::findings::words(finding).what.begun(),
        Kind::Dropping(counted) => Sentence::new("packets-dropped", super::more::dropping(counted)),
        Kind::ShortOfDisk(disk) => Sentence::new("disk-full", super::more::short_of_disk(*disk)),
        Kind::Logged(advice) => said(advice).fact,
        Kind::Failing(lookup) => {
            let what = super::more::looked_up(lookup);
            sentence!("lookup-fails", "In {}, {what}", lookup.whom())
        }
        Kind::Unreadable(sentence) => Sentence::new("pod-unreadable", *sentence),
        Kind::Setting(finding) => Sentence::new(finding.name, finding.message.clone()),
    }
}

fn silent(asked: &[&Asked]) -> Sentence {
    let names = names(asked);
    if asked.iter().all(|it| it.is_not_sent()) {
        return sentence!(
            "query-not-sent",
            "This node does not let queries to {names} out: a rule of OUTPUT, a route or a rule of \
             ip rule refuses them, or the table of connections is full"
        );
    }
    let what = several(
        asked.len(),
        "was asked and does not answer",
        "were asked and do not answer",
    );
    let why = asked.first().map_or_else(String::new, |it| silence(it));
    let left_out = if asked.iter().all(|it| it.is_left_out) {
        "; this node's rules lead the cluster's DNS to others: it is not ready, is being ended, or the rules are old"
    } else {
        ""
    };
    sentence!("server-silent", "{names} {what}{why}{left_out}")
}

/// What came of a question without an answer.
fn silence(asked: &Asked) -> String {
    match &asked.udp {
        Answer::Silence(waited) => {
            let waited = waited.as_secs_f64();
            if asked.is_without_udp() {
                format!(" over UDP within {waited:.1} s; over TCP it does")
            } else {
                format!(" within {waited:.1} s")
            }
        }
        Answer::Failed(why) => format!(": {why}"),
        Answer::NoRoute => ": this node has no route to it".to_owned(),
        Answer::Elsewhere(from) => format!(": {from} answered in its place"),
        Answer::Reply(_) | Answer::NotAsked | Answer::NotSent => String::new(),
    }
}

fn names(asked: &[&Asked]) -> String {
    let names: Vec<String> = asked.iter().map(|it| name(it)).collect();
    some_of(&names, MAX_NAMED)
}
