//! Who asks, by what name, and with what rules of its own; and what can be known
//! of it elsewhere.

use std::net::UdpSocket;
use std::process::Command;

use serde_json::Value;

use crate::Scene;
use crate::faults::{asks, only, says};
use crate::healthy::ends;
use crate::lab::{
    CLIENT, FAR, KDNS, Lab, NEAR, SERVICE, codes, kube_proxy, path, restore, run, sh, within,
};

pub(crate) const SCENES: &[Scene] = &[
    ("situations::a saved node", saved),
    ("situations::nsenter", nsenter),
    ("situations::a Service by its name", by_name),
    ("situations::a service mesh", mesh),
    ("situations::without root", without_root),
    ("situations::files alone", files_alone),
    ("situations::no endpoints", no_endpoints),
    ("situations::hairpin", hairpin),
    ("situations::rp_filter", rp_filter),
    ("situations::affinity", affinity),
    ("situations::elsewhere", elsewhere),
    ("situations::itself", itself),
];

/// What a reader can compare: where packets end and what is wrong.
fn told(value: &Value) -> (Vec<String>, Vec<String>, Value) {
    (ends(value), codes(value), value["verdict"].clone())
}

fn saved() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    assert!(asks(5353));
    sh(
        "iptables-legacy -t nat -F; iptables-legacy -t nat -X; iptables-legacy -F; iptables-legacy -X",
    );
    restore("legacy", &kube_proxy(&[NEAR[1], FAR]));
    let (status, here) = path(&["--save", "/run/saved"]);
    only(&here, "stale-connection");
    let elsewhere = run(&["path", "--rules", "/run/saved", "--format", "json"]);
    assert_eq!(told(&elsewhere.1), told(&here), "{:#}", elsewhere.1);
    assert_eq!(elsewhere.0, status);
    // The same table as conntrack shows it, and the rules alone.
    sh("conntrack -L -p udp > /run/connections; iptables-legacy-save -c > /run/rules");
    let arguments = [
        "path",
        "--source",
        "10.244.0.7",
        "--rules",
        "/run/rules",
        "--conntrack",
        "/run/connections",
        "--format",
        "json",
    ];
    let (_, value) = run(&[&arguments[..], &["10.96.0.10:53/udp"]].concat());
    says(
        &only(&value, "stale-connection"),
        &["/run/connections", "sport=5353"],
    );
}

fn nsenter() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    let (status, value) = run(&["nsenter", "/run/netns/client", "path", "--format", "json"]);
    assert_eq!((status, told(&value)), (0, told(&path(&[]).1)), "{value:#}");
    let route = |words: &[&str]| {
        let (_, value) = run(&[words, &["--format", "json"]].concat());
        let checks = value["checks"].as_array().cloned().unwrap_or_default();
        let route = checks.into_iter().find(|it| it["code"] == "path");
        route.unwrap_or_else(|| panic!("{value:#}"))
    };
    let expected = route(&["doctor", "/run/netns/client"]);
    for words in [
        &["doctor", "--target", "/run/netns/client"][..],
        &["nsenter", "/run/netns/client", "doctor"],
    ] {
        assert_eq!(route(words), expected);
    }
}

