//! SIGINT in the middle of everything, and who gets it; Ctrl-Z and `fg`.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::lab::{Ended, KDNS, PATIENCE, State, nxdomain, script, testdata};
use crate::root::trial;

/// What a shell says of a program that SIGINT ended, and what kdns says itself.
const INTERRUPTED: i32 = 130;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("signals::waiting for input", &[], input),
        trial("signals::dig waiting for a reply", &[], dig),
        trial("signals::dig -f between two queries", &[], dig_many),
        trial("signals::explain --live", &[], live),
        trial("signals::stopped and continued", &[], stopped),
        trial("signals::lint over many files", &[], lint),
        trial("signals::a report being written", &[], report),
        trial("signals::a snapshot being unpacked", &[], snapshot),
        trial("signals::nsenter COMMAND", &["sleep"], command),
        trial(
            "signals::check-loop --probe",
            &["unshare", "ip", "timeout"],
            probe,
        ),
    ]
}

/// Starts kdns, which SIGINT ends: whoever runs the tests in the background may
/// have it ignored.
fn start(arguments: &[&str]) -> Child {
    Command::new("env")
        .args(["--default-signal=INT", KDNS])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Presses Ctrl-C, and waits.
#[track_caller]
fn interrupt(child: Child) -> Ended {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < PATIENCE, "SIGINT does not end it");
    Ended::of(&output)
}

/// A run that SIGINT ends when `is_time`, with everything as before.
#[track_caller]
fn check(arguments: &[&str], is_time: impl FnOnce(&mut Child)) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let before = State::of(folder.path());
    let mut child = start(arguments);
    is_time(&mut child);
    let ended = interrupt(child);
    assert_eq!(ended.status, INTERRUPTED, "{arguments:?}: {ended:?}");
    assert!(!ended.err.contains("panicked"), "{ended:?}");
    assert_eq!(State::of(folder.path()), before, "{arguments:?}");
    ended
}

fn input() {
    let wait = |_: &mut Child| thread::sleep(Duration::from_millis(300));
    for words in [
        &["explain", "--scenario", "-"][..],
        &["explain", "web", "--file", "-"],
        &["check-loop", "--root", "/proc/self", "--log", "-"],
        &["lint", "-"],
        &["pod-file", "-"],
    ] {
        // Who does not read standard input has ended by then.
        let mut child = start(words);
        wait(&mut child);
        if child.try_wait().unwrap().is_some() {
            continue;
        }
        let ended = interrupt(child);
        assert_eq!(
            (ended.status, ended.out.as_str()),
            (INTERRUPTED, ""),
            "{words:?}"
        );
    }
}

/// What was unpacked goes along; but who had the signal ignored goes on.
fn snapshot() {
    const NOTE: &[u8] = b"kdns snapshot 1\n";
    let folder = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(Vec::new());
    let mut add = |name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes).unwrap();
    };
    add("kdns-snapshot", NOTE);
    for number in 0..10_000 {
        add(&format!("proc/{number}/stat"), b"");
    }
    let tar = archive.into_inner().unwrap();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let file = folder.path().join("node.tar.zst");
    fs::write(&file, ruzstd::encoding::compress_to_vec(&*tar, level)).unwrap();
    let unpacked = folder.path().join("tmp");
    fs::create_dir(&unpacked).unwrap();
    let entries = || fs::read_dir(&unpacked).unwrap().count();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        for is_ignored in [false, true] {
            let what = format!("{signal}, ignored: {is_ignored}");
            let word = if is_ignored { "ignore" } else { "default" };
            let mut child = Command::new("env")
                .arg(format!(
                    "--{word}-signal={}",
                    signal.as_str().trim_start_matches("SIG")
                ))
                .args([KDNS, "check-loop", "--root"])
                .arg(&file)
                .env("TMPDIR", &unpacked)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            while entries() == 0 {
                assert!(begun.elapsed() < PATIENCE, "{what}");
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(20));
            kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
            let status = child.wait().unwrap();
            let ended_by = (!is_ignored).then_some(signal as i32);
            assert_eq!(status.signal(), ended_by, "{what}: {status}");
            assert_eq!(entries(), 0, "{what}");
        }
    }
}

/// A server that answers nobody, and its port.
fn silent() -> (UdpSocket, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    (socket, port)
}

/// Waits for a query, and gives it and whose it is. A wait that has a limit of time is
/// not begun again by the kernel when the process was stopped for a while: signal(7).
fn arrives(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = [0; 512];
    loop {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => return (buffer[..length].to_vec(), from),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}"),
        }
    }
}

fn dig() {
    let (socket, port) = silent();
    let words = ["dig", "@127.0.0.1", "-p", &port, "+time=30", "web.test"];
    check(&words, |_| drop(arrives(&socket)));
    let own = std::process::id().to_string();
    let words = [&["nsenter", &own][..], &words].concat();
    check(&words, |_| drop(arrives(&socket)));
}

fn dig_many() {
    let (socket, port) = silent();
    let folder = tempfile::tempdir().unwrap();
    let names = folder.path().join("names");
    fs::write(&names, "a.test\nb.test\nc.test\n").unwrap();
    let names = names.to_str().unwrap();
    let words = [
        "dig",
        "@127.0.0.1",
        "-p",
        &port,
        "+time=1",
        "+tries=1",
        "-f",
        names,
    ];
    check(&words, |_| {
        arrives(&socket);
        arrives(&socket);
    });
}

/// What was seen until then is said.
fn live() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resolv.conf");
    // A network for documentation: nobody answers from there.
    fs::write(&file, "nameserver 192.0.2.1\noptions timeout:30\n").unwrap();
    let file = file.to_str().unwrap();
    let mut child = start(&["explain", "web.test", "--live", "--file", file]);
    thread::sleep(Duration::from_millis(1500));
    if child.try_wait().unwrap().is_some() {
        // There is no way to that network here: nothing to interrupt.
        return;
    }
    let ended = interrupt(child);
    assert_eq!(ended.status, INTERRUPTED, "{ended:?}");
}

