//! What was not read, or not followed, proves nothing.

use super::*;
use crate::check_loop::view;

const UNKNOWN: (Verdict, State, State) = (Verdict::Unknown, State::Unknown, State::Unknown);
const GOOD: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);

/// It is missing, and said once.
fn missing(report: &Report, is_it: fn(&Unknown) -> bool) {
    let is_missing = |it: &Missing| matches!(it, Missing::Path(unknown) if is_it(unknown));
    assert!(report.missing.iter().any(is_missing), "{report:#?}");
    let is_said = report
        .remarks
        .iter()
        .any(|it| it.is_in(&report.missing.iter().collect()));
    assert!(!is_said && report.cause.is_none(), "{report:#?}");
}

#[test]
fn a_server_that_does_not_start_is_not_judged() {
    let many = " 192.0.2.1".repeat(16);
    for to in [many.as_str(), " 192.0.2.1 {\n  force_tcp\n loop"] {
        let corefile = format!(".:53 {{\n forward .{to}\n}}\n");
        let report = check(to, &with_coredns("172.31.0.53", &corefile), UNKNOWN);
        missing(&report, |it| {
            matches!(it, Unknown::Server(Doubt::Stops { .. }))
        });
    }
    let fifteen = format!(".:53 {{\n forward .{}\n}}\n", " 192.0.2.1".repeat(15));
    check("fifteen", &with_coredns("172.31.0.53", &fifteen), GOOD);
}

#[test]
fn an_unknown_plugin_can_forward() {
    let corefile = ".:53 {\n alternate x\n forward . /etc/resolv.conf\n}\n";
    let report = check("good", &with_coredns("172.31.0.53", corefile), UNKNOWN);
    missing(&report, |it| {
        matches!(it, Unknown::Server(Doubt::Plugin { .. }))
    });
    let all = (Verdict::Loop, State::Loop, State::Loop);
    check("stub", &with_coredns("127.0.0.53", corefile), all);
}

#[test]
fn many_zones_are_not_cut_in_silence() {
    let corefile = |to: &dyn Fn(usize) -> String| {
        let zones = (0..100).map(|it| format!("z{it}:53 {{\n forward . {}\n}}\n", to(it)));
        zones.collect::<String>() + &corefile("/etc/resolv.conf")
    };
    let alike = corefile(&|_| "192.0.2.1".to_owned());
    check("alike", &with_coredns("172.31.0.53", &alike), GOOD);
    let different = corefile(&|it| format!("192.0.2.{it}"));
    let report = check(
        "different",
        &with_coredns("172.31.0.53", &different),
        UNKNOWN,
    );
    missing(&report, |it| *it == Unknown::TooManyZones(64));
}

#[test]
fn a_file_without_its_end_can_list_more() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let long = format!(
        "nameserver 172.31.0.53\nsearch {}\n",
        format!("{} ", "a".repeat(63)).repeat(1 << 14)
    );
    let conf = ResolvConf::parse(source("/etc/resolv.conf", &long));
    node.kubelet_file.as_mut().unwrap().content = Ok(conf.clone());
    let now_good = (Verdict::Unknown, State::NoLoop, State::Unknown);
    missing(&check("kubelet's", &node, now_good), |it| {
        matches!(it, Unknown::Cut { .. })
    });
    node.pods[0].resolv_conf = Some(conf);
    check("both", &node, UNKNOWN);
}

#[test]
fn a_usual_service_address_is_no_server_outside() {
    let mut node = with_coredns("10.43.0.10", &corefile("/etc/resolv.conf"));
    check("another clusterDNS", &node, GOOD);
    node.kubelet.as_mut().unwrap().cluster_dns.value.clear();
    missing(&check("none", &node, UNKNOWN), |it| {
        matches!(it, Unknown::UsualService { .. })
    });
}

#[test]
fn words_of_a_template_have_their_meaning() {
    let template = "cluster.local:53 {\n bind 169.254.20.10\n forward . __PILLAR__CLUSTER__DNS__\n}\n\
                    .:53 {\n bind 169.254.20.10\n forward . __PILLAR__UPSTREAM__SERVERS__\n}\n";
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    node.pods.push(node_cache(template, "172.31.0.53"));
    let report = check("good", &node, GOOD);
    let is_template = |it: &Remark| {
        matches!(
            it,
            Remark::Server(Doubt::Template {
                is_cluster_dns: true,
                ..
            })
        )
    };
    assert!(report.remarks.iter().any(is_template), "{report:#?}");
    // CoreDNS sends everything back, the names of the cluster as well.
    let back = ".:53 {\n forward . 169.254.20.10\n}\n";
    node.pods[0] = dns_pod("coredns-a", back, "172.31.0.53");
    let all = (Verdict::Loop, State::Loop, State::Loop);
    let report = check("circle", &node, all);
    let Some(Cause::Path { chain, .. }) = &report.cause else {
        panic!("{report:#?}");
    };
    assert!(chain.hops.iter().any(|it| it.who == Who::Service(None)));
}

#[test]
fn a_list_like_a_pods_is_its_own_only_beside_another_cluster_dns() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let text =
        "nameserver 10.43.0.10\nsearch a.svc.cluster.local svc.cluster.local\noptions ndots:5\n";
    node.pods[0].resolv_conf = Some(ResolvConf::parse(source("/etc/resolv.conf", text)));
    let next = |node: &Node| {
        let servers = view::next(node, node.pods.first()).unwrap();
        servers.iter().map(|it| it.to.ip()).collect::<Vec<_>>()
    };
    assert_eq!(next(&node), ips("10.43.0.10"));
    node.kubelet.as_mut().unwrap().cluster_dns.value.clear();
    assert_eq!(next(&node), ips("172.31.0.53"));
}

#[test]
fn the_set_up_has_the_ports_that_are_not_53() {
    let node = with_coredns("172.31.0.53", &corefile("192.0.2.1 192.0.2.2:54"));
    assert_eq!(judge(&node).setup.forwards, [". to 192.0.2.1 192.0.2.2:54"]);
}
