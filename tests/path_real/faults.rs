//! Every fault, made for real.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::Scene;
use crate::lab::{
    CLIENT, FAR, Lab, NEAR, SERVICE, codes, feed, kube_proxy, of_node, path, restore, sh, within,
};

pub(crate) const SCENES: &[Scene] = &[
    ("faults::stale connection", stale_connection),
    (
        "faults::connection older than the Service",
        untranslated_connection,
    ),
    ("faults::bridge without its rules", bridge),
    ("faults::FORWARD DROP of legacy", forward_drop_legacy),
    ("faults::FORWARD DROP of nft", forward_drop_nft),
    ("faults::MTU", mtu),
    ("faults::cache without its rules", cache_without_rules),
    ("faults::rules without their cache", rules_without_cache),
    ("faults::cache that has ended", silent_cache),
    ("faults::network policy of kube-router", kube_router),
    ("faults::network policy of Calico", calico),
    ("faults::two backends", two_backends),
    ("faults::two proxies", two_proxies),
    ("faults::lost races", lost_races),
];

/// The finding with this code, which must be there.
#[track_caller]
fn finding<'v>(value: &'v Value, code: &str) -> &'v Value {
    let findings = value["findings"].as_array().unwrap();
    let found = findings.iter().find(|it| it["code"] == code);
    found.unwrap_or_else(|| panic!("{code} is not found: {value:#}"))
}

/// The only finding is this one; gives what was written about it.
#[track_caller]
pub(crate) fn only(value: &Value, code: &str) -> String {
    assert_eq!(codes(value), [code], "{value:#}");
    finding(value, code).to_string()
}

#[track_caller]
pub(crate) fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

fn query() -> Vec<u8> {
    [
        &[0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..],
        b"\x01a\x00\x00\x01\x00\x01",
    ]
    .concat()
}

/// The client asks the Service from this port; whether an answer came.
pub(crate) fn asks(port: u16) -> bool {
    within("client", || {
        let socket = UdpSocket::bind((CLIENT, port)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        socket.connect((SERVICE, 53)).unwrap();
        let sent = socket.send(&query());
        let mut buffer = [0; 512];
        sent.is_ok() && socket.recv(&mut buffer).is_ok()
    })
}

/// The pod of the only endpoint goes, as in a rollout: the client's next query
/// from the same port is lost.
fn stale_connection() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    assert!(asks(5353));
    sh(
        "iptables-legacy -t nat -F; iptables-legacy -t nat -X; iptables-legacy -F; iptables-legacy -X; ip link set veth-dns1 down",
    );
    restore("legacy", &kube_proxy(&[NEAR[1]]));
    assert!(!asks(5353));
    assert!(asks(5354));
    let (status, value) = path(&[]);
    let text = only(&value, "stale-connection");
    says(
        &text,
        &[
            "10.244.0.2:53",
            "sport=5353",
            "conntrack -D -p udp -d 10.96.0.10 -r 10.244.0.2",
        ],
    );
    assert_eq!(status, 1);
    sh("conntrack -D -p udp -d 10.96.0.10 -r 10.244.0.2");
    assert!(asks(5353));
    assert_eq!(codes(&path(&[]).1), Vec::<String>::new());
}

/// A query before there are rules makes an entry, and the rules that come later
/// do not count for its port.
fn untranslated_connection() {
    let _lab = Lab::new();
    // Without a rule of NAT there would be no tracking.
    sh("iptables-legacy -A FORWARD -m conntrack --ctstate INVALID -j DROP");
    assert!(!asks(5353));
    restore("legacy", &kube_proxy(&[NEAR[1]]));
    assert!(!asks(5353));
    assert!(asks(5354));
    let (status, value) = path(&[]);
    let text = only(&value, "untranslated-connection");
    says(
        &text,
        &[
            "sport=5353",
            "conntrack -D -p udp -d 10.96.0.10 -r 10.96.0.10",
        ],
    );
    assert_eq!(status, 1);
}

fn bridge() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables");
    let answered = (6000..6020).filter(|port| asks(*port)).count();
    assert!((1..20).contains(&answered), "{answered}");
    let (status, value) = path(&[]);
    let text = only(&value, "bridge-bypasses-rules");
    says(
        &text,
        &[
            "cni0",
            NEAR[0],
            "sysctl -w net.bridge.bridge-nf-call-iptables=1",
        ],
    );
    assert_eq!(status, 1);
}

fn forward_drop_legacy() {
    forward_drop("legacy");
}

fn forward_drop_nft() {
    forward_drop("nft");
}

