//! The Corefile of a CoreDNS in a pod: that of its container.

use std::net::IpAddr;
use std::path::Path;

use super::Skipped;
use super::container::Container;
use super::contents::{Look, whole};
use super::skipped::list;
use crate::config::corefile::parse;
use crate::config::manifest;
use crate::config::resolv_conf::ResolvConf;
use crate::host::node::corefiles::{self, Files as _};
use crate::host::node::processes::{Directory, ProcessSeen, after, find};
use crate::host::node::times;
use crate::host::root::Root;
use crate::host::situation::RESOLV_CONF;
use crate::kubelet::age::Written;
use crate::kubelet::effective::absolute;
use crate::node::launch::{self, Launch};
use crate::node::mountinfo::Mount;
use crate::node::{Pod, Process, is_dns_name, is_node_cache};
use crate::text::{Place, Placed, Source, escaped};
use crate::topology::CorefileUnknown;
use crate::topology::coredns::{self, Conf};

/// More Corefiles than this in one pod are none.
const MAX_COREFILES: usize = 16;

impl Look<'_> {
    /// Finds the Corefile of a pod; `directory` is the kubelet's of the pod.
    pub(super) fn fill_corefile(
        &self,
        pod: &mut Pod,
        directory: Option<&str>,
        skipped: &mut Skipped,
    ) {
        pod.corefiles = directory.map_or_else(Vec::new, |it| self.in_volumes(it, skipped));
        coredns::main_first(&mut pod.corefiles);
        pod.dns_service = self.dns_service(pod);
        if is_node_cache(pod) {
            let generated = self.generated(pod, skipped);
            pod.corefiles.splice(..0, generated);
        } else if let Some((process, container)) = self.coredns(pod, skipped) {
            let in_volumes = pod.corefiles.clone();
            let unread = of_container(pod, &container);
            let has_ended = process.is_some_and(|pid| self.directory(pid).is_none());
            if has_ended && pod.corefiles.is_empty() {
                // It went with the process, and was no other one.
                pod.corefiles = in_volumes;
                pod.corefile_unknown = None;
                return;
            }
            skipped.extend(unread);
            let process = process.and_then(|pid| find(self.processes, pid));
            pod.corefile_written = process.and_then(|it| self.written(pod, &container, it));
        }
    }

    /// When the newest of the pod's Corefiles was written that this process reads.
    fn written(
        &self,
        pod: &Pod,
        container: &Container<'_>,
        process: &ProcessSeen,
    ) -> Option<Written> {
        let held = Directory::of_seen(self.root, process)?;
        let reader = times::started(self.root, &held, process)?;
        let has_times = held.is_live() || times::has_times(self.root, reader);
        let times = pod.corefiles.iter();
        let at = times.filter_map(|it| container.modified(&it.name)).max();
        let at = at.filter(|_| has_times)?;
        Some(Written { at, reader })
    }

    /// The process of CoreDNS and its container; `None`: the pod has none, or nothing
    /// tells how it is started.
    fn coredns(&self, pod: &Pod, skipped: &mut Skipped) -> Option<(Option<u32>, Container<'_>)> {
        let is_coredns = |it: &&Process| it.comm == "coredns";
        let process = pod.processes.iter().find(is_coredns).map(|it| it.pid);
        let main = pod.containers.iter().find(|it| is_dns_name(&it.name));
        let process = process.or_else(|| main?.pid);
        let written = main.and_then(|it| it.written.as_deref());
        let written = written.and_then(|it| skipped.take(self.root.read_once(Path::new(it))));
        let launch = written.and_then(|file| launch::parse_launch(&file.source.bytes));
        // One that ended has no bundle any more.
        let ended = main.filter(|_| process.is_none() && launch.is_none());
        let launch = launch.or_else(|| self.in_database(pod, &ended?.name));
        let held = process.and_then(|pid| self.directory(pid));
        let container = Container::of_process(self.root, held.as_ref(), launch);
        let is_its = coredns::conf(&container.arguments).is_some();
        is_its.then_some((process, container))
    }

    /// The Service of the cluster's DNS, where the pod's DNS server runs in its
    /// namespace.
    ///
    /// Source: kubernetes `pkg/kubelet/envvars/envvars.go: FromServices`.
    fn dns_service(&self, pod: &Pod) -> Option<Placed<IpAddr>> {
        let mut servers = pod.processes.iter().filter(|it| is_dns_name(&it.comm));
        let pid = servers.next()?.pid;
        let variables = self.directory(pid)?.bytes("environ");
        let mut column = 1;
        let value = variables.split(|&byte| byte == 0).find_map(|it| {
            let value = it.strip_prefix(b"KUBE_DNS_SERVICE_HOST=");
            if value.is_none() {
                column += String::from_utf8_lossy(it).chars().count() + 1;
            }
            value
        })?;
        let value = std::str::from_utf8(value).ok()?.parse().ok()?;
        let place = Place::new(format!("/proc/{pid}/environ"), 1, column);
        (pod.namespace.as_deref() == Some("kube-system")).then_some(Placed { value, place })
    }

    /// The Corefiles in the volumes of a pod with what they import, by the path
    /// that links lead from.
    fn in_volumes(&self, directory: &str, skipped: &mut Skipped) -> Vec<Source> {
        let mut found = Vec::new();
        for kind in corefiles::VOLUMES {
            for (volume, _) in list(self.root, &format!("{directory}/volumes/{kind}"), skipped) {
                for (path, name) in list(self.root, &volume, skipped) {
                    // NodeLocal DNSCache's is a template, `Corefile.base`.
                    if name.starts_with("Corefile") && found.len() < MAX_COREFILES {
                        let file = skipped.take(self.root.read(Path::new(&path)));
                        found.extend(file.map(|file| whole(file, skipped)));
                    }
                }
            }
        }
        let mut unread = Vec::new();
        let found = corefiles::with_imports(self.root, directory, found, &mut unread);
        skipped.extend(unread);
        found
    }

    /// What NodeLocal DNSCache made of its Corefile, where that has places for
    /// addresses that only it knows, or could not be found.
    fn generated(&self, pod: &Pod, skipped: &mut Skipped) -> Option<Source> {
        let is_it = |it: &&Process| it.comm == "node-cache";
        let process = pod.processes.iter().find(is_it)?;
        if !pod.corefiles.is_empty() && !pod.corefiles.iter().any(coredns::has_places) {
            return None;
        }
        let directory = self.directory(process.pid)?;
        let arguments = directory.arguments();
        let mut named = ["-conf", "-corefile"].iter();
        let path = named.find_map(|flag| after(&arguments, flag));
        let path = path.unwrap_or("/etc/Corefile");
        let read = directory
            .root()
            .and_then(|it| it.read_once(Path::new(path)));
        let mut file = skipped.take_of(&pod.label(), read)?;
        file.source.name = format!("/proc/{}/root{}", process.pid, file.source.name);
        Some(whole(file, skipped))
    }
}

