//! A kernel, or a filter of system calls, that refuses; and no `/proc`.

use libtest_mimic::Trial;

use crate::lab::{Ended, Other, behind, script, testdata};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("kernel::openat2 is refused", &["strace"], openat2),
        trial("kernel::setns is refused", &["strace"], setns),
        trial("kernel::no /proc", &["unshare", "mount", "sh"], no_proc),
        trial("kernel::packet sockets are refused", &["strace"], no_socket),
        trial("kernel::all sockets are refused", &["strace"], no_sockets),
        trial("kernel::limits are not told", &["strace"], no_limits),
        trial("kernel::no thread begins", &["strace"], no_thread),
        trial("kernel::the old file stays", &["strace"], no_unlink),
        trial(
            "kernel::root of a namespace",
            &["unshare", "sh"],
            mapped_root,
        ),
        trial(
            "kernel::processes of a container",
            &["unshare", "mount", "sh"],
            other_processes,
        ),
        trial(
            "kernel::a full disk of the kubelet",
            &["unshare", "mount", "dd", "sh"],
            full_disk,
        ),
    ]
}

/// Runs kdns with a system call that ends with this error.
fn without(call: &str, error: &str, arguments: &[&str]) -> Ended {
    let inject = format!("inject={call}:error={error}");
    let trace = format!("trace={call}");
    let words = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "signal=none",
        "-e",
        &trace,
        "-e",
        &inject,
    ];
    behind(&words, arguments)
}

/// Before Linux 5.6 there is none, and old filters do not know it: a walk
/// does the same.
fn openat2() {
    for node in [
        "cluster-loop",
        "hostile-links-out",
        "hostile-link-cycle",
        "resolved-stub",
        "kubeadm",
    ] {
        let root = testdata("nodes").join(node).display().to_string();
        for words in [
            &["check-loop", "--root", &root, "--format", "json"][..],
            &["explain", "web", "--root", &root],
            &["pods", "--root", &root],
        ] {
            let expected = behind(&[], words);
            for error in ["ENOSYS", "EPERM"] {
                let ended = without("openat2", error, words);
                assert_eq!(ended, expected, "{error} {words:?}");
            }
        }
    }
}

/// The target is not entered, and nothing is done outside of it instead.
fn setns() {
    let other = Other::start();
    let pid = other.0.id().to_string();
    for error in ["EPERM", "ENOSYS"] {
        for (words, status) in [
            (&["nsenter", &pid, "--", "echo", "done"][..], 125),
            (&["nsenter", &pid, "dig", "@127.0.0.1", "web"], 10),
        ] {
            let ended = without("setns", error, words);
            assert_eq!(
                (ended.status, ended.out.as_str()),
                (status, ""),
                "{ended:?}"
            );
            assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
            assert!(
                ended.err.contains("enter") || ended.err.contains("CAP_SYS_ADMIN"),
                "{ended:?}"
            );
        }
    }
}

/// A probe that may not watch says so.
fn no_socket() {
    let root = testdata("nodes/machine-other-port").display().to_string();
    let words = ["check-loop", "--root", &root, "--probe"];
    let ended = without("socket", "EPERM", &words);
    ended.is_clear("no sockets");
}

/// What keeps kdns from a socket is no word about packets of others, nor about servers.
fn no_sockets() {
    let conf = testdata("readme/pod.conf").display().to_string();
    let live = ["explain", "web", "--live", "--file", &conf];
    let path = ["path", "192.0.2.53"];
    for (call, words) in [
        ("socket", &live[..]),
        ("bind", &live),
        ("socket", &path),
        ("bind", &path),
    ] {
        let ended = without(call, "EPERM", words);
        assert_eq!(ended.status, 2, "{ended:?}");
        ended.is_clear(call);
    }
}

/// What is left beside a file that was written is named.
fn no_unlink() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resolv.conf");
    let twice = "nameserver 192.0.2.1\nnameserver 192.0.2.1\n";
    std::fs::write(&file, twice).unwrap();
    let words = ["lint", "--fix", file.to_str().unwrap()];
    let ended = without("unlinkat", "EIO", &words);
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(ended.err.contains("left beside it as .kdns-"), "{ended:?}");
    assert_ne!(std::fs::read_to_string(&file).unwrap(), twice);
}

/// Where rules are read on threads, they are read without, or not at all.
fn no_thread() {
    for command in ["upstream", "path"] {
        let ended = without("clone3", "EAGAIN", &[command, "10.96.0.10"]);
        assert!(ended.status <= 2, "{ended:?}");
        assert!(!ended.err.contains("panicked"), "{ended:?}");
    }
}

