//! The verdict in one line.

use super::trouble::worst;
use super::{Sentence, missing, receiver, who};
use crate::check_loop::facts::{Cause, Missing, Round};
use crate::check_loop::log::SightingKind;
use crate::check_loop::{Chain, End, Hop, Report, State, Verdict, When, Who};

/// One line that a tired person understands, without a full stop.
pub(in crate::render) fn headline(report: &Report) -> String {
    if let Some(concern) = &report.concern {
        let now = match report.next_start {
            State::Unknown => " now",
            _ => "",
        };
        return format!("DNS does not loop{now}, but {}", worst(concern));
    }
    match (&report.cause, report.verdict) {
        (Some(Cause::AsksNobody), _) => {
            "DNS does not loop: the cluster's DNS asks no other server".to_owned()
        }
        (Some(Cause::Path { chain, state, pods }), _) => of_path(report, chain, *state, *pods),
        (
            Some(Cause::Probe {
                who,
                server,
                others,
            }),
            _,
        ) => {
            let others = match others {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            format!("DNS loops: the probe's query came back to {who} on {server}{others}")
        }
        (None, Verdict::NoLoop) if report.next_start == State::Unknown => {
            "DNS does not loop now: every query path leads to a server outside".to_owned()
        }
        (None, Verdict::NoLoop) => {
            "DNS does not loop: every query path leads to a server outside".to_owned()
        }
        (None, Verdict::Unknown) => of_unknown(report),
        (None, _) => "DNS loops".to_owned(),
    }
}

fn of_unknown(report: &Report) -> String {
    let is_log = matches!(report.missing.first(), Some(Missing::Loop(_)));
    let missing = report.missing.first().map(missing);
    let missing = missing.unwrap_or_else(|| {
        let text = "nothing tells where the queries of the DNS pods go";
        Sentence::new("unknown", text)
    });
    // That it did loop, not through whom.
    let fatal = report
        .evidence
        .iter()
        .find(|it| it.kind == SightingKind::LoopFatal);
    let place = fatal.map(|it| it.place.to_string());
    let unknown = match place.filter(|_| !is_log) {
        Some(place) => format!(
            "DNS did loop when CoreDNS ended ({place}); whether it still does, and through which \
             file, is not known"
        ),
        None => "Not known whether DNS loops".to_owned(),
    };
    format!("{unknown}: {}", missing.text)
}

fn of_path(report: &Report, chain: &Chain, state: State, pods: Option<(usize, usize)>) -> String {
    let names = match chain.zone.as_str() {
        "." => String::new(),
        zone => format!(" for names in {}", zone.trim_end_matches('.')),
    };
    let what = what(chain);
    if let Some((bad, all)) = pods {
        let begins = in_some(report, chain.when, state, bad, all);
        return format!("{begins}{names}: {what}");
    }
    let is_restart = report.fix.as_ref().is_some_and(|it| it.is_restart);
    let begins = match (report.verdict, chain.when, report.next_start) {
        (Verdict::Refused, When::Now, _) => "DNS is refused",
        (Verdict::Refused, When::NextStart, _) => {
            "DNS will be refused at the next start of the DNS pods"
        }
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
    let share = match chain.share {
        (1, 1) => String::new(),
        (some, all) => format!("{some} of {all} times "),
    };
    format!("{begins}{names}: {share}{what}")
}

/// How the line begins where some of the DNS pods loop and others answer.
fn in_some(report: &Report, when: When, state: State, bad: usize, all: usize) -> String {
    let does = match state {
        State::Refused => "is refused",
        _ => "loops",
    };
    match (when, report.next_start) {
        (When::NextStart, _) => {
            format!("DNS will fail at the next start of {bad} of {all} DNS pods")
        }
        (When::Now, State::NoLoop) => {
            let them = if bad == 1 { "it is" } else { "they are" };
            format!("DNS {does} in {bad} of {all} DNS pods until {them} recreated")
        }
        (When::Now, _) => format!("DNS {does} in {bad} of {all} DNS pods"),
    }
}

/// How a question goes round, as the end of a sentence.
pub fn round(round: &Round) -> String {
    match round {
        Round::Path(chain) => what(chain),
        Round::Log(place) => missing(&Missing::Loop(place.clone())).text,
    }
}

/// What happens on the path, as the end of a sentence.
fn what(chain: &Chain) -> String {
    let from = match chain.end {
        End::Cycle(first) => first,
        _ => chain.hops.len().saturating_sub(1),
    };
    let hops = chain.hops.get(from..).unwrap_or_default();
    let (Some(first), Some(last)) = (hops.first(), hops.last()) else {
        return String::new();
    };
    let who = name(first);
    let to = receiver(&last.sends_to);
    let inside = if is_in_pod(last) {
        " inside its pod"
    } else {
        ""
    };
    match chain.end {
        End::Refused => format!("{who} sends to {to}, where nobody listens{inside}"),
        End::Stopped => format!("{who} would ask itself, so it asks nobody"),
        _ if hops.len() == 1 => format!("{who} sends to {to}, which is itself{inside}"),
        _ => {
            let names: Vec<String> = hops.iter().map(name).collect();
            format!("{} -> {who}", names.join(" -> "))
        }
    }
}

fn name(hop: &Hop) -> String {
    who(&hop.who).0
}

/// Whether it sends to a loopback address, which is its pod's own.
fn is_in_pod(hop: &Hop) -> bool {
    matches!(&hop.who, Who::Server { is_on_node, .. } if !is_on_node) && hop.is_to_loopback()
}
