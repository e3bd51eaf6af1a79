//! Commands on nodes whose Corefiles and DNS servers are found by the way of
//! containers.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What kdns prints to standard output and standard error with these words.
fn kdns(words: &[&str], node: &str) -> (Option<i32>, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/nodes")
        .join(node);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    let output = command
        .args(words)
        .arg("--root")
        .arg(root)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Nothing is sent: the servers of these nodes are none of this machine.
#[test]
fn what_would_go_round_is_not_asked() {
    for (node, how) in [
        ("machine-dnsmasq-self", "-> dnsmasq"),
        ("machine-dnsmasq-coredns", "-> CoreDNS (pod "),
    ] {
        let words = ["explain", "www.example.com", "--live", "--resolver", "musl"];
        let (status, text) = kdns(&words, node);
        let is_told = text.contains("nothing was asked") && text.contains(how);
        assert!(
            is_told && text.contains("--even-if-it-loops"),
            "{node}: {text}"
        );
        assert_eq!(status, Some(2), "{node}: {text}");
    }
}

#[test]
fn upstream_follows_the_corefile_of_a_pod_on_the_node_s_network() {
    let (status, text) = kdns(&["upstream", "172.31.0.10"], "machine-corefile-on-node");
    for part in [
        "172.31.0.10 is CoreDNS (pod kube-system/dns-host)",
        "names below corp.example: 172.31.0.99 is outside the node\n          (/opt/host/dns.conf:3:15)",
        "172.31.0.53 is outside the node\n          (/var/lib/containerd/",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(status, Some(0));
}

#[test]
fn a_corefile_can_be_given_where_it_was_not_found() {
    let directory = tempfile::tempdir().unwrap();
    // Its log says that it did loop: that no file shows how is no proof that it does not.
    for (to, verdict) in [("127.0.0.1", "loop"), ("172.31.0.53", "unknown")] {
        let file = directory.path().join("Corefile");
        fs::write(&file, format!(".:53 {{\n    forward . {to}\n}}\n")).unwrap();
        let file = file.to_str().unwrap();
        let words = ["check-loop", "--format", "json", "--corefile", file];
        let (_, text) = kdns(&words, "machine-corefile-crash");
        let report: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["verdict"], verdict, "{text}");
    }
}
