//! What is worth knowing beside the verdict.

use std::net::IpAddr;

use super::unknown;
use crate::check_loop::facts::{FileRemark, Remark, Supposed};
use crate::check_loop::{SendsTo, State, When};
use crate::render::sentence::{Sentence, sentence};
use crate::render::{kubelet, topology};
use crate::text::escaped;

/// The remark as a clause.
#[expect(clippy::too_many_lines, reason = "a table: one arm a fact")]
pub(in crate::render) fn remark(remark: &Remark) -> Sentence {
    match remark {
        Remark::Earlier(sighting) => super::trouble::earlier(sighting),
        Remark::ReverseLookups => Sentence::new(
            "reverse-lookups-loop",
            "reverse lookups of addresses that are not the cluster's loop: CoreDNS passes them on \
             (fallthrough), and they come back to it",
        ),
        Remark::Chance { some, all } => chance(*some, *all),
        Remark::Pinned => Sentence::new(
            "loop-through-service",
            "the way back leads through the service, which keeps a socket's packets at one of the \
             DNS pods: CoreDNS may never see its own test, and no FATAL in its log proves nothing",
        ),
        Remark::NoLoopPlugin(who) => sentence!(
            "no-loop-plugin",
            "{who} has no loop plugin: it does not end with FATAL, but queries pile up until \
                 it runs out of memory"
        ),
        Remark::Noticed(who) => sentence!(
            "loop-noticed",
            "{who} has noticed that its server leads back to it and asks it no more \
                 (dns-loop-detect): it answers REFUSED"
        ),
        Remark::Supposed(Supposed::Usual) => Sentence::new(
            "corefile-supposed",
            "no Corefile was found, so CoreDNS is taken to forward to /etc/resolv.conf as usual",
        ),
        Remark::Supposed(Supposed::Corefile(doubt)) | Remark::Server(doubt) => {
            topology::doubt(doubt)
        }
        Remark::NoServer => Sentence::new(
            "no-dns-pod",
            "no DNS server of the cluster was found on this node, so CoreDNS is judged only at its \
             next start",
        ),
        Remark::NoKubelet(file) => sentence!(
            "kubelet-not-running",
            "no kubelet runs: its settings are those with which {file} would start it"
        ),
        Remark::Now(reason) => {
            let reason = unknown(reason);
            sentence!("now-unknown", "how it is now is not known: {}", reason.text)
        }
        Remark::Unexplained(file) => sentence!(
            "loop-in-log",
            "the log {file} shows that CoreDNS did loop: with other files than these, or by a \
                 way that comes back from outside the node"
        ),
        Remark::Unlike {
            who,
            public,
            place,
            private,
            some,
            all,
        } => {
            let place = place.as_ref();
            let place = place.map_or_else(String::new, |it| format!(" ({it})"));
            sentence!(
                "servers-unlike",
                "{who} asks a public resolver {some} of {all} times, {public}{place}, which \
                     does not know the names that {private} knows: they are NXDOMAIN then; list \
                     servers that give the same answers, or write policy sequential"
            )
        }
        Remark::Other {
            pod,
            when,
            state,
            to,
        } => other(pod, *when, *state, to.as_ref()),
        Remark::LeftOver { pods, more } => {
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            sentence!(
                "left-over-pods",
                "left over from pods that are gone, and not counted: the directories of \
                     {}{more}",
                pods.join(", ")
            )
        }
        Remark::PodsUnseen => Sentence::new(
            "pods-unseen",
            "which pods run could not be seen, as the processes of the node were not: those of \
             which there are files are taken to run",
        ),
        Remark::Restart(state, setting) => {
            let setting = setting.as_ref().map_or_else(String::new, |it| {
                let value = escaped(it.value.as_bytes());
                let origin = kubelet::origin(&it.origin);
                format!(", as resolvConf is then {value} ({origin})")
            });
            let what = match state {
                State::Loop => "DNS loops",
                State::Mixed => "DNS loops or is refused for some of the queries",
                State::Refused => "queries are sent to where nobody listens",
                State::Unknown => "it is not known whether DNS loops",
                State::NoLoop => "DNS does not loop",
            };
            sentence!(
                "after-kubelet-restart",
                "once the kubelet is restarted, {what} from the next start of the DNS pods on{setting}"
            )
        }
        Remark::NotSeen => Sentence::new(
            "probe-saw-no-loop",
            "the files say that it loops now, but the probe did not see it: each server answered, \
             and no query came back. Servers that run can have been started with other files",
        ),
        Remark::Waits(pod) => super::trouble::waits(pod),
        Remark::Kubelet(remark) => kubelet::remark(remark),
        Remark::File(remark) => of_file(remark),
    }
}

