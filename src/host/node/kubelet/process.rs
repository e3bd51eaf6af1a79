//! Finds the process that is the kubelet.

use std::path::Path;

use crate::config::traced::Traced;
use crate::host::node::place::{Inside, Place};
use crate::host::node::processes::{Directory, Seen};
use crate::host::root::Root;
use crate::kubelet::distribution::{self, Kind};

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
    /// The program and its arguments; empty if they could not be read.
    pub(super) command: Vec<Traced>,
    /// Its environment, if it could be read.
    pub(super) environment: Option<Vec<(String, Traced)>>,
    /// The path of its program, if it could be read.
    pub(super) program: Option<String>,
    /// Its working directory.
    pub(super) directory: Option<String>,
    /// When it was started, in seconds since 1970.
    pub(super) started: Option<i64>,
    /// The same in clock ticks since the machine was.
    pub(super) ticks: Option<u64>,
}

/// Where the kubelet keeps what it knows of its pods, by its own default.
const STATE: &str = "/var/lib/kubelet";

/// The kubelet of the node among its processes. What it does not take for one
/// is in `remarks`.
pub(super) fn running(
    root: &Root,
    processes: &[Seen],
    remarks: &mut Vec<String>,
) -> Option<Running> {
    let node = Inside::of(root, processes);
    let mut found: Option<(&Seen, Kind, Vec<Traced>)> = None;
    for seen in processes {
        if !distribution::can_be_kubelet(&seen.comm) {
            continue;
        }
        let command = list(root, &format!("/proc/{}/cmdline", seen.pid)).unwrap_or_default();
        let Some(kind) = distribution::of_process(&seen.comm, &command) else {
            continue;
        };
        let why = match (&found, why_not(&node, seen)) {
            (_, Some(why)) => why.to_owned(),
            (Some((first, ..)), None) => format!(
                "is a kubelet, too; process {} is taken for that of the node",
                first.pid
            ),
            (None, None) => {
                found = Some((seen, kind, command));
                continue;
            }
        };
        remarks.push(format!("process {} ({}) {why}", seen.pid, seen.comm));
    }
    let (seen, kind, command) = found?;
    let link = |name: &str| {
        let path = format!("/proc/{}/{name}", seen.pid);
        Some(root.read_link(Path::new(&path))?.to_str()?.to_owned())
    };
    Some(Running {
        pid: seen.pid,
        comm: seen.comm.clone(),
        kind,
        command,
        environment: environment(root, seen.pid),
        program: link("exe"),
        directory: link("cwd"),
        started: started(root, seen.pid),
        ticks: ticks(root, seen.pid),
    })
}

/// Why a process is not the node's kubelet, whatever its name is; `None`: it can
/// be.
fn why_not(node: &Inside<'_>, process: &Seen) -> Option<&'static str> {
    match node.place(process) {
        Place::Node => None,
        // A node in a container has a kubelet of its own.
        Place::Elsewhere => {
            Some("has another network than process 1: it is the kubelet of another node")
        }
        Place::Pod => Some("runs in a container of a pod: it is not the node's kubelet"),
        Place::Apart => Some(
            "runs in a container that does not see the node's processes: it is not the node's kubelet",
        ),
        Place::Shared if node.shares(process, Path::new(STATE)) => None,
        Place::Shared => Some(
            "runs in a container that does not have the node's /var/lib/kubelet: \
             whether it is the node's kubelet is not known",
        ),
    }
}

/// The root that the kubelet sees, if it is another one than the node's.
pub(super) fn own_root(root: &Root, pid: u32) -> Option<Root> {
    let namespace = |process: &str| root.read_link(Path::new(&format!("/proc/{process}/ns/mnt")));
    let reader = if root.is_live() { "self" } else { "1" };
    let pid_text = pid.to_string();
    let is_own = match (namespace(&pid_text), namespace(reader)) {
        (Some(own), Some(reader)) => own != reader,
        // Whoever may not ask for the namespace may see what is mounted there.
        _ => first_mount(root, &pid_text)? != first_mount(root, reader)?,
    };
    if is_own { root.of_process(pid) } else { None }
}

/// The number of the first mount that a process sees: no other namespace of
/// mounts has it (`proc_pid_mountinfo(5)`).
fn first_mount(root: &Root, process: &str) -> Option<Vec<u8>> {
    let path = format!("/proc/{process}/mountinfo");
    let table = root.read_once(Path::new(&path)).ok()?.source.bytes;
    Some(table.split(|&byte| byte == b' ').next()?.to_vec())
}

/// The texts of a file that ends each with a zero byte.
fn list(root: &Root, path: &str) -> Option<Vec<Traced>> {
    let file = root.read(Path::new(path)).ok()?;
    let bytes = file.source.bytes;
    let texts = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    let texts = texts.split(|&byte| byte == 0).map(Traced::untraced);
    Some(if bytes.is_empty() {
        Vec::new()
    } else {
        texts.collect()
    })
}

fn environment(root: &Root, pid: u32) -> Option<Vec<(String, Traced)>> {
    let variables = list(root, &format!("/proc/{pid}/environ"))?;
    let pair = |variable: &Traced| {
        let text = variable.text();
        let (name, _) = text.split_once('=')?;
        Some((name.to_owned(), variable.after(name.len() + 1)))
    };
    Some(variables.iter().filter_map(pair).collect())
}

/// When a process was started, in clock ticks since the machine was.
fn ticks(root: &Root, pid: u32) -> Option<u64> {
    let stat = Directory::open(root, pid).ok()?.stat().ok()??;
    Some(stat.started)
}

/// When a process was started, in seconds since 1970.
fn started(root: &Root, pid: u32) -> Option<i64> {
    let since_boot = ticks(root, pid)? / TICKS_PER_SECOND;
    let system = root.read(Path::new("/proc/stat")).ok()?.source.bytes;
    let system = String::from_utf8_lossy(&system);
    let boot = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let boot: i64 = boot.trim().parse().ok()?;
    boot.checked_add(i64::try_from(since_boot).ok()?)
}
