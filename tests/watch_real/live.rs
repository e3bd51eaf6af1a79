//! Packets as they come.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kdns::packet::{Assembler, Content, Options, Reader, Transport};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::KDNS;
use crate::network::{Pair, SERVER, answer, ask, query};
use crate::reading::read;
use crate::root::trial;

pub(crate) const IP: &[&str] = &["ip", "unshare", "nsenter"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "live::seen_kept_and_read_again",
            IP,
            seen_kept_and_read_again,
        ),
        trial(
            "live::connections_fragments_and_errors",
            IP,
            connections_fragments_and_errors,
        ),
        trial(
            "live::ctrl_c_gives_the_summary",
            IP,
            ctrl_c_gives_the_summary,
        ),
        trial("live::of_the_node", IP, of_the_node),
        trial("live::until_enough_broke", IP, until_enough_broke),
        trial("live::the_last_two_files", IP, the_last_two_files),
        trial("live::lookups_are_as_fast", IP, lookups_are_as_fast),
    ]
}

/// A watch that is running, and has begun.
pub(crate) struct Watching(pub(crate) Child);

impl Watching {
    pub(crate) fn start(command: &mut Command) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let watching = Self(command.spawn().unwrap());
        watching.wait_until_open();
        watching
    }

    /// The socket is open when its filter is, and that before privileges are gone.
    fn wait_until_open(&self) {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.has_no_privilege() {
            assert!(Instant::now() < until, "it never begins");
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn has_no_privilege(&self) -> bool {
        let status = format!("/proc/{}/status", self.0.id());
        let status = fs::read_to_string(status).unwrap_or_default();
        let sets = ["CapInh", "CapPrm", "CapEff"];
        let is_empty = |set: &&str| {
            let line = status.lines().find(|it| it.starts_with(*set));
            line.is_some_and(|it| it.ends_with("\t0000000000000000"))
        };
        sets.iter().all(is_empty)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        kill(pid, signal).unwrap();
    }

    /// The summary after Ctrl-C.
    pub(crate) fn stop(self) -> Value {
        // What was sent last is on its way.
        thread::sleep(Duration::from_millis(100));
        self.signal(Signal::SIGINT);
        summary(&self.0.wait_with_output().unwrap())
    }
}

pub(crate) fn summary(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    // The line that is written again and again is for terminals.
    assert!(!said.contains('\r'), "{said:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"))
}

pub(crate) fn watch(pair: &Pair) -> Command {
    let mut command = Command::new(KDNS);
    command.args(["watch", &pair.client.pid(), "--format", "json"]);
    command
}

pub(crate) fn server() -> SocketAddr {
    format!("{SERVER}:53").parse().unwrap()
}

/// Messages, connections opened, errors.
fn contents(path: &Path) -> (usize, usize, usize) {
    let mut found = (0, 0, 0);
    let mut reader = Reader::open(fs::File::open(path).unwrap()).unwrap();
    let mut assembler = Assembler::new(&Options::default());
    while let Some(frame) = reader.next_frame().unwrap() {
        assembler.push(&frame, &mut |seen| match seen.content {
            Content::Message => found.0 += 1,
            Content::Connect if matches!(seen.transport, Transport::Tcp(_)) => found.1 += 1,
            Content::Unreachable { .. } => found.2 += 1,
            _ => {}
        });
    }
    assert_eq!(assembler.counters().copies, 0);
    found
}

fn seen_kept_and_read_again() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    let watching = Watching::start(watch(&pair).arg("--write").arg(&path));
    let serving = pair.serve(answer);
    let answered = pair.client.within(|| ask(server(), 200)).join().unwrap();
    // The loopback interface shows each packet twice; it is one.
    let own = pair.client.within(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .send_to(&query(9, "loop.example"), "127.0.0.1:53")
            .unwrap()
    });
    own.join().unwrap();
    let live = watching.stop();
    drop(serving);
    assert_eq!(answered, 200);
    assert_eq!(
        (&live["queries"], &live["drops"]),
        (&201.into(), &0.into()),
        "{live:#}"
    );
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert_eq!(contents(&path), (401, 0, 1));
    // The file has all that is needed: another machine says the same.
    let read = summary(&read(&path));
    for key in [
        "resolver",
        "search",
        "lookups",
        "broken",
        "queries",
        "unanswered",
        "findings",
    ] {
        assert_eq!(read[key], live[key], "{key}");
    }
    let mut reader = Reader::open(fs::File::open(&path).unwrap()).unwrap();
    let carried = reader.take_comments().join("\n");
    let conf = fs::read_to_string("/etc/resolv.conf").unwrap();
    assert!(carried.contains(conf.trim()), "{carried}");
}

/// It ends by itself when so many lookups broke.
fn until_enough_broke() {
    let pair = Pair::new();
    let begun = Instant::now();
    let mut command = watch(&pair);
    let watching = Watching::start(command.args(["--until-broken", "2", "--for", "100s"]));
    let serving = pair.serve(|query| {
        let mut reply = query.to_vec();
        (reply[2], reply[3]) = (0x81, 0x82);
        Some(reply)
    });
    assert_eq!(pair.client.within(|| ask(server(), 3)).join().unwrap(), 3);
    let output = watching.0.wait_with_output().unwrap();
    drop(serving);
    assert!(begun.elapsed() < Duration::from_secs(90));
    assert_eq!(output.status.code(), Some(1));
    let summary = summary(&output);
    assert_eq!(summary["findings"][0]["code"], "server-fails");
    assert!(summary["broken"].as_u64() >= Some(2), "{summary:#}");
}

