//! What else a report says orders the causes of its message.

use std::fs;

use kdns::why::{Catalogue, recognise};

use crate::{expect_none, root};

/// The codes of the causes, the first ones first.
fn codes(text: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::built_in();
    let found = recognise(&catalogue, text, None).unwrap();
    let codes = found.causes.iter().map(|it| it.1.code);
    codes.collect()
}

const MESSAGE: &str = "curl: (6) Could not resolve host: db.example.net";

#[test]
fn what_the_text_speaks_for_comes_first_and_what_it_speaks_against_last() {
    for (message, beside, code) in [
        (
            MESSAGE,
            "The namespace has a NetworkPolicy that denies egress, DNS too.",
            "network-policy",
        ),
        (
            MESSAGE,
            "It works in Debian and not in an alpine image.",
            "resolver-differs",
        ),
        (NO_SUCH_HOST, "Consul DNS is used", "mesh-dns-proxy"),
        (
            MESSAGE,
            "CIDR of the pods and the subnet of the office overlap",
            "address-overlap",
        ),
        (
            MESSAGE,
            "The DNS pods run on another node, port 8472 between them is closed",
            "overlay-blocked",
        ),
    ] {
        let place = |text: &str| codes(text).iter().position(|it| *it == code);
        let place_beside = place(&format!("{message} in a pod. {beside}"));
        assert!(
            place_beside.is_some_and(|it| it < 2),
            "{code}: {place_beside:?}"
        );
        assert!(place(message) != Some(0), "{code}");
    }
    let text = "10.96.0.10 does not answer pods on another node: nslookup db.example.net: \
                ;; connection timed out; no servers could be reached";
    let place = |text: &str| codes(text).iter().position(|it| *it == "overlay-blocked");
    assert_eq!(place(text), Some(0));
    let alone = codes(&format!("{text}. It is a single node."));
    let last = &alone[alone.len() - 3..];
    assert!(last.contains(&"overlay-blocked") && last.contains(&"overlay-checksum"));
}

const NO_SUCH_HOST: &str = "lookup db.shop.svc.cluster.local on 10.96.0.10:53: no such host";
const TIMEOUT: &str = "lookup db.shop.svc.cluster.local on 10.96.0.10:53: i/o timeout";
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
fn what_is_only_denied_is_not_known() {
    let catalogue = Catalogue::built_in();
    for text in [
        "Tailscale is not installed, DNS is fine",
        "There is no sidecar",
    ] {
        assert!(recognise(&catalogue, text, None).is_err(), "{text}");
    }
    // What is not done is complained of.
    assert_eq!(
        codes("DNS proxy does not truncate UDP responses")[0],
        "truncation"
    );
}

#[test]
fn a_program_comes_before_what_people_ask_by_hand() {
    let catalogue = Catalogue::built_in();
    let program = "dial tcp: lookup charts.example.net on 10.96.0.10:53: no such host";
    let by_hand = "Server: 8.8.8.8\nAddress: 8.8.8.8#53\n\n\
                   ** server can't find charts.example.net: NXDOMAIN";
    let found = recognise(&catalogue, &format!("{program}\n{by_hand}"), None).unwrap();
    assert_eq!(found.message.id, "go-no-such-host");
}

