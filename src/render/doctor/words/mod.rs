//! The words of what was found about a node, shared by the formats.

mod causes;
mod fixes;
mod more;
mod rounds;

use self::fixes::dig;
use crate::address::DNS_PORT;
use crate::check_loop;
use crate::doctor::{Answer, Asked, Check, Fact, Here, Kind, Report, Verdict, Whom};
use crate::finding::Finding;
use crate::lint::Unread;
use crate::render::check_loop::words as loops;
use crate::render::command::Command;
use crate::render::sentence::Sentence;
use crate::text::{counted, some_of};
use crate::upstream::{self, Health};

pub(super) use self::causes::cause_text;
pub(super) use self::fixes::fix;

/// Things of a kind that are named.
const MAX_NAMED: usize = 3;

/// The verdict in one line, without a full stop.
pub(super) fn headline(report: &Report<'_>) -> String {
    let open = report.checks.iter().find(|it| it.leaves_open());
    match (report.verdict, report.causes.first()) {
        (Verdict::Wrong, Some(cause)) => cause_text(&cause.kind).text,
        (Verdict::Unknown, _) => {
            let open = open.map(|it| Sentence::new(it.code, fact(it)).begun().text);
            open.unwrap_or_default()
        }
        _ => "Nothing that was seen is wrong".to_owned(),
    }
}

/// What shows more of a cause, which this is the first proof of.
pub(super) fn more_of(kind: &Kind<'_>, proof: Option<&Fact<'_>>) -> Option<Command> {
    match kind {
        Kind::Silent(asked) | Kind::WithoutTcp(asked) | Kind::Slow(asked) => {
            asked.first().map(|it| dig("kdns dig", it))
        }
        Kind::Setting(finding) => Some(Command::new("kdns rule").arg(finding.code)),
        _ => proof.map(command),
    }
}

/// What shows more of what a check found.
pub(super) fn command(fact: &Fact<'_>) -> Command {
    match fact {
        Fact::Here(..) => Command::new("kdns doctor --root DIR"),
        Fact::Loop(_) => Command::new("kdns check-loop -v"),
        Fact::Upstream { .. } => Command::new("kdns upstream"),
        Fact::Pods { .. } => Command::new("kdns pods -v"),
        Fact::Lint { .. } => Command::new("kdns lint --node"),
        Fact::Logs(_) => Command::new(
            "kubectl -n kube-system logs -l k8s-app=kube-dns --prefix --timestamps --tail=-1 | kdns why -",
        ),
        Fact::Path(route) => {
            let question = route.iter().flat_map(|it| &it.question);
            Command::new("kdns path").args(question)
        }
        Fact::Kernel { findings, counted } if more::speaks_of_disk(findings, counted) => {
            Command::new("df -h /var/lib/kubelet")
        }
        Fact::Kernel { .. } => Command::new("conntrack -S"),
        Fact::NotAsked(_) => Command::new("kdns doctor --ask"),
        Fact::Servers(asked) => {
            let wrong = asked
                .iter()
                .find(|it| it.is_silent() || it.is_slow() || it.is_without_tcp());
            wrong.or(asked.first()).map_or_else(
                || Command::new("kdns dig @SERVER . NS"),
                |it| dig("kdns dig", it),
            )
        }
        Fact::Lookup(Ok(lookup)) => {
            let question = Command::new("kdns explain").arg(&lookup.scenario.name);
            of_target(question.arg("--live").as_str(), lookup.target.as_deref())
        }
        Fact::Lookup(Err(_)) => Command::new("kdns explain NAME --live"),
    }
}

/// A command about who looked up; none is named in the pod itself.
fn of_target(said: &str, target: Option<&str>) -> Command {
    let command = Command::new(said);
    match target {
        Some(target) => command.arg("--target").arg(target),
        None => command,
    }
}

