//! `kdns check-loop --probe` on nodes with real servers: what the files say,
//! what the probe sees and what is counted on the wire must agree.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::lab::recorder::Recorder;
use crate::lab::servers::{Upstream, upstream};
use crate::lab::{self, Case, Lab, Outcome, kdns, make_pod};
use crate::probe::{CIRCLES, start_circle};

/// The cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for circle in CIRCLES.iter().filter(|it| !it.contains("tcp")) {
        for (word, argument) in [
            ("loop", (*circle).to_owned()),
            ("line", format!("{circle} -")),
        ] {
            cases.push(Case {
                name: format!("loops::{word}: {circle}"),
                needs: &["ip", "dnsmasq", "unbound", "named"],
                run: node_with_circle,
                argument,
            });
        }
    }
    for word in ["silent", "late", "NXDOMAIN"] {
        cases.push(Case {
            name: format!("loops::the servers outside are {word}"),
            needs: &["ip", "dnsmasq"],
            run: node_with_upstream,
            argument: word.to_owned(),
        });
    }
    for (word, upstream) in [("loops", "127.0.0.53"), ("does not loop", "10.244.0.1")] {
        cases.push(Case {
            name: format!("loops::a pod that {word}"),
            needs: &["ip", "nsenter", "dnsmasq", "unbound"],
            run: node_with_pod,
            argument: upstream.to_owned(),
        });
    }
    cases
}

const KUBELET: &str = "\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
resolvConf: FILE
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
";

const COREFILE: &str = "\
.:53 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa
    forward . /etc/resolv.conf
    loop
}
";

/// The Corefile of the cluster's DNS, which runs on another node.
const NAMED_COREFILE: &str = "/etc/coredns/Corefile";
const PROBE: [&str; 6] = [
    "check-loop",
    "--probe",
    "--root",
    "/",
    "--corefile",
    NAMED_COREFILE,
];

/// A node with a kubelet whose `resolvConf` names this file, and a Corefile.
pub(crate) fn kubelet_node(resolv_conf: &str) -> Outcome {
    write(
        "/var/lib/kubelet/config.yaml",
        &KUBELET.replace("FILE", resolv_conf),
    )
    .and_then(|()| write(NAMED_COREFILE, COREFILE))
    .map_err(|e| e.to_string())
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &str, text: &str) -> std::io::Result<()> {
    let folder = path.rsplit_once('/').map_or("/", |it| it.0);
    fs::create_dir_all(folder)?;
    fs::write(path, text)
}

/// A string in the document.
pub(crate) fn text<'v>(json: &'v Value, key: &str) -> &'v str {
    json.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Sights of the servers that the probe asked, by address.
pub(crate) fn sights(json: &Value) -> Vec<(String, String)> {
    let servers = json.pointer("/probe/servers").and_then(Value::as_array);
    let sight = |it: &Value| (text(it, "server").to_owned(), text(it, "sight").to_owned());
    servers.into_iter().flatten().map(sight).collect()
}

/// Runs `check-loop --probe`, and compares what it saw with what was counted:
/// at a server that loops more than one socket asks for a random name.
pub(crate) fn check_loop() -> Result<(i32, Value), String> {
    let recorder = Recorder::default();
    recorder.watch(None)?;
    let (status, json) = kdns(&PROBE)?;
    thread::sleep(Duration::from_millis(100));
    let arrivals = recorder.arrivals();
    for (server, sight) in sights(&json) {
        let asked: Vec<_> = arrivals
            .iter()
            .filter(|it| it.to.to_string() == server && it.name.starts_with("kdns-"))
            .collect();
        // Each name was first sent by the prober to one server: where a name
        // arrives first, there it was asked.
        let own = asked.iter().filter(|it| {
            let first = arrivals.iter().find(|other| other.name == it.name);
            first.is_some_and(|first| first.to == it.to)
        });
        let mut sockets: Vec<_> = own.map(|it| (&it.name, it.from)).collect();
        sockets.sort_unstable();
        sockets.dedup();
        let came_back = sockets.windows(2).any(|it| it[0].0 == it[1].0);
        if came_back != (sight == "seen to loop") {
            return Err(format!("{server} {sight}, but {arrivals:#?} in {json:#}"));
        }
    }
    Ok((status, json))
}

