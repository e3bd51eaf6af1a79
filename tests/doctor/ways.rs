//! Faults on the way to the cluster's DNS, and in what pods ask.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::faults::{CLUSTERS, files, trial};
use crate::lab::Node;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("faults::rules flushed", flushed),
        trial("faults::no endpoints", without_endpoints),
        trial("faults::pods that end are why", ended_pods),
        trial("faults::lost on the way", lost_on_the_way),
        trial("faults::a cache that is gone", cache_is_gone),
        trial(
            "faults::a DNS pod that binds its loopback",
            bound_to_loopback,
        ),
        trial("faults::copies of a file are one cause", said_once),
        trial(
            "faults::another address than the Service's",
            another_address,
        ),
        trial("faults::pods of a Service that has moved", moved_service),
        trial("faults::packets pass by the Service's rules", passed_by),
    ]
}

/// What iptables-save prints after `iptables -F; iptables -t nat -F`.
const FLUSHED: &str = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n\
    *nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n";

/// kube-proxy's Services are gone from IPVS, or from iptables.
fn flushed() {
    let without_services = |node: &Node| {
        node.write(
            "proc/1/net/ip_vs",
            "IP Virtual Server version 1.2.1 (size=4096)\n\
             Prot LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\n",
        );
    };
    for name in CLUSTERS {
        let node = Node::copy_of(name);
        if *name == "cluster-ipvs" {
            without_services(&node);
        }
        node.write("rules", FLUSHED);
        let rules = node.root.join("rules");
        let said = node.doctor(&["--rules", rules.to_str().unwrap()]);
        assert_eq!(said.first(), "packets-lost", "{name}: {said:#?}");
        assert_eq!(
            (said.status, said.state("path")),
            (1, "error"),
            "{name}: {said:#?}"
        );
    }
}

/// What kube-proxy writes where no DNS pod is ready, or the Service selects none.
const REJECTED: &str = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
    :KUBE-SERVICES - [0:0]\n-A FORWARD -m conntrack --ctstate NEW -j KUBE-SERVICES\n\
    -A OUTPUT -m conntrack --ctstate NEW -j KUBE-SERVICES\n\
    -A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m comment --comment \"kube-system/kube-dns:dns has no \
    endpoints\" -m udp --dport 53 -j REJECT --reject-with icmp-port-unreachable\nCOMMIT\n\
    *nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n";

/// kube-proxy writes what it is told: its restart changes nothing.
fn without_endpoints() {
    for (rules, fix, other) in [
        (REJECTED, "describe service kube-dns", "kube-proxy"),
        (FLUSHED, "pgrep -a kube-proxy", "describe service"),
    ] {
        let node = Node::copy_of("cluster-cgroup-v1");
        node.write("rules", rules);
        let file = node.root.join("rules");
        let said = node.doctor(&["--rules", file.to_str().unwrap()]);
        assert_eq!(said.first(), "packets-lost", "{said:#?}");
        let steps = said.document["causes"][0]["fix"].to_string();
        assert!(steps.contains(fix) && !steps.contains(other), "{steps}");
    }
}

/// The rules send queries to a pod that is ready, and whose server listens elsewhere.
fn bound_to_loopback() {
    let udp = |local: &str| {
        format!(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             9: {local}:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 77 2 0 0\n"
        )
    };
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    for (local, is_heard) in [("0100007F", false), ("00000000", true)] {
        let node = Node::copy_of("cluster-cgroup-v1");
        with_addresses(&node);
        let comm = |it: &Path| fs::read_to_string(it.join("comm")).unwrap_or_default();
        let all = fs::read_dir(node.root.join("proc")).unwrap();
        let all = all.map(|it| it.unwrap().path());
        let server = all
            .into_iter()
            .find(|it| comm(it).trim() == "coredns")
            .unwrap();
        let trie = fs::read_to_string(server.join("net/fib_trie")).unwrap();
        // All processes of a namespace have its tables.
        let network = fs::read_link(server.join("ns/net")).unwrap();
        let all = fs::read_dir(node.root.join("proc")).unwrap();
        for process in all.map(|it| it.unwrap().path()) {
            if fs::read_link(process.join("ns/net")).is_ok_and(|it| it == network) {
                fs::write(
                    process.join("net/fib_trie"),
                    trie.replace("10.244.0.8", "10.244.0.14"),
                )
                .unwrap();
                fs::write(process.join("net/udp"), udp(local)).unwrap();
            }
        }
        node.write("rules", rules);
        let rules = node.root.join("rules");
        let said = node.doctor(&["--rules", rules.to_str().unwrap()]);
        assert_eq!(said.state("path") == "error", !is_heard, "{said:#?}");
        if !is_heard {
            let what = said.document["causes"][0]["text"].to_string();
            assert!(
                what.contains("nobody listens on 10.244.0.14:53/udp"),
                "{what}"
            );
        }
    }
}

