//! The one change that ends the loop. Each candidate is tried: it is named
//! only if the node with it would not loop.

mod forward;
mod pods;
mod setting;

use std::net::IpAddr;

pub(super) use pods::recreations;

use super::facts::{Caveat, Step as Todo, Useless};
use super::graph::{Graph, reached};
use super::outcome::{self, Outcome};
use super::quote;
use super::report::{Edit, End, Fix, State, When};
use super::servers::{self, Server};
use super::verdict;
use super::view::{self, Policy};
use super::walk::{self, QueryPath, Step};
use crate::config::resolv_conf::ResolvConf;
use crate::node::{HostFile, Node, Pod};
use crate::order::Order as _;
use crate::text::{Source, escaped};
use crate::topology::resolved::{STATIC_FILES, STUB_FILE, UPLINK_FILE};
use crate::topology::{Program, Target};

/// Files with real servers, the best first; others follow.
const GOOD_FILES: [&str; 3] = [
    UPLINK_FILE,
    "/run/NetworkManager/no-stub-resolv.conf",
    "/run/NetworkManager/resolv.conf",
];
/// Where a file for the kubelet goes if the node has none.
const OWN_FILE: &str = "/etc/kubernetes/resolv.conf";

/// What fixes the node; `None`: nothing needs to be, or nothing is known that
/// would. `files` is the node with what the kubelet has from its restart on.
pub(super) fn find(
    graph: &Graph<'_>,
    files: &Node,
    (now, next): (State, State),
    outcomes: &[&Outcome],
) -> Option<Fix> {
    let decides = |it: &&&Outcome| verdict::is_bad(it.state);
    let decided = outcomes
        .iter()
        .filter(decides)
        .find_map(|it| Some((*it, it.deciding()?)));
    let is_stale = files
        .kubelet
        .as_ref()
        .is_some_and(|it| it.running.is_some());
    if decided.is_none() && !(is_stale && next == State::NoLoop) {
        return None;
    }
    let every = outcome::every(graph, When::Now);
    let well = pods::well(graph, &every);
    let is_right = |node: &Node, state: State| state == State::NoLoop || fixes(node);
    let is_now = decided.is_some_and(|it| it.0.when == When::Now);
    if is_now && is_right(graph.node, next) {
        let mut fix = setting::recreate(graph.node, false)?;
        fix.then.extend(pods::recreation(graph.node, &well));
        return Some(fix);
    }
    let restarted = Graph::of_node(files);
    let later = outcome::outcomes(&restarted, When::NextStart);
    if is_stale && is_right(files, verdict::state(&restarted, &later)) {
        decided?;
        let mut fix = setting::recreate(files, true)?;
        fix.then.extend(pods::recreation(files, &well));
        return Some(fix);
    }
    // Where the kubelet will have another file, that one is to be fixed.
    let mut later = later
        .iter()
        .filter(|it| is_stale && verdict::is_bad(it.state));
    let later = later.find_map(|it| Some((it, it.deciding()?)));
    let (outcome, path) = later.or(decided)?;
    let case = Case {
        graph: &restarted,
        zone: &outcome.zone,
        steps: circle(path),
    };
    let mut fix = candidates(&case).iter().find_map(|it| it(&case))?;
    fix.not = wrong(&case);
    let is_old = fix.then.iter().any(pods::is_recreation);
    fix.then.retain(|it| !pods::is_recreation(it));
    if let Some(kubelet) = files.kubelet.as_ref().filter(|_| is_old && is_stale) {
        let restart = setting::restart(kubelet);
        if !fix.then.contains(&restart) {
            fix.then.push(restart);
        }
    }
    // A pod that waits for its containers has the file in which they will start.
    let waits = graph.servers.iter().any(Server::waits);
    if is_old && (waits || outcome.when == When::Now || now != State::NoLoop) {
        fix.then.extend(pods::recreation(files, &well));
    }
    Some(fix)
}

/// The fixes that are tried, in order.
fn candidates(case: &Case<'_, '_>) -> &'static [Candidate] {
    if case.has_node_cache() {
        &[
            forward::explicit,
            forward::to_service,
            forward::of_program,
            other_file,
            without_line,
            own_file,
        ]
    } else if case.is_through_kubelet() {
        &[other_file, without_line, own_file]
    } else {
        &[forward::explicit, forward::of_program, other_file]
    }
}

/// A change, if there is one of its kind that fixes the node.
type Candidate = fn(&Case<'_, '_>) -> Option<Fix>;

