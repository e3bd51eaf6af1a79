//! The words of causes, and what to do about them.

use std::net::IpAddr;

use super::{address, name, several, some_of};
use crate::check_loop::{Report as LoopReport, Who, facts};
use crate::doctor::{Answer, Asked, Kind};
use crate::finding::Finding;
use crate::path::{Outcome, Tree, Verdict};
use crate::render::check_loop::words as loops;
use crate::render::command::Command;
use crate::render::doctor::step::Step;
use crate::render::live::concluded;
use crate::render::path;
use crate::render::sentence::{Sentence, sentence};
use crate::render::upstream::words::who;
use crate::render::why::log::words::said;
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
        Kind::Way(finding) => path::findings::words(finding).what.begun(),
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

fn silent(asked: &[&Asked]) -> Sentence {
    let names = names(asked);
    if asked.iter().all(|it| it.is_not_sent()) {
        return sentence!(
            "query-not-sent",
            "This node does not let queries to {names} out (operation not permitted): a rule of \
             OUTPUT refuses them, or the table of connections is full"
        );
    }
    let what = several(
        asked.len(),
        "was asked and does not answer",
        "were asked and do not answer",
    );
    let why = asked.first().map_or_else(String::new, |it| silence(it));
    sentence!("server-silent", "{names} {what}{why}")
}

/// What came of a question without an answer.
fn silence(asked: &Asked) -> String {
    match &asked.udp {
        Answer::Silence(waited) => format!(" within {} s", waited.as_secs_f64().round()),
        Answer::Failed(why) => format!(": {why}"),
        Answer::Elsewhere(from) => format!(": {from} answered in its place"),
        Answer::Reply(_) | Answer::NotAsked | Answer::NotSent => String::new(),
    }
}

/// What to do where packets to a Service are lost.
fn of_lost(tree: &Tree) -> Vec<Step> {
    let kubectl = |text: &str, what: &str| {
        let command = Command::new("kubectl -n kube-system").args(what.split(' '));
        Step::new(text).typing(command)
    };
    match tree.verdict {
        Verdict::NoEndpoints => vec![
            kubectl(
                "See whether DNS pods run and are ready",
                "get deployments,pods -l k8s-app=kube-dns -o wide",
            ),
            kubectl(
                "See whether the Service selects them: its selector has to be among their labels",
                "describe service kube-dns",
            ),
        ],
        Verdict::NoRule => vec![
            Step::new("See whether kube-proxy runs on this node, and what it logs")
                .typing(Command::new("pgrep -a kube-proxy"))
                .typing(Command::new(
                    "kubectl -n kube-system get pods -l k8s-app=kube-proxy -o wide",
                )),
            kubectl(
                "Have it write its rules again",
                "rollout restart daemonset kube-proxy",
            ),
        ],
        _ => tree.lost().map_or_else(Vec::new, of_end),
    }
}