/// What a check found, as a sentence without a full stop.
pub(super) fn fact(check: &Check<'_>) -> String {
    match &check.fact {
        Fact::Here(it, name) => here(it, *name),
        Fact::Loop(report) => looped(report),
        Fact::Upstream {
            outside,
            dead,
            broken,
            health,
            is_pod,
        } => match (dead_end(dead.map(|it| it.0), broken), health) {
            (Some(text), _) => text,
            (None, Health::Nothing) => "no resolv.conf could be read here".to_owned(),
            (None, Health::Unknown) => {
                "where queries of the node end is not known: a file could not be read".to_owned()
            }
            (None, Health::Clean | Health::Dead) => match outside.as_slice() {
                [] => "no server outside the node is named in its files".to_owned(),
                servers => {
                    let names: Vec<String> = servers.iter().map(|it| address(*it)).collect();
                    // Who answers there is a matter of the node.
                    let names = some_of(&names, MAX_NAMED);
                    if *is_pod {
                        format!("this pod asks {names}")
                    } else {
                        format!("queries end at {names}")
                    }
                }
            },
        },
        Fact::Pods {
            count,
            unseen,
            drifting: old,
            crashing: down,
            waiting,
            unheard,
            unread,
            doubt,
        } => match doubt {
            Some(why) => format!(
                "of {} not all is known: {why}",
                counted(*count, "pod", "pods")
            ),
            None => pods((*count, *unseen), [old, down, waiting, unheard], unread),
        },
        Fact::Lint {
            worst,
            others,
            files,
            unread,
        } => lint(worst, (*others, *files), *unread),
        Fact::Logs(logs) => more::logs(*logs),
        Fact::Path(route) => more::path(*route),
        Fact::Kernel { findings, counted } => more::kernel(findings, counted),
        Fact::NotAsked(why) => more::not_asked(*why).to_owned(),
        Fact::Servers(asked) => servers(asked),
        Fact::Lookup(lookup) => more::lookup(*lookup),
    }
}

fn looped(report: &check_loop::Report) -> String {
    let headline = loops::headline(report);
    match (report.verdict, report.now) {
        (check_loop::Verdict::NoLoop, check_loop::State::Unknown) => format!(
            "{headline}, from the next start of the DNS pods on; how it is now could not be seen"
        ),
        _ => headline,
    }
}

/// Where queries end without an answer, or the file that names no server.
fn dead_end(dead: Option<&upstream::Step>, broken: &[&upstream::FileReport]) -> Option<String> {
    let said = dead.map(causes::dead_end);
    said.or_else(|| broken.first().map(|it| causes::without_server(it)))
        .map(|it| it.text)
}

fn here(here: &Here, name: Option<&str>) -> String {
    let name = name.map_or_else(String::new, |it| format!(" {it}"));
    match here {
        Here::Node => format!("this is the node{name}"),
        Here::Below(root) => format!("the files of the node{name} below {root}"),
        Here::Debug(root) => format!("a pod that has the files of the node{name} below {root}"),
        Here::Pod => {
            "this is a pod, and nothing of its node is to be seen; kubectl debug node/NODE \
             -it --profile=sysadmin --image=IMAGE -- kdns doctor looks at that"
                .to_owned()
        }
        Here::Elsewhere => "this is no node: no kubelet is here".to_owned(),
        Here::Unseen(why) => format!("whether a kubelet runs here is not known: {why}"),
    }
}

fn pods(
    (count, unseen): (usize, usize),
    [drifting, crashing, waiting, unheard]: [&[String]; 4],
    unread: &[&str],
) -> String {
    if !crashing.is_empty() {
        let what = several(crashing.len(), "does not stay up", "do not stay up");
        return format!("{} {what}", some_of(crashing, MAX_NAMED));
    }
    if !waiting.is_empty() {
        let what = several(waiting.len(), "waits for its", "wait for their");
        return format!("{} {what} containers", some_of(waiting, MAX_NAMED));
    }
    if let Some(first) = unread.first() {
        return (*first).to_owned();
    }
    if !drifting.is_empty() {
        let what = several(drifting.len(), "reads", "read");
        return format!(
            "{} {what} another resolv.conf than the runtime keeps",
            some_of(drifting, MAX_NAMED)
        );
    }
    if !unheard.is_empty() {
        let what = several(unheard.len(), "asks itself", "ask themselves");
        return format!(
            "{} {what}, where nobody listens",
            some_of(unheard, MAX_NAMED)
        );
    }
    match (count, unseen) {
        (0, _) => "no pods are to be seen here".to_owned(),
        (_, 1..) => {
            let pods = counted(count, "pod", "pods");
            if unseen == count {
                format!("{pods}, whose /etc/resolv.conf was not seen")
            } else {
                format!("{pods}; the /etc/resolv.conf of {unseen} was not seen")
            }
        }
        _ => format!(
            "{}, each with the file that the runtime keeps for it",
            counted(count, "pod", "pods")
        ),
    }
}

