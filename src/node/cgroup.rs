//! Which pod and container a process belongs to, by its control groups.
//!
//! Sources: kubelet `pkg/kubelet/cm/pod_container_manager_linux.go`
//! `GetPodContainerName` and `cgroup_manager_linux.go` `ToSystemd`;
//! containerd `internal/cri/server` `getCgroupsPath`; CRI-O
//! `internal/config/cgmgr`.

use crate::text::utf8_lines;

/// What the control groups of a process say about it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Membership {
    /// The pod's uid as the API has it.
    pub pod: Option<String>,
    /// The container's id, 64 hexadecimal digits. A sandbox has one too.
    pub container: Option<String>,
    /// Whether podman made the container: then it is none of the kubelet's.
    pub is_podman: bool,
}

/// What all groups of a node have before them when the node is a container
/// itself (kind, k3d) without a cgroup namespace of its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Prefix(String);

impl Prefix {
    /// Reads it off `/proc/1/cgroup`: up to the last container in it.
    pub fn of_init(text: &[u8]) -> Self {
        let longest = paths(text).filter_map(|path| {
            let mut end = 0;
            let mut is_container = None;
            for part in path.split('/') {
                end += part.len() + 1;
                if container(part).is_some() {
                    is_container = Some(end - 1);
                }
            }
            path.get(..is_container?).map(str::to_owned)
        });
        Self(longest.max_by_key(String::len).unwrap_or_default())
    }
}

/// Reads `/proc/PID/cgroup`: one line for each hierarchy of version 1, and the
/// line `0::` for version 2. Any of them may be the one that tells.
pub fn membership(text: &[u8], prefix: &Prefix) -> Membership {
    let mut best = Membership::default();
    for path in paths(text) {
        let found = of_path(path.strip_prefix(prefix.0.as_str()).unwrap_or(path));
        let is_better = (found.pod.is_some() && best.pod.is_none())
            || (found.pod.is_some() == best.pod.is_some() && best.container.is_none());
        if is_better {
            best = found;
        }
        if best.pod.is_some() && best.container.is_some() {
            break;
        }
    }
    best
}

/// Whether the groups say nothing at all: all of them are the root, or they
/// could not be read.
pub fn is_silent(text: &[u8]) -> bool {
    paths(text).all(|path| path == "/")
}

/// One path. The outermost pod counts: what a pod's containers make below
/// their own groups is theirs.
pub fn of_path(path: &str) -> Membership {
    let mut found = Membership::default();
    let is_kubepods = path.contains("kubepods");
    // containerd without the systemd driver makes one name of the three parts
    // that it was given for systemd: `kubepods-podUID.slice:cri-containerd:ID`.
    for part in path.split(['/', ':']) {
        if found.pod.is_none() {
            let uid = pod(part, is_kubepods);
            if uid.is_some() {
                found = Membership {
                    pod: uid,
                    ..Membership::default()
                };
                continue;
            }
        }
        if is_monitor(part) {
            return Membership::default();
        }
        if found.container.is_none()
            && let Some((prefix, id)) = container(part)
        {
            found.container = Some(id.to_owned());
            found.is_podman = prefix == "libpod";
        }
    }
    found
}

/// The paths in the lines `NUMBER:CONTROLLERS:PATH`.
fn paths(text: &[u8]) -> impl Iterator<Item = &str> {
    utf8_lines(text).filter_map(|line| line.splitn(3, ':').nth(2))
}

/// The uid in `podUID` or `kubepods-QOS-podUID.slice`.
fn pod(part: &str, is_kubepods: bool) -> Option<String> {
    let name = part.strip_suffix(".slice").unwrap_or(part);
    let uid = match name.strip_prefix("pod") {
        Some(uid) => uid,
        None => name.rsplit_once("-pod")?.1,
    };
    // systemd takes a dash for the next level, so the kubelet writes `_`.
    let uid = uid.replace('_', "-");
    (is_uid(&uid) || is_kubepods && is_plain(&uid)).then_some(uid)
}

/// Whether it looks as uids of the API server do, or as those of static pods,
/// a hash of the manifest.
pub fn is_uid(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let bytes = text.as_bytes();
    match bytes.len() {
        36 => bytes.iter().enumerate().all(|(at, &byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => is_digit(byte),
        }),
        32 => bytes.iter().all(|&byte| is_digit(byte)),
        _ => false,
    }
}

/// A manifest can bring a uid of its own: anything that a file name can be.
fn is_plain(uid: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    !uid.is_empty() && uid.len() <= 128 && uid.bytes().all(is_plain)
}

/// CRI-O puts its monitor of a container beside it, in a group with its id.
fn is_monitor(part: &str) -> bool {
    part.starts_with("crio-conmon-") || part.starts_with("libpod-conmon-")
}

/// Whether a part of a path names a container by its id.
pub fn has_id(part: &str) -> bool {
    container(part).is_some()
}

