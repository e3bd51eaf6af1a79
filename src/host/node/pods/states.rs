//! Reads which containers are paused, and how others ended.

use std::path::Path;

use super::contents::Look;
use crate::host::node::processes::find;
use crate::node::runtime::state::{self, Ended};
use crate::node::{Container, Pod};

/// Fills in what the containers of a pod do. `linked` are names and ids by the
/// links to logs; `files` where the sandbox's resolv.conf is, beside which the
/// runtime keeps the rest. What is not there is not known.
pub(super) fn fill(look: &Look<'_>, pod: &mut Pod, linked: &[(String, String)], files: &[String]) {
    for container in &mut pod.containers {
        match container.pid {
            Some(pid) => container.is_paused = is_frozen(look, pid),
            None => end(look, container, linked, files),
        }
    }
}

/// The last end of a container: of several with its name the newest.
fn end(look: &Look<'_>, container: &mut Container, linked: &[(String, String)], files: &[String]) {
    let own = container.id.clone();
    let of_name = linked.iter().filter(|it| it.0 == container.name);
    let ids = own.into_iter().chain(of_name.map(|it| it.1.clone()));
    let ends = ids.filter_map(|id| Some((ended(look, &id, files)?, id)));
    if let Some((ended, id)) = ends.max() {
        container.ended = Some(ended);
        container.id = Some(id);
    }
}

fn ended(look: &Look<'_>, id: &str, files: &[String]) -> Option<Ended> {
    files.iter().find_map(|file| {
        let (path, read) = place(file, id)?;
        let file = look.root.read_once(Path::new(&path)).ok()?;
        read(&file.source.bytes)
    })
}

type Reading = fn(&[u8]) -> Option<Ended>;

/// Where a runtime keeps the state of a container, by the path of its sandbox's
/// resolv.conf.
fn place(resolv_conf: &str, id: &str) -> Option<(String, Reading)> {
    if let Some((plugin, _)) = resolv_conf.split_once("/sandboxes/") {
        let path = format!("{plugin}/containers/{id}/status");
        return Some((path, state::containerd));
    }
    if resolv_conf.contains("-containers/") {
        // CRI-O's is not lost with the machine's power, unlike resolv.conf.
        let driver = resolv_conf
            .split('/')
            .find(|it| it.ends_with("-containers"));
        let driver = driver.unwrap_or_default();
        let path = format!("/var/lib/containers/storage/{driver}/{id}/userdata/state.json");
        return Some((path, state::cri_o));
    }
    let (docker, _) = resolv_conf.split_once("/containers/")?;
    let path = format!("{docker}/containers/{id}/config.v2.json");
    Some((path, state::docker))
}

/// Where control groups are mounted, with the file that says whether one is
/// frozen, and what it says then.
const FREEZERS: [(&str, &str, &str); 3] = [
    ("/sys/fs/cgroup", "cgroup.events", "frozen 1"),
    ("/sys/fs/cgroup/unified", "cgroup.events", "frozen 1"),
    ("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN"),
];

/// Whether the control group of a process is frozen.
fn is_frozen(look: &Look<'_>, pid: u32) -> bool {
    let Some(process) = find(look.processes, pid) else {
        return false;
    };
    let groups = String::from_utf8_lossy(&process.cgroup);
    let path = |is_freezer: bool| {
        groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (number, controllers) = (parts.next()?, parts.next()?);
            let is_it = if is_freezer {
                controllers.split(',').any(|it| it == "freezer")
            } else {
                number == "0"
            };
            parts.next().filter(|path| is_it && *path != "/")
        })
    };
    FREEZERS.iter().any(|(mount, file, frozen)| {
        let path = path(*file == "freezer.state");
        let path = path.map(|it| format!("{mount}{it}/{file}"));
        let read = path.and_then(|it| look.root.read_once(Path::new(&it)).ok());
        read.is_some_and(|it| {
            let text = String::from_utf8_lossy(&it.source.bytes);
            text.lines().any(|line| line == *frozen)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_beside_the_sandboxes_file() {
        let check = |file: &str, expected: &str| {
            assert_eq!(place(file, "ID").unwrap().0, expected);
        };
        check(
            "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/S/resolv.conf",
            "/var/lib/containerd/io.containerd.grpc.v1.cri/containers/ID/status",
        );
        check(
            "/run/containers/storage/overlay-containers/S/userdata/resolv.conf",
            "/var/lib/containers/storage/overlay-containers/ID/userdata/state.json",
        );
        check(
            "/var/lib/docker/containers/S/resolv.conf",
            "/var/lib/docker/containers/ID/config.v2.json",
        );
        assert!(place("/etc/resolv.conf", "ID").is_none());
    }
}
