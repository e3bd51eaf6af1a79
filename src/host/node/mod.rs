//! Reads a node into a [`Node`].

pub mod corefiles;
pub mod files;
pub mod kernel;
pub mod kubelet;
pub mod networks;
mod place;
pub mod pods;
pub mod processes;
pub mod programs;
pub mod runtime;
pub mod servers;
pub mod settings;
pub mod sockets;
mod static_pods;
mod times;
pub mod unseen;

use std::collections::BTreeSet;
use std::path::Path;

use crate::host::ReadError;
use crate::host::clock;
use crate::host::root::Root;
use crate::host::situation;
use crate::kubelet::{Kubelet, Origin};
use crate::node::{Node, Pod, Presence, is_cluster_dns, is_dns_server};
use crate::text::Source;

/// Files that stand in for what the node has.
#[derive(Clone, Debug, Default)]
pub struct StandIns {
    /// For the file that the kubelet's `resolvConf` names.
    pub node_file: Option<Source>,
    /// For the kubelet's configuration.
    pub kubelet_config: Option<Source>,
    /// For every Corefile.
    pub corefile: Option<Source>,
}

/// Which parts of a node are wanted: what a command does not need is not read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Parts {
    /// Pods, with their files.
    pub pods: bool,
    /// Logs and Corefiles of pods that look like DNS servers.
    pub dns_pods: bool,
    /// DNS servers on the node and sockets on port 53.
    pub servers: bool,
}

impl Parts {
    /// The pods alone.
    pub const PODS: Self = Self {
        pods: true,
        dns_pods: false,
        servers: false,
    };
    /// Everything.
    pub const ALL: Self = Self {
        pods: true,
        dns_pods: true,
        servers: true,
    };
}

/// An id that is alone in a file; a stranger's file is not believed to have one.
fn id(root: &Root, path: &str) -> Option<String> {
    let file = root.read(Path::new(path)).ok()?;
    let text = std::str::from_utf8(&file.source.bytes).ok()?.trim();
    let is_id = |it: char| it.is_ascii_hexdigit() || it == '-';
    ((32..=36).contains(&text.len()) && text.chars().all(is_id)).then(|| text.to_owned())
}

/// Reads the node below `root`. What cannot be read is in [`Node::skipped`].
///
/// # Errors
///
/// The root itself cannot be read.
pub fn read_node(root: &Root, stand_ins: &StandIns, parts: Parts) -> Result<Node, ReadError> {
    // What is no directory has no files, which is not the same as an empty one.
    root.list(Path::new("/"))?;
    let (processes, skipped) = processes::scan(root);
    // The name only tells reports apart: without it the answer is the same.
    let name = situation::hostname(root).ok().flatten();
    let mut node = Node {
        name: name.map(|it| it.trim().to_lowercase()),
        machine_id: id(root, "/etc/machine-id"),
        boot_id: id(root, "/proc/sys/kernel/random/boot_id"),
        is_live: root.is_live(),
        read_at: root.is_live().then(clock::now).flatten(),
        unseen: unseen::why(root, &processes),
        of_processes: skipped.len(),
        skipped,
        ..Node::default()
    };
    let (found, unread) =
        kubelet::read_kubelet(root, &processes, stand_ins.kubelet_config.as_ref());
    node.skipped.extend(unread);
    node.runtime = runtime::read_runtime(root, &processes, found.as_ref());
    let file = |kubelet| kubelet::kubelet_file(root, kubelet, stand_ins.node_file.as_ref());
    node.kubelet_file = match &found {
        Some(kubelet) => file(kubelet),
        None => stand_ins.node_file.clone().map(files::stand_in),
    };
    node.running_file = found
        .as_ref()
        .and_then(|it| kubelet::running_file(root, it, stand_ins.node_file.as_ref()));
    node.sources = found.iter().flat_map(|it| settings(root, it)).collect();
    node.kubelet = found;
    if parts.pods || parts.dns_pods {
        let (pods, unread) = pods::read_pods(root, &processes, parts, |_| true);
        add_pods(&mut node, pods, unread);
        if parts.dns_pods {
            static_pods::mark(root, &mut node);
        }
    }
    if parts.dns_pods {
        let (corefiles, unread) =
            corefiles::read_cluster_corefile(root, stand_ins.corefile.as_ref());
        node.corefiles = corefiles;
        node.skipped.extend(unread);
    }
    if stand_ins.corefile.is_some() {
        // It is that of the cluster's DNS: others keep theirs.
        let pods = node.pods.iter_mut().filter(|it| is_cluster_dns(it));
        pods.for_each(|pod| pod.corefiles.clear());
    }
    if parts.servers {
        servers::fill(root, &processes, &mut node);
        // Whom the cluster's DNS service leads to is else told by namespaces and Corefiles.
        let texts = |it: &Pod| it.corefiles.iter().map(|it| it.bytes.clone()).collect();
        let dns = || node.pods.iter().filter(|it| is_dns_server(it));
        let corefiles: BTreeSet<Vec<_>> = dns().map(texts).collect();
        if corefiles.len() > 1 || dns().any(|it| !is_cluster_dns(it)) {
            node.kernel = kernel::read_kernel(root);
        }
        keep_sources(root, &mut node);
    }
    Ok(node)
}

