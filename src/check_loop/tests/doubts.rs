//! What was not read, or not followed, proves nothing.

use super::*;

const UNKNOWN: (Verdict, State, State) = (Verdict::Unknown, State::Unknown, State::Unknown);
const GOOD: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);

fn missing(report: &Report, part: &str) {
    let has = report.missing.iter().any(|it| it.contains(part));
    assert!(has && report.headline.contains("Not known"), "{report:#?}");
    assert!(
        !report.remarks.iter().any(|it| it.contains(part)),
        "{report:#?}"
    );
}

#[test]
fn a_server_that_does_not_start_is_not_judged() {
    let many = " 192.0.2.1".repeat(16);
    for to in [many.as_str(), " 192.0.2.1 {\n  force_tcp\n loop"] {
        let corefile = format!(".:53 {{\n forward .{to}\n}}\n");
        let report = check(to, &with_coredns("172.31.0.53", &corefile), UNKNOWN);
        missing(&report, "CoreDNS does not start with this Corefile");
    }
    let fifteen = format!(".:53 {{\n forward .{}\n}}\n", " 192.0.2.1".repeat(15));
    check("fifteen", &with_coredns("172.31.0.53", &fifteen), GOOD);
}

#[test]
fn an_unknown_plugin_can_forward() {
    let corefile = ".:53 {\n alternate x\n forward . /etc/resolv.conf\n}\n";
    let report = check("good", &with_coredns("172.31.0.53", corefile), UNKNOWN);
    missing(&report, "The plugin alternate is not known");
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
    missing(&report, "more than 64 zones");
}

#[test]
fn a_file_without_its_end_can_list_more() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let long = format!("nameserver 172.31.0.53\nsearch {}\n", "a ".repeat(1 << 19));
    let conf = ResolvConf::parse(source("/etc/resolv.conf", &long));
    node.kubelet_file.as_mut().unwrap().content = Ok(conf.clone());
    let now_good = (Verdict::Unknown, State::NoLoop, State::Unknown);
    missing(&check("kubelet's", &node, now_good), "its end was not read");
    node.pods[0].resolv_conf = Some(conf);
    check("both", &node, UNKNOWN);
}

#[test]
fn a_usual_service_address_is_no_server_outside() {
    let mut node = with_coredns("10.43.0.10", &corefile("/etc/resolv.conf"));
    check("another clusterDNS", &node, GOOD);
    node.kubelet.as_mut().unwrap().cluster_dns.value.clear();
    missing(&check("none", &node, UNKNOWN), "--kubelet-config");
}

#[test]
fn words_of_a_template_have_their_meaning() {
    let template = "cluster.local:53 {\n bind 169.254.20.10\n forward . __PILLAR__CLUSTER__DNS__\n}\n\
                    .:53 {\n bind 169.254.20.10\n forward . __PILLAR__UPSTREAM__SERVERS__\n}\n";
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    node.pods.push(node_cache(template, "172.31.0.53"));
    let report = check("good", &node, GOOD);
    let remark = "is taken for the cluster's DNS pods";
    assert!(
        report.remarks.iter().any(|it| it.contains(remark)),
        "{report:#?}"
    );
    // CoreDNS sends everything back, the names of the cluster as well.
    let back = ".:53 {\n forward . 169.254.20.10\n}\n";
    node.pods[0] = dns_pod("coredns-a", back, "172.31.0.53");
    let all = (Verdict::Loop, State::Loop, State::Loop);
    let report = check("circle", &node, all);
    assert!(
        report.headline.contains("kube-dns-upstream"),
        "{}",
        report.headline
    );
}

#[test]
fn what_a_log_says_is_said_first() {
    let log = "CoreDNS-1.11.1\n\
               [FATAL] plugin/loop: Loop (127.0.0.1:48233 -> :53) detected for zone \".\", see \
               https://coredns.io/plugins/loop#troubleshooting. Query: \"HINFO 45.36.\"\n";
    let node = Node {
        logs: vec![source("coredns.log", log)],
        ..Node::default()
    };
    let report = check("a log alone", &node, UNKNOWN);
    let begin = "DNS did loop when CoreDNS ended (coredns.log:2:1); whether it still does";
    assert!(report.headline.starts_with(begin), "{}", report.headline);
    assert!(
        report.headline.contains("this is no node"),
        "{}",
        report.headline
    );

    // CoreDNS 1.2.2 ends so also before a silent server.
    let doubtful = log.replace("1.11.1", "1.2.2");
    let node = Node {
        logs: vec![source("coredns.log", &doubtful)],
        ..Node::default()
    };
    let report = check("a doubtful log alone", &node, UNKNOWN);
    assert!(
        report.headline.starts_with("Not known"),
        "{}",
        report.headline
    );
}
