//! `--probe`: who answers, for real.

use serde_json::Value;

use crate::Scene;
use crate::lab::{CLIENT, FAR, Lab, NEAR, SERVICE, kube_proxy, path, restore, sh};

pub(crate) const SCENES: &[Scene] = &[
    ("probes::all answer", all_answer),
    ("probes::long replies are lost", long_replies),
    ("probes::a reply from elsewhere", elsewhere),
    ("probes::an endpoint is dead", dead_endpoint),
    ("probes::its upstream is dead", dead_upstream),
    ("probes::a bounded number of packets", bounded),
];

fn rows<'v>(value: &'v Value, to: &str) -> Vec<&'v Value> {
    let rows = value["probe"]["rows"].as_array().unwrap();
    rows.iter().filter(|it| it["to"] == to).collect()
}

fn troubles(value: &Value) -> Vec<(String, Vec<String>)> {
    let troubles = value["probe"]["troubles"].as_array().unwrap();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let by = |it: &Value| {
        it["explained_by"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect()
    };
    troubles
        .iter()
        .map(|it| (text(&it["code"]), by(it)))
        .collect()
}

fn all_answer() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    let (status, value) = path(&["--probe"]);
    assert_eq!(troubles(&value), [], "{value:#}");
    assert_eq!(status, 0);
    for to in [SERVICE, NEAR[0], FAR] {
        let rows = rows(&value, &format!("{to}:53"));
        let kinds: Vec<String> = rows
            .iter()
            .map(|it| format!("{} {}", it["protocol"], it["up_to"]))
            .collect();
        let expected = [
            "\"udp\" null",
            "\"udp\" null",
            "\"udp\" 512",
            "\"udp\" 1400",
            "\"udp\" 4096",
            "\"tcp\" null",
            "\"tcp\" null",
            "\"tcp\" 4096",
        ];
        assert_eq!(kinds, expected, "{value:#}");
        for row in rows {
            assert_eq!(row["sent"], row["answered"], "{row:#}");
            assert!(row["sent"].as_u64() >= Some(3), "{row:#}");
        }
    }
    let service = rows(&value, &format!("{SERVICE}:53"));
    assert_eq!(service[0]["sent"], 30, "{value:#}");
    assert_eq!(service[4]["bytes"], 4096, "{value:#}");
}

/// What the other node sends does not fit the link to this one.
fn long_replies() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[FAR]));
    sh("ip link set uplink mtu 1300");
    let (status, value) = path(&["--probe"]);
    let found = troubles(&value);
    assert!(
        found.contains(&("probe-long-lost".to_owned(), vec!["mtu-narrows".to_owned()])),
        "{value:#}"
    );
    assert_eq!(status, 1);
}

fn elsewhere() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh("echo 0 > /proc/sys/net/bridge/bridge-nf-call-iptables");
    let (_, value) = path(&["--probe", &format!("{SERVICE}:53/udp")]);
    let found = troubles(&value);
    let by = vec!["bridge-bypasses-rules".to_owned()];
    assert!(
        found.contains(&("probe-other-address".to_owned(), by)),
        "{value:#}"
    );
}

fn dead_endpoint() {
    let _lab = Lab::new();
    Lab::pod("gone", "10.244.0.9");
    restore("legacy", &kube_proxy(&[NEAR[0], "10.244.0.9"]));
    let (status, value) = path(&["--probe", &format!("{SERVICE}:53/udp")]);
    let codes: Vec<String> = troubles(&value).into_iter().map(|it| it.0).collect();
    assert_eq!(codes, ["probe-endpoint-loses"], "{value:#}");
    assert_eq!(status, 1);
    let dead = rows(&value, "10.244.0.9:53");
    assert_eq!(dead[0]["others"][0][0], "connection refused", "{value:#}");
}

/// A server that forwards what it is asked, its version, too, has no answer to
/// any query, and answers STATUS at once: packets pass.
fn dead_upstream() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    sh("ip netns exec dns1 nft -f - <<E
table ip upstream {
  chain in {
    type filter hook input priority 0;
    udp dport 53 @th,81,4 0 drop
  }
}
E");
    let (status, value) = path(&["--probe", &format!("{SERVICE}:53/udp")]);
    let codes: Vec<String> = troubles(&value).into_iter().map(|it| it.0).collect();
    assert_eq!(codes, ["probe-not-passed-on"], "{value:#}");
    assert_eq!(status, 1);
}

/// What the client sends is counted by its own kernel: no more than allowed, to
/// nobody but the addresses of the tree.
fn bounded() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh(&format!(
        "ip netns exec client nft -f - <<E
table ip count {{
  chain out {{
    type filter hook output priority 0;
    ip saddr {CLIENT} ip daddr {{ {SERVICE}, {0}, {FAR} }} counter
    ip saddr {CLIENT} ip daddr != {{ {SERVICE}, {0}, {FAR} }} counter
  }}
}}
E",
        NEAR[0]
    ));
    let counted = || {
        let output = std::process::Command::new("ip")
            .args(["netns", "exec", "client", "nft", "-j", "list", "ruleset"])
            .output()
            .unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rules = value["nftables"].as_array().unwrap().iter();
        let exprs = rules.filter_map(|it| it["rule"]["expr"].as_array());
        let counters = exprs
            .flatten()
            .filter_map(|it| it["counter"]["packets"].as_u64());
        counters.collect::<Vec<u64>>()
    };
    assert_eq!(counted(), [0, 0]);
    for most in [40, 500] {
        let before = counted()[0];
        let (_, value) = path(&["--probe", "--max-packets", &most.to_string()]);
        let sent = counted()[0] - before;
        assert!(
            sent > 0 && sent <= most,
            "{sent} packets of {most}: {value:#}"
        );
        assert_eq!(counted()[1], 0);
        assert_eq!(value["probe"]["is_cut"], most == 40, "{value:#}");
    }
}
