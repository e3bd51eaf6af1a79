//! What mounts say about a process and its pod, independently of its control
//! groups.

use std::path::PathBuf;

use procfs::process::MountInfo;

use super::cgroup::{is_id, is_uid};
use crate::order::Order as _;
use crate::text::utf8_lines;

/// What the mounts of a process say about its pod.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Mounts {
    /// The pod's uid: the kubelet keeps `/etc/hosts` and the termination log
    /// in the pod's directory.
    pub pod: Option<String>,
    /// The container's name in the pod's spec, by the termination log.
    pub container: Option<String>,
    /// The sandbox whose resolv.conf is mounted.
    pub sandbox: Option<String>,
    /// Where that file is in its own file system. That is a path on the node
    /// only where no other file system is mounted on the way.
    pub resolv_conf: Option<String>,
}

/// Reads `/proc/PID/mountinfo` of a container's process. Only the places where
/// the kubelet and the runtime mount something count: a pod that sees the
/// node's files has the mounts of other pods as well.
///
/// Sources: `proc_pid_mountinfo(5)`; kubelet `pkg/kubelet/kubelet_pods.go`
/// `makeHostsMount`, `pkg/kubelet/kuberuntime` `makeMounts`; containerd
/// `linuxContainerMounts`.
pub fn pod(text: &[u8]) -> Mounts {
    let mut found = Mounts::default();
    for mount in lines(text, |it| {
        it.contains(" /etc/") || it.contains(" /dev/termination-log")
    }) {
        let root = mount.root.as_str();
        let parts: Vec<&str> = root.split('/').collect();
        match mount.mount_point.to_str() {
            Some("/etc/hosts") => {
                if let [.., uid, "etc-hosts"] = parts.as_slice() {
                    found.pod = known_uid(uid).or(found.pod);
                }
            }
            Some("/dev/termination-log") => {
                if let [.., uid, "containers", name, _] = parts.as_slice() {
                    found.container = Some((*name).to_owned());
                    found.pod = found.pod.or_else(|| known_uid(uid));
                }
            }
            Some("/etc/resolv.conf") => {
                // The last one is on top of the others.
                found.sandbox = parts
                    .iter()
                    .rfind(|it| is_id(it))
                    .map(|it| (*it).to_owned());
                found.resolv_conf = Some(root.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Something that is mounted into a container.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mount {
    /// Where in the container.
    pub point: String,
    /// What: a path on the node, or, as the kernel tells it, in its own file
    /// system.
    pub source: String,
}

/// What is mounted into a container from file systems of the node, in the
/// order of the table; what is a whole file system has no path on the node.
pub fn binds(text: &[u8]) -> Vec<Mount> {
    let mounts = lines(text, |_| true).filter_map(|mount| {
        Some(Mount {
            point: mount.mount_point.to_str()?.to_owned(),
            source: mount.root,
        })
    });
    mounts.filter(|it| it.source != "/").collect()
}

/// What the path is on the node, by the mount on top there; `None`: nothing is
/// mounted on the way.
pub fn on_node(mounts: &[Mount], path: &str) -> Option<String> {
    let behind = |it: &Mount| -> Option<usize> {
        let point = it.point.trim_end_matches('/');
        let rest = path.strip_prefix(point)?;
        let is_on_way = !point.is_empty() && (rest.is_empty() || rest.starts_with('/'));
        is_on_way.then_some(point.len())
    };
    let found = mounts.iter().filter_map(|it| Some((behind(it)?, it)));
    // Of equal ones the last is on top.
    let (length, mount) = found.max_by_key(|(length, _)| *length)?;
    Some(format!(
        "{}{}",
        mount.source.trim_end_matches('/'),
        path.get(length..)?
    ))
}

/// Types of file systems whose files a daemon or another machine serves, which
/// need not answer. Source: Linux `fs/`, `Documentation/filesystems/`.
const SERVED: &[&str] = &[
    "9p", "afs", "autofs", "beegfs", "ceph", "cifs", "coda", "fuse", "fuseblk", "gfs2", "gpfs",
    "lustre", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "virtiofs",
];

/// Where such file systems are mounted, in the order of the table; what lies in
/// the kernel's own `/proc` and `/sys` is left out.
pub fn served(text: &[u8]) -> impl Iterator<Item = PathBuf> {
    // Blanks in what stands behind the type are escaped.
    let is_served = |line: &str| {
        let kind = line.rsplit(' ').nth(2);
        kind.is_some_and(|it| SERVED.contains(&it) || it.starts_with("fuse."))
    };
    let points = lines(text, is_served).map(|mount| mount.mount_point);
    points.filter(|it| !it.starts_with("/proc") && !it.starts_with("/sys"))
}

/// The network namespaces that are kept by files, by number, in the order of
/// the table: number and path.
pub fn network_namespaces(text: &[u8]) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    for mount in lines(text, |it| it.contains(" - nsfs ")) {
        let number = super::stat::namespace("net", mount.root.as_bytes());
        if let (Some(number), Some(path)) = (number, mount.mount_point.to_str()) {
            found.push((number, path.to_owned()));
        }
    }
    // /run is often mounted on itself, and then has all of them twice.
    found.order();
    found.dedup();
    found
}

/// The lines that are wanted: tables of nodes are long, and it costs to read one.
fn lines(text: &[u8], is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = MountInfo> {
    utf8_lines(text)
        .filter(move |line| is_wanted(line))
        .filter_map(|line| MountInfo::from_line(line).ok())
        .map(|mut mount| {
            mount.root = unescaped(&mount.root);
            mount.mount_point = unescaped(&mount.mount_point.to_string_lossy()).into();
            mount
        })
}

/// A path of the table without the kernel's escapes. Source: Linux `fs/proc_namespace.c`
/// `mangle`.
fn unescaped(path: &str) -> String {
    const ESCAPES: [(&str, &str); 5] = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\043", "#"),
        ("\\134", "\\"),
    ];
    let plain = |path: String, (escape, byte): (&str, &str)| path.replace(escape, byte);
    ESCAPES.into_iter().fold(path.to_owned(), plain)
}

fn known_uid(text: &str) -> Option<String> {
    is_uid(text).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0";
    const UID: &str = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";

    fn check(mounts: &[(&str, &str)], expected: [&str; 4]) {
        let lines = mounts.iter().map(|(root, point)| {
            format!("895 859 7:0 {root} {point} rw,relatime master:1 - ext4 /dev/loop0 rw\n")
        });
        let text: String = lines.collect();
        let found = pod(text.as_bytes());
        let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
        let [pod, container, sandbox, resolv_conf] = expected.map(some);
        let expected = Mounts {
            pod,
            container,
            sandbox,
            resolv_conf,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn pods_are_found_by_their_mounts() {
        let hosts = format!("/var/lib/kubelet/pods/{UID}/etc-hosts");
        let log = format!("/pods/{UID}/containers/coredns/19020f31");
        let containerd =
            format!("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{ID}/resolv.conf");
        check(
            &[
                (&hosts, "/etc/hosts"),
                (&log, "/dev/termination-log"),
                (&containerd, "/etc/resolv.conf"),
            ],
            [UID, "coredns", ID, &containerd],
        );
        let crio = format!("/containers/storage/overlay-containers/{ID}/userdata/resolv.conf");
        check(
            &[(&log, "/dev/termination-log"), (&crio, "/etc/resolv.conf")],
            [UID, "coredns", ID, &crio],
        );
        // The file system that has the pods can be mounted right there.
        check(
            &[(&format!("/{UID}/etc-hosts"), "/etc/hosts")],
            [UID, "", "", ""],
        );
        check(
            &[("/volumes/c/resolv.conf", "/etc/resolv.conf")],
            ["", "", "", "/volumes/c/resolv.conf"],
        );
    }

    #[test]
    fn the_mounts_of_other_pods_do_not_count() {
        let hosts = format!("/var/lib/kubelet/pods/{UID}/etc-hosts");
        check(
            &[
                (&hosts, "/host/etc/hosts"),
                ("/", "/etc"),
                ("/etc/hosts", "/etc/hosts"),
            ],
            [""; 4],
        );
    }

    #[test]
    fn a_path_is_that_of_the_mount_on_top() {
        let table = b"1 0 0:1 / / rw - overlay overlay rw\n\
            2 1 7:0 /volumes/c /etc/coredns rw - ext4 /dev/loop0 rw\n\
            3 1 0:9 / /run/secrets rw - tmpfs tmpfs rw\n\
            4 2 7:0 /opt/other /etc/coredns/Corefile rw - ext4 /dev/loop0 rw\n\
            5 1 7:0 /opt/newer /etc/coredns rw - ext4 /dev/loop0 rw\n";
        let mounts = binds(table);
        for (path, expected) in [
            ("/etc/coredns/Corefile", Some("/opt/other")),
            ("/etc/coredns/x/a", Some("/opt/newer/x/a")),
            ("/etc/coredns", Some("/opt/newer")),
            ("/etc/coredns2/a", None),
            ("/run/secrets/a", None),
            ("/Corefile", None),
        ] {
            assert_eq!(on_node(&mounts, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn mounts_that_somebody_else_serves_are_told_by_their_type() {
        let table = b"21 1 0:5 / /proc rw shared:1 - proc proc rw\n\
            22 21 0:6 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n\
            23 1 0:7 / /var/log/pods rw shared:2 master:3 - autofs auto rw,fd=5\n\
            24 1 0:8 / /mnt/a\\040b rw - fuse.sshfs x rw\n\
            25 1 0:9 / /fuse/nfs rw - ext4 /nfs rw\n\
            26 1 0:10 / /data rw - nfs4 10.0.0.1:/data rw\n";
        let found: Vec<PathBuf> = served(table).collect();
        assert_eq!(
            found,
            ["/var/log/pods", "/mnt/a b", "/data"].map(PathBuf::from)
        );
    }

    #[test]
    fn any_bytes_are_read() {
        assert_eq!(
            pod(b"\xff /etc/hosts\n1 2 3 /etc/hosts\n"),
            Mounts::default()
        );
        let table =
            b"132 31 0:4 net:[4026532286] /run/netns/cni-5a76 rw shared:73 - nsfs nsfs rw\n\
            131 98 0:4 net:[4026532286] /run/netns/cni-5a76 rw shared:73 - nsfs nsfs rw\n\
            131 98 0:4 mnt:[4026532287] /run/mnt rw shared:73 - nsfs nsfs rw\n\
            131 - nsfs \n";
        assert_eq!(
            network_namespaces(table),
            [(4_026_532_286, "/run/netns/cni-5a76".to_owned())]
        );
    }
}
