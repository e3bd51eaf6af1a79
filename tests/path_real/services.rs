//! Other commands that meet a Service say where it leads.

use std::process::Command;

use crate::Scene;
use crate::lab::{FAR, KDNS, Lab, NEAR, kube_proxy, restore, sh};

pub(crate) const SCENES: &[Scene] = &[
    ("services::explain, no rules", explain_without_rules),
    ("services::explain, dropped", explain_dropped),
    ("services::explain, healthy", explain_healthy),
];

/// What a lookup on the node prints, with a blank for each line end.
fn looked_up() -> String {
    let words = [
        "explain",
        "--live",
        "--budget",
        "3",
        "--resolver",
        "musl",
        "db.shop.",
    ];
    let output = Command::new(KDNS).args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const TITLE: &str = "Where the Service leads";

fn explain_without_rules() {
    let _lab = Lab::new();
    restore(
        "legacy",
        &kube_proxy(&[]).replace("10.96.0.10", "10.96.0.99"),
    );
    let text = looked_up();
    assert!(text.contains(TITLE), "{text}");
    assert!(
        text.contains("No rule is about 10.96.0.10:53/udp"),
        "{text}"
    );
}

fn explain_dropped() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("for ip in 10.244.0.2 10.244.1.4; do iptables-legacy -I OUTPUT -d $ip -j DROP; done");
    let text = looked_up();
    assert!(text.contains(TITLE), "{text}");
    assert!(text.contains("No packet to 10.96.0.10:53/udp"), "{text}");
    assert!(text.contains("dropped by filter OUTPUT"), "{text}");
}

fn explain_healthy() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0]]));
    let text = looked_up();
    assert!(text.contains("10.96.0.10"), "{text}");
    assert!(!text.contains(TITLE), "{text}");
}