/// What to do where a packet, or its answer, ends.
fn of_end(end: &Outcome) -> Vec<Step> {
    let (ip, port) = (end.address, end.port);
    let Some(last) = end.last() else {
        return Vec::new();
    };
    let sysctl = |setting: &str, value| Command::new("sysctl -w").arg(format!("{setting}={value}"));
    match &*last.table {
        "ip_forward" => {
            let setting = match ip {
                IpAddr::V4(_) => "net.ipv4.ip_forward",
                IpAddr::V6(_) => "net.ipv6.conf.all.forwarding",
            };
            let text = "Have the node forward, and write the same to a file in /etc/sysctl.d";
            vec![Step::new(text).typing(sysctl(setting, 1))]
        }
        "rp_filter" => {
            let link = end.links.0.as_deref().unwrap_or("all");
            let text = "Have the way back lead out through the same link, or let any way back do";
            let setting = format!("net.ipv4.conf.{link}.rp_filter");
            vec![Step::new(text).typing(sysctl(&setting, 2))]
        }
        "neighbour" => vec![
            Step::new(format!(
                "See whether {ip} is still among the endpoints of the Service"
            ))
            .typing(Command::new("kubectl get endpointslices -A -o wide")),
            Step::new("If it is not, the rules are old: see whether kube-proxy runs here, and what it logs")
                .typing(Command::new("pgrep -a kube-proxy")),
        ],
        "socket" => {
            let pod = end.pod.as_ref();
            let within = |it: &String| Command::new("kdns nsenter").arg(it).arg("--");
            let sockets = pod.map_or_else(|| Command::new("ss"), |it| within(it).arg("ss"));
            let sockets = sockets.args(["-lntup", &format!("sport = :{port}")]);
            let text = "See where its DNS server listens (bind and port in a Corefile), or start it";
            vec![Step::new(text).typing(sockets)]
        }
        "route" => vec![
            Step::new(format!("Give the node a route to {ip}, which its network plugin writes"))
                .typing(Command::new("ip route get").arg(ip)),
        ],
        _ => {
            let of = if end.is_own {
                " in the pod's own network namespace"
            } else {
                ""
            };
            vec![Step::new(format!(
                "Find who wrote this rule{of} (a network policy, a firewall, Docker), and have it \
                 let port 53 through: {}",
                last.rule
            ))]
        }
    }
}

fn names(asked: &[&Asked]) -> String {
    let names: Vec<String> = asked.iter().map(|it| name(it)).collect();
    some_of(&names)
}

/// What to do about a cause; empty: nothing is known that was tried.
pub(in crate::render::doctor) fn fix(kind: &Kind<'_>) -> Vec<Step> {
    match kind {
        Kind::Loop(report) => of_loop(report),
        Kind::Trouble(_, report) => {
            let then = report.concern.iter().flat_map(|it| &it.then);
            then.map(of_check_loop).collect()
        }
        Kind::Dead(step) => {
            let place = step.place.iter();
            place
                .map(|it| Step::new(format!("Name a server that answers at {it}")))
                .collect()
        }
        Kind::Silent(asked) if asked.iter().all(|it| it.is_not_sent()) => of_first(asked, |it| {
            let step = Step::new("See which of them it is")
                .typing(Command::new("kdns path").arg(address(it.server)));
            Some(step.typing(Command::new("conntrack -S")))
        }),
        Kind::Silent(asked) | Kind::WithoutTcp(asked) => of_first(asked, |it| {
            let text = "See whether it runs and a firewall lets port 53 through, UDP and TCP";
            let step = Step::new(text).typing(dig("kdns dig", it));
            Some(step.typing(dig("kdns dig +tcp", it)))
        }),
        Kind::Slow(asked) => of_first(asked, |it| {
            let step = Step::new("See what keeps it").typing(dig("kdns dig", it));
            Some(step.typing(Command::new("kdns watch")))
        }),
        Kind::Crashing(pods) => of_first(pods, |it| kubectl(it, "Read why", "logs --previous")),
        Kind::Drifting(pods) => of_first(pods, |it| kubectl(it, "Recreate it", "delete pod")),
        Kind::Lost(tree) => of_lost(tree),
        Kind::Way(finding) => {
            let steps = path::findings::words(finding).fix;
            steps.into_iter().map(of_path).collect()
        }
        Kind::Dropping(_) => vec![
            Step::new("See who fills the table")
                .typing(Command::new("conntrack -S"))
                .typing(Command::new("kdns path")),
            Step::new("Run NodeLocal DNSCache, whose queries make no connections"),
        ],
        Kind::Logged(advice) => {
            let fix = said(advice).fix;
            let fix = Some(fix).filter(|it| !it.is_empty());
            fix.into_iter().map(Step::new).collect()
        }
        Kind::Failing(lookup) => {
            let concluded = concluded(&lookup.scenario, &lookup.lived);
            let steps = concluded.why.into_iter().chain(concluded.fix);
            steps.map(Step::new).collect()
        }
        Kind::Unreadable(_) => {
            vec![Step::new(
                "See what its file system waits for, then recreate it",
            )]
        }
        Kind::Setting(finding) => of_setting(finding),
    }
}

