//! Captures from pipes, compressed, cut, and large.

use std::fs;
use std::io::{BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kdns::node::Process;
use kdns::node::asker::Asker;
use kdns::packet::{Carried, Frame, LinkType, Writer};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::network::{Pair, SERVER, answer, ask, query};
use crate::root::trial;
use crate::{KDNS, generated};

pub(crate) fn trials() -> Vec<Trial> {
    let ip = &["ip", "unshare", "nsenter", "tcpdump"];
    vec![
        trial("reading::while_tcpdump_writes", ip, while_tcpdump_writes),
        trial("reading::ctrl_c_at_a_pipe", &[], ctrl_c_at_a_pipe),
        trial("reading::compressed", &["gzip", "zstd"], compressed),
        trial("reading::cut_anywhere", &[], cut_anywhere),
        trial(
            "reading::without_room_to_keep",
            &["bash"],
            without_room_to_keep,
        ),
        trial("reading::who_asked", &[], who_asked),
        trial("reading::a_million_flows", &[], a_million_flows),
        trial("reading::zones_of_many_servers", &[], zones_of_many_servers),
    ]
}

pub(crate) fn read(path: &Path) -> Output {
    let mut command = Command::new(KDNS);
    command
        .args(["watch", "--format", "json", "--read"])
        .arg(path);
    command.stdin(Stdio::null()).output().unwrap()
}

/// A watch that reads from a pipe and writes a line for each lookup.
fn reader(input: Stdio) -> Child {
    let mut command = Command::new(KDNS);
    command.args([
        "watch",
        "-v",
        "--resolver",
        "glibc",
        "--format",
        "jsonl",
        "--read",
        "-",
    ]);
    command.stdin(input).stdout(Stdio::piped()).spawn().unwrap()
}

/// Its lines, as they come.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let out = BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

/// A line comes while the pipe is still open, and the rest at its end.
fn while_tcpdump_writes() {
    let pair = Pair::new();
    let mut command = pair.client.command("tcpdump");
    command.args([
        "--immediate-mode",
        "-U",
        "-i",
        "any",
        "-w",
        "-",
        "port",
        "53",
    ]);
    let mut tcpdump = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = reader(Stdio::from(tcpdump.stdout.take().unwrap()));
    let lines = lines(&mut child);
    // It says so when it listens, and would end with a pipe that nobody reads.
    let mut said = String::new();
    let mut told = BufReader::new(tcpdump.stderr.take().unwrap());
    told.read_line(&mut said).unwrap();
    thread::sleep(Duration::from_millis(500));
    let serving = pair.serve(answer);
    let server = format!("{SERVER}:53").parse().unwrap();
    assert_eq!(
        pair.client.within(move || ask(server, 20)).join().unwrap(),
        20
    );
    // Lookups end a while after their last packet, and packets tell the time.
    let first = (0..60).find_map(|_| {
        pair.client.within(move || ask(server, 1)).join().unwrap();
        lines.recv_timeout(Duration::from_secs(1)).ok()
    });
    assert!(
        first.as_ref().is_some_and(|it| it.contains(".example")),
        "{first:?}"
    );
    drop(serving);
    kill(
        Pid::from_raw(i32::try_from(tcpdump.id()).unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    tcpdump.wait().unwrap();
    drop(told);
    assert!(child.wait().unwrap().code().is_some_and(|it| it <= 1));
    assert!(lines.iter().count() >= 19);
}

/// Ctrl-C while nothing comes.
fn ctrl_c_at_a_pipe() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcapng");
    let made = generated::write(&path, 1, 20);
    let mut command = Command::new(KDNS);
    command.args(["watch", "--format", "json", "--read", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&fs::read(&path).unwrap()).unwrap();
    thread::sleep(Duration::from_millis(500));
    kill(
        Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["queries"], made.queries);
}

fn compressed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcapng");
    generated::write(&path, 2, 1500);
    let expected = read(&path).stdout;
    let plain = fs::read(&path).unwrap();
    let (one, other) = plain.split_at(plain.len() / 2);
    for program in ["gzip", "zstd"] {
        let compress = |bytes: &[u8]| {
            let mut command = Command::new(program);
            command
                .arg("-c")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            let bytes = bytes.to_vec();
            let writing = thread::spawn(move || input.write_all(&bytes).unwrap());
            let output = child.wait_with_output().unwrap().stdout;
            writing.join().unwrap();
            output
        };
        // In one piece, and in two, as `cat` puts files together.
        let whole = compress(&plain);
        for bytes in [whole.clone(), [compress(one), compress(other)].concat()] {
            fs::write(folder.path().join("packed"), bytes).unwrap();
            let output = read(&folder.path().join("packed"));
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.stdout == expected, "{program}: {said}");
        }
        // Cut, it says so and has what there was.
        fs::write(folder.path().join("packed"), &whole[..whole.len() / 2]).unwrap();
        let output = read(&folder.path().join("packed"));
        let missing = "the compressed capture is cut: its end is missing";
        let Ok(summary) = serde_json::from_slice::<Value>(&output.stdout) else {
            // Not even one block of it is whole.
            assert_eq!(output.status.code(), Some(2), "{program}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(missing), "{program}: {said}");
            continue;
        };
        let notes = summary["notes"].to_string();
        assert!(notes.contains(missing), "{program}: {notes}");
    }
}

fn cut_anywhere() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcapng");
    generated::write(&path, 3, 30);
    let whole = fs::read(&path).unwrap();
    let cut = folder.path().join("cut.pcapng");
    for length in (0..whole.len()).step_by(whole.len() / 60) {
        fs::write(&cut, &whole[..length]).unwrap();
        let output = read(&cut);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_some_and(|it| it <= 2),
            "{length}: {said}"
        );
        assert!(!said.contains("panicked"), "{length}: {said}");
    }
}

