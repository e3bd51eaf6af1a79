//! What is wrong though DNS does not loop.

use super::remark;
use crate::check_loop::Sighting;
use crate::check_loop::facts::{Concern, Trouble};
use crate::check_loop::log::SightingKind;
use crate::node::runtime::state::Ended;
use crate::render::sentence::{Sentence, sentence};
use crate::text::{counted, escaped, some_of};

/// Servers that are named.
const MAX_NAMED: usize = 2;

/// It as a clause; of what a log shows the code is the sighting's kind.
pub(in crate::render) fn trouble(trouble: &Trouble) -> Sentence {
    match trouble {
        Trouble::Log(sighting) => of_log(sighting),
        Trouble::Files(found) => remark(found),
        Trouble::Down {
            pod,
            container,
            ended,
            last,
        } => down(pod, container, ended, last.as_deref()),
        Trouble::Waits(pod) => waits(pod),
        Trouble::Paused { pod, container, .. } => sentence!(
            "dns-pod-paused",
            "pod {pod} answers nothing: its container {container} is paused"
        ),
    }
}

pub(super) fn waits(pod: &str) -> Sentence {
    sentence!(
        "dns-pod-waits",
        "pod {pod} does not run: none of its containers was ever made, as where an image or a \
         ConfigMap is missing (kubectl describe pod)"
    )
}

fn down(pod: &str, container: &str, ended: &Ended, last: Option<&str>) -> Sentence {
    let at = ended.at.as_ref();
    let at = at.map_or_else(String::new, |it| format!(" at {it}"));
    let reason = ended.reason.as_deref().map(|it| escaped(it.as_bytes()));
    let reason = reason.filter(|it| it != "Error");
    let reason = reason.map_or_else(String::new, |it| format!(" ({it})"));
    let last = last.map_or_else(String::new, |it| format!("; the end of its log: {it}"));
    sentence!(
        "dns-pod-down",
        "pod {pod} does not run: its container {container} ended{at} with exit code {}{reason}{last}",
        ended.code
    )
}

/// What a log showed, and has not for a while.
pub(super) fn earlier(sighting: &Sighting) -> Sentence {
    let what = of_log(sighting);
    sentence!("earlier", "not for ten minutes any more: {}", what.text)
}

/// When it was seen last, as the log has it: `, the last at 2026-11-21 02:07:12`.
fn last(sighting: &Sighting) -> String {
    let last = sighting.last.as_deref();
    let moment = last.and_then(|it| Some((it.get(..10)?, it.get(11..19)?)));
    let is_date = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    let is_clock = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || it == b':');
    let moment = moment.filter(|(date, clock)| is_date(date) && is_clock(clock));
    moment.map_or_else(String::new, |(date, clock)| {
        format!(", the last at {date} {clock}")
    })
}

/// The worst of it, as the end of the headline.
pub(super) fn worst(concern: &Concern) -> String {
    let worst = concern.troubles.first().map(trouble);
    worst.map(|it| it.text).unwrap_or_default()
}

fn of_log(sighting: &Sighting) -> Sentence {
    let who = sighting.pod.as_ref();
    let who = who.map_or_else(|| "the DNS server".to_owned(), |it| format!("pod {it}"));
    let servers = &sighting.servers;
    let servers = (!servers.is_empty()).then(|| some_of(servers, MAX_NAMED));
    let (kind, code) = (sighting.kind, sighting.kind.word());
    let count = sighting.count;
    let last = last(sighting);
    let times = |one: &str, many: &str| counted(count, one, many);
    match (kind, servers) {
        (SightingKind::LoopFatal, _) => sentence!(
            code,
            "{who} did end because its own query came back ({} in its log)",
            times("time", "times")
        ),
        (SightingKind::UpstreamTimeout | SightingKind::LoopbackTimeout, servers) => {
            let from = servers.map_or_else(String::new, |it| format!(" from {it}"));
            let count = times("time-out", "time-outs");
            sentence!(code, "{who} gets no answer{from}: {count} in its log{last}")
        }
        (SightingKind::UpstreamRefused | SightingKind::LoopbackRefused, Some(servers)) => {
            let count = times("time", "times");
            sentence!(
                code,
                "{servers} refused {who} {count}, says its log{last}: nothing listens there, or a \
                 rule rejects it"
            )
        }
        (SightingKind::ApiUnreachable, servers) => {
            let at = servers.map_or_else(String::new, |it| format!(" at {it}"));
            let count = times("error", "errors");
            sentence!(
                code,
                "{who} did not reach the Kubernetes API{at}: {count} in its log{last}; until it does, \
                 it hears of no new Service"
            )
        }
        (SightingKind::ApiForbidden, _) => {
            let count = times("error", "errors");
            sentence!(
                code,
                "the Kubernetes API did not let {who} read what it watches: {count} in its log{last}; \
                 until it does, no new Service is heard of"
            )
        }
        (SightingKind::UpstreamUnreachable, Some(servers)) => {
            let count = times("error", "errors");
            sentence!(
                code,
                "{who} has no route to {servers}: {count} in its log{last}"
            )
        }
        _ => {
            let count = times("time", "times");
            sentence!(
                code,
                "the log of {who} shows {count}: {}",
                self::sighting(kind)
            )
        }
    }
}

/// What a sighting of this kind shows.
#[rustfmt::skip]
pub(in crate::render) fn sighting(kind: SightingKind) -> &'static str {
    match kind {
        SightingKind::LoopFatal => "CoreDNS saw its own query come back and ended",
        SightingKind::LoopFatalDoubtful => "the same from CoreDNS 1.2.1 to 1.2.5, which say so also when the upstream is silent",
        SightingKind::LoopDetected => "dnsmasq saw its own query come back and leaves that server out",
        SightingKind::LoopbackTimeout => "no answer from a loopback address, or from its own address",
        SightingKind::LoopbackRefused => "a loopback address, or its own address, refuses packets",
        SightingKind::TooManyQueries => "more queries wait for answers than are allowed, as in a loop",
        SightingKind::OwnAddress => "a server found itself among its upstream servers and leaves that out",
        SightingKind::UpstreamTimeout => "no answer from an upstream server",
        SightingKind::UpstreamRefused => "an upstream server refuses packets: nobody listens there, or a rule rejects them",
        SightingKind::UpstreamUnreachable => "there is no way to an upstream server",
        SightingKind::UpstreamClosed => "an upstream server closed the connection before it answered",
        SightingKind::UpstreamTls => "an upstream server's certificate or TLS was not accepted",
        SightingKind::UpstreamMalformed => "what an upstream server sent is no whole DNS message: cut on the way or by the server; no loop",
        SightingKind::UpstreamDown => "every upstream server is down",
        SightingKind::ApiUnreachable => "the Kubernetes API was not reached: until it is, no new Service is heard of",
        SightingKind::ApiForbidden => "the Kubernetes API did not let the server read what it watches: until it does, no new Service is heard of",
        SightingKind::StartFailed => "CoreDNS could not use its Corefile",
    }
}
