//! What works without root, and which capability is named where one is missing.

use std::fs;
use std::process::Command;

use crate::lab::{KDNS, Running, result};
use crate::places::shell;

const COPY: &str = "/tmp/kdns";
const NOBODY: &[&str] = &["--reuid", "65534", "--regid", "65534", "--clear-groups"];

/// What kdns gives with less privileges.
fn less(setpriv: &[&str], arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new("setpriv");
    command.args(setpriv).arg(COPY).args(arguments);
    result(&command.output().unwrap())
}

/// One sentence that says `expected`, and what to type as root.
#[track_caller]
fn refused(setpriv: &[&str], arguments: &[&str], expected: &str) {
    let (status, out, err) = less(setpriv, arguments);
    let failed = if arguments.contains(&"--") { 125 } else { 2 };
    assert_eq!((status, out.as_str()), (failed, ""), "{arguments:?}: {err}");
    let is_sentence = |it: &&str| !it.starts_with("kdns: as root: sudo kdns ");
    let is_one = err.lines().filter(is_sentence).count() == 1 && err.starts_with("kdns: ");
    assert!(is_one && err.contains(expected), "{arguments:?}: {err}");
}

#[track_caller]
fn works(setpriv: &[&str], arguments: &[&str]) -> String {
    let (status, out, err) = less(setpriv, arguments);
    assert_eq!(status, 0, "{setpriv:?} {arguments:?}: {err}");
    out
}

struct Targets {
    root: Running,
    nobody: Running,
    /// Of nobody's, in a user namespace of its own.
    mapped: Running,
}

fn targets() -> Targets {
    fs::copy(KDNS, COPY).unwrap();
    shell(&format!("chmod 755 {COPY} /tmp; ip netns add blue"));
    let own = [&["setpriv"], NOBODY].concat();
    let mapped = ["unshare", "--user", "--map-root-user", "--net", "--mount"];
    Targets {
        root: Running::script(&["unshare", "--net", "--uts"], "true"),
        nobody: Running::script(&own, "true"),
        mapped: Running::script(&[&own[..], &mapped].concat(), "true"),
    }
}

pub(crate) fn nobody() {
    let targets = targets();
    let [root, nobody, mapped] =
        [&targets.root, &targets.nobody, &targets.mapped].map(Running::pid);
    let network = |pid: &str| {
        format!(
            "{}\n",
            fs::read_link(format!("/proc/{pid}/ns/net"))
                .unwrap()
                .display()
        )
    };
    // One's own, and what is only read.
    let out = works(NOBODY, &["explain", "db", "--target", &nobody]);
    assert!(
        out.contains(&format!("process {nobody} (")) && out.contains("its resolver is glibc"),
        "{out}"
    );
    works(NOBODY, &["explain", "db", "--target", &mapped]);
    works(NOBODY, &["explain", "db", "--target", "/run/netns/blue"]);
    works(NOBODY, &["nsenter", &nobody, "explain", "db"]);
    // Where a user namespace has to be entered first, every time.
    for _ in 0..20 {
        let found = works(
            NOBODY,
            &["nsenter", &mapped, "--", "readlink", "/proc/self/ns/net"],
        );
        assert_eq!(found, network(&mapped));
    }
    let admin = "that needs the capability CAP_SYS_ADMIN";
    refused(NOBODY, &["nsenter", &nobody, "--", "true"], admin);
    refused(NOBODY, &["nsenter", "/run/netns/blue", "--", "true"], admin);
    let trace = "that needs the capability CAP_SYS_PTRACE";
    for target in [root.as_str(), "1"] {
        refused(NOBODY, &["explain", "db", "--target", target], trace);
        refused(NOBODY, &["nsenter", target, "--", "true"], trace);
    }
    let task = format!("/proc/{root}/task/{root}/ns/net");
    refused(
        NOBODY,
        &["nsenter", &task, "--", "true"],
        "needs the capability CAP_SYS_PTRACE",
    );
    pods_that_cannot_be_seen();
    a_kubelet_that_cannot_be_looked_into();
    hidden(&root);
}

