//! Who each name server of a node is, and where its queries end up.
//!
//! Every server is followed to the end: the stub, what it forwards to, what
//! that forwards to, until an address outside the node, a cycle, or an
//! address where nobody listens.

mod follow;
mod identity;
mod kubelet;

use std::net::{IpAddr, SocketAddr};

use crate::address::DNS_PORT;
use crate::check_loop;
use crate::config::resolv_conf::ResolvConf;
use crate::loopback;
use crate::node::{HostFile, Node, Unread};
use crate::text::{Place, Source};
use crate::topology::Target;
use crate::topology::resolved::{Mode, UPLINK_FILE};
use crate::upstream::follow::Walk;

/// How many servers resolvers take from a file.
///
/// Source: glibc and musl `resolv.h: MAXNS`, kubernetes
/// `pkg/apis/core/validation: MaxDNSNameservers`.
const MAX_SERVERS: usize = 3;

/// How many servers of a file are followed.
const MAX_FOLLOWED: usize = 100;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The files, the kubelet's first; for one address alone none or the file
    /// that lists it.
    pub files: Vec<FileReport>,
    /// Why not all is known, without a full stop: a file could not be read, or
    /// the kubelet could not be seen.
    pub doubt: Option<String>,
    /// What else is worth knowing. Whole sentences without a full stop.
    pub remarks: Vec<String>,
    /// What could not be read.
    pub skipped: Vec<String>,
}

/// A file and its servers.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    /// Whose file it is.
    pub role: Role,
    /// Its path, safe to print; empty: an address was asked for that no file
    /// lists, or which file it is is not known.
    pub path: String,
    /// What the path becomes with each link on the way.
    pub links: Vec<String>,
    /// What `/etc/resolv.conf` is to systemd-resolved, where that runs.
    pub mode: Option<Mode>,
    /// Why there are no servers, without a full stop.
    pub problem: Option<String>,
    /// Whether there is a file that could not be read: what it says is not
    /// known.
    pub is_unknown: bool,
    /// Its name servers, in order.
    pub servers: Vec<Step>,
    /// What it says less than its writer knows.
    pub lost: Vec<String>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The file that the kubelet's `resolvConf` names.
    Kubelet,
    /// The one that the running kubelet wrote for a pod, which tells what it has.
    Handed,
    /// The one that it names from the kubelet's restart on.
    Restarted,
    /// `/etc/resolv.conf`.
    Node,
    /// Both.
    Both,
    /// The address was given by the user.
    Asked,
}

/// A server on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its address; `None`: it has none, as the servers of the root zone.
    pub address: Option<SocketAddr>,
    /// Only the names of this zone go there; `None`: all, or all others.
    pub zone: Option<String>,
    /// Where its address is written.
    pub place: Option<Place>,
    /// A short name of its kind for machines: `systemd-resolved`.
    pub id: &'static str,
    /// Who it is, as the end of `it is …`.
    pub who: String,
    /// What confirms that; empty: only the address says so.
    pub confirmed_by: Vec<String>,
    /// What else is known: who reaches it, what it leaves out.
    pub notes: Vec<String>,
    /// What a list of its servers would lose.
    pub lost: Vec<String>,
    /// How it goes on.
    pub end: End,
    /// To whom it forwards.
    pub next: Vec<Self>,
}

/// How a way goes on behind a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// It forwards to the next ones.
    Forwards,
    /// It lies outside the node.
    Outside,
    /// It was followed further above.
    Above,
    /// It is on this way already.
    Cycle,
    /// Nobody listens there; the reason, without a full stop.
    Refused(String),
    /// It cannot be followed; the reason, without a full stop.
    Unknown(String),
}

/// How it is with a node's servers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Health {
    /// No server leads nowhere.
    Clean,
    /// A server leads nowhere, or a file does.
    Dead,
    /// No server is known to lead nowhere, and one of the files could not be
    /// read.
    Unknown,
    /// Nothing could be read.
    Nothing,
}

