//! What was answered for each type, what nodes have of the range of pods, what the kernel lost.

use super::{check, health, told, told_with_places};

fn last(text: &str) -> String {
    told(text).lines().last().unwrap_or_default().to_owned()
}

fn unsaid(text: &str) {
    let told = told_with_places(text);
    assert_eq!(told.text.get(told.own..told.health), Some(""), "{text}");
}

const DIG: &str = ";; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1
;; flags: qr rd ra; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 0
;; QUESTION SECTION:
;a.example. IN A
;; ANSWER SECTION:
a.example. 60 IN A 192.0.2.1
;; SERVER: 10.0.0.2#53(10.0.0.2)
";

#[test]
fn aaaa_alone_gets_an_error() {
    let aaaa = DIG
        .replace("NOERROR", "NXDOMAIN")
        .replace("IN A\n", "IN AAAA\n");
    let sentence = "aaaa for a.example gets NXDOMAIN, and a an address";
    assert_eq!(
        last(&format!(
            "$ dig a.example\n{DIG}$ dig a.example aaaa\n{aaaa}"
        )),
        sentence
    );
    let nslookup = "/ # nslookup a.example\nName:\ta.example\nAddress: 192.0.2.1\n** server can't find a.example: NXDOMAIN";
    assert_eq!(last(nslookup), sentence);
    let dump = "12:59:09.304769 IP 10.1.0.2.5 > 10.96.0.10.53: 34+ A? a.example. (35)
12:59:09.304840 IP 10.1.0.2.5 > 10.96.0.10.53: 37+ AAAA? a.example. (35)
12:59:09.305533 IP 10.96.0.10.53 > 10.1.0.2.5: 34 1/0/0 A 192.0.2.1 (51)
12:59:09.305821 IP 10.96.0.10.53 > 10.1.0.2.5: 37 NXDomain 0/1/0 (110)";
    assert_eq!(last(dump), sentence);
}

#[test]
fn other_errors_are_not_those_of_a_type() {
    let runs = "$ nslookup a.example\n** server can't find a.example: SERVFAIL\n$ nslookup a.example\nName: a.example\nAddress: 192.0.2.1";
    unsaid(runs);
    let aaaa = DIG
        .replace("NOERROR", "SERVFAIL")
        .replace("IN A\n", "IN AAAA\n");
    let pair = |a: &str, aaaa: &str| format!("$ dig a.example\n{a}$ dig a.example AAAA\n{aaaa}");
    assert!(told(&pair(DIG, &aaaa)).contains("gets SERVFAIL"));
    // Of another server, of one that is not told, of an alias, of a name server.
    unsaid(&pair(DIG, &aaaa.replace("10.0.0.2", "10.0.9.9")));
    unsaid(&pair(DIG, &aaaa).replace(";; SERVER: 10.0.0.2#53(10.0.0.2)\n", ""));
    let record = "a.example. 60 IN A 192.0.2.1";
    unsaid(&pair(
        &DIG.replace(record, "a.example. 60 IN CNAME b.example."),
        &aaaa,
    ));
    unsaid(&pair(
        &DIG.replace("ANSWER SECTION", "ADDITIONAL SECTION"),
        &aaaa,
    ));
}

#[test]
fn networks_that_overlap_are_told() {
    let node = "node-1 Ready <none> 10m v1.15.0 192.168.50.11 <none> Ubuntu";
    let told = "networks overlap: the range of pods 192.168.0.0/16 has 192.168.50.11 in it";
    assert_eq!(
        last(&format!(
            "kubeadm init --pod-network-cidr=192.168.0.0/16\n{node}"
        )),
        told
    );
    unsaid(&format!(
        "kubeadm init --pod-network-cidr=10.244.0.0/16\n{node}"
    ));
    // Azure's and AWS's networks give pods addresses of the nodes' network.
    unsaid(&format!("--cluster-cidr=192.168.0.0/16\n{node}"));
}

