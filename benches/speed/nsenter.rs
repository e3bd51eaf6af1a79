//! Targets: `kdns nsenter PID dig` beside `nsenter -n` with dig, and how long
//! it takes to find a pod on a large node.

use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};

use crate::explain::KDNS;
use crate::figures::{Bound, Figures, median};
use crate::measure::{Cost, cost};
use crate::nodes::{Node, PODS};
use crate::server;

const ROUNDS: usize = 15;
/// Runs of each program in a round.
const RUNS: u32 = 20;

/// What kdns may take, as a part of what the two programs take.
const MOST_PROCESSOR: f64 = 0.4;
const MOST_DURATION: f64 = 1.0;

/// For a pod among others.
const MOST_MS: f64 = 12.0;

pub(crate) fn run(figures: &mut Figures) {
    pod(figures);
    match Target::start() {
        Some(target) => dig(figures, &target),
        None => figures.missing("unshare as root"),
    }
}

/// `NAMESPACE/POD` is found, its files are read and its question is explained.
fn pod(figures: &mut Figures) {
    let node = Node::with(PODS);
    let root = node.root.path().to_str().unwrap();
    let name = format!("default/web-{:05}", PODS - 3);
    let words = [KDNS, "explain", "db", "--target", &name, "--root", root];
    let rounds: Vec<Cost> = (0..ROUNDS).map(|_| cost(1, &words).unwrap()).collect();
    figures.check(
        &format!("explain --target NAMESPACE/POD on a node of {PODS} pods, ms of a processor"),
        median(rounds.iter().map(|it| it.seconds * 1e3).collect()),
        Bound::AtMost(MOST_MS),
        "no peer",
    );
}

fn dig(figures: &mut Figures, target: &Target) {
    let pid = target.child.id().to_string();
    let query = ["dig", "@127.0.0.1", "n1.test", "A"];
    let own = [&[KDNS, "nsenter", &pid], &query[..]].concat();
    let peer = [&["nsenter", "-t", &pid, "-n"], &query[..]].concat();
    if cost(1, &["dig", "-v"]).is_none() || cost(1, &["nsenter", "--version"]).is_none() {
        figures.missing("nsenter with dig");
        return;
    }
    let pairs: Vec<(Cost, Cost)> = (0..ROUNDS)
        .map(|_| (cost(RUNS, &own).unwrap(), cost(RUNS, &peer).unwrap()))
        .collect();
    let check = |figures: &mut Figures, what: &str, most, of: fn(&Cost) -> f64| {
        let ratios = pairs.iter().map(|(own, peer)| of(own) / of(peer));
        let peers = pairs.iter().map(|(_, peer)| of(peer) * 1e3);
        figures.check(
            &format!("nsenter PID dig, {what} / nsenter -n and dig"),
            median(ratios.collect()),
            Bound::AtMost(most),
            &format!("these take {:.2} ms", median(peers.collect())),
        );
    };
    check(figures, "processor time", MOST_PROCESSOR, |it| it.seconds);
    check(figures, "duration", MOST_DURATION, |it| it.duration);
}

/// A process in a network of its own, with a name server on its loopback.
struct Target {
    child: Child,
}

impl Target {
    /// `None`: that cannot be made here.
    fn start() -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", "ip link set lo up && exec sleep 1000"]);
        let silent = command.stdin(Stdio::null()).stderr(Stdio::null());
        let child = silent.stdout(Stdio::null()).spawn().ok()?;
        let target = Self { child };
        let comm = format!("/proc/{}/comm", target.child.id());
        let until = Instant::now() + Duration::from_secs(5);
        while std::fs::read_to_string(&comm).ok()? != "sleep\n" {
            if Instant::now() > until {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        target.serve()?;
        Some(target)
    }

    fn serve(&self) -> Option<()> {
        let namespace = std::fs::File::open(format!("/proc/{}/ns/net", self.child.id())).ok()?;
        let (sender, bound) = channel();
        // Only this thread moves; a socket stays where it was made.
        thread::spawn(move || {
            let moved = setns(namespace, CloneFlags::CLONE_NEWNET).ok();
            let socket = moved.and_then(|()| UdpSocket::bind("127.0.0.1:53").ok());
            let _ = sender.send(socket);
        });
        server::serve(bound.recv().ok()??, Duration::ZERO);
        Some(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