/// Reads the Corefile that the manifest of a static pod names, if none was
/// found: a container that ended has left nothing else that tells. With what
/// could not be read, as sentences without a full stop.
pub(in crate::host::node) fn corefile_of_manifest(
    node: &Root,
    pod: &mut Pod,
    containers: &[manifest::Container],
) -> Vec<String> {
    let mut skipped = Skipped::default();
    if pod.corefiles.is_empty() && !is_node_cache(pod) {
        let mut coredns = containers.iter().filter(|it| is_dns_name(&it.name));
        if let Some(launch) = coredns.find_map(of_manifest) {
            let container = Container::of_process(node, None, Some(launch));
            skipped.extend(of_container(pod, &container));
        }
    }
    skipped.unread().sentences
}

/// How CoreDNS is started; `None`: it is another program, or its Corefile is in
/// a volume that is not the node's.
fn of_manifest(container: &manifest::Container) -> Option<Launch> {
    // What stands in for an entry point that the image alone has says nothing.
    let program = container.command.is_empty().then(String::new);
    let command = program.into_iter().chain(container.command.iter().cloned());
    let arguments: Vec<String> = command.chain(container.arguments.iter().cloned()).collect();
    if let Conf::File(path) = coredns::conf(&arguments)? {
        let path = absolute(&container.directory, &path);
        let mut others = container.mounts.iter().filter(|it| it.host_path.is_none());
        if others.any(|it| Path::new(&path).starts_with(&it.point)) {
            return None;
        }
    }
    let mount = |it: &manifest::Mount| {
        Some(Mount {
            point: it.point.clone(),
            source: it.host_path.clone()?,
        })
    };
    Some(Launch {
        arguments,
        directory: container.directory.clone(),
        mounts: container.mounts.iter().filter_map(mount).collect(),
    })
}

/// Puts the Corefile that the container reads in the place of those that lie
/// in the pod's volumes. What could not be read, as sentences without a full stop.
fn of_container(pod: &mut Pod, container: &Container<'_>) -> Vec<String> {
    let in_volumes = std::mem::take(&mut pod.corefiles);
    let Some(Conf::File(path)) = coredns::conf(&container.arguments) else {
        pod.corefile_unknown = Some(CorefileUnknown::Stdin);
        return Vec::new();
    };
    let path = container.absolute(&path);
    let shown = escaped(path.as_bytes());
    let mut unread = Vec::new();
    if container.knows(&path) {
        pod.corefiles = corefiles::at(container, &path, &mut unread);
    } else {
        // Nothing tells what is mounted there; the file of this name is it.
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_it = |it: &Source| name(&it.name) == name(&path);
        let at = in_volumes.iter().position(is_it);
        if let Some(at) = at {
            pod.corefiles = in_volumes;
            pod.corefiles.swap(0, at);
        }
    }
    pod.files = named_files(pod, container, &mut unread);
    if pod.corefiles.is_empty() {
        pod.corefile_unknown = Some(match unread.first() {
            Some(reason) => CorefileUnknown::Unread(reason.clone()),
            None if container.knows(&path) => CorefileUnknown::NotThere(shown),
            None => CorefileUnknown::InImage(shown),
        });
    }
    unread
}

/// The files in the syntax of resolv.conf that the Corefile names, but the one
/// that every program reads.
fn named_files(
    pod: &Pod,
    container: &Container<'_>,
    unread: &mut Vec<String>,
) -> Vec<(String, ResolvConf)> {
    let Some((main, others)) = pod.corefiles.split_first() else {
        return Vec::new();
    };
    let blocks = parse(main.clone(), others).blocks;
    let forwards = blocks.iter().flat_map(|it| &it.directives);
    let forwards = forwards.filter(|it| matches!(it.name.text.as_str(), "forward" | "proxy"));
    let words = forwards.flat_map(|it| it.arguments.iter().skip(1));
    let mut found: Vec<(String, ResolvConf)> = Vec::new();
    for path in words.map(|it| it.text.as_str()) {
        let is_file = path.starts_with('/') && path != RESOLV_CONF;
        if is_file && found.len() < MAX_COREFILES && found.iter().all(|it| it.0 != path) {
            let file = container.file(Path::new(path), unread);
            found.extend(file.map(|file| (path.to_owned(), ResolvConf::parse(file))));
        }
    }
    found
}
