//! The answer in one line.

use super::graph::{Graph, reached, short};
use super::log::LOOP_FATAL;
use super::outcome::Outcome;
use super::report::{Report, State, Verdict, When};
use super::verdict::{Share, asks_nobody};
use super::walk::{self, Step, Way, WayEnd, Who};
use crate::topology::Network;

/// One line that a tired person understands, without a full stop.
pub(super) fn of(graph: &Graph<'_>, report: &Report, outcomes: &[&Outcome]) -> String {
    let about = match report.verdict {
        Verdict::NoLoop if asks_nobody(graph) => {
            return "DNS does not loop: the cluster's DNS asks no other server".to_owned();
        }
        Verdict::NoLoop if report.next_start == State::Unknown => {
            return "DNS does not loop now: every way leads to a server outside".to_owned();
        }
        Verdict::NoLoop => {
            return "DNS does not loop: every way leads to a server outside".to_owned();
        }
        Verdict::Unknown => {
            let missing = report.missing.first().map_or(
                "nothing tells where the queries of the DNS pods go",
                String::as_str,
            );
            let did = looped(report).filter(|place| !missing.contains(place));
            let unknown = match did {
                Some(place) => format!(
                    "DNS did loop when CoreDNS ended ({place}); whether it still does, and through \
                     which file, is not known"
                ),
                None => "Not known whether DNS loops".to_owned(),
            };
            return format!("{unknown}: {}", lower(missing));
        }
        Verdict::Loop | Verdict::WillLoop | Verdict::Refused | Verdict::Mixed => {
            outcomes.iter().find_map(|it| Some((*it, it.deciding()?)))
        }
    };
    let Some((outcome, way)) = about else {
        return "DNS loops".to_owned();
    };
    let names = match outcome.zone.as_str() {
        "." => String::new(),
        zone => format!(" for names in {}", zone.trim_end_matches('.')),
    };
    let is_next = outcome.when == When::NextStart;
    if let Some(begins) = in_some(graph, report, outcome, outcomes) {
        return format!("{begins}{names}: {}", what(graph, way));
    }
    let is_restart = report.fix.as_ref().is_some_and(|it| it.is_restart);
    let begins = match (report.verdict, is_next, report.next_start) {
        (Verdict::Refused, false, _) => "DNS is refused",
        (Verdict::Refused, true, _) => "DNS will be refused at the next start of the DNS pods",
        (Verdict::Mixed, ..) => "DNS loops or fails sometimes",
        (Verdict::WillLoop, _, State::Mixed) => {
            "DNS will loop sometimes from the next start of the DNS pods on"
        }
        (Verdict::WillLoop, ..) => "DNS will loop at the next start of the DNS pods",
        (_, _, State::NoLoop) => "DNS loops until the DNS pods are recreated",
        _ if is_restart => {
            "DNS loops until the kubelet is restarted and the DNS pods are recreated"
        }
        _ => "DNS loops",
    };
    let share = match way.share {
        (1, 1) => String::new(),
        (some, all) => format!("{some} of {all} times "),
    };
    format!("{begins}{names}: {share}{}", what(graph, way))
}

/// How the line begins where some of the DNS pods loop and others answer.
fn in_some(
    graph: &Graph<'_>,
    report: &Report,
    outcome: &Outcome,
    outcomes: &[&Outcome],
) -> Option<String> {
    let same = outcomes.iter().filter(|it| it.when == outcome.when);
    let same: Vec<Outcome> = same.map(|it| (*it).clone()).collect();
    let share = Share::of(graph, &same);
    let (bad, all) = share.counts().filter(|_| share.is_some(outcome.start))?;
    let does = match outcome.state {
        State::Loop => "loops",
        State::Refused => "is refused",
        _ => return None,
    };
    Some(match (outcome.when, report.next_start) {
        (When::NextStart, _) => {
            format!("DNS will fail at the next start of {bad} of {all} DNS pods")
        }
        (When::Now, State::NoLoop) => {
            let them = if bad == 1 { "it is" } else { "they are" };
            format!("DNS {does} in {bad} of {all} DNS pods until {them} recreated")
        }
        (When::Now, _) => format!("DNS {does} in {bad} of {all} DNS pods"),
    })
}

/// Where a log says that `CoreDNS` saw its own query come back: that it did
/// loop, not through whom.
fn looped(report: &Report) -> Option<String> {
    let fatal = report.evidence.iter().find(|it| it.kind == LOOP_FATAL)?;
    Some(fatal.place.to_string())
}

/// What happens on the way, as the end of a sentence.
pub(super) fn what(graph: &Graph<'_>, way: &Way) -> String {
    let steps = match way.end {
        WayEnd::Cycle(first) => way.steps.get(first..).unwrap_or_default(),
        _ => way
            .steps
            .get(way.steps.len().saturating_sub(1)..)
            .unwrap_or_default(),
    };
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return String::new();
    };
    let who = name(graph, first);
    let to = short(&last.to);
    match way.end {
        WayEnd::Refused => format!(
            "{who} sends to {to}, where nobody listens{}",
            place(graph, last)
        ),
        WayEnd::Stopped => format!("{who} would ask itself, so it asks nobody"),
        _ if steps.len() == 1 => {
            format!("{who} sends to {to}, which is itself{}", place(graph, last))
        }
        _ => {
            let names: Vec<String> = steps.iter().map(|step| name(graph, step)).collect();
            format!("{} -> {who}", names.join(" -> "))
        }
    }
}

fn name(graph: &Graph<'_>, step: &Step) -> String {
    match step.who {
        Who::Server(index) => {
            let server = graph.servers.get(index);
            server.map(|it| it.dns.label.clone()).unwrap_or_default()
        }
        Who::Service(Some(to)) => format!("the cluster's DNS service {}", to.ip()),
        Who::Service(None) => walk::UPSTREAM_SERVICE.to_owned(),
    }
}

/// Where a loopback address is.
fn place(graph: &Graph<'_>, step: &Step) -> &'static str {
    let Who::Server(index) = step.who else {
        return "";
    };
    let is_loopback = step
        .to
        .parse()
        .is_ok_and(|to| reached(to).ip().is_loopback());
    match graph.servers.get(index).map(|it| &it.dns.network) {
        Some(Network::Pod(_)) if is_loopback => " inside its pod",
        _ => "",
    }
}

/// Names that begin like other words.
const NAMES: [&str; 2] = ["CoreDNS", "NodeLocal"];

/// The sentence with a small first letter, but for names.
fn lower(sentence: &str) -> String {
    let second = sentence.chars().nth(1);
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first)
            if !NAMES.iter().any(|name| sentence.starts_with(name))
                && (second.is_none_or(char::is_lowercase) || second == Some(' ')) =>
        {
            first.to_lowercase().chain(characters).collect()
        }
        _ => sentence.to_owned(),
    }
}