fn add_pods(node: &mut Node, pods: Vec<Pod>, unread: pods::Unread) {
    let is_gone = |it: &Pod| it.presence == Presence::LeftOver;
    let (gone, there): (Vec<Pod>, Vec<Pod>) = pods.into_iter().partition(is_gone);
    node.left_over = gone.iter().map(Pod::label).collect();
    node.pods = there;
    node.denied = unread.denied;
    // The first sentences are about processes.
    let mut of_all = node.skipped.iter().take(node.of_processes);
    node.pods_unread = of_all.next().cloned().or(unread.of_all);
    node.skipped.extend(unread.sentences);
    node.unread_pods = unread.of_pods;
}

/// The files in which the kubelet's settings stand, and its arguments. The
/// files are those that the kubelet sees; what systemd starts it with is the
/// node's.
fn settings(root: &Root, kubelet: &Kubelet) -> Vec<Source> {
    let own = kubelet::own_root(root, kubelet);
    let origins = [
        &kubelet.resolv_conf.origin,
        &kubelet.cluster_dns.origin,
        &kubelet.cluster_domain.origin,
    ];
    let running = kubelet.running.iter().map(|it| &it.resolv_conf.origin);
    let origins = origins.into_iter().chain(running);
    let mut sources: Vec<Source> = Vec::new();
    for origin in origins {
        let path = match origin {
            Origin::File(place) => place.file.clone(),
            Origin::Argument { pid, .. } => format!("/proc/{pid}/cmdline"),
            Origin::BuiltIn | Origin::Option(_) | Origin::Pod(_) | Origin::Unread(_) => continue,
        };
        if sources.iter().all(|it| it.name != path) {
            let of_node = || root.read(Path::new(&path)).ok();
            let is_process = matches!(origin, Origin::Argument { .. });
            let own = own.as_ref().filter(|_| !is_process);
            let read = own.and_then(|own| own.read(Path::new(&path)).ok());
            sources.extend(read.or_else(of_node).map(|file| file.source));
        }
    }
    sources
}

/// Keeps the files in which DNS servers are told to whom they forward.
fn keep_sources(root: &Root, node: &mut Node) {
    let forwards = node.servers.iter().flat_map(|it| &it.forwards);
    for target in forwards.flat_map(|it| &it.to) {
        let path = &target.place.file;
        if path.starts_with('/') && node.sources.iter().all(|it| it.name != *path) {
            let read = root.read(Path::new(path));
            node.sources.extend(read.ok().map(|file| file.source));
        }
    }
}

/// A node of which only the files in `stand_ins` are known.
pub fn of_files(stand_ins: &StandIns) -> Node {
    let kubelet = crate::kubelet::configured(stand_ins.kubelet_config.as_ref(), &[], None);
    Node {
        kubelet: Some(kubelet),
        kubelet_file: stand_ins.node_file.clone().map(files::stand_in),
        sources: stand_ins.kubelet_config.iter().cloned().collect(),
        corefiles: stand_ins.corefile.iter().map(corefiles::stand_in).collect(),
        ..Node::default()
    }
}
