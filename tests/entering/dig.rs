//! `kdns nsenter TARGET dig …` in real namespaces.

use std::fs;
use std::process::Command;

use crate::answers::server;
use crate::lab::{KDNS, Running, kdns, result};
use crate::places::{root, shell};

/// Whose server must never be asked: the node's.
const TRAP: &str = "10.9.9.9";

/// kdns digs inside the target; the output has all of these.
#[track_caller]
fn digs(target: &str, words: &[&str], status: i32, expected: &[&str]) -> String {
    let (got, out, err) = kdns(&[&["nsenter", target, "dig"], words].concat());
    assert_eq!(got, status, "{words:?}: {out}{err}");
    for part in expected {
        assert!(
            out.contains(part),
            "{words:?}: {part}\nis not in\n{out}{err}"
        );
    }
    assert!(!out.contains(TRAP), "{out}");
    out
}

fn node() -> Running {
    shell("ip link set lo up; rm -f /etc/resolv.conf");
    fs::write("/etc/resolv.conf", "nameserver 127.0.0.1\n").unwrap();
    server(&["env"], "127.0.0.1", "db", TRAP)
}

/// A process with a network and a file of its own.
pub(crate) fn a_process() {
    let _node = node();
    let own = root(
        "dig",
        "nameserver 127.0.0.1\nsearch own.test\noptions ndots:2 attempts:1 timeout:1\n",
    );
    let prefix = ["unshare", "--net", "--mount", "chroot", &own];
    let process = Running::script(&prefix, "ip link set lo up");
    let pid = process.pid();
    let inside = ["nsenter", "-t", &pid, "-n"];
    shell(&format!(
        "nsenter -t {pid} -n ip address add 10.77.0.1/32 dev lo"
    ));
    let _loopback = server(&inside, "127.0.0.1", "db.own.test", "10.1.1.1");
    let _other = server(&inside, "10.77.0.1", "db", "10.1.1.2");
    let file = format!("/proc/{pid}/root/etc/resolv.conf");
    let number = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    let number = number.to_string_lossy().replace(['[', ']'], "");
    let number = number.trim_start_matches("net:");
    digs(
        &pid,
        &["+search", "db"],
        0,
        &[
            &format!(";; TARGET: process {pid} ("),
            &format!("network namespace {number}\n"),
            &format!(";; FILE: {file}\n"),
            ";; SERVERS: 127.0.0.1\n",
            "\ndb.own.test.\t\t60\tIN\tA\t10.1.1.1\n",
            "SERVER: 127.0.0.1#53(127.0.0.1) (UDP)",
        ],
    );
    let note = ";; NOTE: its own program would first ask 127.0.0.1 for db.own.test. A";
    digs(&pid, &["db"], 0, &[note, "status: NXDOMAIN"]);
    searches(&pid);
    let named = "which are not asked: the command line names others";
    digs(&pid, &["@10.77.0.1", "db"], 0, &[named, "10.1.1.2"]);
    assert_eq!(
        digs(&pid, &["+short", "+search", "db"], 0, &[]),
        "10.1.1.1\n"
    );
    let json = digs(&pid, &["+json", "@10.77.0.1", "db"], 0, &[]);
    assert!(json.starts_with('{'), "{json}");
    let yaml = digs(&pid, &["+yaml", "@10.77.0.1", "db"], 0, &[]);
    assert!(yaml.starts_with("- type: MESSAGE\n"), "{yaml}");
    statuses(&pid);
    // A name behind @ has the target's address.
    fs::write(format!("{own}/etc/hosts"), "10.77.0.1 ns\n").unwrap();
    digs(&pid, &["@ns", "db"], 0, &["10.1.1.2"]);
    // The caller's own files are its own.
    fs::write("/tmp/names", "db\n@10.77.0.1 db A\n").unwrap();
    shell("chmod 600 /tmp/names; chown 1234 /tmp/names");
    let out = digs(&pid, &["+short", "+search", "-f", "/tmp/names"], 0, &[]);
    assert_eq!(out, "10.1.1.1\n10.1.1.2\n");
}

/// As other resolvers search.
fn searches(pid: &str) {
    let searched = ";; SEARCH: db.own.test. A to 127.0.0.1: NOERROR, 1 records";
    let ending = ";; SEARCH: glibc then has 10.1.1.1\n";
    digs(
        pid,
        &["+search=target", "db"],
        0,
        &[searched, ending, "\tA\t10.1.1.1\n"],
    );
    let absolute = ["+search=musl", "db.", "@10.77.0.1"];
    digs(
        pid,
        &absolute,
        0,
        &[";; SEARCH: db. A to 10.77.0.1: NOERROR", "10.1.1.2"],
    );
    let short = digs(pid, &["+search=go", "+short", "db"], 0, &[]);
    assert_eq!(short, "10.1.1.1\n");
    digs(pid, &["+search=none", "db"], 1, &[]);
}

fn statuses(pid: &str) {
    digs(pid, &["+short", "@127.0.0.2", "db"], 9, &[]);
    digs(pid, &["+nosuch", "db"], 1, &[]);
    digs(pid, &["-f", "/no/such"], 8, &[]);
    digs("999999", &["db"], 10, &[]);
    // What is wrong with the words needs no target.
    digs("999999", &["+nosuch", "db"], 1, &[]);
    digs("999999", &["-h"], 0, &["Usage:"]);
    let (_, out, err) = kdns(&["nsenter", "999999", "dig", "db"]);
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("", "kdns: there is no process 999999\n")
    );
}