/// Pods fail, and the node succeeds.
fn forward_drop(backend: &str) {
    let _lab = Lab::new();
    restore(backend, &kube_proxy(&[FAR]));
    sh(&format!("iptables-{backend} -P FORWARD DROP"));
    assert!(!asks(6000));
    let (status, value) = path(&[]);
    let text = only(&value, "forward-drop");
    says(&text, &[CLIENT, FAR, "DROP"]);
    assert_eq!((status, &value["verdict"]), (1, &Value::from("nothing")));
    let (status, value) = of_node(&[SERVICE]);
    assert_eq!((status, codes(&value)), (0, Vec::new()), "{value:#}");
    sh(&format!(
        "iptables-{backend} -A FORWARD -s 10.244.0.0/16 -j ACCEPT
         iptables-{backend} -A FORWARD -d 10.244.0.0/16 -j ACCEPT"
    ));
    assert!(asks(6001));
    assert_eq!(codes(&path(&[]).1), Vec::<String>::new());
}

fn mtu() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[FAR]));
    sh("ip link set uplink mtu 1400");
    let (status, value) = path(&[]);
    let text = only(&value, "mtu-narrows");
    says(&text, &["uplink", "1400", "1500"]);
    assert_eq!(status, 1);
    sh("ip link set uplink mtu 1000; ip netns exec client ip link set eth0 mtu 1000");
    says(&only(&path(&[]).1, "mtu-small"), &["eth0", "bufsize 972"]);
}

const CACHE: &str = "169.254.20.10";

/// The link of the cache, which this kernel's dummy device would be: it is known
/// by its name and its address.
fn cache_link() {
    sh(
        "ip link add nodelocaldns type bridge; ip addr add 169.254.20.10/32 dev nodelocaldns; ip link set nodelocaldns up",
    );
}

fn cache_rules(address: &str) {
    let rule = |protocol| {
        format!(
            "-A PREROUTING -d {address}/32 -p {protocol} -m {protocol} --dport 53 -m comment --comment \"NodeLocal DNS Cache: skip conntrack\" -j NOTRACK\n\
             -A OUTPUT -s {address}/32 -p {protocol} -m {protocol} --sport 53 -m comment --comment \"NodeLocal DNS Cache: skip conntrack\" -j NOTRACK\n"
        )
    };
    restore(
        "legacy",
        &format!("*raw\n{}{}COMMIT\n", rule("udp"), rule("tcp")),
    );
}

fn cache_without_rules() {
    let lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    cache_link();
    let _server = crate::answerer::Answerer::start(CACHE);
    let (_, value) = path(&[CACHE]);
    says(
        &only(&value, "node-cache-rules-missing"),
        &[CACHE, "nodelocaldns"],
    );
    cache_rules(CACHE);
    assert_eq!(codes(&path(&[CACHE]).1), Vec::<String>::new());
    drop(lab);
}

fn rules_without_cache() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    cache_rules(SERVICE);
    assert!(!asks(6000));
    let (status, value) = path(&[]);
    says(
        &only(&value, "node-cache-rules-left"),
        &[SERVICE, "skip conntrack"],
    );
    assert_eq!(status, 1);
    // Where nobody asks it, and the address is the cache's own.
    let (status, value) = path(&["169.254.20.10"]);
    assert!(
        codes(&value).contains(&"node-cache-missing".to_owned()),
        "{value:#}"
    );
    assert_eq!(status, 1);
}

fn silent_cache() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    cache_link();
    cache_rules(CACHE);
    let (status, value) = path(&[CACHE]);
    says(
        &only(&value, "node-cache-silent"),
        &[
            CACHE,
            "set clusterDNS",
            "ip address delete 169.254.20.10/32 dev nodelocaldns",
        ],
    );
    assert_eq!(status, 1);
    // What has the address stays: it may be lo.
    sh("ip address delete 169.254.20.10/32 dev nodelocaldns");
    sh("ip address add 169.254.20.10/32 dev lo");
    let (_, value) = path(&[CACHE]);
    says(
        &only(&value, "node-cache-silent"),
        &["ip address delete 169.254.20.10/32 dev lo"],
    );
    // Where it is gone that is all: that no rule is about it is the same.
    sh("ip address delete 169.254.20.10/32 dev lo; iptables-legacy -t raw -F");
    let (_, value) = path(&[CACHE]);
    says(
        &only(&value, "node-cache-missing"),
        &["recreate the pods that ask 169.254.20.10"],
    );
}

