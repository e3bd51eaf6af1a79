//! Captures: `kdns watch --read` beside tshark and tcpdump, and live packets.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::UdpSocket;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use etherparse::PacketBuilder;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::explain::KDNS;
use crate::figures::{Bound, Figures, median};
use crate::measure::{Cost, cost};

/// Packets of the large capture: half of them queries.
const PACKETS: u32 = 5_000_000;
/// As many of them are read by tshark, which takes a thousand times as long.
const FEW: u32 = 100_000;
const ROUNDS: usize = 3;

pub(crate) fn run(figures: &mut Figures) {
    reading(figures);
    flows(figures);
    live(figures);
}

/// Lookups of the search list of a pod, A and AAAA together.
fn reading(figures: &mut Figures) {
    let folder = TempDir::new().unwrap();
    let [large, few, tenth] =
        [("large", PACKETS), ("few", FEW), ("tenth", PACKETS / 10)].map(|(name, packets)| {
            let path = folder.path().join(name).to_str().unwrap().to_owned();
            write(Path::new(&path), packets);
            path
        });
    let own = |path: &str| cost(1, &[KDNS, "watch", "--read", path, "--exit-zero"]).unwrap();
    let rounds: Vec<Cost> = (0..ROUNDS).map(|_| own(&large)).collect();
    let seconds = median(rounds.iter().map(|it| it.seconds).collect());
    let rate = f64::from(PACKETS) / seconds;
    let floor = cost(1, &["tcpdump", "-r", &large, "-w", "/dev/null"]);
    let floor = floor.map_or_else(
        || "tcpdump is not here".to_owned(),
        |it| {
            format!(
                "tcpdump -w /dev/null copies {:.0}",
                f64::from(PACKETS) / it.seconds
            )
        },
    );
    figures.check(
        "watch --read, packets a second",
        rate,
        Bound::AtLeast(1e6),
        &floor,
    );
    let kib = rounds.iter().map(|it| it.peak_kib).max().unwrap();
    let most = own(&tenth);
    let beside = format!("{} KiB for a tenth of the packets", most.peak_kib);
    let mib = f64::from(kib) / 1024.0;
    figures.check(
        "watch --read, peak memory in MiB",
        mib,
        Bound::AtMost(64.0),
        &beside,
    );
    figures.check(
        "watch --read, time with 5,000,000 packets / with 500,000",
        seconds / median((0..ROUNDS).map(|_| own(&tenth).seconds).collect()),
        Bound::AtMost(11.5),
        "no peer",
    );
    let fields = ["-e", "frame.number", "-e", "dns.id", "-e", "dns.qry.name"];
    let words = ["tshark", "-n", "-r", &few, "-Y", "dns", "-T", "fields"];
    match cost(1, &[&words[..], &fields[..]].concat()) {
        Some(peer) => {
            let peer = f64::from(FEW) / peer.seconds;
            figures.check(
                "watch --read, packets a second / tshark -Y dns -T fields",
                rate / peer,
                Bound::AtLeast(25.0),
                &format!("tshark reads {peer:.0} a second"),
            );
        }
        None => figures.missing("tshark"),
    }
}

/// Ten million flows, of which none is seen again.
fn flows(figures: &mut Figures) {
    const FLOWS: u32 = 10_000_000;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("flows");
    let mut capture = Capture::new(&path);
    for flow in 0..FLOWS {
        let [a, b, c, d] = flow.to_be_bytes();
        let asked = message(
            u16::from_be_bytes([c, d]),
            &format!("n{flow}.example"),
            1,
            false,
        );
        let port = 1024 + u16::from_be_bytes([b, c]) / 2;
        capture.packet(u64::from(flow) * 50, [10 + a, b, c, d], port, false, &asked);
    }
    drop(capture);
    let words = [
        KDNS,
        "watch",
        "--read",
        path.to_str().unwrap(),
        "--exit-zero",
    ];
    let cost = cost(1, &words).unwrap();
    figures.check(
        "watch --read of 10,000,000 flows, peak memory in MiB",
        f64::from(cost.peak_kib) / 1024.0,
        Bound::AtMost(64.0),
        &format!("{:.0} packets a second", f64::from(FLOWS) / cost.seconds),
    );
}

/// A pcap file.
struct Capture(BufWriter<File>);

impl Capture {
    fn new(path: &Path) -> Self {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
        let header = [0xa1b2_c3d4u32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]];
        out.write_all(&header.concat()).unwrap();
        out.write_all(&[262_144u32.to_le_bytes(), 1u32.to_le_bytes()].concat())
            .unwrap();
        Self(out)
    }

    /// A datagram between a client and the server, so many microseconds after the
    /// beginning.
    fn packet(&mut self, at: u64, client: [u8; 4], port: u16, is_reply: bool, message: &[u8]) {
        let server = [10, 96, 0, 10];
        let mut packet = Vec::with_capacity(256);
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6]);
        let builder = if is_reply {
            builder.ipv4(server, client, 64).udp(53, port)
        } else {
            builder.ipv4(client, server, 64).udp(port, 53)
        };
        builder.write(&mut packet, message).unwrap();
        let length = u32::try_from(packet.len()).unwrap();
        let seconds = u32::try_from(at / 1_000_000).unwrap();
        let rest = u32::try_from(at % 1_000_000).unwrap();
        for word in [seconds, rest, length, length] {
            self.0.write_all(&word.to_le_bytes()).unwrap();
        }
        self.0.write_all(&packet).unwrap();
    }
}