/// The prefix and the id in `ID`, `PREFIX-ID.scope`, `PREFIX-ID`.
fn container(part: &str) -> Option<(&str, &str)> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    let (prefix, id) = name.rsplit_once('-').unwrap_or(("", name));
    is_id(id).then_some((prefix, id))
}

/// Whether it is the id of a container: all runtimes take 64 digits.
pub fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    text.len() == 64 && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    const B: &str = "f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0";
    const UID: &str = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
    const UID_: &str = "6fbd4d33_804b_43cd_b042_9dde89aeac6a";
    const HASH: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn check(text: &str, init: &str, expected: (&str, &str, bool)) {
        let prefix = Prefix::of_init(init.as_bytes());
        let found = membership(text.as_bytes(), &prefix);
        let (pod, container, is_podman) = expected;
        let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
        let expected = Membership {
            pod: some(pod),
            container: some(container),
            is_podman,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn drivers_and_versions() {
        let slice = format!(
            "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UID_}.slice"
        );
        let v1 = format!("9:name=systemd:{slice}/cri-containerd-{A}.scope\n8:pids:/\n");
        check(&v1, "", (UID, A, false));
        let mixed = format!("9:name=systemd:/\n1:cpu:/\n0::{slice}/cri-containerd-{A}.scope\n");
        check(&mixed, "", (UID, A, false));
        check(&format!("0::{slice}/crio-{A}.scope\n"), "", (UID, A, false));
        check(
            &format!("0::{slice}/crio-{A}.scope/init.scope"),
            "",
            (UID, A, false),
        );
        check(
            &format!("0::{slice}/crio-conmon-{A}.scope\n"),
            "",
            ("", "", false),
        );
        check(
            &format!("0::{slice}/docker-{A}.scope\n"),
            "",
            (UID, A, false),
        );
        check(&format!("0::{slice}\n"), "", (UID, "", false));
        for path in ["/kubepods/burstable", "/kubepods"] {
            check(&format!("3:cpu:{path}/pod{UID}/{A}\n"), "", (UID, A, false));
            check(
                &format!("3:cpu:{path}/pod{UID}/crio-{A}\n"),
                "",
                (UID, A, false),
            );
            check(
                &format!("3:cpu:{path}/pod{HASH}/{A}\n"),
                "",
                (HASH, A, false),
            );
        }
        let guaranteed =
            format!("0::/kubepods.slice/kubepods-pod{HASH}.slice/cri-containerd-{A}.scope");
        check(&guaranteed, "", (HASH, A, false));
        let named = format!("0::/kubepods/podmy-own.uid/{A}");
        check(&named, "", ("my-own.uid", A, false));
        let longest = "u".repeat(128);
        let named = format!("0::/kubepods/pod{longest}/{A}");
        check(&named, "", (&longest, A, false));
        let named = format!("0::/kubepods/pod{longest}u/{A}");
        check(&named, "", ("", A, false));
        let joined = format!(
            "0::/system.slice/containerd.service/kubepods-burstable-pod{UID_}.slice:cri-containerd:{A}"
        );
        check(&joined, "", (UID, A, false));
    }

    #[test]
    fn a_node_can_be_in_a_container_and_a_container_can_have_a_node() {
        let kind = format!(
            "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UID_}.slice/cri-containerd-{A}.scope"
        );
        check(&kind, "0::/init.scope", (UID, A, false));
        let outer = format!("/docker/{B}");
        let inner = format!("5:cpu:{outer}/kubelet/kubepods/pod{UID}/{A}");
        check(
            &inner,
            &format!("5:cpu:{outer}\n0::{outer}/init.scope"),
            (UID, A, false),
        );
        let pod = format!("/kubepods/pod{HASH}/{B}");
        let nested = format!("0::{pod}/kubelet/kubepods/pod{UID}/{A}");
        check(&nested, &format!("0::{pod}/init.scope"), (UID, A, false));
        check(&nested, "0::/init.scope", (HASH, B, false));
    }

    #[test]
    fn a_reader_in_a_namespace_sees_parts_of_it() {
        check(
            &format!("0::/../cri-containerd-{A}.scope"),
            "",
            ("", A, false),
        );
        check(&format!("0::/../../pod{UID}/{A}"), "", (UID, A, false));
        check("0::/", "", ("", "", false));
        assert!(is_silent(b"1:cpu:/\n0::/\n") && is_silent(b"") && !is_silent(b"0::/a"));
    }

    #[test]
    fn others_are_no_pods() {
        let podman = format!("0::/machine.slice/libpod-{A}.scope/container");
        check(&podman, "", ("", A, true));
        for text in [
            "",
            "x",
            "0::/system.slice/kubelet.service",
            "0::/user.slice/user-0.slice/podman-1.slice",
            "0::/system.slice/pod.slice/a-podcast.service",
            "0::/kubepods.slice/kubepods-pod.slice",
            "0::\n::\n:::pod",
        ] {
            check(text, "", ("", "", false));
        }
    }
}
