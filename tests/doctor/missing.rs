//! Files that are not there, cannot be read, or that another one stands in for.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::faults::trial;
use crate::lab::{KDNS, Node, doctor, nodes};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("faults::a file that is not there", file_is_missing),
        trial("faults::a file that cannot be read", unreadable),
        trial("faults::a file that ends the kubelet", broken_settings),
        trial("faults::a process that cannot be seen", unseen),
        trial("faults::nothing is to be seen", nothing_seen),
        trial("faults::a file in place of the kubelet's", stood_in),
        trial("faults::a server on a link", on_a_link),
        trial(
            "faults::a target with a directory's name",
            target_like_a_directory,
        ),
    ]
}

/// A directory is meant only by a word that no target has.
fn target_like_a_directory() {
    let node = Node::copy_of("cluster-without-kubelet");
    let pod = "coredns-9d5799d79-pv22h";
    for (word, is_target) in [(pod, true), ("web", false)] {
        fs::create_dir(node.root.join(word)).unwrap();
        let mut command = Command::new(KDNS);
        let command = command.args(["doctor", word, "--root"]).arg(&node.root);
        let output = command.current_dir(&node.root).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_hint = said.contains(&format!("kdns doctor --root {word} reads"));
        assert_eq!(is_hint, !is_target, "{said}");
        assert_eq!(output.stdout.is_empty(), !is_target, "{said}");
    }
}

/// What is marked as wrong says what is wrong.
fn file_is_missing() {
    let node = Node::copy_of("cluster-cgroup-v1");
    let file = "etc/kubernetes/kubelet.yaml";
    let text = fs::read_to_string(node.root.join(file)).unwrap();
    let line = text.lines().find(|it| it.starts_with("resolvConf"));
    node.write(
        file,
        &text.replace(line.unwrap(), "resolvConf: /etc/nothing.conf"),
    );
    let said = node.doctor(&[]);
    assert_eq!(said.state("upstream"), "error", "{said:#?}");
    let fact = said.fact("upstream");
    assert!(fact.contains("/etc/nothing.conf"), "{fact}");
    assert_eq!(said.first(), "file-missing", "{said:#?}");
    let causes = said.document["causes"].to_string();
    assert!(!causes.contains("file-without-server"), "{causes}");
    // The node's own file is in no pod, and no rule is about it.
    let node = Node::copy_of("cluster-cgroup-v1");
    let own = node.root.join("etc/resolv.conf");
    fs::remove_file(&own).unwrap();
    fs::write(&own, "").unwrap();
    let said = node.doctor(&[]);
    assert_eq!(said.first(), "file-without-server", "{said:#?}");
    // Nor does the kubelet's file, which is not there, say it.
    node.write(
        file,
        &text.replace(line.unwrap(), "resolvConf: /etc/nothing.conf"),
    );
    let causes = node.doctor(&[]).document["causes"].to_string();
    assert!(causes.contains("file-missing"), "{causes}");
    assert!(causes.contains("/etc/resolv.conf: "), "{causes}");
    assert!(!causes.contains("/etc/nothing.conf: "), "{causes}");
}

/// Where nothing was seen, nothing is wrong.
fn nothing_seen() {
    let empty = tempfile::tempdir().unwrap();
    let said = doctor(empty.path(), &[]);
    assert_eq!(said.state("upstream"), "unknown", "{said:#?}");
    let causes = said.document["causes"].to_string();
    assert!(!causes.contains("file-without-server"), "{causes}");
}

/// `kdns path` is told what a file says that stands in for the kubelet's.
fn stood_in() {
    let node = Node::copy_of("cluster-cgroup-v1");
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    node.write("rules", rules);
    node.write(
        "kubelet",
        "clusterDNS: [10.1.2.3]
resolvConf: /etc/resolv.conf
",
    );
    let file = |name: &str| node.root.join(name).display().to_string();
    let (rules, kubelet) = (file("rules"), file("kubelet"));
    let empty = tempfile::tempdir().unwrap();
    for root in [node.root.as_path(), empty.path()] {
        let said = doctor(root, &["--rules", &rules, "--kubelet-config", &kubelet]);
        assert_eq!(said.state("path"), "error", "{said:#?}");
        let checks = said.document["checks"].to_string();
        assert!(checks.contains("--cluster-dns 10.1.2.3"), "{checks}");
    }
}