fn by_name() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    let by_address = told(&path(&[]).1);
    // The client's search list makes the name whole.
    assert_eq!(told(&path(&["kube-dns.kube-system"]).1), by_address);
    // The cluster's DNS is what is broken: the rules know the name, too.
    sh("ip link set veth-dns1 down");
    let (_, value) = path(&["kube-dns.kube-system"]);
    assert_eq!(ends(&value).len(), 1, "{value:#}");
    assert!(ends(&value)[0].ends_with("10.244.0.2:53"), "{value:#}");
    let output = Command::new(KDNS)
        .args([
            "path",
            "--target",
            "/run/netns/client",
            "kube-system/kube-dnz",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    says(
        &said,
        &["kube-system/kube-dnz", "near names: kube-system/kube-dns"],
    );
    assert_eq!(output.status.code(), Some(2));
}

/// Rules in the pod's own network namespace, as Istio writes them with DNS
/// capture.
fn mesh() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh(
        "ip netns exec client iptables-legacy -t nat -A OUTPUT -p udp --dport 53 -j REDIRECT --to-ports 15053",
    );
    let (_, value) = path(&[&format!("{SERVICE}:53/udp")]);
    assert_eq!(
        ends(&value),
        ["1 reject 127.0.0.1:15053"],
        "nobody listens there yet: {value:#}"
    );
    let _proxy = within("client", || UdpSocket::bind(("127.0.0.1", 15053)).unwrap());
    let (_, value) = path(&[&format!("{SERVICE}:53/udp")]);
    assert_eq!(ends(&value), ["1 local 127.0.0.1:15053"], "{value:#}");
    let (_, value) = path(&[&format!("{SERVICE}:53/tcp")]);
    assert_eq!(ends(&value), ["1 endpoint 10.244.0.2:53"], "{value:#}");
}

/// Nothing is guessed where the rules may not be read.
fn without_root() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    let output = Command::new("setpriv")
        .args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            "--inh-caps=-all",
            KDNS,
        ])
        .args(["path", SERVICE, "-v"])
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    says(
        &text,
        &["the rules were not read", "need root", "CAP_NET_ADMIN"],
    );
    assert_eq!(output.status.code(), Some(2), "{text}");
}

/// Below a directory no tool is run and nothing is asked: `/proc/net/ip_vs` is a
/// file, too.
fn files_alone() {
    let _lab = Lab::new();
    sh(
        "mkdir -p /run/root/proc/net /run/root/proc/sys/net/ipv4 /run/root/etc
        echo 1 > /run/root/proc/sys/net/ipv4/ip_forward
        cp /etc/resolv.conf /run/root/etc/
        cat > /run/root/proc/net/ip_vs <<E
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port Forward Weight ActiveConn InActConn
UDP  0A60000A:0035 rr
  -> 0AF40002:0035      Masq    1      0          0
  -> 0AF40104:0035      Masq    1      0          0
E",
    );
    let arguments = [
        "path",
        "--root",
        "/run/root",
        "--from-host",
        "--format",
        "json",
        "10.96.0.10:53/udp",
    ];
    let (_, value) = run(&arguments);
    let found = ends(&value);
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("1/2") && it.ends_with("10.244.0.2:53")),
        "{value:#}"
    );
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("1/2") && it.ends_with("10.244.1.4:53")),
        "{value:#}"
    );
}

fn no_endpoints() {
    let _lab = Lab::new();
    restore("legacy", "*filter
:KUBE-SERVICES - [0:0]
-A FORWARD -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A OUTPUT -m conntrack --ctstate NEW -m comment --comment \"kubernetes service portals\" -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m comment --comment \"kube-system/kube-dns:dns has no endpoints\" -m udp --dport 53 -j REJECT --reject-with icmp-port-unreachable
COMMIT
");
    let (status, value) = path(&["10.96.0.10:53/udp"]);
    assert_eq!(
        (&value["verdict"], status),
        (&Value::from("no-endpoints"), 1),
        "{value:#}"
    );
    assert_eq!(value["outcomes"][0]["error"], "icmp-port-unreachable");
}

/// The DNS pod asks its own Service.
fn hairpin() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    let (_, value) = run(&[
        "path",
        "--target",
        "/run/netns/dns1",
        "--format",
        "json",
        "10.96.0.10:53/udp",
    ]);
    assert_eq!(value["verdict"], "hairpin", "{value:#}");
    assert_eq!(value["outcomes"][0]["masqueraded"], true, "{value:#}");
}

