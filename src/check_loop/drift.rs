//! What differs between the pods' files and those that the kubelet would
//! write, and what else is worth knowing about them.

use std::net::IpAddr;

use super::graph::{Graph, reached};
use super::log;
use super::report::{Sighting, State};
use super::servers::{self, Role, Server};
use super::verdict::Outcome;
use super::view::{self, Policy, View};
use super::walk::{Way, WayEnd, Who};
use crate::kubelet::Origin;
use crate::node::{Node, Pod};
use crate::topology::{Network, Program};

/// Pods of a kind that are named; the others are counted.
const MAX_NAMED: usize = 3;

/// Remarks about files that pods have. Whole sentences without a full stop.
pub(super) fn of(graph: &Graph<'_>) -> Vec<String> {
    let node = graph.node;
    let mut remarks: Vec<String> = links(node).into_iter().collect();
    remarks.extend(empty_setting(node));
    remarks.extend(drift(node));
    remarks.extend(refused(graph));
    remarks
}

/// Where the kubelet's file really is.
fn links(node: &Node) -> Option<String> {
    let file = node.kubelet_file.as_ref()?;
    let last = file.links.last()?;
    Some(format!("{} is a link to {last}", file.path))
}

/// Why there are loopback servers that no file lists.
///
/// Source: kubernetes `pkg/kubelet/network/dns/dns.go: GetPodDNS`.
fn empty_setting(node: &Node) -> Option<String> {
    let setting = &node.kubelet.as_ref()?.resolv_conf;
    let is_empty = setting.value.is_empty() && !matches!(setting.origin, Origin::Unread(_));
    is_empty.then(|| {
        format!(
            "resolvConf is empty ({}): the kubelet then reads no file and gives 127.0.0.1 (::1 \
             on a node of IPv6 alone) to pods with dnsPolicy Default, as DNS pods have",
            setting.origin
        )
    })
}

fn addresses(view: &View) -> Option<Vec<IpAddr>> {
    let view = view.as_ref().ok()?;
    Some(view.iter().map(|it| it.to.ip()).collect())
}

fn drift(node: &Node) -> Vec<String> {
    let mut remarks = Vec::new();
    for pod in node.pods.iter().filter(|pod| servers::is_dns_pod(pod)) {
        let now = addresses(&view::now(pod));
        let next = addresses(&view::next(node, Some(pod)));
        if let (Some(now), Some(next)) = (now, next)
            && now != next
        {
            remarks.push(format!(
                "Pod {} still has {}, and the kubelet would now write {}",
                pod.label(),
                words(&now),
                words(&next)
            ));
        }
        if view::policy(node, pod) == Policy::Cluster && pod.host_network != Some(true) {
            remarks.push(format!(
                "Pod {} has the file of dnsPolicy ClusterFirst, so it asks the cluster's DNS, \
                 which it is itself: DNS pods need dnsPolicy Default",
                pod.label()
            ));
        }
    }
    remarks
}

fn words(addresses: &[IpAddr]) -> String {
    if addresses.is_empty() {
        return "no name server".to_owned();
    }
    let words: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    format!("nameserver {}", words.join(", "))
}

/// Ordinary pods that ask themselves, where nobody answers.
fn refused(graph: &Graph<'_>) -> Vec<String> {
    let is_refused = |pod: &&Pod| {
        let own = Network::Pod(pod.key());
        let serves = graph.servers.iter().any(|it| it.dns.network == own);
        let listed = addresses(&view::now(pod)).unwrap_or_default();
        let is_loopback = |ip: &IpAddr| reached((*ip, 53).into()).ip().is_loopback();
        pod.host_network == Some(false)
            && !serves
            && !listed.is_empty()
            && listed.iter().all(is_loopback)
    };
    let pods: Vec<&Pod> = graph.node.pods.iter().filter(is_refused).collect();
    let named = pods.iter().take(MAX_NAMED).map(|pod| {
        let listed = addresses(&view::now(pod)).unwrap_or_default();
        format!(
            "Pod {} has {}, which inside it is the pod itself, where nobody listens: its lookups \
             are refused",
            pod.label(),
            words(&listed)
        )
    });
    let mut remarks: Vec<String> = named.collect();
    if pods.len() > MAX_NAMED {
        let rest = pods.len() - MAX_NAMED;
        remarks.push(format!(
            "The lookups of {rest} more pods are refused in the same way"
        ));
    }
    remarks
}

/// What to know about the ways that decide.
pub(super) fn about_ways(graph: &Graph<'_>, outcomes: &[&Outcome]) -> Vec<String> {
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

/// A DNS server that does not run because its own query came back, while no
/// file shows a loop: what it says counts as much as what the files say.
pub(super) fn contradiction(node: &Node) -> Option<String> {
    let dns_pods = node.pods.iter().filter(|pod| servers::is_dns_pod(pod));
    let dead = dns_pods
        .flat_map(|pod| &pod.containers)
        .filter(|container| container.pid.is_none());
    let newest = dead.filter_map(|container| container.logs.first());
    let mut sightings = newest.flat_map(log::sightings);
    let fatal = sightings.find(|it| it.kind == "loop-fatal")?;
    Some(format!(
        "The log of CoreDNS ends with its own query coming back ({}), but no file of this node \
         shows how: the way back leads through another machine, or was mended since; ask with \
         --probe when it runs again",
        fatal.place
    ))
}

/// A loop that a log shows and no file.
pub(super) fn unexplained(evidence: &[Sighting]) -> Option<String> {
    let fatal = evidence.iter().find(|it| it.kind == "loop-fatal")?;
    Some(format!(
        "The log {} shows that CoreDNS did loop: with other files than these, or by a way that \
         comes back from outside the node",
        fatal.place.file
    ))
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
