//! What to know about the query paths that decide.

use super::facts::Remark;
use super::graph::Graph;
use super::outcome::Outcome;
use super::report::{End, State};
use super::servers::{Role, Server};
use super::walk::{QueryPath, Who};
use crate::topology::Program;

/// Remarks, each once.
pub(super) fn remarks(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for outcome in outcomes {
        let Some(path) = outcome.deciding() else {
            continue;
        };
        if outcome.is_partial {
            remarks.extend(
                (!remarks.contains(&Remark::ReverseLookups)).then_some(Remark::ReverseLookups),
            );
        }
        for remark in [
            chance(outcome, path),
            pinned(graph, path),
            silent(graph, path),
            stopped(graph, path),
        ] {
            remarks.extend(remark.filter(|it| !remarks.contains(it)));
        }
    }
    remarks
}

/// Source: `CoreDNS`, plugin/loop: three sightings of one probe are fatal, and
/// each way back is drawn anew.
fn chance(outcome: &Outcome, path: &QueryPath) -> Option<Remark> {
    // Its own test comes back to it alone.
    let End::Cycle(0) = path.end else {
        return None;
    };
    let (some, all) = path.share;
    if outcome.state != State::Mixed || all <= some || all == 0 {
        return None;
    }
    Some(Remark::Chance { some, all })
}

/// Source: conntrack keeps a socket's packets at one pod.
fn pinned(graph: &Graph<'_>, path: &QueryPath) -> Option<Remark> {
    let End::Cycle(first) = path.end else {
        return None;
    };
    let mut circle = path.steps.iter().skip(first);
    let has_service = circle.any(|it| matches!(it.who, Who::Service(_)));
    let notices = graph
        .servers
        .iter()
        .any(|it| it.role == Role::Cluster && it.dns.notices_loops);
    (has_service && notices).then_some(Remark::Pinned)
}

/// A loop that CoreDNS does not notice.
fn silent(graph: &Graph<'_>, path: &QueryPath) -> Option<Remark> {
    let End::Cycle(first) = path.end else {
        return None;
    };
    let circle = path.steps.get(first..)?.iter();
    let servers = circle.filter_map(|step| graph.server(&step.who));
    let is_coredns =
        |it: &&Server<'_>| matches!(it.dns.program, Program::CoreDns | Program::NodeCache);
    let mut coredns = servers.filter(is_coredns).peekable();
    coredns.peek()?;
    let silent = coredns.find(|it| !it.dns.notices_loops)?;
    Some(Remark::NoLoopPlugin(silent.dns.name()))
}

/// dnsmasq that has noticed its loop.
fn stopped(graph: &Graph<'_>, path: &QueryPath) -> Option<Remark> {
    if path.end != End::Stopped {
        return None;
    }
    let mut servers = path.steps.iter().filter_map(|it| graph.server(&it.who));
    let noticing = servers.find(|it| it.dns.program == Program::Dnsmasq)?;
    Some(Remark::Noticed(noticing.dns.name()))
}