/// Its files are not those of the node that have the same names.
fn a_kubelet_that_cannot_be_looked_into() {
    shell(
        "cp /bin/sh /tmp/kubelet; echo 'resolvConf: /etc/resolv.conf' > /etc/kubelet-of-the-node",
    );
    let mut command = Command::new("unshare");
    let flag = "--config=/etc/kubelet-of-the-node";
    command.args(["--mount", "/tmp/kubelet", "-c", "sleep 1000; :", flag]);
    let kubelet = Running::start(&mut command);
    kubelet.wait_for("kubelet");
    let pid = kubelet.pid();
    let expected = format!(
        "cannot read /etc/kubelet-of-the-node below /proc/{pid}/root: permission denied (needs root)"
    );
    for command in [["check-loop"], ["upstream"]] {
        let (status, out, err) = less(NOBODY, &command);
        let said = format!("{out} {err}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&expected), "{command:?}: {said}");
        assert!(
            status == 2 || command == ["upstream"],
            "{command:?}: {said}"
        );
        let (_, out, err) = less(&["--reuid", "0"], &command);
        assert!(
            !format!("{out}{err}").contains("permission denied"),
            "{out}{err}"
        );
    }
}

/// What cannot be read is not taken for what is not there.
fn pods_that_cannot_be_seen() {
    let unseen = ["explain", "db", "--target", "shop/web"];
    shell(
        "mkdir -p /run/containerd/io.containerd.runtime.v2.task/k8s.io; chmod 711 /run/containerd",
    );
    shell("chmod 700 /run/containerd/io.containerd.runtime.v2.task");
    refused(NOBODY, &unseen, "there is no pod shop/web on this node");
    refused(NOBODY, &unseen, "but not all could be read: ");
    refused(
        NOBODY,
        &["nsenter", "deadbeef", "--", "true"],
        "(needs root)",
    );
}

fn hidden(root: &str) {
    shell("mount -o remount,hidepid=2 /proc");
    let words = ["explain", "db", "--target", root];
    refused(
        NOBODY,
        &words,
        "/proc is mounted with hidepid; run kdns as root",
    );
    shell("mount -o remount,hidepid=1 /proc");
    refused(NOBODY, &words, "that needs the capability CAP_SYS_PTRACE");
    works(&["--reuid", "0"], &words);
    shell("mount -o remount,hidepid=0 /proc");
}

/// Root without one of its capabilities.
#[expect(clippy::too_many_lines, reason = "one case after the other")]
pub(crate) fn one_less() {
    let targets = targets();
    let [root, mapped] = [&targets.root, &targets.mapped].map(Running::pid);
    let all = [root.as_str(), mapped.as_str(), "/run/netns/blue"];
    let without = |capability: &str| {
        [
            format!("--bounding-set=-{capability}"),
            "--inh-caps=-all".to_owned(),
        ]
    };
    let is_needed = |capability: &str, target: &str| match capability {
        "sys_admin" => Some("CAP_SYS_ADMIN"),
        "sys_ptrace" if !target.starts_with('/') => Some("CAP_SYS_PTRACE"),
        _ => None,
    };
    for capability in [
        "sys_admin",
        "sys_ptrace",
        "sys_chroot",
        "dac_override",
        "dac_read_search",
        "setpcap",
        "net_admin",
        "setuid",
    ] {
        let words = without(capability);
        let words = words.each_ref().map(String::as_str);
        for target in all {
            let enter = ["nsenter", target, "--", "true"];
            let look = ["explain", "db", "--target", target];
            match is_needed(capability, target) {
                None => drop((works(&words, &enter), works(&words, &look))),
                Some(name) => {
                    refused(&words, &enter, name);
                    // To look is less than to enter.
                    if name == "CAP_SYS_ADMIN" {
                        works(&words, &look);
                    } else {
                        refused(&words, &look, name);
                    }
                }
            }
        }
    }
    // Files of other users, without the right to read them.
    let own = crate::places::root("own", "nameserver 10.1.1.1\n");
    shell(&format!(
        "chown 65534 {own}/etc/resolv.conf; chmod 600 {own}/etc/resolv.conf"
    ));
    let process = Running::script(&["unshare", "--net", "chroot", &own], "true");
    let words = [
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-all",
    ];
    refused(
        &words,
        &["explain", "db", "--target", &process.pid()],
        "permission denied (root needs the capability CAP_DAC_READ_SEARCH for that)",
    );
    // Nor does root of a user namespace have it.
    fs::write("/tmp/own.conf", "nameserver 10.1.1.1\n").unwrap();
    shell("chmod 600 /tmp/own.conf");
    let namespace = ["unshare", "--user", "--map-root-user"];
    let words = [NOBODY, &namespace].concat();
    refused(
        &words,
        &["explain", "db", "--file", "/tmp/own.conf"],
        "permission denied (root here is that of a user namespace, not of the machine)",
    );
}
