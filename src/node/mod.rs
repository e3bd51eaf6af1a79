//! What a node's files and processes say, as one plain value.
//!
//! Nothing is read here: [`crate::host::node`] does that. Every path is one on
//! the node, without the directory of `--root`.

pub mod addresses;
pub mod asker;
pub mod assemble;
pub mod cgroup;
pub(crate) mod dns_pod;
pub mod kept;
pub mod kernel;
pub mod launch;
pub mod listening;
pub mod logs;
pub mod mountinfo;
pub mod runtime;
pub mod stat;
pub mod workload;

use std::net::IpAddr;

use crate::config::resolv_conf::ResolvConf;
use crate::kubelet::Kubelet;
use crate::kubelet::age::Written;
use crate::node::runtime::state::Ended;
use crate::pod::Runtime;
use crate::text::{Placed, Source};
use crate::topology::resolved::Resolved;
use crate::topology::{CorefileUnknown, DnsServer, Network};

pub use dns_pod::{is_cluster_dns, is_dns_name, is_dns_server, is_node_cache};

/// A node, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its name: the host name, as the kubelet takes it; `None`: not known.
    pub name: Option<String>,
    /// `/etc/machine-id`, which no other machine has; `None`: not known.
    pub machine_id: Option<String>,
    /// What the kernel calls this start of the machine; `None`: not known.
    pub boot_id: Option<String>,
    /// Whether it is the machine that kdns runs on.
    pub is_live: bool,
    /// When it was read, in nanoseconds since 1970; `None`: its files are of another
    /// time.
    pub read_at: Option<i64>,
    /// Its kubelet; `None`: nothing of one was found.
    pub kubelet: Option<Kubelet>,
    /// Why processes of the node can be there that were not seen; `None`: they
    /// were, or no node runs here.
    pub unseen: Option<String>,
    /// The runtime, as far as it is known.
    pub runtime: Maker,
    /// The file that the kubelet's `resolvConf` names, as the kubelet sees it.
    pub kubelet_file: Option<HostFile>,
    /// The same file of a kubelet that has another `resolvConf` while it runs.
    pub running_file: Option<HostFile>,
    /// `/etc/resolv.conf`.
    pub node_file: Option<HostFile>,
    /// Other files in the syntax of resolv.conf that were read: those of
    /// systemd-resolved, NetworkManager, resolvconf, dnsmasq…
    pub files: Vec<HostFile>,
    /// The node's own addresses, loopback ones left out.
    pub addresses: Vec<IpAddr>,
    /// The interfaces of those of them whose interface is known.
    pub interfaces: Vec<(IpAddr, String)>,
    /// Sockets that listen on port 53.
    pub listeners: Vec<Listener>,
    /// Whether the sockets of the node's own network namespace could be read:
    /// an address without a listener is then one where nobody listens.
    pub sockets_known: bool,
    /// The DNS servers that run on the node itself or are configured there.
    pub servers: Vec<DnsServer>,
    /// What systemd-resolved does, if it runs.
    pub resolved: Option<Resolved>,
    /// What its kernel says about connections, where that is asked for.
    pub kernel: kernel::Kernel,
    /// Addresses of the cluster's DNS at which a server of the node listens, and from
    /// which its rules, as they are now, are known to send all packets on to others.
    pub sent_on: Vec<IpAddr>,
    /// The same addresses where it is not known what the rules do with packets to them.
    pub rules_unread: Vec<IpAddr>,
    /// The pods, sorted by namespace and name, without those that are only
    /// left over.
    pub pods: Vec<Pod>,
    /// Labels of pods that are gone: only directories of them are still there.
    pub left_over: Vec<String>,
    /// The Corefile of the cluster's CoreDNS where it belongs to no pod of the
    /// node, `--corefile` or a manifest's, and behind it what it imports.
    pub corefiles: Vec<Source>,
    /// The files in which the settings of the kubelet and of DNS servers
    /// stand, for the words at a place.
    pub sources: Vec<Source>,
    /// Logs of DNS servers that the caller named.
    pub logs: Vec<Source>,
    /// What is there and could not be read, and why: sentences without a full stop.
    pub skipped: Vec<String>,
    /// How many of them, the first, are about processes.
    pub of_processes: usize,
    /// The first of `skipped` that is about processes or pods as such, and not one pod.
    pub pods_unread: Option<String>,
    /// Those of `skipped` that are about one pod, which keeps its files from being read.
    pub unread_pods: Vec<String>,
    /// The first of `skipped` that is about a want of privilege.
    pub denied: Option<String>,
}

/// The runtime that writes the files of the node's pods.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Maker {
    /// The runtime; containerd of an unknown version where nothing tells.
    pub runtime: Runtime,
    /// What tells its version, safe to print.
    pub version_from: Option<String>,
}