/// Adds the DNS servers that pods run on the node's network, as check-loop
/// finds them: with the Corefiles and the files of their containers.
pub fn add_pods(node: &mut Node) {
    for (number, mut server) in check_loop::servers_on_node(node) {
        let Some(pod) = node.pods.get(number) else {
            continue;
        };
        let own = pod.seen_resolv_conf.as_ref().or(pod.resolv_conf.as_ref());
        let own = own.map(|conf| (RESOLV_CONF.to_owned(), conf.clone()));
        // What it reads it reads in its own file system.
        let key = pod.key();
        let files = pod.files.iter().cloned().chain(own);
        let files: Vec<HostFile> = files
            .map(|(path, conf)| in_pod(&key, &path, conf))
            .collect();
        for target in server.forwards.iter_mut().flat_map(|it| &mut it.to) {
            if let Target::File(path) = &mut target.value {
                *path = pod_path(&key, path);
            }
        }
        node.files.extend(files);
        node.servers.push(server);
    }
}

const RESOLV_CONF: &str = "/etc/resolv.conf";

/// A file of a pod under a path that no file of the node has.
fn in_pod(key: &str, path: &str, conf: ResolvConf) -> HostFile {
    HostFile {
        path: pod_path(key, path),
        links: Vec::new(),
        content: Ok(conf),
    }
}

fn pod_path(key: &str, path: &str) -> String {
    format!("{path} of pod {key}")
}

/// Follows the servers of the kubelet's file and of `/etc/resolv.conf`. The
/// kubelet's is the one that it has while it runs.
pub fn of_node(node: &Node) -> Report {
    let mut files = Vec::new();
    let running = check_loop::as_running(node);
    let seen = running.as_ref().unwrap_or(node);
    let end = |file: &HostFile| file.links.last().unwrap_or(&file.path).clone();
    let is_read = |it: &HostFile| it.content.is_ok();
    let kubelet = seen.kubelet_file.as_ref();
    let own = seen.node_file.as_ref();
    match (kubelet, own) {
        (Some(kubelet), Some(own))
            if end(kubelet) == end(own) && is_read(kubelet) == is_read(own) =>
        {
            files.push(file(seen, own, Role::Both));
        }
        _ => {
            files.extend(kubelet.map(|it| kubelet::file(seen, it)));
            files.extend(own.map(|it| file(seen, it, Role::Node)));
        }
    }
    let later = running.as_ref().and(node.kubelet_file.as_ref());
    if let Some(later) = later {
        let at = files.len().min(1);
        files.insert(at, file(node, later, Role::Restarted));
    }
    let mut unknown = files.iter().filter(|it| it.is_unknown);
    let unread = unknown.find_map(|it| it.problem.clone());
    let doubt = unread.or_else(|| {
        let why = node.unseen.as_ref().filter(|_| node.kubelet.is_none())?;
        Some(format!("whether a kubelet runs here is not known: {why}"))
    });
    Report {
        doubt,
        files,
        remarks: kubelet::remarks(node, running.as_ref()),
        skipped: node.skipped.clone(),
    }
}

/// Follows one address, as if a resolver on the node asked it.
pub fn of_address(node: &Node, address: IpAddr) -> Report {
    let wanted = SocketAddr::new(address, DNS_PORT);
    let all = node
        .kubelet_file
        .iter()
        .chain(&node.node_file)
        .chain(&node.files);
    let listed = all.filter_map(|file| {
        let conf = file.content.as_ref().ok()?;
        let mut servers = loopback::name_servers(conf);
        let (_, span) = servers.find(|(ip, _)| *ip == address)?;
        Some((file, conf, conf.place(span.start)))
    });
    let mut report = FileReport {
        role: Role::Asked,
        path: String::new(),
        links: Vec::new(),
        mode: None,
        problem: None,
        is_unknown: false,
        servers: Vec::new(),
        lost: Vec::new(),
    };
    let nothing = ResolvConf::parse(Source::default());
    let mut walk = Walk::new(node);
    let step = match listed.into_iter().next() {
        Some((file, conf, _)) => {
            report.path.clone_from(&file.path);
            report.links.clone_from(&file.links);
            let place = place_in(conf, address);
            walk.step(wanted, place, conf, &file.links)
        }
        None => walk.step(wanted, None, &nothing, &[]),
    };
    report.servers.push(step);
    Report {
        files: vec![report],
        doubt: None,
        remarks: Vec::new(),
        skipped: node.skipped.clone(),
    }
}

fn place_in(conf: &ResolvConf, address: IpAddr) -> Option<Place> {
    let mut servers = loopback::name_servers(conf);
    let (_, span) = servers.find(|(ip, _)| *ip == address)?;
    Some(conf.place_of(span.start))
}

