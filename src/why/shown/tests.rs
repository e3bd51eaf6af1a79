//! What is said of lines of other programs.

mod packets;
mod reached;
mod slices;

use super::told as told_with_places;

fn told(text: &str) -> String {
    let told = told_with_places(text);
    told.text.get(..told.health).unwrap_or_default().to_owned()
}

/// What of a text speaks only against causes.
fn health(text: &str) -> String {
    let told = told_with_places(text);
    told.text.get(told.health..).unwrap_or_default().to_owned()
}

fn check(text: &str, expected: &str) {
    assert_eq!(told(text).trim_end(), expected, "{text}");
}

#[test]
fn other_text_stays() {
    check("a -> b\nc > d: e", "a -> b\nc > d: e");
    check("drop 5 of 7\nfound 3", "drop 5 of 7\nfound 3");
}

#[test]
fn counters_are_added_up() {
    let line = "cpu=0 found=1 invalid=2 insert_failed=1 drop=1 early_drop=0 error=0";
    check(
        &format!("{line}\n{line}"),
        "conntrack -S counts 2 packets lost in a race",
    );
    let full = "cpu=0 found=1 insert_failed=1 drop=4 early_drop=2";
    check(
        full,
        "conntrack -S counts 5 packets or entries dropped for want of room",
    );
    let old = "entries \t90\nfound \t 3\ninsert_failed\t\t0\ndrop \t\t0\nearly_drop\t\t0";
    check(
        old,
        "entries \t90\nfound \t 3\nconntrack -S counts no packet lost",
    );
}

#[test]
fn answers_of_search_domains_are_told() {
    let told_of = |text: &str| told(text).lines().last().unwrap_or_default().to_owned();
    let text = "/ # nslookup github.com\nServer: 10.96.0.10\n\nName:   github.com.example.com";
    let sentence = "an answer for github.com came from the search domain example.com";
    assert_eq!(told_of(text), sentence);
    let ping = "ping github.com\nPING github.com.example.com (192.0.2.1): 56 data bytes";
    assert_eq!(told_of(ping), sentence);
    let service = "nslookup db.prod\nName: db.prod.svc.cluster.local";
    assert_eq!(told_of(service), "Name: db.prod.svc.cluster.local");
    let whole = "nslookup github.com\nName: github.com";
    assert_eq!(told_of(whole), "Name: github.com");
}

#[test]
fn answers_with_a_loopback_address_are_told() {
    let ping = "ping github.com\nPING github.com (::1) 56 data bytes";
    let sentence = "github.com, a name outside, leads to a loopback address";
    assert_eq!(last(ping), sentence);
    let other = "PING db.prod (127.0.0.1) 56 data bytes";
    check(other, other);
    let quoted = "I run `nslookup a.example.cn`, and see\n> Name: a.example.cn.corp.com";
    let sentence = "an answer for a.example.cn came from the search domain corp.com";
    assert_eq!(last(quoted), sentence);
}

#[test]
fn entries_without_reply_are_counted() {
    let entry = "udp 17 28 src=10.1.0.7 dst=10.96.0.10 sport=4 dport=53 [UNREPLIED] src=10.2.0.6 dst=10.1.0.7 sport=53 dport=4";
    check(
        entry,
        "conntrack lists 1 of 1 entries to port 53 without a reply",
    );
    let replied = entry.replace("[UNREPLIED] ", "");
    check(&replied, "");
}

