//! One of several: servers of a list, and pods behind the service.

use super::*;

const LOOP: (Verdict, State, State) = (Verdict::Loop, State::Loop, State::Loop);
const FINE: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);
const MIXED: (Verdict, State, State) = (Verdict::Mixed, State::Mixed, State::Mixed);
const REFUSED: (Verdict, State, State) = (Verdict::Refused, State::Refused, State::Refused);
const UNKNOWN: (Verdict, State, State) = (Verdict::Unknown, State::Unknown, State::Unknown);

/// Source: CoreDNS, plugin/forward/forward.go `ServeDNS`: after an error the
/// next server of the list is asked, whatever the policy.
#[test]
fn the_policy_decides_about_lists() {
    let bound = corefile("TO").replace("errors", "bind 10.244.0.7");
    for (to, expected) in [
        ("172.31.0.53 127.0.0.1", MIXED),
        ("172.31.0.53 127.0.0.1 {\n policy round_robin\n }", MIXED),
        ("172.31.0.53 127.0.0.1 {\n policy random\n }", MIXED),
        ("172.31.0.53 127.0.0.1 {\n policy sequential\n }", FINE),
        ("127.0.0.1 172.31.0.53 {\n policy sequential\n }", LOOP),
        ("127.0.0.1 10.244.0.7", LOOP),
        ("127.0.0.1 172.31.0.53 172.31.0.54", MIXED),
    ] {
        check(to, &with_coredns("172.31.0.53", &corefile(to)), expected);
    }
    // A closed port is passed, also by lot.
    for (to, expected) in [
        ("127.0.0.1 172.31.0.53", FINE),
        ("127.0.0.1 127.0.0.2", REFUSED),
        ("127.0.0.1 10.244.0.7 172.31.0.53", MIXED),
    ] {
        check(
            to,
            &with_coredns("172.31.0.53", &bound.replace("TO", to)),
            expected,
        );
    }
    // dnsmasq does not notice a closed port.
    let mut node = with_coredns("172.31.0.10", &corefile("/etc/resolv.conf"));
    node.servers.push(server(
        Program::Dnsmasq,
        "172.31.0.10",
        "127.0.0.9 172.31.0.53",
    ));
    check("dnsmasq", &node, MIXED);
}

/// Whoever of several DNS pods loops, the others answer.
#[test]
fn one_that_the_service_need_not_lead_to() {
    let plain = |to: &str| format!(".:53 {{\n forward . {to}\n}}\n");
    let two = |healthy: &str, looping: &str| {
        let mut node = with_coredns("172.31.0.53", healthy);
        let mut second = dns_pod("coredns-b", looping, "172.31.0.53");
        second.addresses = ips("10.244.0.8");
        node.pods.push(second);
        node
    };
    let node = two(&corefile("/etc/resolv.conf"), &plain("127.0.0.1"));
    let report = check("one without names of the cluster", &node, MIXED);
    let cause = report.cause.unwrap();
    assert!(
        matches!(
            cause,
            Cause::Path {
                pods: Some((1, 2)),
                ..
            }
        ),
        "{cause:?}"
    );
    // Alone with these names it is the cluster's DNS, unless the others are asked.
    let mut node = two(&plain("/etc/resolv.conf"), &corefile("127.0.0.1"));
    check("the only one with them", &node, LOOP);
    let line = "udp 17 29 src=10.244.0.9 dst=10.96.0.10 sport=5 dport=53 src=10.244.0.7 dst=10.244.0.9 sport=53 dport=5 mark=0 use=2";
    node.kernel.flows = kernel::flows("/proc/1/net/nf_conntrack", line.as_bytes());
    check("another is asked, too", &node, MIXED);
}

