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
    // A copy has the time of its link from whoever copied it.
    let now = held.is_live().then(clock::now).flatten();
    Some(Started {
        counted: since_1970(root, seen.started?)?,
        noted: now.and_then(|_| noted(root, seen)),
        now: now.map(|it| it / NANOSECONDS),
    })
}

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
