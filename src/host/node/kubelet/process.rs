//! Finds the process that is the kubelet.

use std::path::{Path, PathBuf};

use crate::config::traced::Traced;
use crate::host::node::place::{Inside, Place};
use crate::host::node::processes::{Directory, ProcessSeen};
use crate::host::root::Root;
use crate::host::{FileRead, clock};
use crate::kubelet::age::Started;
use crate::kubelet::distribution::{self, Kind};
use crate::kubelet::{NotOfNode, OtherProcess};

/// Ticks in a second of `/proc/PID/stat`: the same on every Linux.
/// Source: linux `include/asm-generic/param.h: USER_HZ`.
const TICKS_PER_SECOND: u64 = 100;

/// A kubelet that runs.
#[derive(Debug)]
pub(super) struct Running {
    /// Its process id.
    pub(super) pid: u32,
    /// The process's name, safe to print.
    pub(super) comm: String,
    /// How it was started.
    pub(super) kind: Kind,
    /// Its control groups, which name the unit that started it.
    pub(super) cgroup: Vec<u8>,
    /// The program and its arguments; empty if they could not be read.
    pub(super) command: Vec<Traced>,
    /// Its environment, if it could be read.
    pub(super) environment: Option<Vec<(String, Traced)>>,
    /// The path of its program, if it could be read.
    pub(super) program: Option<String>,
    /// Its working directory.
    pub(super) directory: Option<String>,
    /// The process, held.
    pub(super) held: Directory,
    /// When it was started.
    pub(super) started: Option<Started>,
    /// When it was started, in clock ticks since the machine was.
    pub(super) ticks: Option<u64>,
}

/// Where the kubelet keeps what it knows of its pods, by its own default.
const STATE: &str = "/var/lib/kubelet";

/// The kubelet of the node among its processes. What it does not take for one
/// is in `others`.
pub(super) fn running(
    root: &Root,
    processes: &[ProcessSeen],
    others: &mut Vec<OtherProcess>,
) -> Option<Running> {
    let node = Inside::of_processes(root, processes);
    let mut found: Option<(&ProcessSeen, Kind, Vec<Traced>, Directory)> = None;
    for seen in processes {
        if !distribution::can_be_kubelet(&seen.comm) {
            continue;
        }
        // Its number may be another one's by now.
        let Some(held) = Directory::of_seen(root, seen) else {
            continue;
        };
        let command = texts(&held, "cmdline").unwrap_or_default();
        let Some(kind) = distribution::of_process(&seen.comm, &command) else {
            continue;
        };
        let why = match (&found, why_not(&node, seen)) {
            (_, Some(why)) => why,
            (Some((first, ..)), None) => NotOfNode::Second(first.pid),
            (None, None) => {
                found = Some((seen, kind, command, held));
                continue;
            }
        };
        others.push(OtherProcess {
            pid: seen.pid,
            comm: seen.comm.clone(),
            why,
        });
    }
    let (seen, kind, command, held) = found?;
    let link = |name: &str| Some(held.link(name)?.to_str()?.to_owned());
    Some(Running {
        pid: seen.pid,
        comm: seen.comm.clone(),
        kind,
        cgroup: seen.cgroup.clone(),
        command,
        environment: environment(&held),
        program: link("exe"),
        directory: link("cwd"),
        started: seen.started.and_then(|it| started(root, &held, seen, it)),
        ticks: seen.started,
        held,
    })
}

/// Why a process is not the node's kubelet, whatever its name is; `None`: it can
/// be.
fn why_not(node: &Inside<'_>, process: &ProcessSeen) -> Option<NotOfNode> {
    match node.place(process) {
        Place::Node => None,
        // A node in a container has a kubelet of its own.
        Place::Elsewhere => Some(NotOfNode::Elsewhere),
        Place::Pod => Some(NotOfNode::Pod),
        Place::Apart => Some(NotOfNode::Apart),
        Place::Shared if node.shares(process, Path::new(STATE)) => None,
        Place::Shared => Some(NotOfNode::Shared),
    }
}

