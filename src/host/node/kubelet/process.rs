//! Finds the process that is the kubelet.

use std::path::Path;

use procfs::FromRead as _;
use procfs::process::Stat;

use crate::config::traced::Traced;
use crate::host::node::processes::Seen;
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
}

/// The kubelet of the node among its processes. What it does not take for one
/// is in `remarks`.
pub(super) fn running(
    root: &Root,
    processes: &[Seen],
    remarks: &mut Vec<String>,
) -> Option<Running> {
    let network = processes
        .iter()
        .find(|it| it.pid == 1)
        .and_then(|it| it.netns);
    let mut found: Option<(&Seen, Kind, Vec<Traced>)> = None;
    for seen in processes {
        if !distribution::can_be_kubelet(&seen.comm) {
            continue;
        }
        let command = list(root, &format!("/proc/{}/cmdline", seen.pid)).unwrap_or_default();
        let Some(kind) = distribution::of_process(&seen.comm, &command) else {
            continue;
        };
        let Seen { pid, comm, .. } = seen;
        // A node in a container has a kubelet of its own.
        let is_nested = seen.netns.is_some() && network.is_some() && seen.netns != network;
        if is_nested {
            remarks.push(format!(
                "process {pid} ({comm}) has another network than process 1: it is the kubelet of another node"
            ));
        } else if let Some((first, ..)) = &found {
            remarks.push(format!(
                "process {pid} ({comm}) is a kubelet, too; process {} is taken for that of the node",
                first.pid
            ));
        } else {
            found = Some((seen, kind, command));
        }
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
    })
}

/// The root that the kubelet sees, if it is another one than the node's.
pub(super) fn own_root(root: &Root, pid: u32) -> Option<Root> {
    let namespace = |process: &str| root.read_link(Path::new(&format!("/proc/{process}/ns/mnt")));
    let reader = if root.is_live() { "self" } else { "1" };
    let (own, reader) = (namespace(&pid.to_string())?, namespace(reader)?);
    if own == reader {
        None
    } else {
        root.of_process(pid)
    }
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

/// When a process was started, in seconds since 1970.
fn started(root: &Root, pid: u32) -> Option<i64> {
    let stat = root.read(Path::new(&format!("/proc/{pid}/stat"))).ok()?;
    let since_boot = Stat::from_read(stat.source.bytes.as_slice())
        .ok()?
        .starttime
        / TICKS_PER_SECOND;
    let system = root.read(Path::new("/proc/stat")).ok()?.source.bytes;
    let system = String::from_utf8_lossy(&system);
    let boot = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let boot: i64 = boot.trim().parse().ok()?;
    boot.checked_add(i64::try_from(since_boot).ok()?)
}
