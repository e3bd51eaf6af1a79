//! What to know about the ways that decide.

use super::graph::Graph;
use super::outcome::Outcome;
use super::report::State;
use super::servers::{Role, Server};
use super::walk::{Way, WayEnd, Who};
use crate::topology::Program;

/// Remarks, each once. Whole sentences without a full stop.
pub(super) fn remarks(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<String> {
    let mut remarks = Vec::new();
    for outcome in outcomes {
        let Some(way) = outcome.deciding() else {
            continue;
        };
        if outcome.is_partial {
            let remark =
                "Reverse lookups of addresses that are not the cluster's loop: CoreDNS passes \
                          them on (fallthrough), and they come back to it"
                    .to_owned();
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        for remark in [
            chance(outcome, way),
            pinned(graph, way),
            silent(graph, way),
            stopped(graph, way),
        ] {
            remarks.extend(remark.filter(|it| !remarks.contains(it)));
        }
    }
    remarks
}

/// Source: `CoreDNS`, plugin/loop: three sightings of one probe are fatal, and
/// each way back is drawn anew.
fn chance(outcome: &Outcome, way: &Way) -> Option<String> {
    let WayEnd::Cycle(_) = way.end else {
        return None;
    };
    let (some, all) = way.share;
    if outcome.state != State::Mixed || all <= some || all == 0 {
        return None;
    }
    let percent = u64::from(some).pow(2) * 100 / u64::from(all).pow(2);
    Some(format!(
        "{some} of {all} queries loops, so that CoreDNS's own test ends with FATAL at about \
         {percent} % of its starts: a pod that runs proves nothing"
    ))
}

/// Source: conntrack keeps a socket's packets at one pod.
fn pinned(graph: &Graph<'_>, way: &Way) -> Option<String> {
    let is_service = |way: &Way| way.steps.iter().any(|it| matches!(it.who, Who::Service(_)));
    let is_cycle = matches!(way.end, WayEnd::Cycle(_));
    let notices = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.dns.notices_loops);
    (is_cycle && is_service(way) && notices).then(|| {
        "The way back leads through the service, which keeps a socket's packets at one of the DNS \
         pods: CoreDNS may never see its own test, and no FATAL in its log proves nothing"
            .to_owned()
    })
}

/// A loop that CoreDNS does not notice.
fn silent(graph: &Graph<'_>, way: &Way) -> Option<String> {
    let WayEnd::Cycle(first) = way.end else {
        return None;
    };
    let circle = way.steps.get(first..)?.iter();
    let servers = circle.filter_map(|step| match step.who {
        Who::Server(index) => graph.servers.get(index),
        Who::Service(_) => None,
    });
    let is_coredns =
        |it: &&Server<'_>| matches!(it.dns.program, Program::CoreDns | Program::NodeCache);
    let mut coredns = servers.filter(is_coredns).peekable();
    coredns.peek()?;
    let label = coredns
        .find(|it| !it.dns.notices_loops)
        .map(|it| &it.dns.label)?;
    Some(format!(
        "{label} has no loop plugin: it does not end with FATAL, but queries pile up until it \
         runs out of memory"
    ))
}

/// dnsmasq that has noticed its loop.
fn stopped(graph: &Graph<'_>, way: &Way) -> Option<String> {
    if way.end != WayEnd::Stopped {
        return None;
    }
    let noticing = way.steps.iter().find_map(|step| match step.who {
        Who::Server(index) => {
            let server = graph.servers.get(index)?;
            (server.dns.program == Program::Dnsmasq).then_some(&server.dns.label)
        }
        Who::Service(_) => None,
    })?;
    Some(format!(
        "{noticing} has noticed that its server leads back to it and asks it no more \
         (dns-loop-detect): it answers REFUSED"
    ))
}