/// The way back to the client would lead out through another link.
fn rp_filter() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[FAR]));
    for it in ["all", "cni0"] {
        std::fs::write(format!("/proc/sys/net/ipv4/conf/{it}/rp_filter"), "1").unwrap();
    }
    assert!(asks(5353));
    let to_service = [SERVICE, ":53/udp"].concat();
    assert_eq!(path(&[&to_service]).1["verdict"], "reaches");
    sh("ip route add 10.244.0.7/32 dev uplink");
    assert!(!asks(5354));
    let (status, value) = path(&[&to_service]);
    assert_eq!((&value["verdict"], status), (&Value::from("nothing"), 1));
    let steps = value["outcomes"][0]["steps"].as_array().unwrap();
    let rule = steps.last().unwrap()["rule"].as_str().unwrap();
    says(rule, &["rp_filter of cni0 is 1", "10.244.0.7"]);
}

/// Who is on the list of `xt_recent` stays at its endpoint.
fn affinity() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh(&format!(
        "iptables-legacy -t nat -I PREROUTING -d {SERVICE} -p udp --dport 53 -m recent \
        --rcheck --seconds 10800 --reap --name KEPT --rsource -j DNAT --to-destination {FAR}:53"
    ));
    let to_service = [SERVICE, ":53/udp"].concat();
    let (_, value) = path(&[&to_service]);
    assert_eq!(ends(&value), ["1 endpoint 10.244.0.2:53"], "{value:#}");
    sh("echo +10.244.0.7 > /proc/thread-self/net/xt_recent/KEPT");
    let (status, value) = path(&[&to_service]);
    assert_eq!((&value["verdict"], status), (&Value::from("unknown"), 2));
    let assumed = value["outcomes"][0]["depends_on"][0]["text"]
        .as_str()
        .unwrap();
    says(assumed, &["KEPT", "/proc/net/xt_recent"]);
}

/// A link whose other end is in a third network namespace: no rule of the node is
/// known to see its packets.
fn elsewhere() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh("ip netns add inner
        ip -n inner link add eth0 type veth peer name inner netns client
        ip -n inner addr add 10.9.0.2/24 dev eth0
        ip -n inner link set eth0 up
        ip -n client link set inner up
        ip -n inner route add default via 10.9.0.1");
    let asked = ["path", "--format", "json", "--target", "/run/netns/inner"];
    let (status, value) = run(&[&asked[..], &[SERVICE, "--save", "/run/saved"]].concat());
    assert_eq!(
        (status, &value["verdict"]),
        (2, &"unknown".into()),
        "{value:#}"
    );
    let (status, value) = run(&["path", "--format", "json", "--rules", "/run/saved", SERVICE]);
    assert_eq!(
        (status, &value["verdict"]),
        (2, &"unknown".into()),
        "{value:#}"
    );
}

/// What a pod asks of itself never comes to the node.
fn itself() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh("ip -n client link set lo up");
    for to in ["127.0.0.53", "[::1]:53", CLIENT] {
        let (status, value) = path(&[to]);
        assert_eq!(
            (status, &value["verdict"]),
            (1, &"nothing".into()),
            "{value:#}"
        );
        let rule = &value["outcomes"][0]["steps"][0]["rule"];
        assert!(
            rule.as_str().unwrap().starts_with("nobody listens"),
            "{value:#}"
        );
    }
    let socket = within("client", || UdpSocket::bind("127.0.0.53:53").unwrap());
    let (status, value) = path(&["127.0.0.53:53/udp"]);
    assert_eq!(
        (status, ends(&value)),
        (0, vec!["1 local 127.0.0.53:53".to_owned()])
    );
    drop(socket);
    sh("iptables-legacy-save > /run/rules");
    let asked = [
        "path",
        "--format",
        "json",
        "--rules",
        "/run/rules",
        "--source",
        CLIENT,
    ];
    let (status, value) = run(&[&asked[..], &["127.0.0.53"]].concat());
    assert_eq!(
        (status, &value["verdict"]),
        (2, &"unknown".into()),
        "{value:#}"
    );
}