#[test]
fn one_of_the_pods_behind_the_service() {
    let service = corefile("10.96.0.10");
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let mut second = dns_pod("coredns-b", &service, "172.31.0.53");
    second.addresses = ips("10.244.0.8");
    node.pods.push(second.clone());
    let report = check("one of two", &node, MIXED);
    assert_eq!(report.chains[0].share, (1, 2), "{report:#?}");
    // Two good ones, and one that asks the service.
    let mut third = dns_pod("coredns-c", &corefile("/etc/resolv.conf"), "172.31.0.53");
    third.addresses = ips("10.244.0.9");
    node.pods.push(third);
    let report = check("one of three", &node, MIXED);
    assert_eq!(report.chains[0].share, (1, 3), "{report:#?}");
    // All of them ask the service.
    node.pods = vec![dns_pod("coredns-a", &service, "172.31.0.53"), second];
    check("all", &node, LOOP);
}

/// Somebody's own DNS server is not behind the service that it asks.
#[test]
fn another_pod_asks_the_cluster_s_dns() {
    let own = |corefile: &str| Pod {
        namespace: Some("shop".to_owned()),
        addresses: ips("10.244.0.8"),
        ..dns_pod("resolver-1", corefile, "10.96.0.10")
    };
    let plain = ".:53 {\n forward . 10.96.0.10\n}\n";
    let with_zone =
        ".:53 {\n hosts /etc/hosts corp.example {\n }\n forward . /etc/resolv.conf\n}\n";
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    for text in [plain, with_zone] {
        node.pods.truncate(1);
        node.pods.push(own(text));
        check(text, &node, FINE);
    }
    // It is the only one here: where the others are, nobody knows.
    node.pods = vec![own(plain)];
    check("alone", &node, UNKNOWN);
}

#[test]
fn node_local_is_mixed_where_one_of_its_pods_loops() {
    let cache = "cluster.local:53 {\n bind 169.254.20.10\n forward . __PILLAR__CLUSTER__DNS__\n}\n\
                 .:53 {\n bind 169.254.20.10\n forward . __PILLAR__CLUSTER__DNS__\n}\n";
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let mut old = dns_pod("coredns-b", &corefile("/etc/resolv.conf"), "169.254.20.10");
    old.addresses = ips("10.244.0.8");
    node.pods.push(old);
    node.pods.push(node_cache(cache, "172.31.0.53"));
    // The old pod keeps its file until it is recreated.
    check("old", &node, (Verdict::Mixed, State::Mixed, State::NoLoop));
}

#[test]
fn a_mounted_resolv_conf_is_no_drift() {
    let mut node = with_coredns("127.0.0.53", &corefile("/etc/resolv.conf"));
    let pod = &mut node.pods[0];
    pod.seen_resolv_conf = Some(resolv_conf("/proc/7/root/etc/resolv.conf", "172.31.0.53"));
    pod.containers[0].pid = Some(7);
    let drift = |report: &Report| report.remarks.iter().any(is_drift);
    let report = check(
        "drift",
        &node,
        (Verdict::WillLoop, State::NoLoop, State::Loop),
    );
    assert!(drift(&report), "{report:#?}");
    node.pods[0].containers[0].mounts_resolv_conf = true;
    let report = check("mounted", &node, FINE);
    assert!(!drift(&report), "{report:#?}");
}

#[test]
fn a_corefile_that_was_not_found_is_not_supposed() {
    let mut node = with_coredns("172.31.0.53", "");
    node.pods[0].corefiles.clear();
    node.pods[0].corefile_unknown = Some(CorefileUnknown::Stdin);
    let report = check("not found", &node, UNKNOWN);
    let is_corefile =
        |it: &Missing| matches!(it, Missing::Path(Unknown::Server(Doubt::Corefile { .. })));
    assert!(report.missing.iter().any(is_corefile), "{report:#?}");
    node.corefiles = vec![source("Corefile", &corefile("127.0.0.1"))];
    check("given", &node, LOOP);
    node.corefiles = vec![source("Corefile", &corefile("172.31.0.53"))];
    check("given", &node, FINE);
}