/// Each pod has its own copy of a ConfigMap.
fn said_once() {
    let node = Node::copy_of("drift-two-pods");
    let all = files(&node.root, "Corefile");
    for conf in &all {
        let text = fs::read_to_string(conf).unwrap();
        fs::write(conf, text.replace("    loop\n", "    loopp\n")).unwrap();
    }
    let said = node.doctor(&[]);
    let causes = said.document["causes"].as_array().unwrap().clone();
    let said_of_it = |it: &&Value| it["text"].to_string().contains("no plugin loopp");
    let of_it: Vec<_> = causes.iter().filter(said_of_it).collect();
    assert_eq!(of_it.len(), 1, "{all:?} {said:#?}");
    // The kubelet would write over what is changed in its copy.
    let fix = of_it[0]["fix"].to_string();
    assert!(fix.contains("edit configmap coredns"), "{fix}");
}

/// A pod has kept the address of a node's cache that nobody has, and that the kubelet
/// no longer writes.
fn cache_is_gone() {
    let node = Node::copy_of("cluster-cgroup-v1");
    for conf in files(&node.root, "resolv.conf") {
        let text = fs::read_to_string(&conf).unwrap();
        fs::write(&conf, text.replace("10.96.0.10", "169.254.20.10")).unwrap();
    }
    let said = node.doctor(&[]);
    assert_eq!(said.first(), "stale-pod-file", "{said:#?}");
    let text = said.document["causes"][0].to_string();
    assert!(text.contains("169.254.20.10"), "{text}");
}

/// The kubelet names an address that no Service has: kube-proxy is not to blame.
fn another_address() {
    let node = Node::copy_of("cluster-cgroup-v1");
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    node.write("rules", &rules.replace("10.96.0.10", "10.96.0.53"));
    let rules = node.root.join("rules");
    let said = node.doctor(&["--rules", rules.to_str().unwrap()]);
    assert_eq!(said.first(), "no-such-service", "{said:#?}");
    let causes = said.document["causes"].to_string();
    assert!(!causes.contains("packets-lost"), "{causes}");
    let steps = said.document["causes"][0]["fix"].to_string();
    assert!(
        steps.contains("kubectl -n kube-system get service kube-dns"),
        "{steps}"
    );
    assert!(
        steps.contains("clusterDNS") && !steps.contains("kube-proxy"),
        "{steps}"
    );
}

/// The Service has another address now, the kubelet knows it, and the pods that run
/// ask the old one; after they were recreated all is well.
fn moved_service() {
    let node = Node::copy_of("cluster-cgroup-v1");
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    node.write("rules", &rules.replace("10.96.0.10", "10.96.0.53"));
    let rules = node.root.join("rules");
    let moved = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replace("10.96.0.10", "10.96.0.53")).unwrap();
    };
    moved(&node.root.join("etc/kubernetes/kubelet.yaml"));
    let words = ["--rules", rules.to_str().unwrap()];
    let said = node.doctor(&words);
    assert_eq!(said.first(), "no-such-service", "{said:#?}");
    assert_eq!(said.state("path"), "error", "{said:#?}");
    let cause = said.document["causes"][0].to_string();
    assert!(
        cause.contains("recreate the pods that ask 10.96.0.10"),
        "{cause}"
    );
    let checks = said.document["checks"].to_string();
    assert!(checks.contains("kdns path 10.96.0.10 "), "{checks}");
    for file in files(&node.root, "resolv.conf") {
        moved(&file);
    }
    let said = node.doctor(&words);
    assert!(said.wrong().is_empty(), "{said:#?}");
    // A server of their own may stand beside Services.
    for file in files(&node.root, "resolv.conf") {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("10.96.0.53", "10.96.0.10");
        fs::write(&file, text.replace("svc.cluster.local", "corp.example")).unwrap();
    }
    let causes = node.doctor(&words).document["causes"].to_string();
    assert!(!causes.contains("no-such-service"), "{causes}");
}