/// Whoever asks many at once asks how many descriptors there can be.
fn no_limits() {
    let words = ["dig", "@127.0.0.1", "-p", "9", "web", "+time=1", "+tries=1"];
    let ended = without("prlimit64", "EPERM", &words);
    assert_eq!(ended.status, 9, "{ended:?}");
}

/// What needs no process does its work; what does says what is missing.
/// Root of a user namespace sees as little of others as anybody.
fn mapped_root() {
    let text = script(
        r#"
set +e
for command in check-loop pods doctor upstream 'lint --node'; do
    unshare --user --map-root-user "$KDNS" $command 2>&1 >/dev/null | head -1
done
"#,
    );
    let said = "kdns: root here is that of a user namespace: what belongs to others on this node is not seen\n";
    assert_eq!(text, said.repeat(5));
}

/// The files are a node's, and the processes are those of a container.
fn other_processes() {
    let text = script(
        r#"
mount -t tmpfs nothing /run
bundle=/run/containerd/io.containerd.runtime.v2.task/k8s.io/5783505bf59eef56f41031622b044ae10a14c98045f5a97b3f34534752e6c797
mkdir -p $bundle
echo 4242 >$bundle/init.pid
set +e
for command in check-loop pods doctor upstream; do
    unshare --pid --fork --mount-proc "$KDNS" $command 2>&1 | tr '\n' ' '
    echo
done
"#,
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    for line in lines {
        assert!(line.contains("/proc is that of a container"), "{text}");
    }
}

/// The kubelet ends pods there, those of the cluster's DNS among them.
fn full_disk() {
    let text = script(
        r#"
mount -t tmpfs nothing /etc
mkdir -p /etc/systemd/system
echo 'nameserver 192.0.2.53' >/etc/resolv.conf
printf '[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml\n' >/etc/systemd/system/kubelet.service
mount -t tmpfs -o size=1m nothing /var/lib
mkdir /var/lib/kubelet
printf 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: /etc/resolv.conf\nevictionPressureTransitionPeriod: 0s\n' >/var/lib/kubelet/config.yaml
set +e
"$KDNS" doctor --format json | grep -c disk-full
dd if=/dev/zero of=/var/lib/kubelet/fill bs=1k count=940 2>/dev/null
"$KDNS" doctor | grep '^! kernel'
echo 'evictionHard: {nodefs.available: 1%}' >>/var/lib/kubelet/config.yaml
"$KDNS" doctor --format json | grep -c disk-full
dd if=/dev/zero of=/var/lib/kubelet/rest bs=1k 2>/dev/null
"$KDNS" doctor | grep '^✗ kernel'
"#,
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!((lines[0], lines[2]), ("0", "0"), "{text}");
    let said = "kernel    The disk of /var/lib/kubelet is";
    assert!(lines[1].starts_with(&format!("! {said} 9")), "{text}");
    assert!(
        lines[3].starts_with(&format!("✗ {said} 100 % full")),
        "{text}"
    );
}

fn no_proc() {
    let text = script(
        r#"
mount -t tmpfs -o ro nothing /proc
set +e
run() { echo "== $*"; "$KDNS" "$@" 2>&1 | head -3; }
status() { "$KDNS" "$@" >/dev/null 2>&1; echo "$? $1"; }
status explain web --file "$DATA/readme/pod.conf"
status check-loop --root "$DATA/nodes/cluster-loop"
status lint "$DATA/lint-real"
status lint "$DATA/lint-real" --output /dev/shm/kdns-report
grep -q "^" /dev/shm/kdns-report && rm /dev/shm/kdns-report && echo written
ls -A /dev/shm | grep kdns
run nsenter 1 -- true
run explain web --target 1
run nsenter 1 dig web
status check-loop
status pods
"$KDNS" check-loop --format concise 2>&1 | grep 'not mounted'
"$KDNS" pods 2>&1 | grep 'not mounted'
umount /proc
"#,
    );
    assert!(
        text.starts_with("0 explain\n1 check-loop\n1 lint\n1 lint\nwritten\n== "),
        "{text}"
    );
    assert_eq!(text.matches("kdns: ").count(), 7, "{text}");
    assert_eq!(text.matches("/proc is not mounted").count(), 7, "{text}");
    assert!(text.contains("2 check-loop\n2 pods\n"), "{text}");
}