fn lint(worst: &[&Finding], (others, files): (usize, usize), unread: Option<&Unread>) -> String {
    let Some(first) = worst.first() else {
        if let Some(why) = unread {
            return format!("not all of the settings are known: {why}");
        }
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
    let chosen = |wanted: fn(&Asked) -> bool| -> Vec<String> {
        asked.iter().filter(|it| wanted(it)).map(name).collect()
    };
    let silent = chosen(|it| it.is_silent() && !it.is_not_sent() && !it.is_without_udp());
    if silent.len() == asked.len() && silent.len() > 1 {
        return format!(
            "none of {} servers answers: {}",
            silent.len(),
            some_of(&silent, MAX_NAMED)
        );
    }
    for (found, one, more) in [
        (
            chosen(Asked::is_not_sent),
            "could not be asked: this node lets no query out",
            "could not be asked: this node lets no query out",
        ),
        (silent, "does not answer", "do not answer"),
        (
            chosen(Asked::is_without_udp),
            "answers over TCP and not over UDP",
            "answer over TCP and not over UDP",
        ),
        (
            chosen(Asked::is_without_tcp),
            "answers over UDP and not over TCP",
            "answer over UDP and not over TCP",
        ),
        (chosen(Asked::is_slow), "answers late", "answer late"),
        (
            chosen(|it| it.is_malformed),
            "answers with a message that cannot be read whole: whether it resolves names is not known",
            "answer with messages that cannot be read whole: whether they resolve names is not known",
        ),
        (
            chosen(|it| it.fails),
            "answers, with nothing, SERVFAIL or REFUSED for the keys of the root: whether it \
             resolves names is not known",
            "answer, with nothing, SERVFAIL or REFUSED for the keys of the root: whether they \
             resolve names is not known",
        ),
    ] {
        if !found.is_empty() {
            return format!(
                "{} {}",
                some_of(&found, MAX_NAMED),
                several(found.len(), one, more)
            );
        }
    }
    let all: Vec<String> = asked.iter().map(name).collect();
    let what = several(
        all.len(),
        "answers over UDP and TCP",
        "answer over UDP and TCP",
    );
    format!("{} {what}", some_of(&all, MAX_NAMED))
}

/// The words for one thing or for more.
fn several<'w>(count: usize, one: &'w str, more: &'w str) -> &'w str {
    if count == 1 { one } else { more }
}

fn name(asked: &Asked) -> String {
    let server = address(asked.server);
    match (&asked.whom, &asked.udp) {
        (Whom::Pod(pod), _) => format!("pod {pod} ({server})"),
        (Whom::Target, _) => format!("{server} (asked from the node)"),
        (Whom::Upstream, Answer::Reply(time)) => format!("{server} ({} ms)", time.as_millis()),
        (Whom::Upstream, _) => server,
    }
}

fn address(server: std::net::SocketAddr) -> String {
    match server.port() {
        DNS_PORT => server.ip().to_string(),
        _ => server.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A cause for one server is not looked into at another one.
    #[test]
    fn more_of_a_cause_is_about_its_own_server() {
        let asked = |last, tcp| Asked {
            whom: Whom::Upstream,
            server: ([192, 0, 2, last], DNS_PORT).into(),
            udp: Answer::Reply(Duration::from_secs(1)),
            tcp,
            fails: false,
            is_malformed: false,
            is_left_out: false,
        };
        let all = [
            asked(1, Answer::Reply(Duration::ZERO)),
            asked(2, Answer::Silence(Duration::ZERO)),
        ];
        let proof = Fact::Servers(&all);
        let said = |kind| more_of(&kind, Some(&proof)).unwrap().to_string();
        assert_eq!(said(Kind::Slow(vec![&all[0]])), "kdns dig @192.0.2.1 . NS");
        let without_tcp = Kind::WithoutTcp(vec![&all[1]]);
        assert_eq!(said(without_tcp), "kdns dig @192.0.2.2 . NS");
    }

    #[test]
    fn the_pod_itself_is_no_target() {
        let said = |target| of_target("kdns explain db --live", target).to_string();
        assert_eq!(said(None), "kdns explain db --live");
        assert_eq!(
            said(Some("shop/web")),
            "kdns explain db --live --target shop/web"
        );
        let alone = [&[][..]; 4];
        let counted = |all, unseen| pods((all, unseen), alone, &[]);
        assert_eq!(counted(1, 1), "1 pod, whose /etc/resolv.conf was not seen");
        let some = "8 pods; the /etc/resolv.conf of 3 was not seen";
        assert_eq!(counted(8, 3), some);
        assert!(here(&Here::Pod, None).ends_with("-- kdns doctor looks at that"));
    }
}
