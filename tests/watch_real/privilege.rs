//! What a watch that is running may do, and what it sees of whom.

use std::fs;
use std::net::{TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kdns::packet::Reader;
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::KDNS;
use crate::live::{IP, Watching, server, summary, watch};
use crate::network::{Pair, answer, ask};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "privilege::nothing_is_sent",
            &["ip", "unshare", "nsenter", "strace"],
            nothing_is_sent,
        ),
        trial("privilege::none_is_kept", IP, none_is_kept),
        trial("privilege::whose_socket_it_is", IP, whose_socket_it_is),
        trial("privilege::encrypted_is_counted", IP, encrypted_is_counted),
    ]
}

/// No packet leaves, whatever the socket; to the kernel only questions go.
fn nothing_is_sent() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-yy", "-e", "trace=%network,write,writev,setns", "-o"]);
    command.arg(&trace).arg(KDNS);
    command.args([
        "watch",
        &pair.client.pid(),
        "--for",
        "2s",
        "--format",
        "json",
    ]);
    let serving = pair.serve(answer);
    let asking = pair.client.within(|| {
        thread::sleep(Duration::from_millis(1200));
        ask(server(), 10)
    });
    let output = command.output().unwrap();
    asking.join().unwrap();
    drop(serving);
    assert_eq!(summary(&output)["queries"], 10);
    let trace = fs::read_to_string(trace).unwrap();
    assert!(trace.contains("AF_PACKET"), "{trace}");
    let is_sent = |it: &&str| {
        let sends = ["send", "write(", "writev("]
            .iter()
            .any(|call| it.contains(call));
        let is_socket = it.contains("<PACKET:") || it.contains("<UDP") || it.contains("<TCP");
        // A socket of UDP that is connected tells where packets would go, and sends none.
        let connects = it.contains("connect(") && !it.contains("<UDP");
        let binds = it.contains("bind(") && !it.contains("NETLINK") && !it.contains("<UDP");
        sends && is_socket || connects || binds
    };
    let sent: Vec<&str> = trace.lines().filter(is_sent).collect();
    assert!(sent.is_empty(), "{sent:#?}");
}

fn none_is_kept() {
    let pair = Pair::new();
    let watching = Watching::start(&mut watch(&pair));
    assert!(watching.has_no_privilege());
    // It is still in the network that it was started in.
    let of = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert_eq!(of(&watching.0.id().to_string()), of("self"));
    watching.stop();
    let output = Command::new("setpriv")
        .args(["--bounding-set=-net_raw", "--inh-caps=-net_raw", "--", KDNS])
        .args(["watch", &pair.client.pid()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("needs CAP_NET_RAW"), "{said}");
}

/// A program whose socket is open while it waits is named; who looks gives up what it
/// does not need, and ends with the watch.
fn whose_socket_it_is() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    let mut command = Command::new(KDNS);
    command.args(["watch", &pair.client.pid(), "--format", "jsonl", "--write"]);
    command.arg(&path);
    let watching = Watching::start(&mut command);
    let own = watching.0.id();
    let looking = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap();
    // CAP_DAC_READ_SEARCH (2) and CAP_SYS_PTRACE (19).
    let until = Instant::now() + Duration::from_secs(20);
    let has_little = || {
        let status = fs::read_to_string(format!("/proc/{}/status", looking.trim())).unwrap();
        status.contains("CapPrm:\t0000000000080004\nCapEff:\t0000000000080004\n")
    };
    while !has_little() {
        assert!(Instant::now() < until, "it keeps more");
        thread::sleep(Duration::from_millis(10));
    }
    let silent = pair.serve(|_| None);
    let mut asking = pair.client.command(KDNS);
    asking.args(["dig", "+tries=1", "+time=1", "@10.77.0.2", "web.example"]);
    let mut child = asking.stdout(Stdio::null()).spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    drop(silent);
    watching.signal(Signal::SIGINT);
    let output = watching.0.wait_with_output().unwrap();
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["name"], "web.example", "{line:#}");
    assert_eq!(line["process"]["pid"], pid, "{line:#}");
    assert_eq!(line["process"]["comm"], "kdns", "{line:#}");
    assert!(!Path::new(&format!("/proc/{}", looking.trim())).exists());
    // Whoever reads the capture is told, too.
    let mut reading = Command::new(KDNS);
    reading.args(["watch", "--format", "jsonl", "--exit-zero", "--read"]);
    let output = reading.arg(&path).output().unwrap();
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(read["process"], line["process"], "{read:#}");
}

/// DNS over TLS, and over HTTPS to a server that has nothing else there; other HTTPS is
/// not even let through.
fn encrypted_is_counted() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    for line in [
        "ip route add default via 10.77.0.2",
        "ip -6 address add fd77::1/64 dev kdns-c nodad",
        "ip -6 route add default via fd77::2",
    ] {
        pair.client.run(line);
    }
    pair.server.run("ip address add 8.8.8.8/32 dev lo");
    pair.server
        .run("ip -6 address add fd77::2/64 dev kdns-s nodad");
    pair.server
        .run("ip -6 address add 2620:fe::fe/128 dev lo nodad");
    let watching = Watching::start(watch(&pair).arg("--write").arg(&path));
    let serving = pair.serve(answer);
    let asking = pair.client.within(|| {
        ask(server(), 1);
        for address in [
            "10.77.0.2:853",
            "8.8.8.8:443",
            "[2620:fe::fe]:443",
            // These are not, or nobody can tell.
            "10.77.0.2:443",
            "[fd77::2]:443",
            "8.8.8.8:80",
        ] {
            // Nobody listens: what counts is that it was tried.
            let _ = TcpStream::connect(address);
        }
        // Of UDP there is nothing that is known to be DNS over HTTPS.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.send_to(&[2; 40], "8.8.8.8:443").unwrap();
    });
    asking.join().unwrap();
    let summary = watching.stop();
    drop(serving);
    assert_eq!(summary["queries"], 1);
    assert_eq!(summary["counted"]["encrypted"], 3, "{summary:#}");
    let mut reader = Reader::open(fs::File::open(&path).unwrap()).unwrap();
    let mut kept = 0;
    while reader.next_frame().unwrap().is_some() {
        kept += 1;
    }
    // A query and its answer; a segment to port 853 and its reset; two connections.
    assert!((6..=7).contains(&kept), "{kept}");
}
