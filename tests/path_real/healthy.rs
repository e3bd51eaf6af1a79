//! Set-ups without a fault: nothing is found.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value;

use crate::Scene;
use crate::lab::{
    FAR, KDNS, Lab, NEAR, SERVICE, codes, feed, kube_proxy, kube_proxy_nftables, path, restore,
};

pub(crate) const SCENES: &[Scene] = &[
    ("healthy::legacy", legacy),
    ("healthy::nft", nft),
    ("healthy::nftables mode", nftables_mode),
    ("healthy::node", node),
    ("healthy::pod", pod),
];

/// Where the packets end, with their shares: `1/3 10.244.0.2:53`.
pub(crate) fn ends(value: &Value) -> Vec<String> {
    let outcomes = value["outcomes"].as_array().unwrap();
    let mut ends: Vec<String> = outcomes
        .iter()
        .map(|it| {
            let mut end = String::new();
            write!(
                end,
                "{} {} {}:{}",
                it["share"].as_str().unwrap(),
                it["kind"].as_str().unwrap(),
                it["address"].as_str().unwrap(),
                it["port"]
            )
            .unwrap();
            end
        })
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn expect_healthy(arguments: &[&str]) {
    let (status, value) = path(arguments);
    let expected = [
        format!("1/3 endpoint {}:53", NEAR[0]),
        format!("1/3 endpoint {}:53", NEAR[1]),
        format!("1/3 endpoint {FAR}:53"),
    ];
    assert_eq!(value["verdict"], "reaches", "{value:#}");
    assert_eq!(ends(&value), expected, "{value:#}");
    assert_eq!(codes(&value), Vec::<String>::new(), "{value:#}");
    assert_eq!(status, 0);
}

fn legacy() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], NEAR[1], FAR]));
    expect_healthy(&[]);
    expect_healthy(&[SERVICE]);
    expect_healthy(&[&format!("{SERVICE}:53/tcp")]);
}

fn nft() {
    let _lab = Lab::new();
    restore("nft", &kube_proxy(&[NEAR[0], NEAR[1], FAR]));
    expect_healthy(&[]);
}

fn nftables_mode() {
    let _lab = Lab::new();
    feed(
        &["nft", "-f", "-"],
        &kube_proxy_nftables(&[NEAR[0], NEAR[1], FAR]),
    );
    expect_healthy(&[]);
}

/// From the node itself, which has no resolv.conf with the Service.
fn node() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    let (status, value) = crate::lab::of_node(&[&format!("{SERVICE}:53/udp")]);
    let expected = [
        format!("1/2 endpoint {}:53", NEAR[0]),
        format!("1/2 endpoint {FAR}:53"),
    ];
    assert_eq!(ends(&value), expected, "{value:#}");
    assert_eq!((status, codes(&value)), (0, Vec::new()), "{value:#}");
}

/// The rules of Services are on the node, and none of them in a pod.
fn pod() {
    let _lab = Lab::new();
    let mut command = Command::new(KDNS);
    command.args(["path", SERVICE, "--format", "json"]);
    let ended = command.env("KUBERNETES_SERVICE_HOST", SERVICE).output();
    let ended = ended.unwrap();
    let value: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(value["verdict"], "unknown", "{value:#}");
    assert_eq!(ended.status.code(), Some(2));
}
