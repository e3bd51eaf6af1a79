//! DNS pods that are not made as installers make them: of other owners, and of
//! other policies.

use super::*;

const STUB: &str = "127.0.0.53";
const REAL: &str = "172.31.0.53";
const FINE: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);

fn others(name: &str, servers: &str, address: &str) -> Pod {
    Pod {
        namespace: Some("shop".to_owned()),
        addresses: ips(address),
        ..dns_pod(name, &corefile("/etc/resolv.conf"), servers)
    }
}

#[test]
fn pods_of_another_owner_are_no_part_of_the_clusters_verdict() {
    let mut node = with_coredns(REAL, &corefile("/etc/resolv.conf"));
    node.pods.push(others("own-a", STUB, "10.244.0.8"));
    node.pods.push(others("own-b", STUB, "10.244.0.9"));
    let report = check("two that loop", &node, FINE);
    for name in ["shop/own-a", "shop/own-b"] {
        let is_it = |it: &&String| {
            it.contains(name) && it.contains("its queries loop (it sends to 127.0.0.53")
        };
        assert_eq!(
            report.remarks.iter().filter(is_it).count(),
            1,
            "{report:#?}"
        );
    }
    assert!(report.fix.is_none(), "{report:#?}");
    // The other way round.
    let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
    node.pods.push(others("own-a", REAL, "10.244.0.8"));
    let looping = (Verdict::Loop, State::Loop, State::Loop);
    let report = check("the cluster's", &node, looping);
    assert!(report.headline.contains("coredns-a"), "{report:#?}");
    // Where nothing else is the cluster's DNS, it is that.
    let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
    node.pods = vec![others("own-a", STUB, "10.244.0.8")];
    check("alone", &node, looping);
}

#[test]
fn a_file_that_the_kubelet_does_not_write_has_another_policy() {
    let with = |text: &str| {
        let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
        let conf = ResolvConf::parse(source("/s/resolv.conf", text));
        node.pods[0].resolv_conf = Some(conf);
        node
    };
    // dnsPolicy None: its own server, and no search domains.
    let mut node = with("nameserver 9.9.9.9\n");
    node.pods[0].name = Some("resolver-a".to_owned());
    let unknown = (Verdict::Unknown, State::NoLoop, State::Unknown);
    let report = check("None", &node, unknown);
    let missing = report.missing.join("\n");
    assert!(
        missing.contains("dnsPolicy of pod kube-system/resolver-a"),
        "{report:#?}"
    );
    let drift = |it: &String| it.contains("would now write");
    assert!(!report.remarks.iter().any(drift), "{report:#?}");
    // A name that installers give is taken for one of theirs, which is said.
    let will = (Verdict::WillLoop, State::NoLoop, State::Loop);
    let report = check("named", &with("nameserver 9.9.9.9\n"), will);
    let remarks = report.remarks.join("\n");
    assert!(remarks.contains("if its dnsPolicy is Default"), "{remarks}");
    // An older file of the same node.
    for (text, more) in [
        ("search corp.example\nnameserver 172.31.0.1\n", REAL),
        ("nameserver 172.31.0.1\n", "172.31.0.1"),
    ] {
        let mut node = with(text);
        node.pods[0].name = Some("resolver-a".to_owned());
        let path = "/run/systemd/resolve/resolv.conf";
        node.files.push(host_file(path, &[], more));
        let report = check(text, &node, will);
        let remarks = report.remarks.join("\n");
        assert!(!remarks.contains("if its"), "{remarks}");
    }
}
