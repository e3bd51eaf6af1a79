//! Faults in the files of nodes.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::lab::{Node, Said, doctor, nodes};

/// Nodes on which nothing is wrong.
pub(crate) const HEALTHY: &[&str] = &[
    "aks",
    "aks-localdns",
    "bottlerocket",
    "cluster-cgroup-v1",
    "cluster-cgroup-v2",
    "cluster-ipvs",
    "cluster-without-kubelet",
    "dead-runtime-healthy",
    "drop-in-1.32",
    "eks-al2",
    "eks-al2023",
    "flag-last-wins",
    "flatcar",
    "gke",
    "k0s",
    "k3s",
    "kind",
    "kubeadm",
    "kubeadm-1.15",
    "kubeadm-1.24",
    "kubeadm-1.31",
    "microk8s",
    "minikube-none",
    "openshift",
    "resolved-uplink",
    "rke2",
    "row07-nodelocal",
    "row10-coredns-to-nodelocal",
    "talos",
];

/// Those of them whose DNS pod and kubelet are there, with their file, settings and
/// log: here faults can be made.
pub(crate) const CLUSTERS: &[&str] = &["cluster-cgroup-v1", "cluster-cgroup-v2", "cluster-ipvs"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("faults::healthy nodes", healthy),
        trial(
            "faults::a Corefile by another name",
            corefile_by_another_name,
        ),
        trial("faults::only a stub", only_a_stub),
        trial("faults::a loop behind the node", loop_behind),
        trial("faults::an old file", old_file),
        trial("faults::a pod that asks itself", pod_asks_itself),
        trial("faults::a dead server", dead_server),
        trial("faults::a dead server, long ago", over),
        trial("faults::a loop that no setting makes", without_setting),
        trial("faults::a slow server", slow_server),
        trial("faults::a reload that failed", reload_failed),
        trial("faults::a full table", full_table),
        trial("faults::a snapshot says the same", snapshots),
        trial("faults::a snapshot without names", anonymous),
    ]
}

/// A test that needs no privilege.
pub(crate) fn trial(name: &str, run: fn()) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

fn healthy() {
    for name in HEALTHY {
        let said = doctor(&nodes().join(name), &[]);
        assert!(said.wrong().is_empty(), "{name}: {said:#?}");
        assert_ne!(said.status, 1, "{name}: {said:#?}");
        // Nobody was asked: never only green.
        assert_eq!(said.state("servers"), "unknown", "{name}");
    }
}

/// The clusters with a fault, and what doctor says of each.
#[track_caller]
fn each(words: &[&str], break_it: impl Fn(&Node), expected: &[&str], check: &str) {
    for name in CLUSTERS {
        let node = Node::copy_of(name);
        break_it(&node);
        let said = node.doctor(words);
        assert!(expected.contains(&said.first()), "{name}: {said:#?}");
        assert!(
            matches!(said.state(check), "warning" | "error"),
            "{name}: {said:#?}"
        );
        assert_eq!(said.status, 1, "{name}: {said:#?}");
    }
}

/// The file that CoreDNS reads, from a hostPath, is looked at whatever it is called.
fn corefile_by_another_name() {
    let said = doctor(&nodes().join("machine-corefile-on-node"), &[]);
    assert_eq!(said.wrong(), ["lint"], "{said:#?}");
    assert_eq!(said.first(), "loop-plugin-missing", "{said:#?}");
}

fn only_a_stub() {
    let stub = |node: &Node| {
        let conf = node.root.join("run/systemd/resolve/resolv.conf");
        let text = fs::read_to_string(&conf).unwrap();
        fs::write(&conf, text.replace("172.31.0.53", "127.0.0.53")).unwrap();
    };
    each(&[], stub, &["will-loop", "loop"], "loop");
}

/// The node's server is the cluster's own Service.
fn loop_behind() {
    each(
        &[],
        |node| {
            for conf in files(&node.root, "resolv.conf") {
                let text = fs::read_to_string(&conf).unwrap();
                fs::write(&conf, text.replace("172.31.0.53", "10.96.0.10")).unwrap();
            }
        },
        &["loop"],
        "loop",
    );
}

