//! What a report says besides that tells nothing of the cause of its message.

use crate::expect_none;
use crate::signs::{MESSAGE, NO_SUCH_HOST, TIMEOUT, codes};

const COREDNS: &str = "[ERROR] plugin/errors: 2 example.com. A: read udp \
                       10.244.0.2:40112->8.8.8.8:53: i/o timeout";

/// What people say beside a message that tells nothing of its cause.
const IDLE: [(&str, &[&str]); 3] = [
    (
        NO_SUCH_HOST,
        &[
            "ping 8.8.8.8 works from the pod",
            "web is in CrashLoopBackOff; coredns 1/1 Running; Ubuntu 22.04",
            "Readiness probe failed: connection reset by peer",
            "Everything else works fine, only DNS does not",
            "pods AGE 30s",
            "Waited for 1.1s due to client-side throttling",
            "toomanyrequests: You have reached your pull rate limit",
            "hosts: files mdns4_minimal [NOTFOUND=return] dns",
            "listen tcp :8080: bind: address already in use",
            "node resolv.conf: nameserver 127.0.0.53, pods ask 10.96.0.10",
            "Works in docker; Useful links: see below",
            "It runs on-prem, and it is a local host name",
        ],
    ),
    (
        TIMEOUT,
        &[
            "Deployment yaml has annotations: checksum/config: 0a1b2c",
            "resolver: describe node: hugepages-2Mi: 0",
            "ping 8.8.8.8 works from the pod",
            "There are no network policies in the cluster.",
            "firewalld is disabled on all nodes",
            "There is no security group",
            "We do not use tailscale",
            "It is not behind a proxy",
            "It is not a conntrack race",
            "There is no high load on coredns",
            "It has no istio sidecar, and the init container ends",
            "Would NodeLocal DNSCache help against the timeout?",
            "iptables v1.8.7 (nf_tables)",
            "kubectl -n kube-system get deploy coredns -o yaml: dnsPolicy: Default k8s-app: kube-dns",
            "cluster made with kubeadm init --service-cidr=10.96.0.0/12; two different machines",
            "kube-dns pod 10.85.3.4 on GKE",
            "Nameserver limits were exceeded, some nameservers have been omitted",
            "log is [truncated], output truncated here",
            "the source port is 10.244.0.5:47891",
            "the zone is listed as huge in our DNS docs",
            "the Docker default network of the cloud is fine",
        ],
    ),
    (
        COREDNS,
        &[
            "The CoreDNS pod runs in a cluster whose apps are alpine images, others are debian",
            "CoreDNS on VMs of vmware; annotation checksum/config: 0a1b",
            "coredns 1/1 Running; our app is OOMKilled",
            "[INFO] 127.0.0.1:33185 - 1 \"HINFO IN 6.2. udp 57 false 512\" NXDOMAIN qr,rd,ra 132 0.07s",
            "policy disallow-privileged-containers: pass. Corefile: forward . 8.8.8.8\nPodSecurity forbids this; dnsConfig: nameserver 8.8.8.8\nGatekeeper forbids hostNetwork for the external dns controller\nI lack access to iptables on GKE",
        ],
    ),
];

/// Sentences that name something, and say of it that it is there, not there or as it should be.
const NEUTRAL: [&str; 34] = [
    "We use Cilium.",
    "There is no firewall.",
    "MTU is fine.",
    "We run Kubernetes 1.29 on Ubuntu 22.04.",
    "The cluster is on AWS.",
    "No NetworkPolicy is used.",
    "We use Calico as our network plugin.",
    "kube-proxy is in ipvs mode.",
    "NodeLocal DNSCache is not installed.",
    "Istio is not used here.",
    "Docker version 24.0.7.",
    "We do not use a VPN.",
    "The nodes have 8 CPUs and 32 GB of memory.",
    "systemd-resolved is disabled.",
    "The proxy is configured correctly.",
    "ufw status: inactive.",
    "firewalld is not running.",
    "conntrack table is not full.",
    "I tried to restart CoreDNS.",
    "The API server is healthy.",
    "The application is written in Java.",
    "Our ingress is nginx.",
    "It is a three node cluster.",
    "Helm 3.12 was used to install it.",
    "SELinux is permissive.",
    "There is no sidecar.",
    "IPv6 is disabled.",
    "Tailscale is not installed.",
    "We have two CoreDNS replicas.",
    "The registry is private.",
    "Windows nodes: none.",
    "Swarm: inactive",
    "libseccomp 2.5.5 is installed.",
    "The clock is synchronised with NTP.",
];

#[test]
fn a_sentence_that_names_something_orders_nothing() {
    let seen = "autopath: CoreDNS fails to resolve A records, pods with the same IP";
    let mut wrong = Vec::new();
    for message in [NO_SUCH_HOST, TIMEOUT, COREDNS, seen] {
        let first = codes(message)[0];
        for beside in NEUTRAL {
            let found = codes(&format!("{message}\n{beside}"))[0];
            if found != first {
                wrong.push(format!("{beside}: {found}, not {first}"));
            }
        }
    }
    expect_none(&wrong);
}

#[test]
fn what_tells_nothing_of_the_cause_orders_nothing() {
    let mut wrong = Vec::new();
    for (message, all) in IDLE {
        let first = codes(message)[0];
        for beside in all {
            let found = codes(&format!("{message}\n{beside}"))[0];
            if found != first {
                wrong.push(format!("{beside}: {found}, not {first}"));
            }
        }
    }
    expect_none(&wrong);
}

const AGAIN: &str = "Error: getaddrinfo EAI_AGAIN db";

/// What names something of a cause and says nothing of it: it comes not among the first four.
const NO_SIGN: [(&str, &str, &str); 12] = [
    (
        AGAIN,
        "targetPort: 8080 imagePullPolicy: Always",
        "policy-target-port",
    ),
    (
        AGAIN,
        "We use node-local-dns. After a restart of the app it came.",
        "nodelocal-down",
    ),
    (
        AGAIN,
        "kube-proxy runs in ipvs mode. Pods restart all the time.",
        "ipvs-residue",
    ),
    (
        MESSAGE,
        "The search domains are set by the kubelet.",
        "search-wildcard",
    ),
    (AGAIN, "CoreDNS handles 200 rps.", "client-limit"),
    (
        NO_SUCH_HOST,
        "The kube-dns addon of the cluster.",
        "no-cluster-dns",
    ),
    (
        AGAIN,
        "docker container has the host resolv.conf and some names fail",
        "stale-pod-file",
    ),
    (
        TIMEOUT,
        "Only existing connections work.",
        "stale-conntrack",
    ),
    (
        AGAIN,
        "The race in conntrack drops the AAAA query of the pair.",
        "aaaa-answered-wrongly",
    ),
    (
        TIMEOUT,
        "We hadn't any NetworkPolicy and DNS in pods fails",
        "network-policy",
    ),
    (
        TIMEOUT,
        "There wouldn't be a NetworkPolicy here",
        "network-policy",
    ),
    (TIMEOUT, "We haven't NetworkPolicies", "network-policy"),
];

#[test]
fn what_says_nothing_of_a_cause_puts_it_not_on_the_first_screen() {
    let wrong = NO_SIGN.iter().filter_map(|&(message, beside, code)| {
        let place = |text: &str| {
            let found = codes(text);
            found
                .iter()
                .position(|it| *it == code)
                .unwrap_or(usize::MAX)
        };
        let found = place(&format!("{message}\n{beside}"));
        (found < place(message).min(4)).then(|| format!("{beside}: {code} at {found}"))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}
