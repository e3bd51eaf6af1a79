//! The same captures through tshark.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use kdns::packet::{Assembler, Content, Options, Reader, SeenMessage, Transport, dns::Header};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

use crate::{KDNS, generated, needs, root};

pub(crate) fn trials() -> Vec<Trial> {
    let public = || -> Result<(), Failed> {
        public_captures();
        Ok(())
    };
    vec![
        root::trial(
            "tshark::generated_captures",
            &["tshark"],
            generated_captures,
        ),
        needs::trial("tshark::public_captures", lacks_captures(), public),
    ]
}

/// A message: the frame that completes it, its id, whether it is a response.
type Message = (u64, u16, bool);

/// How often each message is in the capture, and whether it has connections.
fn ours(path: &Path) -> Option<(BTreeMap<Message, usize>, bool)> {
    let mut found = BTreeMap::new();
    let mut has_connections = false;
    let mut take = |seen: SeenMessage<'_>| {
        has_connections |= matches!(seen.transport, Transport::Tcp(_));
        if !matches!(seen.content, Content::Message | Content::Cut { .. }) {
            return;
        }
        let header = Header::parse(seen.bytes).unwrap();
        *found
            .entry((seen.number, header.id, header.is_response()))
            .or_default() += 1;
    };
    let mut reader = Reader::open(File::open(path).unwrap()).ok()?;
    let mut assembler = Assembler::new(&Options::default());
    while let Ok(Some(frame)) = reader.next_frame() {
        assembler.push(&frame, &mut take);
    }
    assembler.end(&mut take);
    // Links that kdns does not read.
    if assembler.counters().unknown_link > 0 {
        return None;
    }
    Some((found, has_connections))
}

/// How long answers took, in milliseconds: by the frames of the query and of the answer.
type Times = BTreeMap<(u64, u64), f64>;

/// The same as tshark sees it, and how long answers took.
fn theirs(path: &Path) -> (BTreeMap<Message, usize>, Times) {
    let (mut found, mut times) = (BTreeMap::new(), Times::new());
    let names = [
        "frame.number",
        "dns.id",
        "dns.flags.response",
        "dns.response_to",
        "dns.time",
    ];
    for fields in fields(path, &names) {
        let [number, ids, responses, queries, took] = &fields[..] else {
            continue;
        };
        let number = number.parse().unwrap();
        for (id, response) in ids.split(',').zip(responses.split(',')) {
            let id = u16::from_str_radix(id.trim_start_matches("0x"), 16).unwrap();
            *found.entry((number, id, response == "1")).or_default() += 1;
        }
        for (query, took) in queries.split(',').zip(took.split(',')) {
            if let (Ok(query), Ok(seconds)) = (query.parse(), took.parse::<f64>()) {
                times.insert((query, number), seconds * 1000.0);
            }
        }
    }
    (found, times)
}

/// How long answers took, as `kdns watch` says of every lookup.
fn our_times(path: &Path) -> Times {
    let mut command = Command::new(KDNS);
    command.args(["watch", "-v", "--format", "jsonl", "--read"]);
    let output = command.arg(path).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lookups = lines.lines().map(serde_json::from_str::<Value>);
    let queries = lookups.flat_map(|it| it.unwrap()["queries"].as_array().unwrap().clone());
    let time = |it: Value| {
        let frames = (it["packet"].as_u64()?, it["reply_packet"].as_u64()?);
        Some((frames, it["ms"].as_f64()?))
    };
    queries.filter_map(time).collect()
}

/// All of their response times are ours; of UDP alone there are no others. Of several messages in
/// one segment, and behind a gap, tshark does not know all.
fn same_times(path: &Path, theirs: &Times, has_connections: bool, about: &str) {
    let ours = our_times(path);
    for (frames, took) in theirs {
        let is_same = ours.get(frames).is_some_and(|it| (it - took).abs() < 0.002);
        assert!(
            is_same,
            "{about}: {frames:?}: {took} and {:?}",
            ours.get(frames)
        );
    }
    if !has_connections {
        assert_eq!(ours.len(), theirs.len(), "{about}: {ours:?}");
    }
}

