//! What each command says, a function each.

mod more;

use super::{Check, Fact, Here, State};
use crate::check_loop::facts::{FileRemark, Remark};
use crate::check_loop::{self, Verdict};
use crate::finding::{Finding, Severity};
use crate::lint::Findings;
use crate::node::{Node, Pod, Presence, is_dns_server};
use crate::text::Place;
use crate::upstream::{self, End, FileReport, Health, Role, Step};

pub use more::is_trouble;
pub use more::{kernel, logs, lookup, not_asked, path, servers};

/// Rules of lint about what the kernel keeps of connections: the check `kernel`
/// has their findings.
const OF_KERNEL: &[&str] = &[
    "bridge-passes-iptables-by",
    "connection-table-full",
    "connections-lost",
    "connections-to-gone-dns-pods",
];

/// Where kdns looks from.
pub fn here<'o>(here: &'o Here, node: &'o Node) -> Check<'o> {
    let state = match here {
        Here::Pod | Here::Elsewhere | Here::Unseen(_) => State::Unknown,
        Here::Node | Here::Below(_) | Here::Debug(_) => State::Ok,
    };
    Check::new(
        "here",
        state,
        Fact::Here(here, node.name.as_deref()),
        Vec::new(),
    )
}

/// Where queries go.
pub fn loops(report: &check_loop::Report) -> Check<'_> {
    let state = match report.verdict {
        Verdict::Loop | Verdict::Mixed | Verdict::Refused | Verdict::WillLoop => State::Error,
        Verdict::NoLoop if report.concern.is_some() => State::Warning,
        Verdict::NoLoop => State::Ok,
        Verdict::Unknown => State::Unknown,
    };
    let mut places: Vec<Place> = report.fix.iter().map(|it| it.edit.place.clone()).collect();
    places.extend(report.evidence.iter().map(|it| it.place.clone()));
    Check::new("loop", state, Fact::Loop(report), places)
}

/// Who the servers of the node are, and how it is with them.
pub fn upstream<'o>(here: &Here, report: &'o upstream::Report, health: Health) -> Check<'o> {
    let outside = report.outside();
    // What goes wrong comes before what will, from the kubelet's restart on.
    let (later, now): (Vec<_>, Vec<_>) = report
        .files
        .iter()
        .partition(|it| it.role == Role::Restarted);
    let dead_of =
        |file: &'o FileReport| Some((file.servers.iter().find_map(first_dead)?, file.role));
    let dead = now.into_iter().chain(later).find_map(dead_of);
    let state = match health {
        Health::Clean => State::Ok,
        Health::Dead => State::Error,
        Health::Unknown | Health::Nothing => State::Unknown,
    };
    // Where nothing was seen, a file that is not there says nothing.
    let is_broken =
        |it: &&FileReport| health == Health::Dead && it.problem.is_some() && !it.is_unknown();
    let broken = report.files.iter().filter(is_broken).collect();
    let fact = Fact::Upstream {
        outside,
        dead,
        broken,
        health,
        is_pod: *here == Here::Pod,
    };
    let place = dead.and_then(|it| it.0.place.clone());
    Check::new("upstream", state, fact, place.into_iter().collect())
}

fn first_dead(step: &Step) -> Option<&Step> {
    match step.end {
        End::Cycle | End::Refused(_) => Some(step),
        _ => step.next.iter().find_map(first_dead),
    }
}

/// How it is with the pods; check-loop knows which of them ask themselves.
pub fn pods<'o>(node: &'o Node, report: &check_loop::Report) -> Check<'o> {
    let labels = |wanted: &dyn Fn(&&Pod) -> bool| -> Vec<String> {
        node.pods.iter().filter(wanted).map(Pod::label).collect()
    };
    let drifting = labels(&|it| it.drifts() == Some(true));
    let crashing = labels(&|it| is_dns_server(it) && it.crashes());
    let waiting = labels(&|it| is_dns_server(it) && it.presence == Presence::Waits);
    let unheard = report.remarks.iter().filter_map(|it| match it {
        Remark::File(FileRemark::Refused { pod, .. }) => Some(pod.clone()),
        _ => None,
    });
    let unheard: Vec<String> = unheard.collect();
    // What a program reads is only known by its own eyes.
    let is_unseen =
        |it: &&Pod| it.own_file().is_none() || (it.eye().is_some() && !it.is_resolv_conf_seen);
    let unseen = node.pods.iter().filter(is_unseen).count();
    let unread: Vec<&str> = node.unread_pods.iter().map(String::as_str).collect();
    let state = if !crashing.is_empty() {
        State::Error
    } else if !unread.is_empty()
        || [&waiting, &drifting, &unheard]
            .iter()
            .any(|it| !it.is_empty())
    {
        State::Warning
    } else if node.pods.is_empty() || unseen > 0 || node.pods_unread.is_some() {
        State::Unknown
    } else {
        State::Ok
    };
    let fact = Fact::Pods {
        count: node.pods.len(),
        unseen,
        drifting,
        crashing,
        waiting,
        unheard,
        unread,
        doubt: node
            .pods_unread
            .as_deref()
            .filter(|_| state == State::Unknown && !node.pods.is_empty() && unseen == 0),
    };
    Check::new("pods", state, fact, Vec::new())
}

/// What is wrong in the settings, without what the kernel keeps.
pub fn lint(found: &Findings) -> Check<'_> {
    let (_, all) = parted(found);
    let (state, worst) = worst(&all);
    Check {
        code: "lint",
        state: match state {
            State::Ok if found.files == 0 || !found.unread.is_empty() => State::Unknown,
            state => state,
        },
        places: worst.iter().map(|it| it.primary.place()).collect(),
        fact: Fact::Lint {
            others: all.len() - worst.len(),
            files: found.files,
            unread: found.unread.first(),
            worst,
        },
    }
}

/// The findings about the kernel, and all others.
fn parted(found: &Findings) -> (Vec<&Finding>, Vec<&Finding>) {
    let all = found.findings.iter();
    all.partition(|it| OF_KERNEL.contains(&it.name))
}

/// The findings of the worst severity, and how it is then.
fn worst<'f>(all: &[&'f Finding]) -> (State, Vec<&'f Finding>) {
    let worst = all.iter().map(|it| it.severity).max();
    let state = match worst {
        Some(Severity::Error) => State::Error,
        Some(Severity::Warning) => State::Warning,
        Some(Severity::Info) | None => return (State::Ok, Vec::new()),
    };
    let of_it = all.iter().filter(|it| Some(it.severity) == worst);
    (state, of_it.copied().collect())
}