/// Another rule than kube-proxy's takes the packets; the Service, or its port, is gone.
fn passed_by() {
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    let first = "-A PREROUTING -m comment";
    let rule = "-A PREROUTING -p udp -m udp --dport 53 -j REDIRECT --to-ports 5353";
    let without = |words: &str| -> String {
        let lines = rules.split_inclusive('\n');
        lines.filter(|it| !it.contains(words)).collect()
    };
    for (rules, code, fix) in [
        (
            rules.replacen(first, &format!("{rule}\n{first}"), 1),
            "service-passed-by",
            "leave port 53",
        ),
        (
            without("kube-dns:dns cluster IP"),
            "service-without-port",
            "edit service kube-dns",
        ),
        (
            without("kube-dns"),
            "no-dns-service",
            "get service kube-dns",
        ),
    ] {
        let node = Node::copy_of("cluster-cgroup-v1");
        with_addresses(&node);
        node.write("rules", &rules);
        let rules = node.root.join("rules");
        let said = node.doctor(&["--rules", rules.to_str().unwrap()]);
        assert_eq!(said.first(), code, "{said:#?}");
        let causes = said.document["causes"].to_string();
        assert!(causes.contains(fix), "{causes}");
        assert!(!causes.contains("packets-lost"), "{causes}");
    }
}

/// Gives every process that is not on the node's network an address there.
fn with_addresses(node: &Node) {
    let network = |it: &Path| fs::read_link(it.join("ns/net")).ok();
    let nodes = network(&node.root.join("proc/1"));
    let all = fs::read_dir(node.root.join("proc")).unwrap();
    let all = all.map(|it| it.unwrap().path());
    for process in all.filter(|it| network(it).is_some() && network(it) != nodes) {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.244.0.8\n        /32 host LOCAL\n";
        fs::create_dir_all(process.join("net")).unwrap();
        fs::write(process.join("net/fib_trie"), trie).unwrap();
    }
}

/// That nobody is behind the Service follows from why its pods end.
fn ended_pods() {
    for (name, first, fix) in [
        ("cluster-oom-killed", "dns-pod-down", "limits.memory"),
        (
            "cluster-directive-unknown",
            "misspelled-plugin",
            "write reload",
        ),
    ] {
        let node = Node::copy_of(name);
        node.write("rules", REJECTED);
        let rules = node.root.join("rules");
        for words in [&["--rules", rules.to_str().unwrap()][..], &[]] {
            let said = node.doctor(words);
            assert_eq!(said.first(), first, "{name} {words:?}: {said:#?}");
            let steps = said.document["causes"][0]["fix"].to_string();
            assert!(steps.contains(fix), "{steps}");
            let causes = said.document["causes"].to_string();
            assert_eq!(
                causes.contains("has no endpoints"),
                !words.is_empty(),
                "{causes}"
            );
        }
    }
    // What is wrong in a Corefile is not why one was killed.
    let node = Node::copy_of("cluster-oom-killed");
    let pod = "var/lib/kubelet/pods/d9bb53a7-2d37-4936-aee6-930a842d9245";
    let corefile = format!("{pod}/volumes/kubernetes.io~configmap/c/..data/Corefile");
    let upstream = "kubernetes cluster.local {\n        upstream\n    }";
    let text = format!(".:53 {{\n    {upstream}\n    forward . /etc/resolv.conf\n}}\n");
    node.write(&corefile, &text);
    let said = node.doctor(&[]);
    let causes = said.document["causes"].to_string();
    assert_eq!(said.first(), "dns-pod-down", "{said:#?}");
    assert!(causes.contains("upstream-option"), "{causes}");
}

/// The fix is for what ends the way, which the cause says.
fn lost_on_the_way() {
    let rules = include_str!("../../testdata/path/cluster-2/rules.txt");
    let dropping = "-A FORWARD -p udp -m udp --dport 53 -j DROP";
    let dropped = rules.replacen(
        ":KUBE-FORWARD - ",
        &format!("{dropping}\n:KUBE-FORWARD - "),
        1,
    );
    let silent = "IP address       HW type     Flags       HW address            Mask     Device\n\
        10.244.0.14      0x1         0x0         00:00:00:00:00:00     *        cni0\n";
    for (rules, file, text, says, fix) in [
        (
            rules,
            "proc/sys/net/ipv4/ip_forward",
            "0\n",
            "forwards nothing",
            "sysctl -w net.ipv4.ip_forward=1",
        ),
        (
            &dropped,
            "proc/sys/net/ipv4/ip_forward",
            "1\n",
            "dropped by filter FORWARD",
            dropping,
        ),
        (
            rules,
            "proc/1/net/arp",
            silent,
            "nobody answers for 10.244.0.14",
            "pgrep -a kube-proxy",
        ),
    ] {
        let node = Node::copy_of("cluster-cgroup-v1");
        node.write(file, text);
        node.write("rules", rules);
        with_addresses(&node);
        let rules = node.root.join("rules");
        let said = node.doctor(&["--rules", rules.to_str().unwrap()]);
        assert_eq!(said.first(), "packets-lost", "{said:#?}");
        let first = &said.document["causes"][0];
        let (what, steps) = (first["text"].to_string(), first["fix"].to_string());
        assert!(what.contains(says), "{what}");
        assert!(steps.contains(fix), "{steps}");
    }
}
