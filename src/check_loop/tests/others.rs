//! DNS pods that are not made as installers make them: of other owners, and of
//! other policies.

use super::*;
use crate::check_loop::facts::Trouble;
use crate::node::kernel::Flow;
use crate::text::Place;

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
        let remark = Remark::Other {
            pod: name.to_owned(),
            when: When::Now,
            state: State::Loop,
            to: Some(SendsTo::Target(Target::Address(
                "127.0.0.53:53".parse().unwrap(),
            ))),
        };
        let count = report.remarks.iter().filter(|it| **it == remark).count();
        assert_eq!(count, 1, "{report:#?}");
    }
    assert!(report.fix.is_none(), "{report:#?}");
    // Nor do their logs say anything about it.
    let log = source(
        "/var/log/pods/shop_own-a_1/coredns/3.log",
        "2026-11-24T08:57:33Z stdout F [FATAL] plugin/loop: Loop (127.0.0.1:5 -> :53) detected \
         for zone \".\"\n",
    );
    node.pods[1].containers = vec![Container {
        name: "coredns".to_owned(),
        logs: vec![log],
        ..Container::default()
    }];
    let crashed = check("one that crashed", &node, FINE);
    let is_remark = |it: &Trouble| matches!(it, Trouble::Files(_));
    let troubles = crashed.concern.unwrap().troubles;
    assert!(troubles.iter().all(is_remark), "{troubles:#?}");
    // Unless the service leads there.
    let mut asked = node.clone();
    asked.kernel.flows = vec![Flow {
        place: Place::new("/proc/1/net/nf_conntrack", 1, 1),
        is_udp: true,
        server: ips("10.96.0.10")[0],
        answers_from: ips("10.244.0.8")[0],
        is_unreplied: false,
    }];
    let mixed = (Verdict::Mixed, State::Mixed, State::NoLoop);
    check("one that is asked", &asked, mixed);
    for pod in &mut asked.pods {
        let plain = ".:53 {\n forward . /etc/resolv.conf\n}\n";
        pod.corefiles[0].bytes = plain.into();
    }
    check("without names of the cluster", &asked, mixed);
    // The other way round.
    let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
    node.pods.push(others("own-a", REAL, "10.244.0.8"));
    let looping = (Verdict::Loop, State::Loop, State::Loop);
    let report = check("the cluster's", &node, looping);
    let first = report.chains[0].hops[0].who.clone();
    assert!(matches!(first, Who::Server { name, .. } if is_pod(&name, "coredns-a")));
    // Where nothing else is the cluster's DNS, it is that.
    let mut node = with_coredns(STUB, &corefile("/etc/resolv.conf"));
    node.pods = vec![others("own-a", STUB, "10.244.0.8")];
    check("alone", &node, looping);
}

/// No service leads to a link-local address: what listens there alone asks the
/// service, and is not behind it.
#[test]
fn a_cache_on_the_nodes_network_is_not_behind_the_service() {
    let zones = |bind: &str| {
        let block = |zone: &str, to: &str| format!("{zone}:53 {{\n{bind} forward . {to}\n}}\n");
        block("cluster.local", "10.96.0.10") + &block(".", "/etc/resolv.conf")
    };
    let plain = ".:53 {\n forward . /etc/resolv.conf\n}\n";
    let with = |bind: &str| {
        let mut node = with_coredns(REAL, plain);
        let cache = dns_pod("localdns-a", &zones(bind), REAL);
        node.pods.push(Pod {
            host_network: Some(true),
            addresses: Vec::new(),
            ..cache
        });
        node
    };
    check("link-local", &with(" bind 169.254.20.10\n"), FINE);
    let mixed = (Verdict::Mixed, State::Mixed, State::Mixed);
    check("any address", &with(""), mixed);
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
    let policy = Unknown::DnsPolicy("kube-system/resolver-a".to_owned());
    assert!(report.missing.contains(&Missing::Path(policy)));
    assert!(!report.remarks.iter().any(is_drift), "{report:#?}");
    // A name that installers give is taken for one of theirs, which is said.
    let will = (Verdict::WillLoop, State::NoLoop, State::Loop);
    let report = check("named", &with("nameserver 9.9.9.9\n"), will);
    let is_supposed = |it: &Remark| {
        matches!(
            it,
            Remark::File(FileRemark::Drift {
                is_supposed: true,
                ..
            })
        )
    };
    assert!(report.remarks.iter().any(is_supposed), "{report:#?}");
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
        assert!(!report.remarks.iter().any(is_supposed), "{report:#?}");
    }
}