/// What is to be fixed.
struct Case<'c, 'n> {
    graph: &'c Graph<'n>,
    /// The zone whose names loop.
    zone: &'c str,
    /// The hops of the circle, or the one that is refused.
    steps: &'c [Step],
}

fn circle(path: &QueryPath) -> &[Step] {
    let from = match path.end {
        End::Cycle(first) => first,
        _ => path.steps.len().saturating_sub(1),
    };
    path.steps.get(from..).unwrap_or_default()
}

impl<'c, 'n> Case<'c, 'n> {
    fn node(&self) -> &'n Node {
        self.graph.node
    }

    fn servers(&self) -> impl Iterator<Item = (&'c Step, &'c Server<'n>)> {
        let graph = self.graph;
        let steps = self.steps.iter();
        steps.filter_map(move |step| Some((step, graph.server(&step.who)?)))
    }

    /// Whether NodeLocal DNSCache is in the circle.
    fn has_node_cache(&self) -> bool {
        let mut servers = self.servers();
        servers.any(|(_, it)| it.dns.program == Program::NodeCache)
    }

    /// Whether a hop sends to a server of the file that the kubelet hands out.
    fn is_through_kubelet(&self) -> bool {
        self.servers()
            .any(|(step, server)| self.reads_kubelet_file(step, server))
    }

    fn reads_kubelet_file(&self, step: &Step, server: &Server<'_>) -> bool {
        let policy = server
            .pod
            .map_or(Policy::Host, |pod| view::policy(self.node(), pod));
        let is_mounted = server.pod.is_some_and(Pod::mounts_resolv_conf);
        server.is_in_pod() && policy == Policy::Host && step.is_from_file && !is_mounted
    }

    /// Addresses outside the node that files and servers of it name as
    /// upstream servers, in the order in which they were found.
    fn upstreams(&self) -> Vec<IpAddr> {
        let node = self.node();
        let files = node
            .files
            .iter()
            .chain(&node.node_file)
            .chain(&node.kubelet_file);
        let mut order: Vec<&HostFile> = files.collect();
        order.order_by_key(|file| !GOOD_FILES.contains(&file.path.as_str()));
        let listed = order
            .into_iter()
            .filter_map(|file| view::of_file(file).ok())
            .flatten();
        let listed = listed.map(|it| it.to);
        let of_servers = self.graph.servers.iter().flat_map(|it| &it.dns.forwards);
        let of_servers = of_servers.filter(|it| it.zone == ".").flat_map(|it| &it.to);
        let of_servers = of_servers.filter_map(|to| match to.value {
            Target::Address(to) => Some(to),
            _ => None,
        });
        let mut found = Vec::new();
        for to in listed.chain(of_servers) {
            let ip = reached(to).ip();
            let is_near = ip.is_loopback()
                || node.addresses.contains(&ip)
                || self.graph.service(ip).is_some()
                || node.pods.iter().any(|pod| pod.addresses.contains(&ip))
                || self.is_bound(ip);
            if to.port() == 53 && !is_near && !found.contains(&ip) {
                found.push(ip);
            }
        }
        found.truncate(3);
        found
    }

    fn is_bound(&self, ip: IpAddr) -> bool {
        let mut listens = self.graph.servers.iter().flat_map(|it| &it.dns.listens);
        listens.any(|it| it.address == Some(ip))
    }
}

/// Whether the node would be well with this change.
fn fixes(changed: &Node) -> bool {
    let graph = Graph::of_node(changed);
    let outcomes = outcome::outcomes(&graph, When::NextStart);
    // What is not followed is no better and no worse with the change.
    let mut followed = outcomes.iter().filter(|it| !it.is_doubt()).peekable();
    followed.peek().is_some() && followed.all(|it| it.state == State::NoLoop)
}

/// Another file of the node for the kubelet.
fn other_file(case: &Case<'_, '_>) -> Option<Fix> {
    let node = case.node();
    let kubelet = node.kubelet.as_ref()?;
    let mut files: Vec<&HostFile> = node.node_file.iter().chain(&node.files).collect();
    let rank = |file: &&HostFile| {
        let place = GOOD_FILES.iter().position(|it| *it == file.path);
        place.unwrap_or(GOOD_FILES.len())
    };
    files.order_by_key(rank);
    let good = files.into_iter().find(|file| {
        let is_other = file.path != kubelet.resolv_conf.value;
        let is_stub = file.path == STUB_FILE || STATIC_FILES.contains(&file.path.as_str());
        is_other
            && !is_stub
            && is_kept(node, file)
            && has_real_servers(file)
            && fixes(&with_file(node, file))
    })?;
    Some(setting::point_to(node, &good.path))
}

