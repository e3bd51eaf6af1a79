//! `kdns check-loop --probe` on nodes with real servers: what the files say,
//! what the probe sees and what is counted on the wire must agree.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::lab::recorder::Recorder;
use crate::lab::{self, Case, Lab, Outcome, kdns};
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

/// A node with a kubelet whose `resolvConf` names this file, and a Corefile.
pub(crate) fn kubelet_node(resolv_conf: &str) -> Outcome {
    let write = |path: &str, text: &str| {
        let folder = path.rsplit_once('/').map_or("/", |it| it.0);
        fs::create_dir_all(folder)?;
        fs::write(path, text)
    };
    write(
        "/var/lib/kubelet/config.yaml",
        &KUBELET.replace("FILE", resolv_conf),
    )
    .and_then(|()| write("/etc/coredns/Corefile", COREFILE))
    .map_err(|e| e.to_string())
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
    let (status, json) = kdns(&["check-loop", "--probe"])?;
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
