//! What was answered for each type, where a server replies, and whose networks overlap.

use super::{check, told};

fn last(text: &str) -> String {
    told(text).lines().last().unwrap_or_default().to_owned()
}

fn unsaid(text: &str) {
    check(text, text.trim_end());
}

const DIG: &str = ";; ->>HEADER<<- opcode: QUERY, status: NOERROR, id: 1
;; flags: qr rd ra; QUERY: 1, ANSWER: 1, AUTHORITY: 0, ADDITIONAL: 0
;; QUESTION SECTION:
;a.example. IN A
";

#[test]
fn aaaa_alone_gets_an_error() {
    let aaaa = DIG
        .replace("NOERROR", "NXDOMAIN")
        .replace("IN A\n", "IN AAAA\n");
    let aaaa = aaaa.replace("ANSWER: 1", "ANSWER: 0");
    let sentence = "aaaa for a.example gets NXDOMAIN, and a an address";
    assert_eq!(
        last(&format!(
            "$ dig a.example\n{DIG}$ dig a.example aaaa\n{aaaa}"
        )),
        sentence
    );
    let host = "a.example has address 192.0.2.1\nHost a.example not found: 2(SERVFAIL)";
    let servfail = "aaaa for a.example gets SERVFAIL, and a an address";
    assert_eq!(last(host), servfail);
    let nslookup = "/ # nslookup a.example\nName:\ta.example\nAddress: 192.0.2.1\n** server can't find a.example: NXDOMAIN";
    assert_eq!(last(nslookup), sentence);
    let log = |kind: &str, code: &str| {
        format!(
            "[INFO] 10.1.0.7:5 - 7 \"{kind} IN a.example. udp 35 false 512\" {code} qr,rd,ra 68 0.0012s\n"
        )
    };
    assert_eq!(
        last(&(log("A", "NOERROR") + &log("AAAA", "SERVFAIL"))),
        servfail
    );
    let dump = "12:59:09.304769 IP 10.1.0.2.5 > 10.96.0.10.53: 34+ A? a.example. (35)
12:59:09.304840 IP 10.1.0.2.5 > 10.96.0.10.53: 37+ AAAA? a.example. (35)
12:59:09.305533 IP 10.96.0.10.53 > 10.1.0.2.5: 34 1/0/0 A 192.0.2.1 (51)
12:59:09.305821 IP 10.96.0.10.53 > 10.1.0.2.5: 37 NXDomain 0/1/0 (110)";
    assert_eq!(last(dump), sentence);
}

#[test]
fn other_errors_are_not_those_of_a_type() {
    // Both types, another name, another server, another time.
    let log = |kind: &str, code: &str| {
        format!(
            "[INFO] 10.1.0.7:5 - 7 \"{kind} IN a.example. udp 35 false 512\" {code} qr,rd,ra 68 0.0012s\n"
        )
    };
    unsaid(&(log("A", "NOERROR") + &log("AAAA", "NOERROR") + &log("AAAA", "SERVFAIL")));
    unsaid(&(log("A", "NOERROR") + &log("A", "SERVFAIL") + &log("AAAA", "SERVFAIL")));
    unsaid("a.example has address 192.0.2.1\nHost b.example not found: 2(SERVFAIL)");
    unsaid(
        "a.example has address 192.0.2.1\na.example has IPv6 address 2001:db8::1\nHost a.example not found: 2(SERVFAIL)",
    );
    let runs = "$ nslookup a.example\n** server can't find a.example: SERVFAIL\n$ nslookup a.example\nName: a.example\nAddress: 192.0.2.1";
    unsaid(runs);
    let aaaa = DIG
        .replace("NOERROR", "SERVFAIL")
        .replace("IN A\n", "IN AAAA\n");
    unsaid(&format!(
        "$ dig @10.0.0.1 a.example\n{DIG}$ dig @10.0.0.2 a.example AAAA\n{aaaa}"
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
    let route = "172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1";
    let told = "networks overlap: the network 172.17.0.0/16 of docker0 has the DNS server 172.17.0.2 in it";
    assert_eq!(last(&format!("nameserver 172.17.0.2\n{route}")), told);
    // A server on the bridge's own address serves containers.
    unsaid(&format!(
        "nameserver 172.17.0.1\n{route}\ninet 172.17.0.1/16 scope global docker0"
    ));
    let cni = "10.200.5.0/24 dev cni0 proto kernel scope link src 10.200.5.1 linkdown";
    let twice = "networks overlap: cni0 and docker0 have the same network 10.200.5.0/24";
    assert_eq!(
        last(&format!("{cni}\n{}", cni.replace("cni0", "docker0"))),
        twice
    );
    // Two network cards in one network are usual.
    unsaid(&format!(
        "{}\n{}",
        cni.replace("cni0", "eth0"),
        cni.replace("cni0", "wlan0")
    ));
}

#[test]
fn a_server_that_forwards_to_itself_is_told() {
    let own = "    inet 10.1.0.17/24 brd 10.1.0.255 scope global eth0";
    let sentence = "forwards to itself: 10.1.0.17 is an address of this machine";
    assert_eq!(last(&format!("server=10.1.0.17\n{own}")), sentence);
    unsaid(&format!("server=10.1.0.17#5353\n{own}"));
    unsaid(&format!("server=10.1.0.18\n{own}"));
}

#[test]
fn where_a_server_replies_is_told() {
    let ask = "# dig @10.96.0.10 a.example +short\n";
    let lost = ";; connection timed out; no servers could be reached\n";
    let sentence = "10.96.0.10 replies on m1 and not on w2";
    let good = format!("[root@m1 ~]{ask}192.0.2.1\n");
    assert_eq!(last(&format!("{good}[root@w2 ~]{ask}{lost}")), sentence);
    assert!(!told(&format!("{good}[root@m1 ~]{ask}{lost}")).contains("replies on"));
    let tcp = "nslookup a.example 10.96.0.10\n;; connection timed out\n> set vc\n> a.example\nServer: 10.96.0.10\nName: a.example\n";
    assert_eq!(last(tcp), "10.96.0.10 replies over TCP and not over UDP");
    let nc = "nc: connect to 10.96.0.10 port 53 (tcp) timed out: Operation now in progress\nConnection to 10.244.0.3 53 port [tcp/domain] succeeded!";
    assert_eq!(
        last(nc),
        "the DNS Service 10.96.0.10 does not reply, while the DNS pod 10.244.0.3 does"
    );
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
    check(
        "    4301 receive buffer errors\n    12 packets to unknown port received",
        "4301 UDP packets were lost for want of a receive buffer",
    );
    check("UdpInCsumErrors 3 0.0\nx", "x");
    check("conntrack_allowance_exceeded: 0\nx", "x");
}

#[test]
fn a_described_service_has_endpoints_or_none() {
    let told_of = |endpoints: &str| {
        last(&format!(
            "Name: kube-dns\nType: ClusterIP\nEndpoints: {endpoints}\n"
        ))
    };
    let none = "kubectl lists the DNS Service without endpoints";
    assert_eq!(told_of("<none>"), none);
    assert_ne!(told_of("10.244.0.2:53"), none);
    assert_ne!(
        last("Name: web\nType: ClusterIP\nEndpoints: <none>\n"),
        none
    );
}