/// A namespace of `ip netns` with files of its own.
pub(crate) fn a_named_namespace() {
    let _node = node();
    shell("ip netns add blue; ip netns add red; mkdir -p /etc/netns/blue");
    shell("ip -n blue link set lo up; ip -n red link set lo up");
    fs::write(
        "/etc/netns/blue/resolv.conf",
        "nameserver 127.0.0.1\nsearch blue.test\n",
    )
    .unwrap();
    let _blue = server(
        &["ip", "netns", "exec", "blue"],
        "127.0.0.1",
        "db.blue.test",
        "10.1.1.3",
    );
    digs(
        "/run/netns/blue",
        &["+search", "db"],
        0,
        &[";; FILE: /etc/netns/blue/resolv.conf\n", "10.1.1.3"],
    );
    let warning = ";; WARNING: the namespace has no files of its own in /etc/netns: \
                   its programs read the node's\n";
    digs("/run/netns/red", &["+tries=1", "db"], 9, &[warning]);
    let (_, out, err) = kdns(&[
        "nsenter",
        "/run/netns/red",
        "dig",
        "+short",
        "+tries=1",
        "db",
    ]);
    assert!(err.contains("its programs read the node's"), "{out}{err}");
    let (status, out, err) = kdns(&["nsenter", "/run/netns", "dig", "db"]);
    let sentence = "kdns: /run/netns is no network namespace\n";
    assert_eq!((status, out.as_str(), err.as_str()), (10, "", sentence));
}

/// A pod whose container has died, and whose network is still there.
pub(crate) fn a_dead_pod() {
    const ID: &str = "4f71379662600f31dc0aae023a07190bf1ff1da93e5248897736d14f703ff3d2";
    const NETNS: &str = "cni-413749b9-4e39-a9b2-7c6a-836b8b62babd";
    const BUNDLE: &str = include_str!(concat!(
        "../../testdata/nodes/coredns-crashes/run/containerd/",
        "io.containerd.runtime.v2.task/k8s.io/",
        "4f71379662600f31dc0aae023a07190bf1ff1da93e5248897736d14f703ff3d2/config.json"
    ));
    const LOGS: &str = "/var/log/pods/kube-system_coredns-57c679d4f5-w6wdl_\
                        54f38bab-043d-4069-8201-91e9ecb6b1e8/coredns";
    let _node = node();
    let bundle = format!("/run/containerd/io.containerd.runtime.v2.task/k8s.io/{ID}");
    let sandbox = format!("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{ID}");
    shell(&format!(
        "mount -t tmpfs x /var/lib; mount -t tmpfs x /var/log
        mkdir -p {bundle} {sandbox} {LOGS}; touch {LOGS}/5.log
        ip netns add {NETNS}; ip -n {NETNS} link set lo up"
    ));
    fs::write(format!("{bundle}/config.json"), BUNDLE).unwrap();
    let resolv_conf = format!("{sandbox}/resolv.conf");
    fs::write(&resolv_conf, "nameserver 127.0.0.1\nsearch dead.test\n").unwrap();
    let inside = ["ip", "netns", "exec", NETNS];
    let _server = server(&inside, "127.0.0.1", "db.dead.test", "10.1.1.4");
    digs(
        "kube-system/coredns-57c679d4f5-w6wdl",
        &["+search", "db"],
        0,
        &[
            ";; TARGET: pod kube-system/coredns-57c679d4f5-w6wdl",
            ";; FILE: /var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/4f7137…/resolv.conf",
            "its sandbox's network and resolv.conf",
            "10.1.1.4",
        ],
    );
}

/// What can be done without being root, and what is said where it cannot.
pub(crate) fn another_user() {
    let _node = node();
    fs::copy(KDNS, "/tmp/kdns").unwrap();
    shell("chmod 755 /tmp/kdns; chmod 755 /tmp");
    let setpriv = [
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
    ];
    let digs = |target: &str| {
        let mut command = Command::new(setpriv[0]);
        command
            .args(&setpriv[1..])
            .args(["/tmp/kdns", "nsenter", target, "dig"]);
        result(&command.args(["+tries=1", "+short", "db"]).output().unwrap())
    };
    let stranger = Running::script(&["unshare", "--net"], "true");
    let (status, out, err) = digs(&stranger.pid());
    assert_eq!((status, out.as_str()), (10, ""), "{err}");
    assert!(
        err.contains("that needs the capability CAP_SYS_PTRACE"),
        "{err}"
    );
    let root = format!("kdns: as root: sudo kdns nsenter {} dig", stranger.pid());
    let last = err.lines().nth(1).unwrap_or_default();
    assert!(last.starts_with(&root), "{err}");
    assert_eq!(err.lines().count(), 2, "{err}");
    let script = "ip netns add green; chmod 755 /run/netns";
    shell(script);
    let (status, _, err) = digs("/run/netns/green");
    assert_eq!(status, 10);
    assert!(
        err.contains("that needs the capability CAP_SYS_ADMIN"),
        "{err}"
    );
    // One's own process on one's own network.
    let own = Running::script(&setpriv, "true");
    let (status, out, err) = digs(&own.pid());
    assert_eq!((status, out.as_str()), (0, "10.9.9.9\n"), "{err}");
    // A user namespace of one's own.
    let prefix = [
        &setpriv[..],
        &["unshare", "--user", "--map-root-user", "--net", "--mount"],
    ]
    .concat();
    let own = Running::script(&prefix, "ip link set lo up");
    let inside = ["nsenter", "-t", &own.pid(), "-n"];
    let _server = server(&inside, "127.0.0.1", "db", "10.1.1.5");
    let (status, out, err) = digs(&own.pid());
    assert_eq!((status, out.as_str()), (0, "10.1.1.5\n"), "{err}");
}