/// The root that the kubelet sees, if it is another one than the node's.
pub(super) fn own_root(root: &Root, kubelet: &Directory) -> Option<Root> {
    let reader = if root.is_live() { "self" } else { "1" };
    let reader = |name: &str| PathBuf::from(format!("/proc/{reader}/{name}"));
    let namespaces = kubelet
        .link("ns/mnt")
        .zip(root.read_link(&reader("ns/mnt")));
    let is_own = if let Some((own, readers)) = namespaces {
        own != readers
    } else {
        // Whoever may not ask for the namespace may see what is mounted there.
        let own = first_mount(&kubelet.read("mountinfo").ok()?);
        own != first_mount(&root.read_once(&reader("mountinfo")).ok()?)
    };
    is_own.then(|| root.of_process(kubelet))?
}

/// The number of the first mount that a process sees: no other namespace of
/// mounts has it (`proc_pid_mountinfo(5)`).
fn first_mount(table: &FileRead) -> Vec<u8> {
    let mut words = table.source.bytes.split(|&byte| byte == b' ');
    words.next().unwrap_or_default().to_vec()
}

/// The texts of a file of the process, of which each ends with a zero byte.
fn texts(process: &Directory, name: &str) -> Option<Vec<Traced>> {
    let bytes = process.read(name).ok()?.source.bytes;
    let texts = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    let texts = texts.split(|&byte| byte == 0).map(Traced::untraced);
    Some(texts.filter(|_| !bytes.is_empty()).collect())
}

fn environment(process: &Directory) -> Option<Vec<(String, Traced)>> {
    let variables = texts(process, "environ")?;
    let pair = |variable: &Traced| {
        let text = variable.text();
        let (name, _) = text.split_once('=')?;
        Some((name.to_owned(), variable.after(name.len() + 1)))
    };
    Some(variables.iter().filter_map(pair).collect())
}

/// When the process was started, this many clock ticks after the machine was.
fn started(root: &Root, held: &Directory, seen: &ProcessSeen, ticks: u64) -> Option<Started> {
    // A copy has the time of its link from whoever copied it.
    let now = held.is_live().then(clock::now).flatten();
    Some(Started {
        counted: since_1970(root, ticks)?,
        noted: now.and_then(|_| noted(root, seen)),
        now: now.map(|it| it / NANOSECONDS),
    })
}

const NANOSECONDS: i64 = 1_000_000_000;

/// When systemd started this process as the main one of its unit, by the link that it
/// made then. k0s and RKE2 start their kubelets themselves, at any time.
///
/// Source: systemd `src/core/unit.c: unit_export_invocation_id`.
fn noted(root: &Root, seen: &ProcessSeen) -> Option<i64> {
    const SYSTEMD: u32 = 1;
    let groups = String::from_utf8_lossy(&seen.cgroup);
    let mut last = groups.lines().filter_map(|it| it.rsplit('/').next());
    let unit = last.find(|it| it.ends_with(".service") && seen.parent == Some(SYSTEMD))?;
    root.link_made(Path::new(&format!("/run/systemd/units/invocation:{unit}")))
}

/// A time in clock ticks since the machine was started, in seconds since 1970.
fn since_1970(root: &Root, ticks: u64) -> Option<i64> {
    let system = root.read(Path::new("/proc/stat")).ok()?.source.bytes;
    let system = String::from_utf8_lossy(&system);
    let boot = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let boot: i64 = boot.trim().parse().ok()?;
    boot.checked_add(i64::try_from(ticks / TICKS_PER_SECOND).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::root::fixture::root_with;

    /// What another process of the unit starts has a start of its own.
    #[test]
    fn systemd_notes_the_start_of_main_processes() {
        let (_directory, root) = root_with(&[(
            "/run/systemd/units/invocation:k0sworker.service",
            "->0123456789abcdef",
        )]);
        let is_noted = |parent, cgroup: &str| {
            let seen = ProcessSeen {
                parent,
                cgroup: cgroup.as_bytes().to_vec(),
                ..ProcessSeen::default()
            };
            noted(&root, &seen).is_some()
        };
        assert!(is_noted(Some(1), "0::/system.slice/k0sworker.service\n"));
        assert!(!is_noted(Some(812), "0::/system.slice/k0sworker.service\n"));
        assert!(!is_noted(None, "0::/system.slice/k0sworker.service\n"));
        assert!(!is_noted(Some(1), "0::/system.slice/kubelet.service\n"));
    }
}