/// Writes what a capture begins with.
pub(crate) fn write_header(out: &mut impl Write) {
    let header = [0xa1b2_c3d4u32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]];
    out.write_all(&header.concat()).unwrap();
    let rest = [262_144u32.to_le_bytes(), 101u32.to_le_bytes()];
    out.write_all(&rest.concat()).unwrap();
}

/// A capture of queries, each of another client, that nobody answers.
fn write_flows(out: &mut impl Write, count: u32) {
    write_header(out);
    for flow in 0..count {
        let [_, a, b, c] = flow.to_be_bytes();
        let id = u16::from_be_bytes([b, c]);
        let asked = query(id, &format!("n{flow}.example"));
        let (client, server) = ([10, a, b, c], [10, 0, 0, 53]);
        write_packet(out, flow, (client, 1024 + id / 2), (server, 53), &asked);
    }
}

/// Writes a packet; there are 20,000 a second.
pub(crate) fn write_packet(
    out: &mut impl Write,
    number: u32,
    from: ([u8; 4], u16),
    to: ([u8; 4], u16),
    message: &[u8],
) {
    let mut packet = Vec::new();
    etherparse::PacketBuilder::ipv4(from.0, to.0, 64)
        .udp(from.1, to.1)
        .write(&mut packet, message)
        .unwrap();
    let length = u32::try_from(packet.len()).unwrap();
    let times = [number / 20_000, number % 20_000 * 50];
    for word in [times[0], times[1], length, length] {
        out.write_all(&word.to_le_bytes()).unwrap();
    }
    out.write_all(&packet).unwrap();
}

