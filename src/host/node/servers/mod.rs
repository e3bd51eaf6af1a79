//! Reads the configuration of the DNS servers on a node.

mod include;
mod pods;
mod resolved;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::processes::{self, Seen, after};
use super::{files, networks, sockets};
use crate::config::settings::Settings;
use crate::host::root::Root;
use crate::host::situation;
use crate::node::{Listener, Node};
use crate::text::Source;
use crate::topology::resolved::Resolved;
use crate::topology::{
    DnsServer, Network, Program, Surroundings, coredns, dnsmasq, named, unbound,
};

pub use resolved::{PATIENCE, Sockets, ask as ask_resolved, of_files as read_resolved};

/// The DNS servers that run on the node itself; where no process could be
/// seen, those that its files configure. `resolved` is what systemd-resolved
/// does and its name. With what could not be read.
pub fn read(
    root: &Root,
    processes: &[Seen],
    listeners: &[Listener],
    resolved: Option<&(Resolved, String)>,
) -> (Vec<DnsServer>, Vec<String>) {
    let (addresses, interfaces) = networks::of_node(root);
    let (resolv_files, _) = files::read(root);
    let mut reader = Reader {
        root,
        addresses,
        interfaces,
        files: resolv_files.into_iter().map(|it| it.path).collect(),
        skipped: Vec::new(),
    };
    let mut servers = Vec::new();
    let own: Vec<&Seen> = of_the_node(processes);
    for process in &own {
        let label = format!("(process {})", process.pid);
        let arguments = || processes::arguments(root, process);
        match process.comm.as_str() {
            "dnsmasq" => servers.extend(reader.dnsmasq(Some(&arguments()), &label)),
            "unbound" => servers.push(reader.unbound(&arguments(), &label)),
            "named" => servers.push(reader.named(&arguments(), &label)),
            "coredns" => servers.extend(reader.coredns(&arguments(), &label)),
            _ => {}
        }
    }
    // dnsmasq's second process, its helper, has the same settings.
    servers.dedup_by(|a, b| a.program == Program::Dnsmasq && a.listens == b.listens);
    if processes.is_empty() {
        servers.extend(reader.configured());
    }
    servers.extend(resolved.map(|(it, label)| crate::topology::resolved::server(it, label)));
    seen_listening(&mut servers, listeners);
    (servers, reader.skipped)
}

/// Reads the files in the syntax of resolv.conf, the addresses, the sockets
/// and the servers of a node, also the sockets of the pods that it has.
pub fn fill(root: &Root, processes: &[Seen], node: &mut Node) {
    let path = Path::new(situation::RESOLV_CONF);
    node.node_file = Some(files::host_file(root, path));
    let (read, mut skipped) = files::read(root);
    node.files = read;
    (node.addresses, node.interfaces) = networks::of_node(root);
    node.sockets_known = sockets::are_known(root, 1);
    let pods = node.pods.iter().filter(|it| it.host_network != Some(true));
    let pods = pods.filter_map(|it| Some((Network::Pod(it.key()), it.processes.first()?.pid)));
    let all: Vec<(Network, u32)> = std::iter::once((Network::Node, 1)).chain(pods).collect();
    let (listeners, more) = sockets::read(root, processes, &all);
    node.listeners = listeners;
    skipped.extend(more);
    let (resolved, unasked) = resolved::read(root, processes);
    skipped.extend(unasked);
    let (servers, more) = self::read(root, processes, &node.listeners, resolved.as_ref());
    node.servers = servers;
    skipped.extend(more);
    let (servers, more) = pods::read(root, processes, &node.pods);
    node.servers.extend(servers);
    skipped.extend(more);
    node.resolved = resolved.map(|(resolved, _)| resolved);
    let unread = node
        .node_file
        .as_ref()
        .and_then(|it| it.content.as_ref().err());
    let unread = unread.filter(|it| !it.is_missing);
    skipped.extend(unread.map(|it| it.reason.clone()));
    for sentence in skipped {
        if !node.skipped.contains(&sentence) {
            node.skipped.push(sentence);
        }
    }
}

/// Those of the processes that belong to no container.
pub(super) fn of_the_node(processes: &[Seen]) -> Vec<&Seen> {
    let init = processes.iter().find(|it| it.pid == 1);
    let netns = netns_of_the_node(processes);
    let base = init.map_or(0, |it| containers_in(&it.cgroup));
    let is_own = |it: &&Seen| {
        let is_on_its_network = it.netns.is_none() || netns.is_none() || it.netns == netns;
        is_on_its_network && containers_in(&it.cgroup) <= base
    };
    processes.iter().filter(is_own).collect()
}

/// The node's network namespace: that of its first process or, where that
/// may not be looked at, of kdns itself.
fn netns_of_the_node(processes: &[Seen]) -> Option<u64> {
    let of = |pid: u32| processes.iter().find(|it| it.pid == pid)?.netns;
    of(1).or_else(|| of(std::process::id()))
}

/// How many containers a control group lies in, by the names that runtimes
/// give; a node can itself be a container.
fn containers_in(cgroup: &[u8]) -> usize {
    const NAMES: &[&str] = &[
        "kubepods",
        "docker",
        "crio-",
        "libpod",
        "cri-containerd-",
        "lxc.payload",
        "machine.slice",
    ];
    let text = String::from_utf8_lossy(cgroup);
    let in_line = |line: &str| {
        let path = line.splitn(3, ':').nth(2).unwrap_or_default();
        let parts = path.split('/').filter(|part| !part.ends_with(".service"));
        let is_one = |part: &&str| NAMES.iter().any(|name| part.starts_with(name));
        parts.filter(is_one).count()
    };
    text.lines().map(in_line).max().unwrap_or(0)
}