/// What the runtime wrote of a container.
const STATE: &str = "run/containerd/io.containerd.runtime.v2.task/k8s.io/5783505bf59eef56f41031622b044ae10a14c98045f5a97b3f34534752e6c797/config.json";

/// A file that is there and cannot be read can say anything.
fn unreadable() {
    for (file, check) in [
        ("etc/kubernetes/kubelet.yaml", "lint"),
        ("run/systemd/resolve/resolv.conf", "upstream"),
        ("run/systemd/resolve/stub-resolv.conf", "lint"),
        ("etc/systemd/resolved.conf.d/a.conf", "lint"),
        (STATE, "pods"),
    ] {
        let node = Node::copy_of("cluster-cgroup-v2");
        hide(&node.root.join(file));
        let said = node.doctor(&[]);
        assert_ne!(said.state(check), "ok", "{file}: {said:#?}");
        let lint = Command::new(KDNS)
            .args(["lint", "--root"])
            .arg(&node.root)
            .output()
            .unwrap();
        assert_eq!(lint.status.code(), Some(2), "{file}");
        let diff = Command::new(KDNS)
            .arg("diff")
            .args([&nodes().join("cluster-cgroup-v2"), &node.root])
            .output()
            .unwrap();
        let said = String::from_utf8(diff.stderr).unwrap();
        assert_ne!(diff.status.code(), Some(0), "{file}");
        assert!(said.contains("is known: "), "{file}: {said}");
        let err = String::from_utf8(lint.stderr).unwrap();
        assert!(err.contains("cannot read /"), "{file}: {err}");
    }
}

/// Without the first process, whose sockets are the node's, nobody is known not to listen.
fn unseen() {
    let node = Node::copy_of("row07-nodelocal");
    let healthy = node.doctor(&[]);
    assert_eq!(healthy.state("upstream"), "ok");
    hide(&node.root.join("proc/1/cgroup"));
    let said = node.doctor(&[]);
    for check in ["upstream", "lint", "loop"] {
        assert_ne!(said.state(check), "error", "{check}: {said:#?}");
    }
    assert_eq!(said.state("pods"), "unknown");
}

/// Puts a directory in the place of a file.
fn hide(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path).unwrap();
}

/// That pods do not have the node's link is why a server there does not answer, and no other.
fn on_a_link() {
    for (server, kept, is_why) in [
        ("169.254.20.10", "169.254.20.10", false),
        ("[fe80::1%eth0]", "fe80::1%eth0", true),
        ("[fe80::2%eth0]", "10.244.0.53", false),
    ] {
        let node = Node::copy_of("coredns-upstream-timeout");
        let log = "var/log/pods/kube-system_coredns-57c679d4f5-kkqld_cd3dce15-a96b-4bae-bdc2-fc460e4394ed/coredns/1.log";
        for (file, server) in [(log, server), (KEPT, kept)] {
            let text = fs::read_to_string(node.root.join(file)).unwrap();
            node.write(file, &text.replace("10.244.0.53", server));
        }
        let servers = "nameserver 172.31.0.53\nnameserver fe80::1%eth0\n";
        node.write("run/systemd/resolve/resolv.conf", servers);
        let causes = node.doctor(&["--verbose"]).document["causes"].to_string();
        assert!(causes.contains("scoped-nameserver"), "{causes}");
        assert_eq!(causes.contains("gets no answer"), !is_why, "{causes}");
    }
}

/// What the runtime keeps for the pod of [`on_a_link`].
const KEPT: &str = "var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/5b995c61b068f75cf680f391071dc777d7ac64c85881cafc036552e74fc2ec8e/resolv.conf";

/// Half written settings, with which a restart would end the kubelet.
fn broken_settings() {
    let node = Node::copy_of("cluster-not-restarted");
    let first = fs::File::options()
        .write(true)
        .open(node.root.join("etc/hostname"));
    first.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    node.write("etc/kubernetes/kubelet.yaml", "clusterDNS: [10.96.0");
    let causes = node.doctor(&["--verbose"]).document["causes"].to_string();
    assert!(
        causes.contains("correct it before the kubelet is"),
        "{causes}"
    );
}