/// The kubelet's file without the server, where nobody writes it again.
fn without_line(case: &Case<'_, '_>) -> Option<Fix> {
    let node = case.node();
    let file = node
        .kubelet_file
        .as_ref()
        .filter(|it| it.links.is_empty())?;
    let conf = file.conf()?;
    if is_generated(&conf.source.bytes) || !case.is_through_kubelet() {
        return None;
    }
    let listed = view::listed(conf);
    let bad = listed.iter().find(|it| {
        case.steps
            .iter()
            .any(|step| step.to.address() == Some(it.to))
    })?;
    let proof = bad.proof.last()?;
    let mut changed = with_file(node, file);
    let kept = listed.iter().filter(|it| it.to != bad.to);
    let text: Vec<String> = kept
        .map(|it| format!("nameserver {}\n", it.to.ip()))
        .collect();
    if let Some(file) = &mut changed.kubelet_file {
        file.content = Ok(parsed(&file.path, text.concat()));
    }
    (!text.is_empty() && fixes(&changed)).then(|| Fix {
        edit: Edit {
            place: proof.place.clone(),
            old: Some(proof.text.clone()),
            new: String::new(),
        },
        is_restart: false,
        then: vec![pods::recreation_of_all()],
        but: of_node(node, file).into_iter().collect(),
        not: Vec::new(),
    })
}

/// A file that is still to be written.
fn own_file(case: &Case<'_, '_>) -> Option<Fix> {
    case.node().kubelet.as_ref()?;
    let text = format!("nameserver {}\n", forward::OUTSIDE);
    let file = HostFile {
        path: OWN_FILE.to_owned(),
        links: Vec::new(),
        content: Ok(parsed(OWN_FILE, text)),
    };
    if !fixes(&with_file(case.node(), &file)) {
        return None;
    }
    let write = Todo::Write {
        path: OWN_FILE,
        servers: case.upstreams(),
    };
    let mut fix = setting::point_to(case.node(), OWN_FILE);
    fix.then.insert(0, write);
    Some(fix)
}

/// What it means that the file is also the node's own.
fn of_node(node: &Node, file: &HostFile) -> Option<Caveat> {
    let own = node.node_file.as_ref().filter(|it| it.path == file.path)?;
    Some(Caveat::Node(own.path.clone()))
}

fn parsed(path: &str, text: String) -> ResolvConf {
    ResolvConf::parse(Source::new(path, text))
}

/// The node with this file in the kubelet's hands.
fn with_file(node: &Node, file: &HostFile) -> Node {
    let mut changed = node.clone();
    if let Some(kubelet) = &mut changed.kubelet {
        kubelet.resolv_conf.value.clone_from(&file.path);
    }
    changed.kubelet_file = Some(file.clone());
    changed
}

fn has_real_servers(file: &HostFile) -> bool {
    let listed = view::of_file(file).unwrap_or_default();
    !listed.is_empty() && listed.iter().all(|it| !reached(it.to).ip().is_loopback())
}

/// Whether somebody writes the file again after the machine's next start:
/// that of a systemd-resolved that was stopped is then gone.
fn is_kept(node: &Node, file: &HostFile) -> bool {
    let is_stopped = node.is_live && node.resolved.is_none();
    let leads_there = file.links.iter().any(|it| it == UPLINK_FILE);
    !is_stopped || (file.path != UPLINK_FILE && !leads_there)
}

/// Whether a comment says that a program writes the file again.
fn is_generated(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let comments = text.lines().filter(|line| line.starts_with(['#', ';']));
    let mut comments = comments.filter(|line| !line.contains("not managed"));
    let words = ["generated", "do not edit", "managed by", "auto-generated"];
    comments.any(|line| words.iter().any(|word| line.contains(word)))
}

/// What people try that does not fix it.
fn wrong(case: &Case<'_, '_>) -> Vec<Useless> {
    let mut wrong = Vec::new();
    let has_coredns = case
        .servers()
        .any(|(_, it)| matches!(it.dns.program, Program::CoreDns | Program::NodeCache));
    if has_coredns {
        wrong.push(Useless::NoLoopPlugin);
    }
    if let Some(file) = &case.node().kubelet_file {
        let is_written = |it: &ResolvConf| is_generated(&it.source.bytes);
        if let Some(target) = file.links.last() {
            wrong.push(Useless::Editing(escaped(target.as_bytes())));
        } else if file.content.as_ref().is_ok_and(is_written) {
            wrong.push(Useless::Editing(file.path.clone()));
        }
    }
    if case.is_through_kubelet() {
        wrong.push(Useless::Containers);
    }
    wrong
}