fn node_with_circle(lab: &mut Lab, argument: &str) -> Outcome {
    kubelet_node("/etc/kubelet-resolv.conf")?;
    fs::write("/etc/kubelet-resolv.conf", "nameserver 192.0.2.53\n")
        .and_then(|()| fs::write("/etc/resolv.conf", "nameserver 127.0.1.1\n"))
        .map_err(|e| e.to_string())?;
    let targets = start_circle(lab, argument)?;
    let (status, json) = check_loop()?;
    let is_open = argument.ends_with(" -");
    let (word, verdict, expected) = if is_open {
        ("not seen", "no loop", 0)
    } else {
        ("seen to loop", "loop", 1)
    };
    let sights = sights(&json);
    let all = targets.iter().all(|target| {
        let wanted = (target.server.to_string(), word.to_owned());
        sights.contains(&wanted)
    });
    let ends = json.pointer("/chains").and_then(Value::as_array);
    let has_cycle = ends.is_some_and(|it| it.iter().any(|it| text(it, "end") == "cycle"));
    if all && text(&json, "verdict") == verdict && status == expected && has_cycle != is_open {
        return Ok(());
    }
    Err(format!("status {status}: {json:#}\n{}", lab::logs()))
}

/// Only the time that a server takes differs, and whether it answers.
fn node_with_upstream(lab: &mut Lab, word: &str) -> Outcome {
    let (how, sight) = match word {
        "silent" => (Upstream::Silent, "unknown"),
        "late" => (Upstream::Late(Duration::from_secs(3)), "not seen"),
        _ => (Upstream::NoSuchName, "not seen"),
    };
    make_pod("outside", "192.0.2.53")?;
    upstream(Some("outside"), "192.0.2.53", how)?;
    kubelet_node("/etc/kubelet-resolv.conf")?;
    write("/etc/kubelet-resolv.conf", "nameserver 10.244.0.1\n").map_err(|e| e.to_string())?;
    lab.server("dnsmasq", None, "10.244.0.1", &["192.0.2.53"])?;
    let (status, json) = check_loop()?;
    let seen = ("10.244.0.1:53".to_owned(), sight.to_owned());
    if text(&json, "verdict") != "no loop" || status != 0 || !sights(&json).contains(&seen) {
        return Err(format!("status {status}: {json:#}\n{}", lab::logs()));
    }
    let begun = Instant::now();
    let line = lab::kdns_text(&[&PROBE[..], &["--format", "npd"]].concat())?;
    if line != "no loop: DNS of this node leads outside\n" {
        return Err(line);
    }
    if begun.elapsed() > Duration::from_secs(2) {
        return Err(format!("took {:?}", begun.elapsed()));
    }
    Ok(())
}

const SANDBOX: &str = "4f71379662600f31dc0aae023a07190bf1ff1da93e5248897736d14f703ff3d2";
const UID: &str = "54f38bab-043d-4069-8201-91e9ecb6b1e8";

/// A pod of the cluster's DNS as containerd has it, but for its program: there
/// is dnsmasq, with what the Corefile says.
fn node_with_pod(lab: &mut Lab, upstream_of_pod: &str) -> Outcome {
    make_pod("outside", "192.0.2.53")?;
    upstream(Some("outside"), "192.0.2.53", Upstream::NoSuchName)?;
    make_pod("cni-1", "10.244.0.5")?;
    let file = format!("nameserver {upstream_of_pod}\n");
    let bundle = json!({
        "ociVersion": "1.0.2",
        "annotations": {
            "io.kubernetes.cri.container-type": "sandbox",
            "io.kubernetes.cri.sandbox-id": SANDBOX,
            "io.kubernetes.cri.sandbox-name": "coredns-1",
            "io.kubernetes.cri.sandbox-namespace": "kube-system",
            "io.kubernetes.cri.sandbox-uid": UID,
        },
        "linux": {"namespaces": [{"type": "network", "path": "/var/run/netns/cni-1"}]},
    });
    let task = format!("/run/containerd/io.containerd.runtime.v2.task/k8s.io/{SANDBOX}");
    let sandbox = format!("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/{SANDBOX}");
    let volume = format!("/var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~configmap");
    kubelet_node("/etc/kubelet-resolv.conf")?;
    write("/etc/kubelet-resolv.conf", &file)
        .and_then(|()| fs::remove_dir_all("/etc/coredns"))
        .and_then(|()| write(&format!("{task}/config.json"), &bundle.to_string()))
        .and_then(|()| write(&format!("{sandbox}/resolv.conf"), &file))
        .and_then(|()| write(&format!("{volume}/config-volume/Corefile"), COREFILE))
        .map_err(|e| e.to_string())?;
    lab.server("dnsmasq", Some("cni-1"), "0.0.0.0", &[upstream_of_pod])?;
    lab.server("unbound", None, "10.244.0.1", &["192.0.2.53"])?;
    let (status, json) = kdns(&["check-loop", "--probe"])?;
    let is_loop = upstream_of_pod.starts_with("127.");
    let (verdict, sight) = if is_loop {
        ("loop", "seen to loop")
    } else {
        ("no loop", "not seen")
    };
    let seen = ("127.0.0.1:53".to_owned(), sight.to_owned());
    let is_right = text(&json, "verdict") == verdict && sights(&json).contains(&seen);
    if is_right && status == i32::from(is_loop) {
        return Ok(());
    }
    Err(format!("status {status}: {json:#}\n{}", lab::logs()))
}