/// A server whose listeners no file tells has those that are its process's.
fn seen_listening(servers: &mut [DnsServer], listeners: &[Listener]) {
    for server in servers.iter_mut().filter(|it| it.listens.is_empty()) {
        for listener in listeners.iter().filter(|it| it.network == Network::Node) {
            let owner = listener.owner.as_ref();
            let is_its =
                owner.is_some_and(|it| server.label.ends_with(&format!("(process {})", it.pid)));
            if is_its {
                server.listens.push(crate::topology::Listen {
                    address: listener.address,
                    port: listener.port,
                    evidence: crate::topology::Evidence::Socket(listener.file.clone()),
                });
            }
        }
    }
}

struct Reader<'r> {
    root: &'r Root,
    addresses: Vec<IpAddr>,
    interfaces: Vec<(IpAddr, String)>,
    files: Vec<String>,
    skipped: Vec<String>,
}

impl Reader<'_> {
    /// `None` for the arguments: it does not run.
    fn dnsmasq(&mut self, arguments: Option<&[String]>, label: &str) -> Option<DnsServer> {
        let mut settings = Settings::default();
        let rest = arguments.and_then(|it| it.get(1..)).unwrap_or_default();
        include::dnsmasq(self.root, rest, label, &mut settings, &mut self.skipped);
        let whose = dnsmasq::whose(arguments.unwrap_or_default());
        dnsmasq::server(&settings, &self.around(&format!("{whose}dnsmasq {label}")))
    }

    fn unbound(&mut self, arguments: &[String], label: &str) -> DnsServer {
        let path = after(arguments, "-c").unwrap_or("/etc/unbound/unbound.conf");
        let mut settings = Settings::default();
        include::unbound(self.root, path, &mut settings, &mut self.skipped);
        unbound::server(&settings, &self.around(&format!("unbound {label}")))
    }

    fn named(&mut self, arguments: &[String], label: &str) -> DnsServer {
        let defaults = ["/etc/bind/named.conf", "/etc/named.conf"];
        let there = |path: &&str| self.root.read(Path::new(path)).is_ok();
        let default = defaults
            .into_iter()
            .find(there)
            .unwrap_or("/etc/bind/named.conf");
        let path = after(arguments, "-c").unwrap_or(default).to_owned();
        let path = match after(arguments, "-t") {
            Some(jail) => format!("{jail}/{path}"),
            None => path,
        };
        let conf = include::named(self.root, &path, &mut self.skipped);
        let has = |flag: &str| arguments.iter().any(|it| it == flag);
        let flags = named::Flags {
            port: after(arguments, "-p").and_then(|it| it.parse().ok()),
            only_v4: has("-4"),
            only_v6: has("-6"),
        };
        named::server(&conf, flags, &self.around(&format!("named {label}")))
    }

    fn coredns(&mut self, arguments: &[String], label: &str) -> Vec<DnsServer> {
        let given = after(arguments, "-conf").or_else(|| after(arguments, "--conf"));
        let path = given.unwrap_or("/etc/coredns/Corefile");
        let source = files::source(self.root, path.as_bytes(), &mut self.skipped);
        let corefiles: Vec<Source> = source.into_iter().collect();
        let site = coredns::Site {
            program: Program::CoreDns,
            label: &format!("CoreDNS {label}"),
            network: &Network::Node,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
        };
        coredns::read(&corefiles, &site)
    }

    /// What the files configure, where no process tells what runs.
    fn configured(&mut self) -> Vec<DnsServer> {
        let there = |root: &Root, path: &str| root.read(Path::new(path)).is_ok();
        let mut servers = Vec::new();
        if there(self.root, "/etc/dnsmasq.conf") {
            servers.extend(self.dnsmasq(None, "(configured in /etc/dnsmasq.conf)"));
        }
        if there(self.root, "/etc/unbound/unbound.conf") {
            servers.push(self.unbound(&[], "(configured in /etc/unbound/unbound.conf)"));
        }
        for path in ["/etc/bind/named.conf", "/etc/named.conf"] {
            if there(self.root, path) {
                let arguments = ["-c".to_owned(), path.to_owned()];
                servers.push(self.named(&arguments, &format!("(configured in {path})")));
            }
        }
        servers.extend(self.network_managers());
        servers
    }

    /// The dnsmasq that NetworkManager starts when it is told to.
    fn network_managers(&mut self) -> Option<DnsServer> {
        let sources = include::network_manager(self.root, &mut self.skipped);
        let place = dnsmasq::network_manager_uses_it(&sources)?;
        let mut listed = None;
        for path in ["/etc/resolv.conf", "/run/NetworkManager/resolv.conf"] {
            let file = files::host_file(self.root, &PathBuf::from(path));
            let server = file
                .content
                .ok()
                .and_then(|conf| dnsmasq::network_managers(&conf));
            listed = listed.or(server);
        }
        let label = format!("NetworkManager's dnsmasq (configured at {place})");
        dnsmasq::of_network_manager(listed?, &place, &self.around(&label))
    }

    fn around<'a>(&'a self, label: &'a str) -> Surroundings<'a> {
        Surroundings {
            label,
            addresses: &self.addresses,
            interfaces: &self.interfaces,
            files: &self.files,
        }
    }
}