/// The last line of what is said of a text.
fn last(text: &str) -> String {
    told(text).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn lookups_are_compared() {
    let service = "nslookup db.a.svc.cluster.local 10.96.0.10\n;; connection timed out; no servers could be reached\n";
    let pod = "nslookup db.a.svc.cluster.local 10.244.1.83\nServer: 10.244.1.83\nName: db.a.svc.cluster.local\n";
    let sentence = "the DNS Service 10.96.0.10 does not reply, while the DNS pod 10.244.1.83 does";
    assert_eq!(last(&format!("{service}{pod}")), sentence);
    assert_eq!(last(&format!("{pod}{service}")), sentence);
    assert_eq!(last(service), service.lines().last().unwrap_or_default());
    let outside = "dig example.com @8.8.8.8 +short\n192.0.2.1\n";
    assert_eq!(
        last(&format!("{service}{outside}")),
        "10.96.0.10 does not reply, while 8.8.8.8 outside does"
    );
    let tcp = "dig +tcp db.a.svc.cluster.local @10.96.0.10\n;; status: NOERROR, id: 7\n";
    assert_eq!(
        last(&format!("{service}{tcp}")),
        "10.96.0.10 replies over TCP and not over UDP"
    );
    let own = "dig db.a.svc.cluster.local @10.96.0.10\n;; status: NOERROR, id: 7\n";
    let other = "dig example.com @10.96.0.10\n;; connection timed out\n";
    assert_eq!(
        last(&format!("{own}{other}")),
        "10.96.0.10 replies for names of the cluster and not for names outside"
    );
    let found =
        "$ nslookup github.com\nServer: 10.43.0.10\nName: github.com\nAddress 1: 192.0.2.1\n";
    let program = "git: Could not resolve host: github.com";
    assert_eq!(
        last(&format!("{found}{program}")),
        "a tool resolves github.com, and a program does not"
    );
    let before = last(&format!("{program}\n{found}"));
    assert_eq!(before, "a tool resolves github.com, and a program does not");
    let other = "git: Could not resolve host: github.com.evil";
    assert_eq!(last(&format!("{found}{other}")), other);
    // The host's tool says nothing of what a pod gets.
    let host = found.replace("10.43.0.10", "192.0.2.1");
    assert_eq!(last(&format!("{host}{program}")), program);
    // Nor does an object of the name, nor an answer for another.
    let object = "nslookup kubernetes 10.96.0.10\nServer: 10.96.0.10\nName: kubernetes.default.svc.cluster.local\nAddress: 10.96.0.1\nName: db\nNamespace: prod\n";
    let failed = "lookup db on 10.96.0.10:53: no such host";
    assert_eq!(last(&format!("{object}{failed}")), failed);
    let address = object.replace("Namespace: prod", "Address: 10.0.0.1");
    assert_eq!(last(&format!("{address}{failed}")), failed);
    assert_eq!(
        last(";; Query time: 5003 msec"),
        "a slow dns lookup took 5003 ms"
    );
    assert_eq!(last(";; Query time: 3 msec"), ";; Query time: 3 msec");
}

#[test]
fn rows_of_kubectl_are_told() {
    let pod = "kube-system coredns-5d78c9869d-qkpwj 0/1";
    for (status, sentence) in [
        ("CrashLoopBackOff 7 18m", "crashing"),
        ("OOMKilled 7 (3m ago) 18m", "OOMKilled"),
        ("Pending 0 18m", "waiting: Pending"),
        ("Running 0 18m", "running and unready"),
    ] {
        let told = last(&format!("{pod} {status}"));
        let expected = format!("kubectl lists the DNS pod coredns-5d78c9869d-qkpwj as {sentence}");
        assert_eq!(told, expected);
    }
    check("coredns-5d78c9869d-qkpwj 1/1 Running 1 18m", "");
    let unready = "web-1 0/1 Running 0 4h";
    assert_eq!(
        last(&format!(
            "lookup web-1.web on 10.96.0.10:53: no such host\n{unready}"
        )),
        "kubectl lists the pod web-1, whose name is looked up, as unready"
    );
    check(unready, unready);
    assert_eq!(
        last("calico-node-4qvz4 0/1 Init:0/3 0 18m"),
        "kubectl lists the network pod calico-node-4qvz4 as waiting: Init:0/3"
    );
    check(
        "web-5d78c9869d-qkpwj 0/1 Pending 1 18m",
        "web-5d78c9869d-qkpwj 0/1 Pending 1 18m",
    );
    let service = "kube-dns ClusterIP 10.233.0.2 <none> 53/UDP,53/TCP 37m";
    assert_eq!(
        last(&format!("nameserver 10.233.0.10\n{service}")),
        "pods ask 10.233.0.10, and the DNS Service is 10.233.0.2"
    );
    check(service, "");
    check(
        &format!("{service}\nnameserver 192.168.1.1"),
        "nameserver 192.168.1.1",
    );
    assert_eq!(
        last("kube-dns <none> 37m"),
        "kubectl lists the DNS Service without endpoints"
    );
}

#[test]
fn other_rows_of_kubectl_stay() {
    for other in [
        "calico-node-4qvz4 1/1 Running 0 18m",
        "calico-node-4qvz4 0/1 Terminating 0 18m\ncalico-node-fghjk 1/1 Running 0 18m",
        "cilium-operator 2/2 2 2 34d",
        "antrea-agent-simulator 1/1 1 1 5d",
        "kube-dns-autoscaler 1/1 1 1 200d",
        "kube-dns-autoscaler-7f5d9c6b4d-x2x9z 0/1 Pending 0 200d",
        "aws-node-termination-handler-4qvz4 0/1 CrashLoopBackOff 77 3d\naws-node-fghjk 2/2 Running 0 3d",
        "canal-server-0 0/1 Running 0 3m",
        "cilium-envoy-4qvz4 0/1 Running 0 3m",
    ] {
        check(other, other);
    }
    let coredns = "coredns-5d78c9869d-qkpwj";
    check(
        &format!("{coredns} 1/1 Running 0 40d\n{coredns} 0/1 Evicted 0 40d"),
        "",
    );
    for text in [
        "kubectl apply -f https://k8s.io/dnsutils.yaml\nlookup web.prod on 10.96.0.10:53: no such host\ndnsutils 0/1 ContainerCreating 0 4h",
        "lookup my-web-1.prod on 10.96.0.10:53: no such host\nweb-1 0/1 Running 0 4h",
        "lookup web.prod on 10.96.0.10:53: no such host\nweb 3/10 layers pulled here",
        "lookup migrate.prod on 10.96.0.10:53: no such host\nmigrate 0/1 Completed 0 4h",
    ] {
        check(text, text);
    }
    for said in [
        "kube-dns 10.96.0.10:53 unreachable",
        "coredns 10.244.0.3:5353 refused",
    ] {
        check(said, said);
    }
}

#[test]
fn described_pods_are_told() {
    let pod = "Name:  coredns-757f4547d9-rtzpl\nStatus: Running\nState: Waiting\n";
    for (lines, sentence) in [
        (
            "Reason: ContainerCreating\nReady: False",
            "waiting: ContainerCreating",
        ),
        (
            "Reason: CrashLoopBackOff\nLast State: Terminated\nReason: OOMKilled",
            "OOMKilled",
        ),
        ("State: Running\nReady: False", "running and unready"),
        ("Ready: True\nRestart Count: 98", "restarted 98 times"),
    ] {
        let told = last(&format!("{pod}{lines}"));
        let pod = "kubectl lists the DNS pod coredns-757f4547d9-rtzpl";
        assert_eq!(told, format!("{pod} as {sentence}"));
    }
    let killed = "Last State: Terminated\nReason: OOMKilled\nReady: True\nRestart Count: ";
    assert_eq!(
        told(&format!("{pod}{killed}1")),
        format!("{pod}{killed}1\n")
    );
    assert!(last(&format!("{pod}{killed}98")).ends_with(" as OOMKilled"));
    for other in [
        "Name: kube-dns-7n8dd\nAddressType: IPv4\nConditions:\nReady: true",
        "Name: coredns-757f4547d9-rtzpl\nStatus: Running\nReady: True\nTicket 77\nStatus: open",
        "Name: coredns-custom\nStatus: Active",
        "nslookup coredns-a.example 10.96.0.10\nName: coredns-a.example\nStatus: Degraded",
    ] {
        check(other, other);
    }
    let quoted = "> Name: coredns-757f4547d9-rtzpl\n> Status: Pending\nwhy?";
    assert!(last(quoted).ends_with("as waiting: Pending"));
    let other = "Name: web-757f4547d9-rtzpl\nReason: OOMKilled";
    check(other, other);
}

#[test]
fn what_is_well_is_told_apart() {
    let ready = "every DNS pod is listed as running and ready\n";
    let pods = "coredns-5d78c9869d-qkpwj 1/1 Running 1 18m\n";
    assert_eq!(health(pods), ready);
    assert_eq!(
        health(&format!("{pods}coredns-5d78c9869d-abcde 0/1 Running 1 18m")),
        ""
    );
    assert_eq!(
        health("Name: coredns-5d78c9869d-qkpwj\nStatus: Running"),
        ""
    );
    assert_eq!(
        health("kube-dns 10.244.0.2:53,10.244.0.3:53,10.244.0.2:9153 5d"),
        "the DNS Service is listed with endpoints\n"
    );
    assert_eq!(
        health("kube-dns 10.244.0.2:53,10.244.0.3:53,10.244.0.2:9153 + 3 more...   5d"),
        "the DNS Service is listed with endpoints\n"
    );
    let ended = format!("{pods}coredns-5d78c9869d-fghjk 0/1 Evicted 0 40d");
    assert_eq!(health(&ended), ready);
    let check = "[INFO] 127.0.0.1:33185 - 11663 \"HINFO IN 6749.2394. udp 57 false 512\" ";
    assert_eq!(
        health(&format!("{check}NXDOMAIN qr,rd,ra 132 0.068446594s")),
        "the check for loops was answered\n"
    );
    assert_eq!(health(&format!("{check}SERVFAIL qr,rd 57 20.01s")), "");
}

#[test]
fn listeners_of_port_53_are_told() {
    let stub = "udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:* users:((\"systemd-resolve\",pid=7,fd=9))";
    check(
        stub,
        "port 53 is held only at loopback addresses: systemd-resolve on 127.0.0.53",
    );
    let all = "tcp 0 0 0.0.0.0:53 0.0.0.0:* LISTEN 14541/dnsmasq";
    check(
        &format!("{stub}\n{all}"),
        "port 53 is held by: systemd-resolve on 127.0.0.53, dnsmasq on *",
    );
    let client = "udp 0 0 10.0.0.7:41234 10.96.0.10:53 ESTABLISHED 7/web";
    check(client, client);
}

#[test]
fn unusual_servers_of_resolved_are_told() {
    let of = |servers: &str| format!("Link 2 (eth0)\nCurrent Scopes: DNS\n{servers}");
    assert_eq!(last(&of("")), "resolvectl status shows no DNS server");
    let four = of("DNS Servers: 10.0.0.1 10.0.0.2\n 10.0.0.3\n 2001:db8::1\n");
    assert_eq!(last(&four), "resolvectl status shows 4 DNS servers");
    let vpn =
        of("DNS Servers: 10.0.0.1\nLink 3 (tun0)\nDNS Servers: 10.9.0.1\nDNS Domain: corp.example");
    let sentence = "resolvectl status shows links with servers and domains of their own";
    assert_eq!(last(&vpn), sentence);
    let one = of("DNS Servers: 10.0.0.1");
    assert_eq!(last(&one), "resolvectl status shows nothing unusual");
}

const ASKED: &str = "03:34:39.199625 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";
const AGAIN: &str = "03:34:44.199659 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";

#[test]
fn queries_without_reply_are_told() {
    let all = "tcpdump shows no reply to any of 1 queries, the first to 10.64.0.10:53 for a.b";
    check(&format!("{ASKED}{AGAIN}"), all);
    // It may be on its way where the dump ends.
    check(ASKED, "");
    let other = "03:34:39.3 IP 10.1.0.7.1 > 10.64.0.10.domain: 7+ [1au] AAAA? c.d. (50)\n\
                 03:34:39.4 IP 10.64.0.10.domain > 10.1.0.7.1: 7 NXDomain*- 0/1/0 (149)\n";
    let some = "tcpdump shows no reply to 1 of 2 queries, the first to 10.64.0.10:53 for a.b";
    check(&format!("{ASKED}{other}{AGAIN}"), some);
    // Why the client did not take the reply is not seen.
    let reply = "03:34:39.4 IP 10.64.0.10.53 > 10.1.0.7.60696: 5042 1/0/0 A 192.0.2.1 (62)\n";
    check(&format!("{ASKED}{reply}{AGAIN}"), "");
}

#[test]
fn of_pairs_one_may_be_lost() {
    let pair = "1.0 IP 10.1.0.7.60696 > 10.64.0.10.53: 5043+ AAAA? a.b. (46)\n";
    let reply = "1.2 IP 10.64.0.10.53 > 10.1.0.7.60696: 5042 1/0/0 A 192.0.2.1 (62)\n";
    let text = "tcpdump shows a reply to one of A and AAAA only, from 10.64.0.10:53 for a.b";
    let asked = "1.0 IP 10.1.0.7.60696 > 10.64.0.10.53: 5042+ A? a.b. (46)\n";
    let again = "4.0 IP 10.1.0.7.60696 > 10.64.0.10.53: 5043+ AAAA? a.b. (46)\n\
                 4.1 IP 10.64.0.10.53 > 10.1.0.7.60696: 5043 0/1/0 (62)\n";
    let late = text.replace(", from", " when it was asked again, from");
    let later = "7.0 IP 10.1.0.7.60697 > 10.64.0.10.53: 9+ A? a.b. (46)\n\
                 7.1 IP 10.64.0.10.53 > 10.1.0.7.60697: 9 1/0/0 A 192.0.2.1 (62)\n";
    check(&format!("{asked}{pair}{reply}{later}"), text);
    check(&format!("{asked}{pair}{reply}{again}"), &late);
}

#[test]
fn errors_and_refusals_are_told() {
    let icmp = "1.0 IP 10.64.0.10 > 10.1.0.7: ICMP 10.64.0.10 udp port 53 unreachable, length 9\n";
    check(
        &format!("{ASKED}{icmp}"),
        "tcpdump shows that udp port 53 is unreachable: nobody listens, or a rule rejects",
    );
    let verbose = "12:07:26.1 IP (tos 0x0, ttl 64, proto UDP (17), length 54)\n    \
                   10.44.0.6.395 > 10.36.0.5.domain: [udp sum ok] 3+ AAAA? registry. (26)\n    \
                   10.36.0.5.domain > 10.44.0.6.395: [bad udp cksum 0x1 -> 0x2!] 3 ServFail q: AAAA? registry. 0/0/0 (26)\n";
    check(
        verbose,
        "tcpdump shows SERVFAIL from 10.36.0.5:53 for registry",
    );
}