/// A file in the syntax of resolv.conf, and how its path leads to it.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// The path that was asked for: the links begin here.
    pub path: String,
    /// What each link on the way leads to, in order, absolute paths.
    pub links: Vec<String>,
    /// The file; an error says why it could not be read, as a whole sentence
    /// without a full stop.
    pub content: Result<ResolvConf, Unread>,
}

impl Node {
    /// What could not be read, but of processes.
    pub fn unread(&self) -> &[String] {
        self.skipped.get(self.of_processes..).unwrap_or_default()
    }
}

impl HostFile {
    /// One that no link leads to.
    pub fn without_links(path: String, content: Result<ResolvConf, Unread>) -> Self {
        Self {
            path,
            links: Vec::new(),
            content,
        }
    }

    /// The file, if it was read.
    pub fn conf(&self) -> Option<&ResolvConf> {
        self.content.as_ref().ok()
    }
}

/// Why there is no content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unread {
    /// Whether there simply is no such file, or a link leads nowhere.
    pub is_missing: bool,
    /// The sentence.
    pub reason: String,
}

/// A socket that listens on port 53.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listener {
    /// In which network namespace.
    pub network: Network,
    /// Its address; `None`: any.
    pub address: Option<IpAddr>,
    /// Port, in practice 53.
    pub port: u16,
    /// Whether it is UDP; otherwise it is TCP.
    pub is_udp: bool,
    /// The file that says so: `/proc/net/udp`.
    pub file: String,
    /// Packets that the kernel has dropped there, mostly for want of room, since it was
    /// opened; 0 for TCP.
    pub dropped: u64,
    /// The process that has it, if it was found.
    pub owner: Option<Process>,
}

/// A process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its name as the kernel has it, at most 15 bytes, safe to print.
    pub comm: String,
    /// Its arguments, the program first; empty if they could not be read. Of
    /// pods only those of DNS servers are read.
    pub arguments: Vec<String>,
}

/// Whether a pod is there.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Presence {
    /// It has a sandbox: a process of it runs, its network namespace is kept,
    /// or the runtime has it in its state.
    Runs,
    /// It has a sandbox alone, and no container of it was ever made: an image or
    /// what one is made of is missing, or it is only just started.
    Waits,
    /// The processes of the node were seen, and nothing of it is there but
    /// directories.
    LeftOver,
    /// The processes of the node were not seen.
    #[default]
    NotSeen,
    /// They are there and hidden from kdns: whether it runs is not known.
    Hidden,
}

/// A pod of the node.
#[derive(Clone, Debug, Default)]
pub struct Pod {
    /// Whether its processes run, or only what it left behind is there.
    pub presence: Presence,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its uid, with dashes where the API has them.
    pub uid: Option<String>,
    /// The newest sandbox's id, 64 hexadecimal digits.
    pub sandbox: Option<String>,
    /// When that was started, in clock ticks since the machine was.
    pub started: Option<u64>,
    /// The file that makes it, of a static pod; a [`Pod`] can be one without.
    pub manifest: Option<String>,
    /// Its processes, the sandbox's own (`pause`) first.
    pub processes: Vec<Process>,
    /// The network namespace by number; `None`: not known.
    pub netns: Option<u64>,
    /// The file that keeps the network namespace: `/run/netns/cni-…`.
    pub netns_path: Option<String>,
    /// Whether it is on the node's network; `None`: not known.
    pub host_network: Option<bool>,
    /// Its resolv.conf as the runtime keeps it on the node.
    pub resolv_conf: Option<ResolvConf>,
    /// The same file as a process of the pod sees it, where that has other bytes.
    pub seen_resolv_conf: Option<ResolvConf>,
    /// Whether it was looked at through a process: without it nothing is
    /// known of a difference.
    pub is_resolv_conf_seen: bool,
    /// The addresses of its network namespace, loopback ones left out; empty
    /// on the node's network, see [`Node::addresses`].
    pub addresses: Vec<IpAddr>,
    /// Its containers, without the sandbox.
    pub containers: Vec<Container>,
    /// Its Corefile, and behind it what that can import, named by their path
    /// on the node.
    pub corefiles: Vec<Source>,
    /// When the newest of these files was written, as its CoreDNS sees them; `None`: not
    /// known, or no CoreDNS runs.
    pub corefile_written: Option<Written>,
    /// Why its Corefile is not known, though it runs CoreDNS.
    pub corefile_unknown: Option<CorefileUnknown>,
    /// Files in the syntax of resolv.conf that its Corefile names, by their
    /// path in the container.
    pub files: Vec<(String, ResolvConf)>,
    /// The address of the Service kube-dns, as the kubelet wrote it into the
    /// environment of a DNS pod in its namespace.
    pub dns_service: Option<Placed<IpAddr>>,
}

