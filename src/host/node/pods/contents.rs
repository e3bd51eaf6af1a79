//! Reads the files of a pod.

use std::net::IpAddr;
use std::path::Path;

use super::container::MOUNT_POINTS;
use super::skipped::{Skipped, list};
use super::states;
use crate::config::resolv_conf::ResolvConf;
use crate::host::node::processes::{Directory, ProcessSeen, find};
use crate::host::root::Root;
use crate::host::{FileRead, ReadError};
use crate::node::assemble::Draft;
use crate::node::{Pod, Presence, Process, addresses as parse, is_dns_server, logs};
use crate::text::Source;

/// What the files of pods are read from, and how much of them.
pub(super) struct Look<'n> {
    /// The node.
    pub(super) root: &'n Root,
    /// Its processes, by id.
    pub(super) processes: &'n [ProcessSeen],
    /// Whether the files of DNS servers are wanted.
    pub(super) with_dns: bool,
}

impl Look<'_> {
    /// The pod with the content of its files.
    pub(super) fn fill(&self, draft: Draft, skipped: &mut Skipped) -> Pod {
        let mut pod = draft.pod;
        pod.resolv_conf = self.resolv_conf(&draft.resolv_conf, skipped);
        let eye = draft.eye.and_then(|pid| self.directory(pid));
        if let Some(eye) = eye {
            let seen = skipped.take_of(&pod.label(), seen_resolv_conf(&eye));
            let seen = seen.map(|file| parsed(file, skipped));
            let bytes = |it: &ResolvConf| it.source.bytes.clone();
            pod.is_resolv_conf_seen = seen.is_some();
            let is_same = seen.as_ref().map(bytes) == pod.resolv_conf.as_ref().map(bytes);
            pod.seen_resolv_conf = seen.filter(|_| !is_same);
            if pod.host_network != Some(true) {
                // All of them are in one network namespace.
                let others = pod.processes.iter();
                let others = others.filter_map(|it| self.directory(it.pid));
                let all = std::iter::once(eye).chain(others).map(|it| addresses(&it));
                let mut found = all.filter(|it| !it.is_empty());
                pod.addresses = found.next().unwrap_or_default();
            }
        }
        states::fill(self, &mut pod, &draft.linked, &draft.resolv_conf);
        if self.with_dns {
            self.fill_corefile(&mut pod, draft.kubelet_directory.as_deref(), skipped);
            if is_dns_server(&pod) {
                self.fill_dns(&mut pod, &draft.logs, skipped);
            }
        }
        // One that ended while it was read has lost some of its files.
        let is_there = |it: &Process| self.directory(it.pid).is_some();
        let has_ended = !pod.processes.is_empty() && !pod.processes.iter().any(is_there);
        // Its DNS server ends before the sandbox does, and before its volumes go.
        let server = pod.eye().filter(|_| self.with_dns && is_dns_server(&pod));
        let server = server.and_then(|it| it.pid);
        let is_without = server.is_some_and(|pid| self.directory(pid).is_none());
        if has_ended || is_without && pod.corefiles.is_empty() {
            pod.presence = Presence::LeftOver;
        }
        pod
    }

    pub(super) fn directory(&self, pid: u32) -> Option<Directory> {
        Directory::of_seen(self.root, find(self.processes, pid)?)
    }

    /// The sandbox's file: the first that is there.
    fn resolv_conf(&self, paths: &[String], skipped: &mut Skipped) -> Option<ResolvConf> {
        let below = |point| paths.iter().map(move |path| format!("{point}{path}"));
        let mut places = MOUNT_POINTS.into_iter().flat_map(below);
        let file = places.find_map(|it| skipped.take(self.root.read_once(Path::new(&it))))?;
        Some(parsed(file, skipped))
    }

    /// Arguments and newest logs of the containers of a DNS server.
    fn fill_dns(&self, pod: &mut Pod, directories: &[String], skipped: &mut Skipped) {
        let main: Vec<u32> = pod.containers.iter().filter_map(|it| it.pid).collect();
        for process in pod.processes.iter_mut().filter(|it| main.contains(&it.pid)) {
            let directory = self.directory(process.pid);
            process.arguments = directory.map_or_else(Vec::new, |it| it.arguments());
        }
        for container in &mut pod.containers {
            for directory in directories {
                let directory = format!("{directory}/{}", container.name);
                let names = list(self.root, &directory, skipped);
                let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
                let mut read = |name: &str| {
                    let path = format!("{directory}/{name}");
                    let file = skipped.take(self.root.read_end(Path::new(&path)));
                    file.map(|file| file.source)
                };
                for name in logs::newest(&names) {
                    let log = read(name);
                    // What was there went with the rotation.
                    let is_empty = log.as_ref().is_some_and(|it| it.bytes.is_empty());
                    let before = logs::rotated(&names, name).filter(|_| is_empty);
                    container.logs.extend(before.and_then(&mut read).or(log));
                }
            }
        }
    }
}

/// The file as the process sees it. Its root is a stranger's: links in it stay
/// inside.
fn seen_resolv_conf(eye: &Directory) -> Result<FileRead, ReadError> {
    let mut file = eye.root()?.read_once(Path::new("/etc/resolv.conf"))?;
    file.source.name = format!("/proc/{}/root/etc/resolv.conf", eye.pid());
    Ok(file)
}

fn parsed(file: FileRead, skipped: &mut Skipped) -> ResolvConf {
    ResolvConf::parse(whole(file, skipped))
}

/// The source, with a word about what is behind its end.
pub(super) fn whole(file: FileRead, skipped: &mut Skipped) -> Source {
    skipped.extend(file.cut());
    file.source
}

/// The addresses in the network namespace of a process, loopback ones left
/// out: those of version 4 first, each in numerical order.
fn addresses(process: &Directory) -> Vec<IpAddr> {
    parse::parse(
        &process.bytes("net/fib_trie"),
        &process.bytes("net/if_inet6"),
    )
}