/// Ctrl-Z while a reply is on its way, and `fg`: a wait goes on, as if nothing had been.
fn stopped() {
    let server = UdpSocket::bind("127.91.7.2:53").unwrap();
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resolv.conf");
    fs::write(&file, "nameserver 127.91.7.2\n").unwrap();
    let file = file.to_str().unwrap();
    let own = std::process::id().to_string();
    for words in [
        &["dig", "@127.91.7.2", "+time=30", "+tries=1", "web.test"][..],
        &[
            "nsenter",
            &own,
            "dig",
            "@127.91.7.2",
            "+time=30",
            "web.test",
        ],
        &[
            "explain",
            "web.test.",
            "--live",
            "--resolver",
            "musl",
            "--file",
            file,
        ],
    ] {
        let child = start(words);
        let id = Pid::from_raw(child.id().cast_signed());
        let (query, client) = arrives(&server);
        for signal in [Signal::SIGSTOP, Signal::SIGCONT] {
            kill(id, signal).unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        server.send_to(&nxdomain(&query), client).unwrap();
        if words[0] == "explain" {
            // AAAA was asked at once, too.
            let (query, client) = arrives(&server);
            server.send_to(&nxdomain(&query), client).unwrap();
        }
        let ended = Ended::of(&child.wait_with_output().unwrap());
        assert!(ended.status < 2, "{words:?}: {ended:?}");
        assert!(ended.out.contains("NXDOMAIN"), "{words:?}: {ended:?}");
        server.set_nonblocking(true).unwrap();
        let more = server.recv_from(&mut [0; 512]);
        assert!(more.is_err(), "{words:?} asked again");
        server.set_nonblocking(false).unwrap();
    }
}

fn lint() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let tree = testdata("").display().to_string();
    let words = [
        "lint",
        &tree,
        "--format",
        "json",
        "--output",
        report.to_str().unwrap(),
    ];
    let mut interrupted = 0;
    for milliseconds in (0..20).map(|it| it * 25) {
        let child = start(&words);
        thread::sleep(Duration::from_millis(milliseconds));
        let ended = interrupt(child);
        interrupted += usize::from(ended.status == INTERRUPTED);
        whole_or_not_there(folder.path(), &report);
    }
    assert!(interrupted > 0, "every run was faster than SIGINT");
}

/// The report, if it is there, is all of it; and it is alone.
#[track_caller]
fn whole_or_not_there(folder: &Path, report: &Path) {
    let entries = fs::read_dir(folder).unwrap();
    let mut entries: Vec<_> = entries.map(|it| it.unwrap().path()).collect();
    if entries.pop_if(|it| it == report).is_some() {
        let text = fs::read(report).unwrap();
        let _: serde_json::Value = serde_json::from_slice(&text).expect("a whole report");
        fs::remove_file(report).unwrap();
    }
    assert!(entries.is_empty(), "left behind: {entries:?}");
}

/// Lines come in slowly, and are written into a file.
fn report() {
    let vectors = fs::read_to_string(testdata("vectors/regressions.jsonl")).unwrap();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        fs::write(&report, "as before\n").unwrap();
        let before = State::of(folder.path());
        let words = [
            "explain",
            "--scenario",
            "-",
            "--format",
            "jsonl",
            "--output",
        ];
        let words = [&words[..], &[report.to_str().unwrap()]].concat();
        let mut child = start(&words);
        let input = child.stdin.as_mut().unwrap();
        for line in vectors.lines().take(50) {
            writeln!(input, "{line}").unwrap();
        }
        input.flush().unwrap();
        thread::sleep(Duration::from_millis(500));
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let input = child.stdin.take();
        let ended = Ended::of(&child.wait_with_output().unwrap());
        drop(input);
        assert_eq!(ended.status, 128 + signal as i32, "{ended:?}");
        assert_eq!(State::of(folder.path()), before, "{signal}");
    }
}

/// The command is what kdns has become: the signal is the command's.
fn command() {
    let own = std::process::id().to_string();
    let words = ["nsenter", own.as_str(), "--", "sleep", "100"];
    check(&words, |child| {
        let comm = format!("/proc/{}/comm", child.id());
        let begun = Instant::now();
        while fs::read_to_string(&comm).unwrap().trim() != "sleep" {
            assert!(begun.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(5));
        }
    });
}

/// In a network of its own, with a node whose server is silent.
fn probe() {
    let folder = tempfile::tempdir().unwrap();
    let before = State::of(folder.path());
    let text = script(
        r#"
unshare --net sh -euc '
ip link set lo up
said=$(mktemp)
names=$(ip netns list)
for wait in 0.01 0.05 0.3 1; do
    set +e
    timeout --preserve-status -s INT $wait \
        "$KDNS" check-loop --probe --root "$DATA/nodes/machine-other-port" >/dev/null 2>"$said"
    echo $?
    set -e
    if grep panicked "$said"; then exit 1; fi
done
rm "$said"
test "$names" = "$(ip netns list)"
# Packet sockets that are still open.
tail -n +2 /proc/net/packet
'
"#,
    );
    let statuses: Vec<&str> = text.lines().collect();
    assert_eq!(statuses.len(), 4, "left behind: {text}");
    let is_known = |it: &&str| matches!(*it, "130" | "0" | "1" | "2");
    assert!(statuses.iter().all(is_known), "{text}");
    assert!(statuses.contains(&"130"), "every run was faster: {text}");
    assert_eq!(State::of(folder.path()), before);
}