/// As kube-router 2 writes them, for a pod that a policy selects which allows
/// nothing.
fn kube_router() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    restore("legacy", &format!("*filter
:KUBE-NWPLCY-DENY - [0:0]
:KUBE-POD-FW-DNS - [0:0]
:KUBE-ROUTER-FORWARD - [0:0]
-I FORWARD 1 -m comment --comment \"kube-router netpol - TEMCG2JMHZYE7H7T\" -j KUBE-ROUTER-FORWARD
-A KUBE-ROUTER-FORWARD -d {0}/32 -m comment --comment \"rule to jump traffic destined to POD name:coredns-5d78c9869d-abcde namespace: kube-system to chain KUBE-POD-FW-DNS\" -j KUBE-POD-FW-DNS
-A KUBE-ROUTER-FORWARD -m comment --comment \"rule to explicitly ACCEPT traffic that comply to network policies\" -m mark --mark 0x20000/0x20000 -j ACCEPT
-A KUBE-POD-FW-DNS -m comment --comment \"rule for stateful firewall for pod\" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A KUBE-POD-FW-DNS -d {0}/32 -m comment --comment \"run through nw policy deny-dns\" -j KUBE-NWPLCY-DENY
-A KUBE-POD-FW-DNS -m comment --comment \"rule to REJECT traffic destined for POD name:coredns-5d78c9869d-abcde namespace: kube-system\" -m mark ! --mark 0x10000/0x10000 -j REJECT --reject-with icmp-port-unreachable
-A KUBE-NWPLCY-DENY -p tcp -m comment --comment \"rule to ACCEPT traffic from source pods to dest pods selected by policy name deny-dns namespace kube-system\" -m tcp --dport 9153 -j MARK --set-xmark 0x10000/0x10000
COMMIT
", NEAR[0]));
    assert!(!asks(6000));
    let (status, value) = path(&[]);
    let text = only(&value, "network-policy-drops");
    says(
        &text,
        &[
            "kube-system/deny-dns",
            "kube-router",
            "KUBE-POD-FW-DNS",
            NEAR[0],
        ],
    );
    assert_eq!(status, 1);
    assert_eq!(
        value["outcomes"][0]["error"], "icmp-port-unreachable",
        "{value:#}"
    );
}

/// As Calico 3.30 writes them.
fn calico() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[FAR]));
    restore("legacy", "*filter
:cali-FORWARD - [0:0]
:cali-from-wl-dispatch - [0:0]
:cali-fw-cali0 - [0:0]
:cali-po-egress - [0:0]
-I FORWARD 1 -m comment --comment \"cali:wUHhoiAYhphO9Mso\" -j cali-FORWARD
-A cali-FORWARD -m comment --comment \"cali:8ZoYfO5HKXWbB3pk\" -i cni0 -j cali-from-wl-dispatch
-A cali-from-wl-dispatch -m comment --comment \"cali:zTj6P0TIgYvgz-md\" -j cali-fw-cali0
-A cali-fw-cali0 -m comment --comment \"cali:a\" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A cali-fw-cali0 -m comment --comment \"cali:b\" -j MARK --set-xmark 0x0/0x30000
-A cali-fw-cali0 -m comment --comment \"cali:c\" -m mark --mark 0x0/0x20000 -j cali-po-egress
-A cali-fw-cali0 -m comment --comment \"cali:d\" -m comment --comment \"Return if policy accepted\" -m mark --mark 0x10000/0x10000 -j RETURN
-A cali-fw-cali0 -m comment --comment \"cali:e\" -m comment --comment \"End of tier default. Drop if no policies passed packet\" -m mark --mark 0x0/0x20000 -j DROP
-A cali-po-egress -p tcp -m comment --comment \"cali:f\" -m comment --comment \"KubernetesNetworkPolicy default/web-only egress\" -m tcp --dport 443 -j MARK --set-xmark 0x10000/0x10000
COMMIT
");
    assert!(!asks(6000));
    let (status, value) = path(&[]);
    let text = only(&value, "network-policy-drops");
    says(&text, &["default/web-only", "Calico", "cali-fw-cali0"]);
    assert_eq!(status, 1);
}

fn two_backends() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    restore("nft", &kube_proxy(&[NEAR[1]]));
    let (_, value) = path(&[]);
    says(
        &finding(&value, "two-backends-conflict").to_string(),
        &["iptables-legacy", "iptables-nft"],
    );
}

fn two_proxies() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    feed(
        &["nft", "-f", "-"],
        &crate::lab::kube_proxy_nftables(&[NEAR[1]]),
    );
    let (_, value) = path(&[]);
    says(
        &finding(&value, "two-proxies").to_string(),
        &["iptables and nftables"],
    );
}

/// Two clients' ports become one behind the node, and the second entry is one
/// too many: it happens while kdns looks.
fn lost_races() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[FAR]));
    sh(
        "iptables-legacy -t nat -I POSTROUTING 1 -p udp -d 10.244.1.4 -j MASQUERADE --to-ports 1000",
    );
    let is_over = AtomicBool::new(false);
    let value = thread::scope(|scope| {
        scope.spawn(|| {
            within("client", || {
                // At most some ten thousand packets.
                for port in (10_000..20_000).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    let socket = UdpSocket::bind((CLIENT, port)).unwrap();
                    let _ = socket.send_to(&query(), (SERVICE, 53));
                    thread::sleep(Duration::from_millis(1));
                }
            });
        });
        thread::sleep(Duration::from_millis(50));
        let (_, value) = path(&[]);
        is_over.store(true, Ordering::Relaxed);
        value
    });
    says(
        &finding(&value, "connections-losing").to_string(),
        &["insert_failed"],
    );
}