/// What a rule of lint says, and where to do it.
fn of_setting(finding: &Finding) -> Vec<Step> {
    // The kubelet's copy is written over.
    let is_copy = finding.primary.file.contains("/kubernetes.io~configmap/");
    let source = "Do so in the ConfigMap of which the file is a copy, by its usual name";
    let source = Step::new(source).typing(Command::new(
        "kubectl -n kube-system edit configmap coredns",
    ));
    let help = finding.help.iter().map(|it| Step::new(it.as_str()));
    let source = Some(source).filter(|_| is_copy && finding.help.is_some());
    help.chain(source).collect()
}

/// Asks a server as kdns did.
fn dig(said: &str, asked: &Asked) -> Command {
    Command::new(said).args([&format!("@{}", asked.server.ip()), ".", "NS"])
}

/// A command about a pod, `NAMESPACE/NAME`.
fn kubectl(pod: &str, what: &str, verb: &str) -> Option<Step> {
    let (namespace, name) = pod.split_once('/')?;
    let command = Command::new("kubectl -n").arg(namespace);
    Some(Step::new(what).typing(command.args(verb.split(' ')).arg(name)))
}

/// What to do about the first of several.
fn of_first<T>(all: &[T], step: impl Fn(&T) -> Option<Step>) -> Vec<Step> {
    all.first().and_then(step).into_iter().collect()
}

fn of_loop(report: &LoopReport) -> Vec<Step> {
    let Some(fix) = &report.fix else {
        return of_last_line(report).into_iter().collect();
    };
    let is_there = fix.edit.old.as_ref() == Some(&fix.edit.new);
    let is_source = |it: &&facts::Step| matches!(it, facts::Step::ConfigMap { .. });
    let is_file = |it: &&facts::Step| matches!(it, facts::Step::Write { .. });
    // What the kubelet has is a copy of it.
    let edit = match fix.then.iter().find(is_source) {
        _ if is_there => None,
        Some(source) => Some(of_check_loop(source)),
        None => Some(Step::new(format!("Edit {}", fix.edit.place))),
    };
    let edit = edit.map(|it| it.changing(&fix.edit));
    let before = fix.then.iter().filter(is_file).map(of_check_loop);
    let after = fix.then.iter().filter(|it| !is_file(it));
    let after = after.filter(|it| is_there || !is_source(it));
    before.chain(edit).chain(after.map(of_check_loop)).collect()
}

/// What to do about the line that sends queries round, where no setting is known that
/// makes it.
fn of_last_line(report: &LoopReport) -> Option<Step> {
    let hop = report.chains.first()?.hops.last()?;
    let place = &hop.proof.last()?.place;
    let is_on_node = matches!(&hop.who, Who::Server { is_on_node, .. } if *is_on_node);
    let text = if !is_on_node && place.file.ends_with("/resolv.conf") {
        format!(
            "Have what {place} was made from (the kubelet's resolvConf, or the pod's spec) name a \
             server outside, and recreate the pod"
        )
    } else {
        let to = hop.sends_to.trim_end_matches(":53");
        format!("Name a server outside in the place of {to} at {place}")
    };
    Some(Step::new(text))
}

fn of_check_loop(step: &facts::Step) -> Step {
    let loops::Action { text, command, .. } = loops::action(step);
    let step = Step::new(text);
    match command {
        Some(command) => step.typing(command),
        None => step,
    }
}

fn of_path(step: path::findings::Step) -> Step {
    match step {
        path::findings::Step::Command(command) => Step::new("").typing(command),
        path::findings::Step::Advice(text) => Step::new(text),
    }
}
