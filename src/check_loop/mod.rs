//! Whether the DNS of a node loops: the verdict, its proof, and what fixes it.

mod asked;
mod assumptions;
mod cause;
mod chains;
mod concern;
mod deliver;
mod drift;
mod evidence;
pub mod facts;
mod fix;
mod graph;
pub mod log;
mod others;
mod outcome;
mod over;
mod paths;
mod probed;
mod quote;
mod report;
mod running;
pub mod seen;
mod servers;
mod setup;
mod unlike;
mod verdict;
mod view;
mod walk;

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use crate::address::{DNS_PORT, is_link_local};
use crate::kubelet::Found;
use crate::node::{HostFile, Listener, Node, Pod, Presence};
use crate::topology::{DnsServer, Network};

use deliver::USUAL_SERVICES;
use facts::{Missing, Remark};
use graph::Graph;
use outcome::Outcome;

pub use asked::goes_round;
pub use over::logs_count_from;
pub use probed::with_probe;
pub use report::{
    Chain, Edit, End, Fix, Hop, Proof, Report, SendsTo, Setup, Sighting, State, Verdict, When, Who,
};
pub use running::as_running;
pub(crate) use view::{Policy, is_supposed, policy};

/// Whether the DNS of `node` loops.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
pub fn judge(node: &Node) -> Report {
    let files = node;
    let running = as_running(files);
    let node = running.as_ref().unwrap_or(files);
    let mut graph = Graph::of_node(node);
    let now = outcome::of_now(&mut graph);
    let next = outcome::outcomes(&graph, When::NextStart);
    let mut state_now = verdict::state(&graph, &now);
    let mut state_next = verdict::state(&graph, &next);
    if state_next == State::NoLoop && !assumptions::has_kubelet_file(node) {
        state_next = State::Unknown;
    }
    let mut verdict = verdict::verdict(state_now, state_next, can_have_kubelet(node));
    let contradiction = evidence::contradiction(node).filter(|_| verdict == Verdict::NoLoop);
    if contradiction.is_some() {
        verdict = Verdict::Unknown;
        state_now = State::Unknown;
    }
    let is_about_now = verdict::is_bad(state_now);
    let (first, second) = if is_about_now {
        (&now, &next)
    } else {
        (&next, &now)
    };
    let all: Vec<&Outcome> = first.iter().chain(second).collect();
    let missing = match (verdict, contradiction) {
        (_, Some(place)) => vec![Missing::Loop(place)],
        (Verdict::Unknown, None) => assumptions::missing(&graph, &next),
        (_, None) if state_next == State::Unknown => assumptions::missing(&graph, &next),
        _ => Vec::new(),
    };
    let evidence = evidence::sightings(node);
    let mut remarks = paths::remarks(&graph, &all);
    remarks.extend(assumptions::supposed(&graph, state_now, &all));
    if !is_about_now && missing.is_empty() {
        remarks.extend(evidence::unexplained(&evidence));
    }
    remarks.extend(beside(&graph));
    let past = over::Past::of_node(node);
    remarks.extend(over::remarks(&past, &evidence));
    remarks.extend(
        running
            .as_ref()
            .and_then(|it| restarted(files, it, state_next)),
    );
    let said = missing.iter().collect();
    remarks.retain(|it| !it.is_in(&said));
    let concern = concern::find(node, &past, (verdict, state_next), &evidence, &remarks);
    if concern.is_none() {
        remarks.extend(concern::waiting(node).map(Remark::Waits));
    }
    let of_kubelet = node.kubelet.iter().flat_map(|it| &it.remarks);
    remarks.extend(of_kubelet.cloned().map(Remark::Kubelet));
    Report {
        node: node.name.clone(),
        cluster: None,
        machine_id: node.machine_id.clone(),
        boot_id: node.boot_id.clone(),
        setup: setup::of_graph(&graph),
        verdict,
        now: state_now,
        next_start: state_next,
        cause: cause::deciding(&graph, verdict, &all),
        concern,
        chains: chains::all(&graph, &all),
        fix: fix::find(&graph, files, (state_now, state_next), &all),
        evidence,
        missing,
        remarks,
        skipped: node.skipped.clone(),
        probe: None,
    }
}

/// What is worth knowing beside the query paths.
fn beside(graph: &Graph<'_>) -> Vec<Remark> {
    let mut remarks = unlike::remarks(graph);
    remarks.extend(others::remarks(graph));
    remarks.extend(drift::remarks(graph));
    remarks.extend(left_over(graph.node));
    remarks
}

/// Whether a kubelet runs here, or none was seen that can run.
fn can_have_kubelet(node: &Node) -> bool {
    node.kubelet.is_some() || node.unseen.is_some()
}

/// What comes with the kubelet's restart, where that is not what comes before.
fn restarted(files: &Node, running: &Node, next: State) -> Option<Remark> {
    let graph = Graph::of_node(files);
    let state = verdict::state(&graph, &outcome::outcomes(&graph, When::NextStart));
    let resolv_conf = |it: &Node| it.kubelet.as_ref().map(|it| it.resolv_conf.clone());
    let new = resolv_conf(files)
        .filter(|it| resolv_conf(running).is_some_and(|before| before.value != it.value));
    (state != next).then_some(Remark::Restart(state, new))
}