/// A container of a pod.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Container {
    /// Its name in the pod's spec.
    pub name: String,
    /// Its id, 64 hexadecimal digits, if known.
    pub id: Option<String>,
    /// Its image, if known.
    pub image: Option<String>,
    /// Its first process; `None`: it does not run.
    pub pid: Option<u32>,
    /// How often it was started again, as its log files count.
    pub restarts: Option<u32>,
    /// Whether its processes are frozen.
    pub is_paused: bool,
    /// How it ended, if it does not run and the runtime wrote that down.
    pub ended: Option<Ended>,
    /// The file on the node in which its runtime says how it is started.
    pub written: Option<String>,
    /// Whether the pod's spec mounts a file of its own over resolv.conf: it
    /// gets that one again.
    pub mounts_resolv_conf: bool,
    /// Its newest log files on the node, the newest first, at most two.
    pub logs: Vec<Source>,
}

impl Pod {
    /// What tells it from other pods in a [`Network`]: its sandbox, else its
    /// uid, else its name.
    pub fn key(&self) -> String {
        let known = [&self.sandbox, &self.uid, &self.name];
        known
            .into_iter()
            .flatten()
            .next()
            .cloned()
            .unwrap_or_default()
    }

    /// The file that its programs read: what they have counts, else what was made
    /// for it.
    pub fn own_file(&self) -> Option<&ResolvConf> {
        self.seen_resolv_conf.as_ref().or(self.resolv_conf.as_ref())
    }

    /// `NAMESPACE/NAME`, or what is known of it.
    pub fn label(&self) -> String {
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
            (None, Some(name)) => name.clone(),
            _ => self.key(),
        }
    }

    /// Whether the kubelet makes it from a file: its uid is then the file's hash.
    ///
    /// Source: kubernetes `pkg/kubelet/config/common.go: applyDefaults`.
    pub fn is_static(&self) -> bool {
        let is_hash = |uid: &String| uid.len() == 32 && cgroup::is_uid(uid);
        self.manifest.is_some() || self.uid.as_ref().is_some_and(is_hash)
    }

    /// Whether its processes see another resolv.conf than the runtime keeps;
    /// `None`: not known.
    pub fn drifts(&self) -> Option<bool> {
        let is_known = self.is_resolv_conf_seen && self.resolv_conf.is_some();
        is_known.then_some(self.seen_resolv_conf.is_some() && !self.mounts_resolv_conf())
    }

    /// The container that stands for the pod: the first DNS server that runs,
    /// else the first one that does.
    pub fn eye(&self) -> Option<&Container> {
        let running = || self.containers.iter().filter(|it| it.pid.is_some());
        let dns = running().find(|it| is_dns_name(&it.name));
        dns.or_else(|| running().next())
    }

    /// Whether the pod's spec mounts the resolv.conf that its processes see:
    /// no runtime and no kubelet makes that one.
    pub fn mounts_resolv_conf(&self) -> bool {
        self.seen_resolv_conf.is_some() && self.eye().is_some_and(|it| it.mounts_resolv_conf)
    }

    /// Whether a container of it has been started again and does not run now,
    /// though it should.
    pub fn crashes(&self) -> bool {
        let crashed = |it: &Container| it.restarts.is_some_and(|n| n > 0);
        let mut stopped = self.containers.iter().filter(|it| it.pid.is_none());
        !matches!(self.presence, Presence::LeftOver | Presence::Hidden)
            && stopped.any(|it| crashed(it) && !self.has_finished(it))
    }

    /// Whether a container of it is frozen.
    pub fn is_paused(&self) -> bool {
        self.containers.iter().any(|it| it.is_paused)
    }

    /// The process of a container of which nothing but the id is known: it can be
    /// that of any container that has none here.
    pub fn unnamed_process(&self) -> Option<u32> {
        let is_unnamed =
            |it: &&Container| it.id.as_ref().is_some_and(|id| id.starts_with(&it.name));
        let mut running = self.containers.iter().filter(|it| it.pid.is_some());
        running.find(is_unnamed)?.pid
    }

    /// Whether a container that does not run has done its work, as its log
    /// tells: init containers end before any other one begins.
    ///
    /// Source: kubelet `pkg/kubelet/kuberuntime/kuberuntime_manager.go: computePodActions`.
    pub fn has_finished(&self, container: &Container) -> bool {
        let others = || self.containers.iter().filter(|it| it.pid.is_some());
        let last = container.logs.first().and_then(logs::last_time);
        // Of a container that was started again the first log may be gone.
        let is_known = |it: &Container| it.restarts.is_some_and(|n| (n as usize) < it.logs.len());
        let is_later = |it: &Container, than: &str| {
            let first = it.logs.last().and_then(logs::first_time);
            first.is_some_and(|first| than <= first)
        };
        let Some(last) = last.filter(|_| container.pid.is_none()) else {
            return false;
        };
        others().count() > 0 && others().all(|it| is_known(it) && is_later(it, last))
    }
}