/// A query or its answer: an address, or that there is no such name.
fn message(id: u16, name: &str, record_type: u8, is_reply: bool) -> Vec<u8> {
    let is_found = is_reply && name.ends_with("default.svc.cluster.local");
    let mut message = id.to_be_bytes().to_vec();
    message.extend(match (is_reply, is_found) {
        (false, _) => [1, 0],
        (true, true) => [0x81, 0x80],
        (true, false) => [0x81, 0x83],
    });
    let answers = u8::from(is_found && record_type == 1);
    message.extend([0, 1, 0, answers, 0, 0, 0, 0]);
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label.as_bytes());
    }
    message.extend([0, 0, record_type, 0, 1]);
    if answers > 0 {
        message.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x1e\0\x04\x0a\x60\x01\x02");
    }
    message
}

/// A capture of so many packets, about 200 bytes each with its header: names of
/// services, found at the first candidate or at the second.
fn write(path: &Path, packets: u32) {
    let mut capture = Capture::new(path);
    for pair in 0..packets / 4 {
        let [_, _, c, d] = (pair / 2).to_be_bytes();
        let client = [10, 244, c % 16, d];
        let port = 32_768 + u16::try_from(pair % 28_000).unwrap();
        let service = pair / 2 % 500;
        let suffix = ["shop.svc.cluster.local", "default.svc.cluster.local"];
        let suffix = suffix.get(usize::from(pair % 2 == 1)).unwrap();
        let name = format!("a-service-with-a-rather-long-name-{service:03}.{suffix}");
        let id = u16::try_from(pair & 0xffff).unwrap();
        let at = u64::from(pair) * 40;
        for (number, record_type) in [(0, 1), (1, 28)] {
            let id = id.wrapping_add(number * 7);
            let asked = message(id, &name, record_type, false);
            capture.packet(at + u64::from(number), client, port, false, &asked);
        }
        for (number, record_type) in [(0, 1), (1, 28)] {
            let id = id.wrapping_add(number * 7);
            let reply = message(id, &name, record_type, true);
            capture.packet(at + 20 + u64::from(number), client, port, true, &reply);
        }
    }
}

/// Packets a second that are sent through a link.
const RATE: u32 = 100_000;
const SECONDS: u32 = 3;

/// One thread sends, kdns watches: no packet is to be dropped, and one core is
/// enough.
#[expect(
    clippy::indexing_slicing,
    reason = "the numbers are within bounds by construction"
)]
fn live(figures: &mut Figures) {
    let Some(namespace) = Namespace::start() else {
        figures.missing("unshare as root");
        return;
    };
    let pid = namespace.0.id().to_string();
    let child = Command::new(KDNS)
        .args(["watch", &pid, "--format", "json", "--exit-zero"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(700));
    let file = File::open(format!("/proc/{pid}/ns/net")).unwrap();
    let sending = thread::spawn(move || {
        setns(file.as_fd(), CloneFlags::CLONE_NEWNET).unwrap();
        send()
    });
    let sent = sending.join().unwrap();
    thread::sleep(Duration::from_millis(300));
    let used = processor_seconds(&child);
    kill(
        Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let drops = summary["drops"].as_f64().unwrap();
    let seen = summary["queries"].as_f64().unwrap();
    let beside = format!("{sent} sent in {SECONDS} s, {seen} seen");
    figures.check(
        "watch, packets that the kernel dropped",
        drops,
        Bound::AtMost(0.0),
        &beside,
    );
    let share = used / f64::from(SECONDS);
    figures.check(
        "watch of 100,000 packets a second, cores",
        share,
        Bound::AtMost(1.0),
        "system time and all",
    );
}

/// Sends at an even rate; how many.
fn send() -> u32 {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("10.77.0.2:53").unwrap();
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < Duration::from_secs(u64::from(SECONDS)) {
        let due = begun.elapsed().as_secs_f64() * f64::from(RATE);
        while f64::from(sent) < due {
            let id = u16::try_from(sent & 0xffff).unwrap();
            let _ = socket.send(&message(id, &format!("n{}.example", sent % 1000), 1, false));
            sent += 1;
        }
        thread::sleep(Duration::from_micros(200));
    }
    sent
}

/// Processor time of a process so far.
#[expect(
    clippy::indexing_slicing,
    reason = "the numbers are within bounds by construction"
)]
fn processor_seconds(child: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let words: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    // utime and stime, in hundredths: proc_pid_stat(5).
    let ticks = |at: usize| words[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// A network with a link whose other end is in another one, which is silent.
struct Namespace(Child, Child);

impl Namespace {
    fn start() -> Option<Self> {
        let hold = || {
            let mut command = Command::new("unshare");
            command.args(["--net", "--kill-child", "--fork", "sleep", "60"]);
            command.stderr(Stdio::null()).spawn().ok()
        };
        let both = Self(hold()?, hold()?);
        thread::sleep(Duration::from_millis(500));
        let (one, other) = (both.0.id(), both.1.id());
        let commands = [
            (
                one,
                format!("ip link add c netns {one} type veth peer name s netns {other}"),
            ),
            (one, "ip address add 10.77.0.1/24 dev c".to_owned()),
            (one, "ip link set c up".to_owned()),
            (other, "ip link set s up".to_owned()),
            // Nobody answers for its address: it is told.
            (
                one,
                "ip neighbour add 10.77.0.2 lladdr 02:00:00:00:00:01 dev c".to_owned(),
            ),
        ];
        for (process, line) in commands {
            let mut command = Command::new("nsenter");
            command.args(["--net", "--target", &process.to_string(), "--"]);
            let status = command.args(line.split(' ')).status().ok()?;
            if !status.success() {
                return None;
            }
        }
        Some(both)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        for child in [&mut self.0, &mut self.1] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