fn old_file() {
    each(
        &[],
        |node| {
            for conf in files(&node.root.join("run/systemd"), "resolv.conf") {
                let text = fs::read_to_string(&conf).unwrap();
                fs::write(&conf, text.replace("172.31.0.53", "172.31.9.99")).unwrap();
            }
        },
        &["old-file", "drift", "stale-pod-file", "stale-file"],
        "lint",
    );
}

/// A pod that is no DNS server has 127.0.0.53 in its file.
fn pod_asks_itself() {
    let said = doctor(&nodes().join("row05-ordinary-pod"), &[]);
    assert_eq!(said.state("pods"), "warning", "{said:#?}");
    assert_eq!(said.status, 1, "{said:#?}");
    // What no file of the node has can be in the pod's own spec, which stays.
    let node = Node::copy_of("row05-ordinary-pod");
    let confs = files(&node.root.join("var/lib/containerd"), "resolv.conf");
    let ordinary = confs
        .iter()
        .filter(|it| it.to_string_lossy().contains("/77fcd315"));
    for conf in ordinary {
        fs::write(conf, "nameserver 127.0.0.1\n").unwrap();
    }
    let said = node.doctor(&["--verbose"]);
    let text = said.document["causes"].to_string();
    assert!(text.contains("dnsConfig"), "{said:#?}");
    assert!(!text.contains("would now write"), "{said:#?}");
}

/// Lines of the log of CoreDNS, as containerd writes them.
fn log(node: &Node, lines: impl Iterator<Item = String>) {
    log_at(node, "02:10", lines);
}

/// The same in this minute.
fn log_at(node: &Node, minute: &str, lines: impl Iterator<Item = String>) {
    let logs = files(&node.root.join("var/log/pods"), ".log");
    let mut of_dns = logs
        .into_iter()
        .filter(|it| it.to_string_lossy().contains("coredns"));
    let path = of_dns.next().unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    let line = |(number, line): (usize, String)| {
        let second = number % 60;
        format!("2026-11-21T{minute}:{second:02}.000000001Z stdout F {line}\n")
    };
    text.extend(lines.enumerate().map(line));
    fs::write(path, text).unwrap();
}

/// Time-outs of the server of the clusters.
fn time_outs() -> impl Iterator<Item = String> {
    (0..20).map(|it| {
        format!(
            "[ERROR] plugin/errors: 2 db{it}.example.org. A: read udp 10.244.0.3:4{it:04}->\
             172.31.0.53:53: i/o timeout"
        )
    })
}

fn dead_server() {
    let expected = &["upstream-timeout", "timeouts"];
    each(&[], |node| log(node, time_outs()), expected, "loop");
}

/// A server that did not answer for a while, and does since.
fn over() {
    let answer = "[INFO] 10.244.0.7:40000 - 7 \"A IN db.example.org. udp 40 false 512\" NOERROR \
                  qr,rd,ra 80 0.001s";
    for (name, later, is_over) in [
        ("cluster-cgroup-v1", "02:15", false),
        ("cluster-cgroup-v1", "02:21", true),
        ("cluster-ipvs", "02:21", true),
    ] {
        let node = Node::copy_of(name);
        log(&node, time_outs());
        log_at(&node, later, std::iter::once(answer.to_owned()));
        let said = node.doctor(&[]);
        assert_eq!(
            said.wrong().is_empty(),
            is_over,
            "{name} {later}: {said:#?}"
        );
        let fix = said.document["causes"][0]["fix"].to_string();
        assert_eq!(fix.contains("kdns check-loop --probe"), !is_over, "{fix}");
        let states = ["loop", "logs"].map(|it| said.state(it) == "ok");
        assert_eq!(states, [is_over; 2], "{name} {later}: {said:#?}");
    }
}

/// Where nothing is known of a kubelet, the line itself is what has to be changed.
fn without_setting() {
    for (name, line) in [
        ("cri-dnsmasq-loop", "resolv.conf:2:1 was made from"),
        ("coredns-crashes", "resolv.conf:2:1 was made from"),
        (
            "servers-coredns-self",
            "in the place of 127.0.0.1 at /etc/coredns/Corefile",
        ),
        ("coredns-loop-zone", "Corefile:9:5"),
    ] {
        let said = doctor(&nodes().join(name), &[]);
        let fix = said.document["causes"][0]["fix"].to_string();
        assert!(
            fix.contains(line) && fix.contains("a server outside"),
            "{fix}"
        );
    }
}