/// What is said behind a packet is known when the next one ends its lookup.
fn who_asked() {
    let carried = |name: &str, text: &str| {
        let mut carried = Carried::default();
        carried.put(name, text);
        carried.comments()
    };
    let files = [
        carried("host name", "pod"),
        carried("resolv.conf", "nameserver 10.0.0.53\n"),
    ];
    let mut writer = Writer::begin(Vec::new(), "a test", &files.concat()).unwrap();
    for number in 0..2u16 {
        let (client, server) = (([10, 0, 0, 1], 4000 + number), ([10, 0, 0, 53], 53));
        let asked = query(number, &format!("n{number}.example"));
        let answered = answer(&asked).unwrap();
        let time = 1_000_000_000 * (1 + i64::from(number));
        for (from, to, message) in [(client, server, &asked), (server, client, &answered)] {
            let mut packet = Vec::new();
            etherparse::PacketBuilder::ipv4(from.0, to.0, 64)
                .udp(from.1, to.1)
                .write(&mut packet, message)
                .unwrap();
            let frame = Frame {
                is_time_known: true,
                number: 0,
                time,
                interface: 0,
                outgoing: None,
                link: LinkType::Raw,
                bytes: &packet,
                original_length: u32::try_from(packet.len()).unwrap(),
            };
            writer.frame(&frame).unwrap();
        }
        let asker = Asker {
            client: client.into(),
            time,
            process: Process {
                pid: 7,
                comm: format!("program {number}"),
                arguments: Vec::new(),
            },
        };
        let asker = carried("process that asked", &asker.to_text());
        writer.comment(&asker).unwrap();
    }
    let mut child = reader(Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    input.write_all(&writer.end(None, &[]).unwrap()).unwrap();
    drop(input);
    let lines: Vec<Value> = lines(&mut child)
        .iter()
        .map(|it| serde_json::from_str(&it).unwrap())
        .collect();
    child.wait().unwrap();
    for number in 0..2 {
        let comm = &lines[number]["process"]["comm"];
        assert_eq!(*comm, format!("program {number}"), "{lines:#?}");
    }
}

/// Flows that are never seen again need no memory for good.
fn a_million_flows() {
    let summary = within_64_mib(|out| write_flows(out, 1_000_000));
    assert_eq!(summary["queries"], 1_000_000);
}

/// Nor do zones of many servers.
fn zones_of_many_servers() {
    let summary = within_64_mib(|out| {
        write_flows(out, 0);
        for number in 0..200_000 {
            let [_, a, b, c] = u32::to_be_bytes(number);
            let id = u16::from_be_bytes([b, c]);
            let (client, server) = (([10, 1, 1, 1], 1024 + id / 2), ([10, 2, a, b], 53));
            let asked = query(id, &format!("www.zone{c}.example{c}"));
            write_packet(out, number, client, server, &asked);
            write_packet(out, number, server, client, &answer(&asked).unwrap());
        }
    });
    assert_eq!(summary["unanswered"], 0);
}

/// The summary of a capture that is read from a pipe with so much memory.
fn within_64_mib(write: impl FnOnce(&mut BufWriter<ChildStdin>)) -> Value {
    let mut command = Command::new(KDNS);
    command.args(["watch", "--format", "json", "--read", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut input = BufWriter::new(child.stdin.take().unwrap());
    write(&mut input);
    input.flush().unwrap();
    let status = fs::read_to_string(status).unwrap();
    let peak = status
        .lines()
        .find_map(|it| it.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    // 64 MiB, and what of a program without optimisation is touched.
    assert!(kilobytes < 80 << 10, "{kilobytes} kB");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Where packets cannot be kept any more it is said which file that is, and the summary
/// comes all the same.
fn without_room_to_keep() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("flows.pcap");
    write_flows(&mut fs::File::create(&path).unwrap(), 1000);
    let limited = |more: &[&str]| {
        let kept = folder.path().join("kept.pcapng");
        let _ = fs::remove_file(&kept);
        let _ = fs::remove_file(folder.path().join("kept.2.pcapng"));
        let mut command = Command::new("bash");
        // 16 KiB a file, and an error, not a signal, for what is beyond.
        command.args([
            "-c",
            "trap '' XFSZ; ulimit -f 16; exec \"$@\"",
            "bash",
            KDNS,
        ]);
        command.args(["watch", "--format", "json", "--read"]);
        command.arg(&path).arg("--write").arg(&kept).args(more);
        command.output().unwrap()
    };
    for more in [&[][..], &["--rotate", "20KiB"]] {
        let output = limited(more);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("kept.pcapng: file too large"), "{said}");
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["queries"], 1000);
    }
    let said = String::from_utf8(limited(&["--rotate", "10KiB"]).stderr).unwrap();
    assert!(!said.contains("cannot write"), "{said}");
}