#[test]
fn replies_over_tcp_and_slow_ones_are_told() {
    let tcp = "nslookup a.example 10.96.0.10\n;; connection timed out\n> set vc\n> a.example\nServer: 10.96.0.10\nName: a.example\n";
    assert_eq!(last(tcp), "10.96.0.10 replies over TCP and not over UDP");
    unsaid(&tcp.replace("> a.example", "> set novc\n> a.example"));
    assert_eq!(
        last("time_namelookup:  5.128"),
        "a slow dns lookup took 5128 ms"
    );
    unsaid("time_namelookup:  0.004");
}

#[test]
fn what_the_kernel_lost_is_told() {
    check(
        "net.netfilter.nf_conntrack_count = 262000\nnet.netfilter.nf_conntrack_max = 262144",
        "net.netfilter.nf_conntrack_count = 262000\nnet.netfilter.nf_conntrack_max = 262144\n\
         the conntrack table holds 262000 of at most 262144 entries",
    );
    let cat = "# cat /proc/sys/net/netfilter/nf_conntrack_count /proc/sys/net/netfilter/nf_conntrack_max\n";
    let full = "the conntrack table holds 131070 of at most 131072 entries";
    assert_eq!(last(&format!("{cat}131070\n131072")), full);
    unsaid(&format!("{cat}1310\n131072"));
    check(
        "UdpInCsumErrors 4023 0.0",
        "4023 UDP packets were lost for a wrong checksum",
    );
    check("UdpInCsumErrors 3 0.0\nx", "x");
    check("linklocal_allowance_exceeded: 0\nx", "x");
    let exported = "node_ethtool_linklocal_allowance_exceeded{device=\"eth0\"} 0";
    check(&format!("{exported}\nx"), "x");
}

#[test]
fn a_described_service_has_endpoints_or_none() {
    let told_of = |endpoints: &str| {
        last(&format!(
            "Name: kube-dns\nNamespace: kube-system\nEndpoints: {endpoints}\n"
        ))
    };
    let none = "kubectl lists the DNS Service without endpoints";
    assert_eq!(told_of("<none>"), none);
    for some in ["10.244.0.2:53", "10.244.0.2:53,10.244.0.3:53 + 1 more..."] {
        assert_ne!(told_of(some), none);
        let text = format!("Name: kube-dns\nEndpoints: {some}");
        assert_eq!(health(&text), "the DNS Service is listed with endpoints\n");
    }
    unsaid("Name: coredns\nNamespace: prod-sandbox\nEndpoints: <none>\n");
    let endpoints = |name: &str, key: &str| {
        format!(
            "kind: Endpoints\nmetadata:\n  name: {name}\nsubsets:\n- {key}:\n  - ip: 10.244.0.9\n    targetRef:\n      kind: Pod\n      name: x-1\n"
        )
    };
    let mixed = endpoints("kube-dns", "notReadyAddresses") + &endpoints("web", "addresses");
    assert_eq!(last(&mixed), none);
    assert_eq!(health(&mixed), "");
    unsaid(&("Name: kube-dns\n".to_owned() + &endpoints("web", "notReadyAddresses")));
    assert_ne!(
        last("Name: web\nType: ClusterIP\nEndpoints: <none>\n"),
        none
    );
}

