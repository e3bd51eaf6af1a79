//! When processes were started, and whether the times of files can be set against that.

use std::path::Path;

use super::processes::{Directory, ProcessSeen};
use crate::host::clock;
use crate::host::root::Root;
use crate::kubelet::age::Started;

/// Ticks in a second of `/proc/PID/stat`: the same on every Linux.
/// Source: linux `include/asm-generic/param.h: USER_HZ`.
const TICKS_PER_SECOND: u64 = 100;

const NANOSECONDS: i64 = 1_000_000_000;

/// Files that are older than any process, by which a copy that has not kept
/// the times of files is recognised.
const OLD_FILES: [&str; 6] = [
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/machine-id",
    "/etc/hostname",
    "/etc/passwd",
    "/etc/nsswitch.conf",
];

/// Whether the files of a copy have the times that they had on the node.
pub(super) fn has_times(node: &Root, started: Started) -> bool {
    let modified = |path: &&str| node.modified(Path::new(path));
    let is_old = |path: &&str| modified(path).is_some_and(|it| it <= started.counted);
    OLD_FILES.iter().any(is_old)
}

/// When the process `held` was started, which was `seen`; `None`: not known.
pub(super) fn started(root: &Root, held: &Directory, seen: &ProcessSeen) -> Option<Started> {
    Some(Started {
        counted: since_1970(root, seen.started?)?,
        noted: noted(root, &seen.cgroup),
        now: held
            .is_live()
            .then(clock::now)
            .flatten()
            .map(|it| it / NANOSECONDS),
    })
}

/// When systemd started the unit of these control groups, by the link that it made then.
///
/// Source: systemd `src/core/unit.c: unit_export_invocation_id`.
fn noted(root: &Root, cgroup: &[u8]) -> Option<i64> {
    let groups = String::from_utf8_lossy(cgroup);
    let mut last = groups.lines().filter_map(|it| it.rsplit('/').next());
    let unit = last.find(|it| it.ends_with(".service"))?;
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
