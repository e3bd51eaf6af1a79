//! Every row of the decision table in the notes on Kubernetes' DNS.

use super::*;
use crate::node::Presence;

const LOOP: (Verdict, State, State) = (Verdict::Loop, State::Loop, State::Loop);
const FINE: (Verdict, State, State) = (Verdict::NoLoop, State::NoLoop, State::NoLoop);
const REFUSED: (Verdict, State, State) = (Verdict::Refused, State::Refused, State::Refused);
const MIXED: (Verdict, State, State) = (Verdict::Mixed, State::Mixed, State::Mixed);

/// CoreDNS that binds nothing gets what it sends to itself.
#[test]
fn row_1_and_2_loopback_in_a_pod() {
    for server in [
        "127.0.0.53",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "::",
        "10.244.0.7",
    ] {
        check(
            server,
            &with_coredns(server, &corefile("/etc/resolv.conf")),
            LOOP,
        );
    }
    let without = corefile("/etc/resolv.conf").replace("loop", "");
    check("without loop", &with_coredns("127.0.0.53", &without), LOOP);
    let literal = corefile("127.0.0.1");
    check("literal", &with_coredns("172.31.0.53", &literal), LOOP);
    let other = corefile("127.0.0.1:5300");
    check("other port", &with_coredns("172.31.0.53", &other), REFUSED);
}

#[test]
fn row_3_another_port_or_address() {
    let openshift = corefile("/etc/resolv.conf").replace(":53", ":5353");
    check("port", &with_coredns("127.0.0.53", &openshift), REFUSED);
    let bound = corefile("/etc/resolv.conf").replace("errors", "bind 10.244.0.7");
    check("bind", &with_coredns("127.0.0.53", &bound), REFUSED);
    check("fine", &with_coredns("172.31.0.53", &bound), FINE);
    check("own", &with_coredns("10.244.0.7", &bound), LOOP);
}

/// kube-dns: dnsmasq in the pod reads the pod's file.
#[test]
fn row_4_kube_dns() {
    let mut node = with_coredns("127.0.1.1", "");
    let pod = node.pods.first_mut().unwrap();
    pod.name = Some("kube-dns-1".to_owned());
    pod.corefiles.clear();
    pod.containers[0].name = "kubedns".to_owned();
    let network = Network::Pod(pod.key());
    let mut dnsmasq = server(Program::Dnsmasq, "*", "/etc/resolv.conf");
    dnsmasq.network = network;
    node.servers.push(dnsmasq);
    check("kube-dns", &node, LOOP);
}

#[test]
fn row_5_ordinary_pods_are_only_remarked() {
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let mut pod = dns_pod("app", "", "127.0.0.53");
    pod.namespace = Some("default".to_owned());
    pod.corefiles.clear();
    pod.containers[0].name = "app".to_owned();
    node.pods.push(pod);
    let report = check("ordinary", &node, FINE);
    let is_app = |it: &Remark| matches!(it, Remark::File(FileRemark::Refused { pod, .. }) if pod == "default/app");
    assert!(report.remarks.iter().any(is_app), "{report:#?}");
}

#[test]
fn row_6_on_the_node_resolved_answers() {
    let mut node = with_coredns("127.0.0.53", &corefile("/etc/resolv.conf"));
    node.pods[0].host_network = Some(true);
    let resolved = server(Program::SystemdResolved, "127.0.0.53", "172.31.0.53");
    node.servers.push(resolved);
    check("resolved", &node, FINE);
    // Its upstream server is CoreDNS.
    node.servers[0] = server(Program::SystemdResolved, "127.0.0.53", "172.31.0.10");
    check("resolved asks CoreDNS", &node, LOOP);
    // Nobody but CoreDNS itself listens.
    node.servers.clear();
    check("itself", &node, LOOP);
    let bound = corefile("/etc/resolv.conf").replace("errors", "bind 172.31.0.10");
    node.pods[0].corefiles = vec![source("/c/Corefile", &bound)];
    check("nobody", &node, REFUSED);
    node.sockets_known = false;
    check(
        "sockets not read",
        &node,
        (Verdict::Unknown, State::Unknown, State::Unknown),
    );
}

const NODE_CACHE: &str = "cluster.local:53 {
    bind 169.254.20.10 10.96.0.10
    forward . 10.96.0.200 {
        force_tcp
    }
}
.:53 {
    bind 169.254.20.10 10.96.0.10
    forward . /etc/resolv.conf
    loop
}
";

fn with_node_cache(text: &str, cache: &str, coredns: &str) -> Node {
    let mut node = node(cache);
    node.kubelet.as_mut().unwrap().cluster_dns.value = ips("169.254.20.10");
    node.pods = vec![
        dns_pod("coredns-a", &corefile("/etc/resolv.conf"), coredns),
        node_cache(text, cache),
    ];
    node
}