/// The node's network has programs of many files: none is kept, and reading says the same.
fn of_the_node() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    // Where the first process is its own, that one's network is the node's.
    let mut command = pair.client.command("unshare");
    command.args(["--pid", "--fork", "--mount-proc", KDNS, "watch", "--node"]);
    command.args(["--for", "4s", "--format", "json", "--write"]);
    command.arg(&path).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let serving = pair.serve(answer);
    while child.try_wait().unwrap().is_none() {
        pair.client.within(|| ask(server(), 5)).join().unwrap();
        thread::sleep(Duration::from_millis(300));
    }
    drop(serving);
    let live = summary(&child.wait_with_output().unwrap());
    assert_eq!(live["search"]["inferred"], true, "{live:#}");
    let read = summary(&read(&path));
    for key in ["resolver", "search", "lookups", "queries", "findings"] {
        assert_eq!(read[key], live[key], "{key}");
    }
    let mut reader = Reader::open(fs::File::open(&path).unwrap()).unwrap();
    let carried = reader.take_comments().join("\n");
    assert!(carried.contains("target, part 1"), "{carried}");
    assert!(!carried.contains("resolv.conf, part"), "{carried}");
}

fn connections_fragments_and_errors() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    let watching = Watching::start(watch(&pair).arg("--write").arg(&path));
    // 4000 bytes are three fragments on this link.
    let serving = pair.serve(|query| {
        let mut reply = answer(query)?;
        reply.resize(4000, 0);
        Some(reply)
    });
    let listening = pair.server.within(|| {
        let listener = TcpListener::bind(server()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let asked = query(7, "tcp.example");
        let mut length_and_query = vec![0; 2 + asked.len()];
        stream.read_exact(&mut length_and_query).unwrap();
        let reply = answer(&query(7, "tcp.example")).unwrap();
        let length = u16::try_from(reply.len()).unwrap().to_be_bytes();
        stream
            .write_all(&[&length, reply.as_slice()].concat())
            .unwrap();
    });
    let asking = pair.client.within(|| {
        ask(server(), 3);
        let mut stream = (0..50)
            .find_map(|_| {
                thread::sleep(Duration::from_millis(20));
                TcpStream::connect(server()).ok()
            })
            .unwrap();
        let asked = query(7, "tcp.example");
        let length = u16::try_from(asked.len()).unwrap().to_be_bytes();
        // The length and the message in segments of their own.
        stream.write_all(&length).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.write_all(&asked).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let nobody = UdpSocket::bind("0.0.0.0:0").unwrap();
        nobody
            .send_to(&query(9, "closed.example"), (SERVER, 15053))
            .unwrap();
    });
    asking.join().unwrap();
    listening.join().unwrap();
    let summary = watching.stop();
    drop(serving);
    let (messages, connections, errors) = contents(&path);
    assert_eq!((messages, errors), (9, 1), "{summary:#}");
    // Those before the server listened were refused.
    assert!(connections >= 1);
}

fn ctrl_c_gives_the_summary() {
    let pair = Pair::new();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let watching = Watching::start(&mut watch(&pair));
        let serving = pair.serve(answer);
        let answered = pair.client.within(|| ask(server(), 5)).join().unwrap();
        drop(serving);
        thread::sleep(Duration::from_millis(100));
        watching.signal(signal);
        let output = watching.0.wait_with_output().unwrap();
        assert_eq!(
            (answered, &summary(&output)["queries"]),
            (5, &5.into()),
            "{signal}"
        );
        assert_eq!(output.status.code(), Some(0), "{signal}");
    }
    // And so does the end of the time, also where nothing was seen.
    let output = watch(&pair).args(["--for", "300ms"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(summary(&output)["queries"], 0);
}

#[expect(clippy::unnecessary_debug_formatting, reason = "paths of tests")]
fn the_last_two_files() {
    let pair = Pair::new();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kept.pcapng");
    let mut command = watch(&pair);
    command.args(["--rotate", "16KiB", "--write"]).arg(&path);
    let watching = Watching::start(&mut command);
    let serving = pair.serve(answer);
    pair.client.within(|| ask(server(), 500)).join().unwrap();
    let summary = watching.stop();
    drop(serving);
    assert_eq!(summary["queries"], 500);
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["kept.2.pcapng", "kept.pcapng"]);
    let mut most = 0;
    for name in names {
        let path = folder.path().join(name);
        assert!(fs::metadata(&path).unwrap().len() < 20_000);
        let mut reader = Reader::open(fs::File::open(&path).unwrap()).unwrap();
        let has_file = |it: &String| it.starts_with("kdns: resolv.conf, part 1 of ");
        assert!(reader.take_comments().iter().any(has_file), "{path:?}");
        most = most.max(contents(&path).0);
    }
    assert!(most >= 50, "{most}");
}

/// Lookups take as long with a watch as without; measured in turns, so that the
/// load of the machine is in both.
fn lookups_are_as_fast() {
    let pair = Pair::new();
    let serving = pair.serve(answer);
    let round = || {
        let begun = Instant::now();
        assert_eq!(
            pair.client.within(|| ask(server(), 100)).join().unwrap(),
            100
        );
        begun.elapsed()
    };
    round();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        without.push(round());
        let watching = Watching::start(&mut watch(&pair));
        with.push(round());
        watching.stop();
    }
    drop(serving);
    // The fastest rounds are those that nothing else disturbed.
    let fastest = |times: &[Duration]| *times.iter().min().unwrap();
    let (without, with) = (fastest(&without), fastest(&with));
    assert!(
        with < without * 2 + Duration::from_millis(5),
        "{with:?} and {without:?}"
    );
}