/// Texts of machines and networks that are well, or of another fault.
const INNOCENT: [&str; 24] = [
    // Routes that every node has: of links, of flannel's nodes, of OpenShift, kind, minikube.
    "fe80::/64 dev eth0 proto kernel metric 1024\nfe80::/64 dev docker0 proto kernel metric 256",
    "10.244.0.0/24 dev cni0 proto kernel scope link src 10.244.0.1\n10.244.0.0/24 via 10.244.0.0 dev flannel.1 onlink",
    "nameserver 10.0.0.2\n10.0.0.0/24 dev br-ex proto kernel scope link src 10.0.0.11",
    "nameserver 172.18.0.1\n172.18.0.0/16 dev br-3ab2 proto kernel scope link src 172.18.0.1",
    "nameserver 192.168.122.1\n192.168.122.0/24 dev virbr0 proto kernel scope link src 192.168.122.1",
    "$ dig @172.17.0.2 example.com +short\n192.0.2.1\n172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1",
    "169.254.0.0/16 dev eth0 scope link metric 1002\n169.254.0.0/16 dev br-lan scope link metric 1003",
    "172.18.0.0/16 dev br-aaa proto kernel src 172.18.0.1\n172.18.0.0/16 dev br-bbb proto kernel src 172.18.0.1",
    "--cluster-cidr=10.244.0.0/16\n[ERROR] plugin/errors: 2 db.consul. A: read udp 10.244.0.3:5->10.244.2.9:53: i/o timeout",
    "server=127.0.0.1\nlisten-address=192.168.1.1\n    inet 127.0.0.1/8 scope host lo",
    "server=10.1.0.17\nm2:\n    inet 10.1.0.17/24 scope global eth0",
    // A connection is no reply, and a failed one none.
    "$ nslookup google.com 10.96.0.10\n;; connection timed out; no servers could be reached\nConnection to 10.96.0.10 53 port [tcp/domain] succeeded!",
    "$ nslookup google.com 10.96.0.10\n;; connection timed out; no servers could be reached\nnc: connect to 10.96.0.10 port 53 (tcp) failed: Connection refused",
    "nc: connect to 10.96.0.10 port 53 (tcp) timed out: Operation now in progress\nnc: connect to 10.244.0.3 port 53 (tcp) failed: No route to host",
    // Comments and pods' prompts name no node.
    "dig @10.96.0.10 a.example +short # from w1\n192.0.2.1\nnslookup a.example 10.96.0.10 # from w1\n;; connection timed out; no servers could be reached",
    "root@node1:~# dig @10.96.0.10 a.example\n192.0.2.1\nroot@web-7d9f6c-x2x:/# dig @10.96.0.10 a.example\n;; connection timed out; no servers could be reached",
    // MX, another server, another client.
    "a.example has address 192.0.2.1\nHost a.example not found: 2(SERVFAIL)",
    "> a.example\nServer: 10.0.0.2\nName: a.example\nAddress: 192.0.2.1\n> set type=mx\n> a.example\n** server can't find a.example: SERVFAIL",
    "> a.example\nServer: 10.0.0.2\nName: a.example\nAddress: 192.0.2.1\n> server 10.0.0.9\n> a.example\n** server can't find a.example: REFUSED",
    "[INFO] 10.1.0.7:5 - 7 \"A IN a.example. udp 35 false 512\" NOERROR qr,aa,rd 100 0.0012s\n[INFO] 10.1.0.8:5 - 8 \"AAAA IN a.example. udp 35 false 512\" SERVFAIL qr,rd 35 0.0012s",
    "12:00:00.0 IP 10.1.0.7.6069 > 10.96.0.10.53: 50+ A? a.b. (46)\n12:00:00.1 IP 10.96.0.10.53 > 10.1.0.7.6069: 50 1/0/0 A 1.2.3.4 (46)\n12:00:00.2 IP 10.1.0.8.6070 > 8.8.8.8.53: 51+ AAAA? a.b. (46)\n12:00:00.3 IP 8.8.8.8.53 > 10.1.0.8.6070: 51 NXDomain 0/1/0 (46)",
    // TCP's counter, sockets of others, settings of the conntrack table.
    "Tcp:\n    InCsumErrors: 812\nUdp:\n    150 receive buffer errors\nUdpRcvbufErrors 140 0.0",
    "net.netfilter.nf_conntrack_count = 512\nnet.netfilter.nf_conntrack_max = 262144\nnet.netfilter.nf_conntrack_udp_timeout_stream = 120",
    "net.netfilter.nf_conntrack_count = 100\nnet.netfilter.nf_conntrack_max = 262144\nnet.netfilter.nf_conntrack_expect_max = 100",
];

#[test]
fn of_what_is_well_nothing_is_said() {
    INNOCENT.into_iter().for_each(unsaid);
}