#[test]
fn a_port_behind_a_name_is_no_part_of_it() {
    let catalogue = Catalogue::built_in();
    let text = "wget: bad address 'registry.shop:5000'";
    let found = recognise(&catalogue, text, None).unwrap();
    assert_eq!(found.name.as_deref(), Some("registry.shop"));
    assert!(!codes(text).contains(&"not-a-host-name"));
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

#[test]
fn a_cause_that_a_message_does_not_name_stands_behind_its_first() {
    let found = codes(&format!("{NO_SUCH_HOST}\nConsul DNS is used"));
    assert_eq!(found[..2], [codes(NO_SUCH_HOST)[0], "mesh-dns-proxy"]);
    // Nor one that the kind of name makes unlikely.
    let found = codes(&format!("{TIMEOUT}. We are behind a proxy"));
    assert!(!found[..3].contains(&"proxy-needed"), "{found:?}");
}

#[test]
fn a_message_with_one_cause_keeps_it() {
    let text = "plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone \".\"";
    let beside = format!("{text}. The image is alpine, and there is a NetworkPolicy for DNS");
    assert_eq!(codes(text), ["dns-loop"]);
    assert_eq!(codes(&beside), ["dns-loop"]);
}

#[test]
fn a_sign_speaks_for_a_cause_or_against_it() {
    let mut wrong = Vec::new();
    for cause in &Catalogue::built_in().causes {
        let code = cause.code;
        let page = fs::read_to_string(root().join(format!("src/why/causes/{code}.md"))).unwrap();
        let Some((_, behind)) = page.split_once("\n## Signs\n\n") else {
            continue;
        };
        let signs = behind.lines().take_while(|it| !it.is_empty());
        let is_one = |it: &&str| it.starts_with("- for: ") || it.starts_with("- against: ");
        wrong.extend(
            signs
                .filter(|it| !is_one(it))
                .map(|it| format!("{code}: {it}")),
        );
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

/// A name in which such words stand is as it was written.
#[test]
fn words_in_names_are_not_replaced() {
    let catalogue = Catalogue::built_in();
    for (text, name) in [
        (
            "dig time-out.shop.svc works, the app gets no such host",
            "time-out.shop.svc",
        ),
        (
            "dig failed-jobs.shop.svc works, the app gets no such host",
            "failed-jobs.shop.svc",
        ),
    ] {
        let found = recognise(&catalogue, text, None).unwrap();
        assert_eq!(found.name.as_deref(), Some(name));
    }
}

/// What one program says in a text is not what another one looked up, nor whom it asked.
#[test]
fn what_other_programs_say_is_theirs() {
    let catalogue = Catalogue::built_in();
    let text = "curl: (6) Could not resolve host: shop.example.com\n\
                dial tcp: lookup cart.shop on 10.96.0.10:53: no such host\n\
                Error: getaddrinfo EAI_AGAIN db";
    let found = recognise(&catalogue, text, None).unwrap();
    let named: Vec<&str> = found.besides.iter().map(|it| it.0.id).collect();
    let mut ids = vec![found.message.id];
    ids.extend(named);
    ids.sort_unstable();
    assert_eq!(
        ids,
        [
            "curl-could-not-resolve",
            "go-no-such-host",
            "node-eai-again"
        ]
    );
    let is_go = found.message.id == "go-no-such-host";
    assert_eq!(found.asked.is_some(), is_go, "{:?}", found.asked);
    assert!(found.besides.iter().all(|it| !it.1.is_empty()));
}

/// A word with which a sentence goes on is no name.
#[test]
fn words_of_sentences_are_no_names() {
    let catalogue = Catalogue::built_in();
    let found = recognise(
        &catalogue,
        "EAI_AGAIN error when looking up the mail server",
        None,
    );
    assert_eq!(found.unwrap().name, None);
    let text = "dial tcp: lookup error on 10.96.0.10:53: no such host";
    let found = recognise(&catalogue, text, None).unwrap();
    assert_eq!(found.name.as_deref(), Some("error"));
}

/// Texts that name where it happens, a cause, and whether it is among the first three.
const PLACES: [(&str, &str, bool); 14] = [
    (
        "AKS: getaddrinfo EAI_AGAIN db.prod ; docker build was fine",
        "service-path",
        true,
    ),
    (
        "AKS: getaddrinfo EAI_AGAIN db.prod ; docker build was fine",
        "docker-dns",
        false,
    ),
    (
        "Minikube; docker run works; getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "Rancher deployment; docker exec works; getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "k3d cluster: getaddrinfo EAI_AGAIN db.prod, asked 127.0.0.11:53",
        "docker-dns",
        true,
    ),
    (
        "Dockerfile of our pod: getaddrinfo EAI_AGAIN db.prod",
        "service-path",
        true,
    ),
    (
        "Dockerfile of our pod: getaddrinfo EAI_AGAIN db.prod",
        "docker-dns",
        false,
    ),
    (
        "Error: getaddrinfo ENOTFOUND db (network namespace of my container, compose)",
        "docker-network",
        true,
    ),
    (
        "We overwhelm Redis. docker: getaddrinfo ENOTFOUND redis",
        "docker-network",
        true,
    ),
    (
        "in docker-compose: getaddrinfo ENOTFOUND redis",
        "docker-network",
        true,
    ),
    (
        "in docker-compose: getaddrinfo ENOTFOUND redis",
        "other-namespace",
        false,
    ),
    (
        "in pods of k8s: getaddrinfo ENOTFOUND redis",
        "docker-network",
        false,
    ),
    (
        "in pods of k8s: getaddrinfo ENOTFOUND redis",
        "other-namespace",
        true,
    ),
    (
        "docker-compose up: getaddrinfo EAI_AGAIN db on 127.0.0.11:53",
        "service-path",
        false,
    ),
];

#[test]
fn what_only_the_other_place_can_cause_is_not_among_the_first() {
    let wrong = PLACES.iter().filter_map(|&(text, code, is_first)| {
        let found = codes(text);
        let first = &found[..3];
        (first.contains(&code) != is_first).then(|| format!("{text}: {code}, {found:?}"))
    });
    expect_none(&wrong.collect::<Vec<String>>());
}

/// What a terminal wrapped between two words is no word that it cut.
#[test]
fn a_line_as_wide_as_a_screen_may_end_with_its_word() {
    let catalogue = Catalogue::built_in();
    for (line, next) in [
        ("psql: Temporary failure in name", "resolution"),
        ("psql: Temporary failure in na", "me resolution"),
    ] {
        let text = format!("{}{line}\n{next}", "-".repeat(80 - line.len()));
        let found = recognise(&catalogue, &text, None).unwrap();
        assert_eq!(found.message.id, "glibc-temporary-failure", "{text}");
    }
}
