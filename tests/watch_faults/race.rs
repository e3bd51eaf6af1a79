//! A race in the connection table of a node: two threads send the halves of a pair
//! from one socket, to Services that share their endpoints.
//!
//! With two Service addresses the kernel can only drop the packet that comes
//! second, and `insert_failed` rises. With one address it resolves the clash:
//! `clash_resolve` rises, and nothing is lost.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::run::{KDNS, codes};
use crate::trial;

/// Hidden arguments: what runs on the node, and in its pod.
const NODE: &str = "kdns-race-node";
const POD: &str = "kdns-race-pod";

/// Races a run: where two processors are busy with other things few are lost.
const PAIRS: u16 = 6000;

/// So long races are run at most.
const AT_MOST: Duration = Duration::from_secs(40);

pub(crate) fn trials() -> Vec<Trial> {
    [
        ("race::two addresses", ["10.96.0.10", "10.96.0.11"]),
        ("race::one address", ["10.96.0.10", "10.96.0.10"]),
    ]
    .map(|(name, services)| trial(name, &[], move || race(services)))
    .into()
}

/// Runs a node in namespaces of its own, and judges the summary by its counters.
fn race(services: [&str; 2]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let output = Command::new("unshare")
        .args(["--net", "--pid", "--fork", "--kill-child", "--mount-proc"])
        .arg(std::env::current_exe()?)
        .args([NODE, services[0], services[1]])
        .current_dir(folder.path())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("the node ended with {}", output.status).into());
    }
    let summary: Value = serde_json::from_slice(&fs::read(folder.path().join("summary.json"))?)?;
    let lost = fs::read_to_string(folder.path().join("insert_failed"))?.parse::<u64>()?;
    let found = codes(&summary);
    let about = format!("{lost} lost: {found:?}: {}", summary["findings"]);
    // The first race that is lost ends it.
    if lost == 0 && summary["queries"].as_u64() < Some(1000) {
        return Err(format!("{} queries were seen", summary["queries"]).into());
    }
    // Whether the kernel drops any is up to its scheduler; it never does so where
    // both halves ask one address.
    let expected: &[&str] = if lost > 0 { &["conntrack-race"] } else { &[] };
    if found != expected || services[0] == services[1] && lost > 0 {
        return Err(about.into());
    }
    let is_seen = summary["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .all(|it| it["not"].as_str().is_some_and(|it| it.starts_with("seen")));
    if is_seen { Ok(()) } else { Err(about.into()) }
}

/// Two Services that share two endpoints, and a pod behind a veth pair.
const NETWORK: &str = "set -e
ip link set lo up
ip addr add 10.244.2.1/32 dev lo
ip addr add 10.244.2.2/32 dev lo
ip link add veth0 type veth peer name eth0 netns $POD
ip addr add 10.244.1.1/24 dev veth0
ip link set veth0 up
nsenter --net -t $POD ip link set lo up
nsenter --net -t $POD ip addr add 10.244.1.5/24 dev eth0
nsenter --net -t $POD ip link set eth0 up
nsenter --net -t $POD ip route add default via 10.244.1.1
nsenter --net -t $POD ping -c 1 -W 2 10.244.1.1 >/dev/null || true
nft -f - <<'END'
table ip services {
 chain c {
  type nat hook prerouting priority dstnat;
  ip daddr { 10.96.0.10, 10.96.0.11 } udp dport 53 dnat to numgen random mod 2 map { 0 : 10.244.2.1, 1 : 10.244.2.2 }
 }
}
END
";

