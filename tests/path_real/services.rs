//! Other commands that meet a Service say where it leads.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::Scene;
use crate::healthy::ends;
use crate::lab::{
    CLIENT, FAR, KDNS, Lab, NEAR, SERVICE, kube_proxy, of_node, restore, run, sh, within,
};

pub(crate) const SCENES: &[Scene] = &[
    ("services::explain, no rules", explain_without_rules),
    ("services::explain, dropped", explain_dropped),
    ("services::explain, healthy", explain_healthy),
    ("services::explain, in a file", explain_in_file),
    ("services::snapshot", snapshot),
    ("services::watch", watch),
];

const LOOKUP: &str = "explain --live --budget 3 --resolver musl db.shop.";

/// What a lookup on the node prints, with a blank for each line end.
fn looked_up() -> String {
    let words = LOOKUP.split(' ');
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

fn explain_in_file() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("for ip in 10.244.0.2 10.244.1.4; do iptables-legacy -I OUTPUT -d $ip -j DROP; done");
    let directory = tempfile::tempdir().unwrap();
    let [json, text] = ["lookup.json", "lookup.txt"].map(|it| directory.path().join(it));
    let mut command = Command::new(KDNS);
    command.args(LOOKUP.split(' '));
    command.args(["--format", "json", "--output"]).arg(&json);
    command.args(["--format", "text", "--output"]).arg(&text);
    command.output().unwrap();

    let text = std::fs::read_to_string(text).unwrap();
    assert!(text.contains(TITLE), "{text}");
    let document: serde_json::Value =
        serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    let service = &document["services"][0];
    assert_eq!(service["verdict"], "nothing", "{document}");
    assert_eq!(service["address"], "10.96.0.10", "{document}");
    let ends = service["ends"].as_array().unwrap();
    assert!(ends.iter().all(|it| it["arrives"] == false), "{document}");
}

/// A snapshot holds the rules: commands on another machine answer as on the node.
fn snapshot() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("printf 'clusterDNS: [10.96.0.10]\n' > /run/kubelet.yaml");
    let kubelet = ["doctor", "--kubelet-config", "/run/kubelet.yaml"];
    let save = |words: &[&str]| {
        let output = Command::new(KDNS).args(kubelet).args(words).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    let said = save(&["--snapshot", "/run/node.tar.zst"]);
    assert!(said.contains("and what kdns path read"), "{said}");
    let said = save(&["--snapshot", "/run/hidden.tar.zst", "--anonymize"]);
    assert!(said.contains("no rules of the node"), "{said}");
    let (_, there) = of_node(&[SERVICE]);
    // The node is gone: its rules are nowhere but in the file.
    sh("iptables-legacy -t nat -F; iptables-legacy -t nat -X; iptables-legacy -F");

    let root = ["--root", "/run/node.tar.zst"];
    let (status, here) = run(&[&["path", "--format", "json", SERVICE][..], &root].concat());
    assert_eq!(
        (status, &here["verdict"]),
        (0, &there["verdict"]),
        "{here:#}"
    );
    assert_eq!(ends(&here), ends(&there), "{here:#}");
    let (_, pod) = run(&[&["path", "--format", "json", "--source", CLIENT][..], &root].concat());
    assert_eq!(ends(&pod), ends(&there), "{pod:#}");

    let doctor = [&kubelet[..], &["--format", "json"], &root].concat();
    let (_, document) = run(&doctor);
    let mut checks = document["checks"].as_array().unwrap().iter();
    let check = checks.find(|it| it["code"] == "path").unwrap();
    assert_eq!(check["state"], "ok", "{document:#}");
    let fact = check["fact"].as_str().unwrap();
    // Whether the far one is alive is not seen.
    assert!(fact.contains("goes to 2 endpoints"), "{document:#}");
}

/// What a watch finds wrong with a Service, it says where that leads.
fn watch() {
    let _lab = Lab::new();
    restore("legacy", &kube_proxy(&[NEAR[0], FAR]));
    sh("iptables-legacy -P FORWARD DROP");
    let watched = |words: &[&str]| {
        let mut command = Command::new(KDNS);
        command.args(["watch", "/run/netns/client", "--for", "9"]);
        command.args(words).stdout(Stdio::piped()).spawn().unwrap()
    };
    let watches = [
        watched(&[]),
        watched(&["--format", "json"]),
        watched(&["--format", "json", "--anonymize"]),
    ];
    sleep(Duration::from_secs(2));
    within("client", || {
        let output = Command::new(KDNS).args(LOOKUP.split(' ')).output();
        assert_ne!(output.unwrap().status.code(), Some(0));
    });
    let [text, json, hidden] = watches.map(|it| {
        let output = it.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    assert!(text.contains(TITLE), "{text}");
    assert!(text.contains("No packet to 10.96.0.10:53/udp"), "{text}");
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["services"][0]["verdict"], "nothing", "{json}");
    let hidden: serde_json::Value = serde_json::from_str(&hidden).unwrap();
    assert_eq!(
        hidden["services"].as_array().map(Vec::len),
        Some(0),
        "{hidden}"
    );
}