/// What kube-proxy sends on does not come to the cache, until that writes its rules.
#[test]
fn rules_send_queries_past_node_local() {
    let wrong = NODE_CACHE.replace("10.96.0.200", "10.96.0.10");
    let mut node = with_node_cache(&wrong, "172.31.0.53", "172.31.0.53");
    let line = "udp 17 29 src=10.96.0.10 dst=10.96.0.10 sport=5 dport=53 src=10.244.0.7 dst=10.244.0.1 sport=53 dport=5 mark=0 use=2";
    node.kernel.flows = kernel::flows("/proc/1/net/nf_conntrack", line.as_bytes());
    check("a connection can be an old one", &node, LOOP);
    // It does not run, for the loop ends it again and again: its rules are not asked for.
    assert!(services_in_question(&node).is_empty());
    for address in ["169.254.20.10", "10.96.0.10"] {
        node.listeners.push(Listener {
            network: Network::Node,
            address: address.parse().ok(),
            port: 53,
            is_udp: true,
            file: "/proc/1/net/udp".to_owned(),
            dropped: 0,
            owner: None,
        });
    }
    node.rules_unread = services_in_question(&node);
    assert_eq!(node.rules_unread, ips("10.96.0.10"));
    let unread = (Verdict::WillLoop, State::Unknown, State::Loop);
    let report = check("rules that were not read", &node, unread);
    let is_said = |it: &Remark| matches!(it, Remark::Now(Unknown::Rules(_)));
    assert!(report.remarks.iter().any(is_said), "{report:#?}");
    let asked = [([10, 96, 0, 10], 53).into()];
    assert!(goes_round(&node, &Network::Node, &asked, "a.cluster.local").is_none());
    let mut fine = with_node_cache(NODE_CACHE, "172.31.0.53", "172.31.0.53");
    fine.listeners.clone_from(&node.listeners);
    fine.rules_unread = ips("10.96.0.10");
    check("whatever they say", &fine, FINE);
    node.sent_on = std::mem::take(&mut node.rules_unread);
    let next = (Verdict::WillLoop, State::NoLoop, State::Loop);
    check("sent on", &node, next);
    // One that runs, and has not got the address, is sent nothing there.
    node.sent_on.clear();
    check("bound", &node, LOOP);
    node.listeners.pop();
    node.pods[1].containers[0].pid = Some(9);
    check("not bound", &node, next);
    node.pods[1].containers[0].pid = None;
    check("it has ended", &node, LOOP);
}

#[test]
fn row_7_to_11_node_local() {
    check(
        "7",
        &with_node_cache(NODE_CACHE, "172.31.0.53", "172.31.0.53"),
        FINE,
    );
    check(
        "8",
        &with_node_cache(NODE_CACHE, "169.254.20.10", "169.254.20.10"),
        LOOP,
    );
    let wrong = NODE_CACHE.replace("10.96.0.200", "10.96.0.10");
    let report = check(
        "9",
        &with_node_cache(&wrong, "172.31.0.53", "172.31.0.53"),
        LOOP,
    );
    assert_eq!(report.chains[0].zone, "cluster.local.");
    let explicit = NODE_CACHE.replace("/etc/resolv.conf", "172.31.0.53");
    check(
        "10",
        &with_node_cache(&explicit, "169.254.20.10", "169.254.20.10"),
        FINE,
    );
    let back = NODE_CACHE.replace("/etc/resolv.conf", "10.96.0.200");
    let mut node = with_node_cache(&back, "169.254.20.10", "169.254.20.10");
    node.pods[0].addresses = ips("10.96.0.200");
    check("11", &node, LOOP);
    // The address of the service that only NodeLocal DNSCache knows.
    node.pods[0].addresses = ips("10.244.0.7");
    check("11, by the service", &node, LOOP);
}

/// A pod without containers asks nobody, whoever asks its Service; others can be behind it.
#[test]
fn a_pod_that_waits_asks_nobody() {
    let back = NODE_CACHE.replace("/etc/resolv.conf", "10.96.0.200");
    let mut node = with_node_cache(&back, "169.254.20.10", "169.254.20.10");
    node.pods[0].addresses = ips("10.244.0.7");
    node.pods[0].presence = Presence::Waits;
    let report = check(
        "waits",
        &node,
        (Verdict::WillLoop, State::Unknown, State::Loop),
    );
    let waits = Remark::Waits("kube-system/coredns-a".to_owned());
    assert!(report.remarks.contains(&waits), "{report:#?}");
    node.pods[0].addresses = ips("10.96.0.200");
    check(
        "waits, by its address",
        &node,
        (Verdict::WillLoop, State::Unknown, State::Loop),
    );
    let mut node = with_node_cache(NODE_CACHE, "172.31.0.53", "172.31.0.53");
    node.pods[0].presence = Presence::Waits;
    let report = check(
        "the cluster's names",
        &node,
        (Verdict::NoLoop, State::Unknown, State::NoLoop),
    );
    assert!(report.concern.is_some());
}