#[test]
fn files_of_the_container_are_followed() {
    let mut node = with_coredns("127.0.0.53", &corefile("/conf/upstream.conf"));
    check("not read", &node, UNKNOWN);
    let file = |servers| ("/conf/upstream.conf".to_owned(), resolv_conf("/x", servers));
    node.pods[0].files = vec![file("172.31.0.53")];
    check("good", &node, FINE);
    node.pods[0].files = vec![file("127.0.0.1")];
    check("itself", &node, LOOP);
}

#[test]
fn servers_that_are_not_alike_are_told() {
    let remark = |servers: &str, to: &str| {
        let report = judge(&with_coredns(servers, &corefile(to)));
        let found = report.remarks.into_iter().find_map(|it| match it {
            Remark::Unlike {
                public,
                private,
                some,
                all,
                ..
            } => Some(format!("{public} {private} {some}/{all}")),
            _ => None,
        });
        found.unwrap_or_default()
    };
    let file = "/etc/resolv.conf";
    assert_eq!(
        remark("172.31.0.53 8.8.8.8", file),
        "8.8.8.8 172.31.0.53 1/2"
    );
    let listed = remark("172.31.0.53", "10.0.0.2 1.1.1.1 9.9.9.9");
    assert_eq!(listed, "1.1.1.1 10.0.0.2 2/3");
    assert_eq!(remark("172.31.0.53 172.31.0.54", file), "");
    assert_eq!(remark("8.8.8.8 1.1.1.1", file), "");
    let sequential = format!("{file} {{\n policy sequential\n }}");
    assert_eq!(remark("172.31.0.53 8.8.8.8", &sequential), "");
}

#[test]
fn what_is_really_asked_goes_round() {
    let pod = |node: &Node| Network::Pod(node.pods[0].key());
    let ask = |node: &Node, network: &Network, server: &str, name: &str| {
        let servers = [(server.parse::<IpAddr>().unwrap(), 53).into()];
        goes_round(node, network, &servers, name)
    };
    let looping = with_coredns("127.0.0.53", &corefile("/etc/resolv.conf"));
    let here = pod(&looping);
    let how = ask(&looping, &here, "127.0.0.1", "www.example.com").unwrap();
    assert!(matches!(how, Round::Path(chain) if chain.end == End::Cycle(1)));
    assert!(ask(&looping, &Network::Node, "10.96.0.10", "www.example.com").is_some());
    assert!(ask(&looping, &Network::Node, "10.244.0.7", "www.example.com").is_some());
    // CoreDNS answers the cluster's names itself, and nobody listens here.
    assert_eq!(
        ask(
            &looping,
            &Network::Node,
            "10.96.0.10",
            "a.default.svc.cluster.local."
        ),
        None
    );
    assert_eq!(
        ask(&looping, &Network::Node, "127.0.0.1", "www.example.com"),
        None
    );
    assert_eq!(
        ask(&looping, &Network::Node, "192.0.2.1", "www.example.com"),
        None
    );
    let good = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    assert_eq!(
        ask(&good, &Network::Node, "10.96.0.10", "www.example.com"),
        None
    );
    let mixed = with_coredns("172.31.0.53", &corefile("172.31.0.53 127.0.0.1"));
    assert!(ask(&mixed, &Network::Node, "10.96.0.10", "www.example.com").is_some());
}

#[test]
fn a_loopback_server_is_that_of_the_pod_s_own_network() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let mut app = dns_pod("app", "", "127.0.0.1");
    app.namespace = Some("default".to_owned());
    app.corefiles.clear();
    app.containers[0].name = "app".to_owned();
    let network = Network::Pod(app.key());
    node.pods.push(app);
    let nobody = |report: &Report| {
        let is_refused = |it: &Remark| matches!(it, Remark::File(FileRemark::Refused { .. }));
        report.remarks.iter().any(is_refused)
    };
    assert!(nobody(&judge(&node)));
    node.listeners.push(Listener {
        network,
        address: None,
        port: 53,
        is_udp: true,
        file: "/proc/9/net/udp".to_owned(),
        dropped: 0,
        owner: None,
    });
    assert!(!nobody(&judge(&node)));
}