/// The remark about directories of pods that are gone.
fn left_over(node: &Node) -> Option<Remark> {
    let is_unseen = node
        .pods
        .iter()
        .any(|it| matches!(it.presence, Presence::NotSeen | Presence::Hidden));
    let kubelet = node.kubelet.as_ref();
    if is_unseen && kubelet.is_some_and(|it| it.found != Found::Named) {
        return Some(Remark::PodsUnseen);
    }
    (!node.left_over.is_empty()).then(|| Remark::LeftOver {
        pods: node.left_over.iter().take(MAX_LEFT_OVER).cloned().collect(),
        more: node.left_over.len().saturating_sub(MAX_LEFT_OVER),
    })
}

/// More pods that are gone are not named.
const MAX_LEFT_OVER: usize = 3;

/// The cluster's DNS, as far as a node tells of it.
#[derive(Debug, Default)]
pub struct ClusterDns {
    /// The addresses of its Service, each with what says so.
    pub services: Vec<(IpAddr, Option<Proof>)>,
    /// The DNS servers of all pods of the node, each with its pod's number in
    /// [`Node::pods`].
    pub servers: Vec<(usize, DnsServer)>,
    /// Those pods that are behind the Service, each with its server's port.
    pub endpoints: Vec<(usize, u16)>,
    /// Where the cluster's DNS is asked, and nothing tells the address of its Service, as
    /// `clusterDNS` is that of NodeLocal DNSCache alone: those that installers give it.
    pub usual: &'static [IpAddr],
}

/// What the node tells of the cluster's DNS.
pub fn cluster_dns(node: &Node) -> ClusterDns {
    let graph = Graph::of_node(node);
    // A pod has the search list of the cluster, and not the kubelet that says whose DNS it asks.
    let is_asked = match &node.kubelet {
        Some(kubelet) => !kubelet.cluster_dns.value.is_empty(),
        None => node
            .node_file
            .as_ref()
            .and_then(HostFile::conf)
            .is_some_and(view::has_cluster_search),
    };
    let has_usual = is_asked && !graph.knows_service();
    let number = |pod: &Pod| node.pods.iter().position(|own| std::ptr::eq(own, pod));
    let mut endpoints = Vec::new();
    for &server in graph.behind_service() {
        let server = graph.servers.get(server);
        let pod = server.and_then(|it| Some((number(it.pod?)?, &it.dns)));
        let port = |it: &DnsServer| it.listens.first().map_or(DNS_PORT, |it| it.port);
        endpoints.extend(pod.map(|(pod, dns)| (pod, port(dns))));
    }
    let new = graph.servers.into_iter().filter_map(|it| {
        let is_new = !node.servers.contains(&it.dns);
        Some((number(it.pod.filter(|_| is_new)?)?, it.dns))
    });
    ClusterDns {
        servers: new.collect(),
        services: graph.services,
        endpoints,
        usual: if has_usual { &USUAL_SERVICES } else { &[] },
    }
}

/// The rules of more addresses are not read.
const MAX_IN_QUESTION: usize = 4;

/// The addresses of the cluster's DNS of which only rules tell who is asked: a server of
/// the node has bound them, and listens there. A link-local one is no Service's.
pub fn services_in_question(node: &Node) -> Vec<IpAddr> {
    let graph = Graph::of_node(node);
    let listens = |ip: IpAddr| {
        let is_there = |it: &Listener| it.network == Network::Node && it.address == Some(ip);
        let mut listeners = node.listeners.iter().filter(|it| is_there(it));
        listeners.any(|it| it.is_udp && it.port == DNS_PORT)
    };
    let is_bound = |ip| deliver::bound(&graph, (ip, DNS_PORT).into(), When::Now).is_some();
    let services = graph.services.iter().map(|it| it.0);
    let all = services.filter(|ip| !is_link_local(*ip) && listens(*ip) && is_bound(*ip));
    all.take(MAX_IN_QUESTION).collect()
}

/// Where servers of one list do not give the same answers though any of them is
/// asked, of the cluster's DNS.
pub fn unlike(node: &Node) -> Vec<Remark> {
    unlike::remarks(&Graph::of_node(node))
}

/// The servers that a probe of `node` asks.
pub fn probe_targets(node: &Node) -> Vec<seen::Target> {
    let graph = Graph::of_node(node);
    let servers: Vec<DnsServer> = graph.servers.into_iter().map(|it| it.dns).collect();
    seen::targets_of(&servers, node)
}

/// Those of the targets that are on a query path of the report; all of them where
/// none is, as then the paths are not known.
pub fn on_path(targets: Vec<seen::Target>, report: &Report) -> Vec<seen::Target> {
    let hops = || report.chains.iter().flat_map(|it| &it.hops);
    let is_on_path = |target: &seen::Target| {
        hops().any(|hop| {
            let is_it = matches!(&hop.who, Who::Server { name, .. } if *name == target.who);
            // A loopback address is another server's in each network.
            is_it || !hop.is_to_loopback() && hop.sends_to.address() == Some(target.server)
        })
    };
    let found: Vec<seen::Target> = targets
        .iter()
        .filter(|it| is_on_path(it))
        .cloned()
        .collect();
    if found.is_empty() { targets } else { found }
}
