//! Files of strangers that never answer: what else there is to say is said, in
//! seconds, and nobody who waits for kdns waits longer.

use std::fs;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::fuse::Stalling;
use crate::lab::{KDNS, Running};
use crate::node::{Network, Node, Pod, first_process};
use crate::places::{root, shell};

const CONF: &[u8] = b"nameserver 10.9.9.9\n";

/// Five seconds are for all files of strangers; a busy machine needs more for
/// the rest.
const LONGEST: Duration = Duration::from_secs(30);

/// A shell's script that runs kdns, as people do. Without an end the test has
/// one, and lets those go who wait.
#[track_caller]
fn ends(script: &str) -> (i32, String, String) {
    let [out, err] = ["/tmp/out", "/tmp/err"];
    let mut command = Command::new("setsid");
    command
        .args(["sh", "-c", script])
        .env("KDNS", KDNS)
        .stdin(Stdio::null())
        .stdout(fs::File::create(out).unwrap())
        .stderr(fs::File::create(err).unwrap());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + LONGEST;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < until, "{script} does not end");
        thread::sleep(Duration::from_millis(20));
    };
    let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    (status.code().unwrap_or(-1), read(out), read(err))
}

#[track_caller]
fn wait_for(it: impl Fn() -> bool) {
    let until = Instant::now() + LONGEST;
    while !it() {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Nobody of kdns is there any more who holds a pipe.
fn left_behind() -> usize {
    let mut holders = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let links = fs::read_dir(entry.path().join("fd")).into_iter().flatten();
        let name = fs::read_link(entry.path().join("exe")).unwrap_or_default();
        let pipes = links.flatten().filter(|it| {
            let link = fs::read_link(it.path()).unwrap_or_default();
            link.to_string_lossy().starts_with("pipe:")
        });
        if name.ends_with("kdns") {
            holders += pipes.count();
        }
    }
    holders
}

/// Two pods, the second of which lies in the way.
fn two_pods() -> (Node, Pod, u32) {
    let node = Node::boot();
    let web = node.pod("web", 1, Network::Own);
    node.container_of(&web, "main", 2);
    let stuck = node.pod("stuck", 3, Network::Own);
    let pid = node.container_of(&stuck, "main", 4);
    (node, stuck, pid)
}

/// What is said about such a pod and the other one.
#[track_caller]
fn goes_on(what: &str) {
    let (status, out, err) = ends("$KDNS pods --format json | cat");
    assert_eq!(status, 0, "{what}: {err}");
    let pods: serde_json::Value = serde_json::from_str(&out).unwrap();
    let of = |name: &str| {
        let mut all = pods["pods"].as_array().unwrap().iter();
        all.find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(of("web")["drift"], false, "{what}: {out}");
    assert!(of("stuck")["drift"].is_null(), "{what}: {out}");
    let skipped = pods["skipped"].to_string();
    let expected = "pod shop/stuck is not readable";
    assert!(
        skipped.contains(expected) && skipped.contains("does not answer"),
        "{what}: {skipped}"
    );
    let (status, out, err) = ends("$KDNS check-loop");
    assert!(status == 0 || status == 2, "{what}: {out} {err}");
    let said = format!("{out}{err}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(expected), "{what}: {said}");
    for script in [
        "$KDNS upstream",
        "$KDNS explain db --target shop/stuck",
        "$KDNS nsenter shop/stuck -- true",
        "$KDNS lint --node",
    ] {
        let (status, out, err) = ends(script);
        assert!(
            matches!(status, 0..=2 | 125),
            "{what}: {script}: {out} {err}"
        );
    }
    let (_, out, err) = ends("$KDNS doctor --format json");
    let doctor: serde_json::Value = serde_json::from_str(&out).unwrap();
    let first = &doctor["causes"][0];
    assert!(
        first["code"] == "pod-unreadable" && first["text"].to_string().contains("shop/stuck"),
        "{what}: {out} {err}"
    );
    assert_eq!(left_behind(), 0, "{what}");
}

/// `/etc` of a container is a file system that answers, or not, at any moment.
pub(crate) fn pods() {
    let (_node, _stuck, pid) = two_pods();
    let stalling = Stalling::mount("/etc", Some(pid), &[("resolv.conf", CONF)]);
    for answered in 0..6 {
        stalling.stall_after(answered);
        let (_, out, err) = ends("$KDNS pods | cat");
        assert!(
            out.contains("shop/web") && out.contains("shop/stuck"),
            "{answered}: {out} {err}"
        );
    }
    stalling.stall_after(0);
    goes_on("a mount of FUSE");
}

/// More of them than there is time for: each is named all the same.
pub(crate) fn many() {
    const PODS: u32 = 8;
    let node = Node::boot();
    for number in 0..PODS {
        let pod = node.pod(&format!("stuck-{number}"), 2 * number + 1, Network::Own);
        // Its sandbox lies in the way, too.
        for pid in [
            first_process(&pod.sandbox),
            node.container_of(&pod, "main", 2 * number + 2),
        ] {
            Stalling::mount("/etc", Some(pid), &[("resolv.conf", CONF)]).stall_after(0);
        }
    }
    let (status, out, err) = ends("$KDNS pods | cat");
    assert_eq!(status, 0, "{err}");
    for number in 0..PODS {
        let name = format!("shop/stuck-{number}");
        let said = format!("pod {name} is not readable");
        assert!(out.contains(&name) && err.contains(&said), "{out} {err}");
    }
    assert!(err.contains("does not answer"), "{err}");
    assert!(err.contains("have taken 5 s already"), "{err}");
    assert_eq!(left_behind(), 0);
}

/// A process whose `/etc` is mounted by `mount`, once it runs: kdns gives up on
/// it.
#[track_caller]
fn gives_up(mount: impl FnOnce(&str)) {
    let own = root("own", "nameserver 10.2.2.2\n");
    let process = Running::script(&["unshare", "--net", "chroot", &own], "true");
    mount(&format!("{own}/etc"));
    let pid = process.pid();
    let (status, out, err) = ends(&format!("$KDNS explain db --target {pid} | cat"));
    assert!(
        err.contains("does not answer") && out.is_empty(),
        "{status}: {out} {err}"
    );
    let (status, _, err) = ends(&format!("$KDNS nsenter {pid} -- true"));
    assert_eq!(status, 125, "{err}");
    assert_eq!(left_behind(), 0);
}

/// An overlay does not say that one of its layers is such a file system.
pub(crate) fn overlays() {
    shell("mkdir -p /tmp/lower /tmp/upper /tmp/work");
    let stalling = Stalling::mount("/tmp/lower", None, &[("resolv.conf", CONF)]);
    gives_up(|etc| {
        let layers = "lowerdir=/tmp/lower,upperdir=/tmp/upper,workdir=/tmp/work";
        shell(&format!(
            "mount -t overlay x -o {layers} {etc}; cat {etc}/resolv.conf"
        ));
        stalling.stall_after(0);
    });
}

/// A process that changes its memory, and waits for such a file to be written
/// meanwhile: until then nobody may read its arguments, environment and maps.
///
/// Source: Linux `fs/fuse/file.c` `fuse_vma_close`, called by `mmap` of
/// something else in its place.
pub(crate) fn memory() {
    let stalling = Stalling::mount("/mnt", None, &[("page", &[b'a'; 4096])]);
    let script = r#"
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
SHARED, PRIVATE, FIXED, ANONYMOUS = 1, 2, 16, 32
place = libc.mmap(None, 4096, 3, SHARED, os.open("/mnt/page", os.O_RDWR), 0)
ctypes.memset(place, 120, 1)
open("/tmp/changed", "w").close()
while not os.path.exists("/tmp/stalled"):
    time.sleep(0.01)
libc.mmap(place, 4096, 3, PRIVATE | FIXED | ANONYMOUS, -1, 0)
open("/tmp/wrong", "w").close()
"#;
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", script]);
    // It cannot end before the file system does.
    let process = ManuallyDrop::new(Running::start(&mut command));
    let pid = process.pid();
    wait_for(|| fs::exists("/tmp/changed").unwrap());
    stalling.stall_after(0);
    fs::write("/tmp/stalled", "").unwrap();
    wait_for(|| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") D ") || fs::exists("/tmp/wrong").unwrap()
    });
    for script in [
        format!("$KDNS explain db --target {pid} | cat"),
        format!("$KDNS nsenter {pid} -- true"),
        format!("$KDNS nsenter {pid} explain db"),
        "$KDNS pods | cat".to_owned(),
        "$KDNS check-loop".to_owned(),
    ] {
        ends(&script);
    }
    let (status, out, err) = ends(&format!("$KDNS explain db --target {pid}"));
    let said = format!("{out}{err}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        status == 0 && said.contains("lets nobody see its memory"),
        "{status}: {said}"
    );
    assert_eq!(left_behind(), 0);
}

/// A daemon of automounts that never mounts anything.
struct Daemon {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Daemon {
    fn start() -> Self {
        let (reader, writer) = nix::unistd::pipe().unwrap();
        // Whoever is of the daemon's group does not wait; `ends` makes another.
        nix::unistd::setsid().unwrap();
        Self { reader, writer }
    }

    /// Whoever looks into the directory waits for it.
    fn mount(&self, directory: &str, kind: &str) {
        let (fd, group) = (self.writer.as_raw_fd(), nix::unistd::getpgrp());
        let options = format!("fd={fd},pgrp={group},minproto=5,maxproto=5,{kind}");
        let flags = nix::mount::MsFlags::empty();
        let options = Some(options.as_str());
        nix::mount::mount(Some("stall"), directory, Some("autofs"), flags, options).unwrap();
    }

    /// Those who wait are let go.
    fn end(self) {
        drop(self.reader);
    }
}

/// A directory that waits for a daemon to mount something on it.
pub(crate) fn automounts() {
    let daemon = Daemon::start();
    gives_up(|etc| daemon.mount(etc, "indirect"));
    daemon.end();
}

/// Directories of the node itself that wait so: what else there is to say is
/// said, and that they do not answer.
pub(crate) fn node() {
    let node = Node::boot();
    let web = node.pod("web", 1, Network::Own);
    node.container_of(&web, "main", 2);
    let daemon = Daemon::start();
    fs::create_dir_all("/etc/kubernetes").unwrap();
    for directory in ["/var/log/pods", "/etc/kubernetes", "/run/containerd"] {
        daemon.mount(directory, "direct");
        let silent = format!("cannot read {directory}");
        for command in ["pods", "check-loop", "upstream", "lint --node", "doctor"] {
            let (status, out, err) = ends(&format!("$KDNS {command}"));
            let said = format!("{out} {err}");
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!((0..=2).contains(&status), "{directory}: {command}: {said}");
            let needs_it = match command {
                "pods" => directory != "/etc/kubernetes",
                "upstream" | "lint --node" => directory == "/etc/kubernetes",
                _ => command == "check-loop",
            };
            assert!(
                !needs_it || said.contains(&silent) && said.contains("does not answer"),
                "{directory}: {command}: {said}"
            );
            if command == "pods" {
                assert!(
                    said.contains("shop/web") && said.contains("10.96.0.10"),
                    "{said}"
                );
                assert!(!said.contains("main does not run"), "{said}");
            }
        }
        let (status, out, err) = ends("$KDNS explain db --target shop/web");
        assert!(
            status == 0 && out.contains("4 queries"),
            "{directory}: {out} {err}"
        );
        let (status, _, err) = ends("$KDNS nsenter shop/web -- true");
        assert_eq!(status, 0, "{directory}: {err}");
        assert_eq!(left_behind(), 0, "{directory}");
        shell(&format!("umount -l {directory}"));
    }
    daemon.end();
}

/// A file of the node that a link leads to, on a mount that answers or not.
pub(crate) fn links() {
    let explained = |directory: &str| {
        // ln(1) would look where the old one leads.
        fs::remove_file("/etc/resolv.conf").unwrap();
        symlink(format!("{directory}/resolv.conf"), "/etc/resolv.conf").unwrap();
        ends("$KDNS explain db")
    };
    fs::create_dir_all("/tmp/served").unwrap();
    let stalling = Stalling::mount("/tmp/served", None, &[("resolv.conf", CONF)]);
    let (status, out, err) = explained("/tmp/served");
    assert!(status == 0 && out.contains("10.9.9.9"), "{out} {err}");
    stalling.stall_after(0);
    fs::create_dir_all("/tmp/conf").unwrap();
    let daemon = Daemon::start();
    daemon.mount("/tmp/conf", "direct");
    for directory in ["/tmp/served", "/tmp/conf"] {
        let (status, out, err) = explained(directory);
        let said = "cannot read /etc/resolv.conf: its file system does not answer";
        assert!(status == 2 && err.contains(said), "{out} {err}");
    }
    daemon.end();
}