/// Fields of every packet with DNS on its ports.
fn fields(path: &Path, names: &[&str]) -> Vec<Vec<String>> {
    let ports = [53, 15053].map(|it| format!("udp.port=={it} || tcp.port=={it}"));
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-r"]).arg(path);
    command.args(["-o", "dns.desegment_dns_messages:TRUE"]);
    command.args(["-o", "tcp.reassemble_out_of_order:TRUE"]);
    command.args(["-Y", &format!("dns && ({})", ports.join(" || "))]);
    for name in names {
        command.args(["-e", name]);
    }
    let output = command.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let words = |line: &str| line.split('\t').map(str::to_owned).collect();
    lines.lines().map(words).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn generated_captures() {
    let first = crate::seed::seed();
    let folder = TempDir::new().unwrap();
    for round in 0..number("KDNS_CAPTURES").unwrap_or(5) {
        let seed = first + round;
        let path = folder.path().join("made.pcapng");
        let made = generated::write(&path, seed, 300);
        let (ours, _) = ours(&path).unwrap();
        let (messages, times) = theirs(&path);
        assert_eq!(ours, messages, "KDNS_SEED={seed} KDNS_CAPTURES=1");
        same_times(&path, &times, true, &format!("KDNS_SEED={seed}"));
        assert_eq!(
            ours.values().sum::<usize>(),
            made.messages,
            "KDNS_SEED={seed}"
        );
        transactions(&path, &made, seed);
    }
}

/// What was asked and not answered, and how long answers took.
fn transactions(path: &Path, made: &generated::Made, seed: u64) {
    let output = Command::new(KDNS)
        .args(["watch", "--format", "json", "--read"])
        .arg(path)
        .output()
        .unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = (&summary["queries"], &summary["unanswered"]);
    assert_eq!(
        counts,
        (&made.queries.into(), &made.unanswered.into()),
        "KDNS_SEED={seed}"
    );
    for server in summary["servers"].as_array().unwrap() {
        let address = server["server"].as_str().unwrap();
        let names = ["ip.src", "ipv6.src", "dns.time"];
        let mut times: Vec<f64> = fields(path, &names)
            .iter()
            .filter(|it| it[0] == address || it[1] == address)
            .flat_map(|it| it[2].split(',').map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|it| Some(it.parse::<f64>().ok()? * 1000.0))
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        let ours = server["median_ms"].as_f64().unwrap();
        // Ours is from a histogram.
        let is_close = (ours - median).abs() <= 0.1 * median + 0.05;
        assert!(is_close, "KDNS_SEED={seed}: {address} {ours} and {median}");
    }
}

/// Where `.ci/install-real` unpacks captures of Debian's source packages.
fn captures() -> PathBuf {
    let real = std::env::var_os("KDNS_REAL_DIR").map(PathBuf::from);
    let real = real.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/real"));
    real.join("captures")
}

fn lacks_captures() -> Option<String> {
    let has_tshark = Command::new("tshark").arg("--version").output().is_ok();
    if !has_tshark {
        return Some("needs tshark".to_owned());
    }
    let is_there = captures().is_dir();
    (!is_there).then(|| "needs target/real/captures of .ci/install-real".to_owned())
}

/// Its IP header says that the packet has 37 bytes; tshark reads all of the frame.
const LONGER_THAN_ITS_PACKET: &str = "tests-rtp-seg-fault-1.pcapng";

/// Captures whose messages tshark decrypts.
const ENCRYPTED: &[&str] = &["captures-wireguard-ping-tcp-dsb.pcapng"];

fn public_captures() {
    let entries = std::fs::read_dir(captures()).unwrap();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let counts: Vec<[usize; 2]> = std::thread::scope(|scope| {
        let share = |first| paths.iter().skip(first).step_by(threads);
        let start = |first| scope.spawn(move || share(first).filter_map(|it| same(it)).collect());
        let started: Vec<_> = (0..threads).map(start).collect();
        let ended = started.into_iter().map(|it| it.join().unwrap());
        ended.collect::<Vec<Vec<_>>>().concat()
    });
    let sum = |at: usize| counts.iter().map(|it| it[at]).sum::<usize>();
    let (files, messages, times) = (counts.len(), sum(0), sum(1));
    assert!(
        files > 100 && messages > 300 && times > 100,
        "{files} files, {messages} messages, {times} response times"
    );
}

/// Compares a capture, and gives its numbers of messages and of response times; `None`: it cannot
/// be compared.
fn same(path: &Path) -> Option<[usize; 2]> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (ours, has_connections) = ours(path)?;
    if ENCRYPTED.contains(&name) || name == LONGER_THAN_ITS_PACKET {
        return None;
    }
    let (theirs, times) = theirs(path);
    if has_connections {
        // Behind a gap tshark waits for what does not come any more.
        for (message, count) in &theirs {
            assert!(ours.get(message) >= Some(count), "{name}: {message:?}");
        }
    } else {
        assert_eq!(ours, theirs, "{name}");
    }
    if !theirs.is_empty() {
        same_times(path, &times, has_connections, name);
    }
    Some([theirs.values().sum(), times.len()])
}