/// CoreDNS goes on with its old Corefile: it did not fail to start. It says so twice, and
/// when a later one was read.
fn reload_failed() {
    let node = Node::copy_of("cluster-cgroup-v1");
    let reason = "/etc/coredns/Corefile:8 - Error during parsing: Unknown directive 'reedy'";
    let lines = [
        "[INFO] Reloading".to_owned(),
        format!("[ERROR] Restart failed: {reason}"),
        format!("[ERROR] plugin/reload: Corefile changed but reload failed: {reason}"),
    ];
    log(&node, lines.into_iter());
    let said = node.doctor(&[]);
    let fact = said.fact("logs");
    assert!(
        fact.contains("could not use its Corefile: [ERROR]"),
        "{fact}"
    );
    log(
        &node,
        std::iter::once("[INFO] Reloading complete".to_owned()),
    );
    let said = node.doctor(&[]);
    assert!(said.wrong().is_empty(), "{said:#?}");
}

fn slow_server() {
    each(
        &[],
        |node| {
            log(
                node,
                (0..40).map(|it| {
                    format!(
                        "[INFO] 10.244.0.7:4{it:04} - {it} \"A IN db{it}.example.org. udp 40 false \
                     512\" NOERROR qr,rd,ra 80 4.{it:03}s"
                    )
                }),
            );
        },
        &["slow-answers"],
        "logs",
    );
}

fn full_table() {
    each(
        &[],
        |node| {
            node.write("proc/sys/net/netfilter/nf_conntrack_count", "65536\n");
            node.write("proc/sys/net/netfilter/nf_conntrack_max", "65536\n");
        },
        &["connection-table-full"],
        "kernel",
    );
}

fn snapshot(node: &Path, folder: &Path, words: &[&str]) -> PathBuf {
    let file = folder.join("node.tar.zst");
    let mut all = vec!["--snapshot", file.to_str().unwrap()];
    all.extend(words);
    doctor(node, &all);
    file
}

/// The states of all checks, by their codes.
fn states(said: &Said) -> Vec<(String, String)> {
    let checks = said.document["checks"].as_array().unwrap().iter();
    let text = |it: &serde_json::Value| it.as_str().unwrap().to_owned();
    checks
        .map(|it| (text(&it["code"]), text(&it["state"])))
        .collect()
}

fn snapshots() {
    for name in [
        "cluster-loop",
        "cluster-cgroup-v2",
        "coredns-upstream-timeout",
        "row07-nodelocal",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let node = nodes().join(name);
        let file = snapshot(&node, folder.path(), &[]);
        assert_eq!(
            states(&doctor(&file, &[])),
            states(&doctor(&node, &[])),
            "{name}"
        );
    }
}

/// Names and addresses are not in it, and it says the same.
fn anonymous() {
    for name in [
        "cluster-loop",
        "cluster-cgroup-v2",
        "cluster-ipvs",
        "coredns-upstream-timeout",
        "row07-nodelocal",
        "kubeadm",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let node = nodes().join(name);
        let file = snapshot(&node, folder.path(), &["--anonymize"]);
        let (hidden, plain) = (doctor(&file, &[]), doctor(&node, &[]));
        assert_eq!(states(&hidden), states(&plain), "{name}");
        assert_eq!(hidden.first(), plain.first(), "{name}");
        let bytes = ruzstd(&file);
        let text = String::from_utf8_lossy(&bytes);
        for secret in [
            "172.31.0.53",
            "10.96.0.10",
            "10.244.0.",
            "default-policy",
            "custom-dns-",
            "hostnet-cf",
        ] {
            assert!(!text.contains(secret), "{name}: {secret}");
        }
    }
}

fn ruzstd(file: &Path) -> Vec<u8> {
    use std::io::Read as _;
    let file = fs::File::open(file).unwrap();
    let mut bytes = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(file).unwrap();
    decoder.read_to_end(&mut bytes).unwrap();
    bytes
}

/// All files below a directory whose names end so.
pub(crate) fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&path, ending));
        } else if entry.file_type().unwrap().is_file() && path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found
}