/// Why a file has no servers.
fn unread_problem(file: &HostFile, unread: &Unread, role: Role) -> String {
    let problem = match (unread.is_missing, file.links.last()) {
        (true, Some(target)) => format!("it leads to {target}, and there is no such file"),
        (true, None) => "there is no such file: resolvers then ask 127.0.0.1".to_owned(),
        (false, _) => unread.reason.clone(),
    };
    // Source: kubernetes pkg/kubelet/network/dns/dns.go `GetPodDNS`.
    let stops_pods = unread.is_missing && role != Role::Node;
    if stops_pods {
        format!("{problem}; the kubelet reads it for every pod, so no pod starts without it")
    } else {
        problem
    }
}

fn file(node: &Node, file: &HostFile, role: Role) -> FileReport {
    let end = file.links.last().unwrap_or(&file.path);
    let exists = file.content.is_ok();
    let is_known = match &file.content {
        Ok(_) => true,
        Err(unread) => unread.is_missing,
    };
    let is_own = file.path == "/etc/resolv.conf" && node.resolved.is_some() && is_known;
    let mut report = FileReport {
        role,
        path: file.path.clone(),
        links: file.links.clone(),
        mode: is_own.then(|| Mode::of(exists.then_some(end.as_str()))),
        problem: None,
        is_unknown: false,
        servers: Vec::new(),
        lost: Vec::new(),
    };
    let conf = match &file.content {
        Ok(conf) => conf,
        Err(unread) => {
            report.is_unknown = !unread.is_missing;
            report.problem = Some(unread_problem(file, unread, role));
            return report;
        }
    };
    // Each role is told in full.
    let mut walk = Walk::new(node);
    for (address, span) in loopback::name_servers(conf).take(MAX_FOLLOWED) {
        let place = conf.place_of(span.start);
        let address = SocketAddr::new(address, DNS_PORT);
        report
            .servers
            .push(walk.step(address, Some(place), conf, &file.links));
    }
    if report.servers.is_empty() {
        let problem = "it lists no name server: resolvers then ask 127.0.0.1";
        report.problem = Some(problem.to_owned());
    }
    if let Some(resolved) = node.resolved.as_ref().filter(|_| end == UPLINK_FILE) {
        report.lost = resolved.lost();
    }
    let count = loopback::name_servers(conf).count();
    if count > MAX_FOLLOWED {
        report.lost.push(format!(
            "it lists {count} servers, of which only the first {MAX_FOLLOWED} are shown"
        ));
    }
    if count > MAX_SERVERS {
        report.lost.push(format!(
            "it lists {count} servers, of which resolvers and pods get the first {MAX_SERVERS}"
        ));
    }
    report
}

impl Report {
    /// How it is with the servers; a node of which nothing is known has
    /// nothing.
    pub fn health(&self, node: &Node) -> Health {
        let is_there = |it: &HostFile| it.content.is_ok() || !it.links.is_empty();
        let mut files = node.kubelet_file.iter().chain(&node.node_file);
        if !files.any(is_there)
            && node.files.is_empty()
            && node.servers.is_empty()
            && !node.sockets_known
        {
            return Health::Nothing;
        }
        let is_dead = |it: &FileReport| it.problem.is_some() && !it.is_unknown;
        let is_dead = self.files.iter().any(is_dead);
        let is_dead = is_dead
            || self
                .files
                .iter()
                .flat_map(|it| &it.servers)
                .any(Step::is_dead);
        if is_dead {
            Health::Dead
        } else if self.doubt.is_some() {
            Health::Unknown
        } else {
            Health::Clean
        }
    }
}

impl FileReport {
    /// Whether it, or a list of some server's own, leaves something out.
    pub fn loses(&self) -> bool {
        !self.lost.is_empty() || self.servers.iter().any(Step::loses)
    }
}

impl Step {
    fn loses(&self) -> bool {
        !self.lost.is_empty() || self.next.iter().any(Self::loses)
    }

    /// Whether a way from here leads nowhere.
    pub fn is_dead(&self) -> bool {
        let here = matches!(self.end, End::Cycle | End::Refused(_));
        here || self.next.iter().any(Self::is_dead)
    }
}

#[cfg(test)]
mod tests;