/// Does what a hidden argument asks for.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, one, other] = words.as_slice() else {
        return None;
    };
    let services = [one, other].map(|it| format!("{it}:53"));
    match mode.as_str() {
        NODE => node(one, other),
        POD => pod(&services),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

fn node(one: &str, other: &str) {
    let mut pod = Command::new("unshare");
    pod.args(["--net", "cat"]).stdin(Stdio::piped());
    let mut pod = pod.stdout(Stdio::null()).spawn().unwrap();
    // It is there when its network is not this one any more.
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let of_pod = format!("/proc/{}/ns/net", pod.id());
    let end = Instant::now() + Duration::from_secs(10);
    while fs::read_link(&of_pod).is_ok_and(|it| it == own) && Instant::now() < end {
        thread::sleep(Duration::from_millis(10));
    }
    let mut network = Command::new("bash");
    network
        .args(["-c", NETWORK])
        .env("POD", pod.id().to_string());
    assert!(network.status().unwrap().success(), "no network");
    for backend in ["10.244.2.1:53", "10.244.2.2:53"] {
        let socket = UdpSocket::bind(backend).unwrap();
        thread::spawn(move || answer(&socket));
    }
    let watching = watch(&pod);
    let before = insert_failed();
    let begun = Instant::now();
    let id = pod.id().to_string();
    // The races are lost by whole runs, or by none.
    while insert_failed() == before && begun.elapsed() < AT_MOST {
        let mut inside = Command::new("nsenter");
        inside.args(["--net", "-t", &id]);
        inside.arg(std::env::current_exe().unwrap());
        assert!(inside.args([POD, one, other]).status().unwrap().success());
        if one == other {
            break;
        }
    }
    // Younger queries count as open.
    thread::sleep(Duration::from_millis(1300));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(watching.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let summary = watching.wait_with_output().unwrap().stdout;
    fs::write("summary.json", summary).unwrap();
    let lost = insert_failed() - before;
    fs::write("insert_failed", lost.to_string()).unwrap();
    drop(pod.stdin.take());
    pod.wait().unwrap();
}

/// `kdns watch` of the pod, when its socket is open.
fn watch(pod: &Child) -> Child {
    let mut command = Command::new(KDNS);
    command
        .args(["watch", &pod.id().to_string()])
        .args(["--format", "json", "--exit-zero"])
        .stdout(Stdio::piped());
    let watching = command.spawn().unwrap();
    // It gives up every privilege just before it begins.
    let status = format!("/proc/{}/status", watching.id());
    let end = Instant::now() + Duration::from_secs(20);
    let has_begun = || {
        let status = fs::read_to_string(&status).unwrap_or_default();
        status.contains("CapEff:\t0000000000000000")
    };
    while !has_begun() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    watching
}

/// Packets that this node's connection table has dropped in races.
fn insert_failed() -> u64 {
    let text = fs::read("/proc/1/net/stat/nf_conntrack").unwrap();
    let read = kdns::node::kernel::statistics("", &text);
    read.unwrap().counters.insert_failed
}

/// Says that there is no such name, whatever it is asked.
fn answer(socket: &UdpSocket) {
    let mut bytes = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut bytes) {
        bytes[2..4].copy_from_slice(&[0x81, 0x83]);
        let _ = socket.send_to(&bytes[..length], from);
    }
}

/// Pairs of A and AAAA, each from a new socket of which two threads send at once.
fn pod(services: &[String; 2]) {
    let services = services
        .each_ref()
        .map(|it| it.parse::<SocketAddr>().unwrap());
    for pair in 0..PAIRS {
        let socket = Arc::new(UdpSocket::bind("0.0.0.0:0").unwrap());
        socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let barrier = Arc::new(Barrier::new(2));
        let halves = [(1, services[0]), (28, services[1])].map(|(kind, service)| {
            let (socket, barrier) = (Arc::clone(&socket), Arc::clone(&barrier));
            thread::spawn(move || {
                let query = query(pair * 2 + u16::from(kind == 28), pair, kind);
                barrier.wait();
                socket.send_to(&query, service).unwrap();
            })
        });
        for half in halves {
            half.join().unwrap();
        }
        let mut bytes = [0; 512];
        for _ in 0..2 {
            if socket.recv(&mut bytes).is_err() {
                // A program that asks again has missed an answer.
                return;
            }
        }
    }
}

fn query(id: u16, pair: u16, kind: u8) -> Vec<u8> {
    let mut query = id.to_be_bytes().to_vec();
    query.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let label = format!("n{pair}");
    query.push(u8::try_from(label.len()).unwrap());
    query.extend(label.as_bytes());
    query.extend(b"\x07example\x03com\0\0");
    query.extend([kind, 0, 1]);
    query
}