/// Remarks about the files that pods have.
fn of_file(remark: &FileRemark) -> Sentence {
    match remark {
        FileRemark::Link { path, to } => {
            sentence!("kubelet-file-link", "{path} is a link to {to}")
        }
        FileRemark::EmptyResolvConf(origin) => sentence!(
            "resolv-conf-empty",
            "resolvConf is empty ({}): the kubelet then reads no file and gives \
                 127.0.0.1 (::1 on a node of IPv6 alone) to pods with dnsPolicy Default, as DNS \
                 pods have",
            kubelet::origin(origin)
        ),
        FileRemark::Drift {
            pod,
            now,
            next,
            is_supposed,
        } => {
            let supposed = if *is_supposed {
                " if its dnsPolicy is Default, as installers have it: its file is no other one of \
                 this node"
            } else {
                ""
            };
            let (now, next) = (servers(now), servers(next));
            sentence!(
                "drift",
                "pod {pod} still has {now}, and the kubelet would now write {next}{supposed}"
            )
        }
        FileRemark::ClusterFirst(pod) => sentence!(
            "dns-pod-cluster-first",
            "pod {pod} has the file of dnsPolicy ClusterFirst, so it asks the cluster's DNS, \
                 which it is itself: DNS pods need dnsPolicy Default"
        ),
        FileRemark::Refused { pod, servers: own } => sentence!(
            "pod-refused",
            "pod {pod} has {}, which inside it is the pod itself, where nobody listens: its \
                 lookups are refused",
            servers(own)
        ),
        FileRemark::RefusedToo(rest) => sentence!(
            "pod-refused",
            "the lookups of {rest} more pods are refused in the same way"
        ),
    }
}

fn servers(servers: &[IpAddr]) -> String {
    if servers.is_empty() {
        return "no name server".to_owned();
    }
    let words: Vec<String> = servers.iter().map(IpAddr::to_string).collect();
    format!("nameserver {}", words.join(", "))
}

/// Source: `CoreDNS`, plugin/loop: three sightings of one probe are fatal, and
/// each way back is drawn again.
fn chance(some: u32, all: u32) -> Sentence {
    let percent = u64::from(some).pow(2) * 100 / u64::from(all).pow(2).max(1);
    sentence!(
        "loop-by-chance",
        "{some} of {all} queries loops, so that CoreDNS's own test ends with FATAL at about \
         {percent} % of its starts: a pod that runs proves nothing"
    )
}

fn other(pod: &str, when: When, state: State, to: Option<&SendsTo>) -> Sentence {
    let when = match when {
        When::Now => "",
        When::NextStart => ", from its next start on",
    };
    let what = match state {
        State::Loop => "its queries loop",
        State::Refused => "its queries are refused",
        _ => "some of its queries loop or are refused",
    };
    let to = to.map_or_else(String::new, |it| format!(" (it sends to {it})"));
    sentence!(
        "other-dns-pod",
        "pod {pod} is a DNS server in another namespace than the cluster's DNS, and was not seen \
             to be asked in its place: {what}{when}{to}, which is no part of the verdict"
    )
}