#[test]
fn row_12_the_service_in_the_nodes_file() {
    let node = with_coredns("10.96.0.10", &corefile("/etc/resolv.conf"));
    let report = check("12", &node, LOOP);
    assert!(report.remarks.contains(&Remark::Pinned), "{report:#?}");
    // The DNS pod uses the cluster's DNS itself.
    let mut node = with_coredns("172.31.0.53", &corefile("/etc/resolv.conf"));
    let text = "search kube-system.svc.cluster.local svc.cluster.local cluster.local\n\
                nameserver 10.96.0.10\noptions ndots:5\n";
    node.pods[0].resolv_conf = Some(ResolvConf::parse(source("/s/resolv.conf", text)));
    check("ClusterFirst", &node, LOOP);
}

/// The pods of a Corefile that was given are behind the service, too.
#[test]
fn row_12_without_a_pod_on_the_node() {
    let next = (Verdict::WillLoop, State::Unknown, State::Loop);
    let alone = |servers, forward| Node {
        corefiles: vec![source("Corefile", &corefile(forward))],
        ..node(servers)
    };
    check("forward", &alone("172.31.0.53", "10.96.0.10"), next);
    check("file", &alone("10.96.0.10", "/etc/resolv.conf"), next);
    let mut by_dnsmasq = alone("172.31.0.10", "/etc/resolv.conf");
    by_dnsmasq
        .servers
        .push(server(Program::Dnsmasq, "172.31.0.10", "10.96.0.10"));
    check("13", &by_dnsmasq, next);
}

#[test]
fn row_13_dnsmasq_of_the_node_asks_the_cluster() {
    let mut node = with_coredns("172.31.0.10", &corefile("/etc/resolv.conf"));
    node.servers
        .push(server(Program::Dnsmasq, "172.31.0.10", "10.96.0.10"));
    check("13", &node, LOOP);
    node.servers[0] = server(Program::Dnsmasq, "*", "172.31.0.53");
    check("fine", &node, FINE);
    node.servers[0] = server(Program::Dnsmasq, "172.31.0.10", "10.96.0.10");
    node.servers[0].notices_loops = true;
    check("noticed", &node, REFUSED);
}

#[test]
fn row_14_mixed_lists() {
    let report = check(
        "random",
        &with_coredns("127.0.0.53 172.31.0.53", &corefile("/etc/resolv.conf")),
        MIXED,
    );
    assert_eq!(report.chains[0].share, (1, 2));
    let sequential = corefile("/etc/resolv.conf {\n policy sequential\n }");
    check(
        "first",
        &with_coredns("127.0.0.53 172.31.0.53", &sequential),
        LOOP,
    );
    check(
        "second",
        &with_coredns("172.31.0.53 127.0.0.53", &sequential),
        FINE,
    );
    let bound = sequential.replace("errors", "bind 10.244.0.7");
    check(
        "passed",
        &with_coredns("127.0.0.53 172.31.0.53", &bound),
        FINE,
    );
}

#[test]
fn row_15_and_16_dead_servers_are_no_loop() {
    check(
        "15",
        &with_coredns("192.0.2.1", &corefile("/etc/resolv.conf")),
        FINE,
    );
    check(
        "15, v6",
        &with_coredns("2001:db8::1", &corefile("/etc/resolv.conf")),
        FINE,
    );
    check(
        "scope",
        &with_coredns("fe80::1%eth0", &corefile("/etc/resolv.conf")),
        FINE,
    );
    let tcp = corefile("/etc/resolv.conf {\n force_tcp\n }");
    check("16", &with_coredns("172.31.0.53", &tcp), FINE);
}

#[test]
fn row_17_node_local_in_a_pod() {
    let text = ".:53 {\n bind 0.0.0.0\n forward . /etc/resolv.conf\n}\n";
    let mut node = with_node_cache(text, "127.0.0.53", "172.31.0.53");
    node.pods[1].host_network = Some(false);
    node.pods[1].addresses = ips("10.244.0.9");
    let report = check("17", &node, (Verdict::Loop, State::Loop, State::Loop));
    let first = &report.chains[0].hops[0].who;
    let is_cache = matches!(first, Who::Server { name, .. } if is_pod(name, "node-local-dns-x"));
    assert!(is_cache || report.chains.len() > 1);
}
