//! Captures that are damaged: times that cannot be, and compressed ones cut anywhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::KDNS;
use crate::network::{answer, query};
use crate::reading::{read, write_header, write_packet};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("damaged::times", &[], times),
        trial("damaged::times_in_silence", &[], times_in_silence),
        trial("damaged::pictures", &[], pictures),
        trial("damaged::compressed", &["gzip", "zstd"], compressed),
    ]
}

/// So many lookups of one query each.
const LOOKUPS: u32 = 40;

/// Where the records begin, of a capture in which every query is answered.
fn write_healthy(path: &Path) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut records) = (Vec::new(), Vec::new());
    write_header(&mut bytes);
    for number in 0..LOOKUPS {
        let id = u16::try_from(number).unwrap();
        let (client, server) = (([10, 0, 0, 1], 4000 + id), ([10, 0, 0, 53], 53));
        let asked = query(id, &format!("n{number}.example"));
        records.push(bytes.len());
        write_packet(&mut bytes, 2 * number, client, server, &asked);
        records.push(bytes.len());
        let answered = answer(&asked).unwrap();
        write_packet(&mut bytes, 2 * number + 1, server, client, &answered);
    }
    fs::write(path, &bytes).unwrap();
    (bytes, records)
}

fn summary(path: &Path) -> Value {
    let output = read(path);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// One wrong time loses no answer, wherever it is and however wrong. Of the first packet
/// nothing says that its time is wrong, nor of the last one.
fn times() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcap");
    let (bytes, records) = write_healthy(&path);
    assert_eq!(summary(&path)["counted"]["mistimed"], 0);
    for wrong in [70_u32, 3600, 1 << 31, u32::MAX] {
        for (number, at) in records.iter().enumerate() {
            let mut damaged = bytes.clone();
            damaged[*at..at + 4].copy_from_slice(&wrong.to_le_bytes());
            fs::write(&path, damaged).unwrap();
            let summary = summary(&path);
            let about = format!("{wrong} at byte {at}: {summary:#}");
            assert_eq!(summary["findings"].as_array().unwrap().len(), 0, "{about}");
            assert_eq!(summary["lookups"], LOOKUPS, "{about}");
            assert_eq!(summary["unanswered"], 0, "{about}");
            let is_inside = number > 0 && number + 1 < records.len();
            let mistimed = &summary["counted"]["mistimed"];
            assert_eq!(*mistimed, u64::from(is_inside), "{about}");
        }
    }
}

/// Lookups that are 50 s apart; a wrong time loses no answer, and says no time that nobody
/// measured.
fn times_in_silence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcap");
    let (mut bytes, records) = write_healthy(&path);
    for (number, at) in records.iter().enumerate() {
        let second = u32::try_from(number / 2 * 50).unwrap();
        bytes[*at..at + 4].copy_from_slice(&second.to_le_bytes());
    }
    for (number, at) in records.iter().enumerate().skip(1).take(20) {
        let mut damaged = bytes.clone();
        damaged[*at..at + 4].copy_from_slice(&90_000_u32.to_le_bytes());
        fs::write(&path, damaged).unwrap();
        let summary = summary(&path);
        let about = format!("packet {number}: {summary:#}");
        assert_eq!(summary["findings"].as_array().unwrap().len(), 0, "{about}");
        assert_eq!(summary["lookups"], LOOKUPS, "{about}");
        assert_eq!(summary["counted"]["orphans"], 0, "{about}");
        assert_eq!(summary["counted"]["mistimed"], 1, "{about}");
        let lines = lines(&path);
        for (place, line) in lines.iter().enumerate() {
            assert_eq!(line["outcome"], "found", "{about}{line:#}");
            let is_timed = place != number / 2;
            let has = |it: &Value| it.as_f64().is_some_and(|it| it < 1.0);
            assert_eq!(has(&line["duration_ms"]), is_timed, "{about}{line:#}");
            assert_eq!(has(&line["queries"][0]["ms"]), is_timed, "{about}{line:#}");
        }
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let mut command = Command::new(KDNS);
    command.args(["watch", "-v", "--format", "jsonl", "--read"]);
    let output = command.arg(path).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

/// No picture is drawn of a time that nobody measured.
fn pictures() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcap");
    let (mut bytes, records) = write_healthy(&path);
    for answer in records.iter().skip(1).step_by(2) {
        // SERVFAIL, in the second word of the message behind its record, IP and UDP.
        bytes[answer + 16 + 20 + 8 + 3] |= 2;
    }
    let drawn = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let mut command = Command::new(KDNS);
        command.args(["watch", "--resolver", "glibc", "--format", "svg", "--read"]);
        let output = command.arg(&path).output().unwrap();
        let picture = String::from_utf8(output.stdout).unwrap();
        let count = |what: &str| picture.matches(what).count();
        assert!(count("SERVFAIL from 10.0.0.53 to A n1.example") > 0);
        let is_untimed = count("not drawn: the time of a packet is not known") > 0;
        (count("over UDP: SERVFAIL after"), is_untimed)
    };
    assert_eq!(drawn(&bytes), (20, false));
    bytes[records[3]..records[3] + 4].copy_from_slice(&90_000_u32.to_le_bytes());
    assert_eq!(drawn(&bytes), (19, true));
}

/// A compressed capture that is cut, also within its only block, says so.
fn compressed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcap");
    write_healthy(&path);
    for program in ["gzip", "zstd"] {
        let packed = Command::new(program).arg("-c").arg(&path).output().unwrap();
        let whole = packed.stdout;
        for length in (4..whole.len()).step_by(whole.len() / 20) {
            let cut = folder.path().join("cut");
            fs::write(&cut, &whole[..length]).unwrap();
            let output = read(&cut);
            let said = String::from_utf8_lossy(&output.stderr);
            let missing = "the compressed capture is cut: its end is missing";
            match serde_json::from_slice::<Value>(&output.stdout) {
                Ok(summary) => assert!(
                    summary["notes"].to_string().contains(missing),
                    "{program}, {length} bytes: {summary:#}"
                ),
                Err(_) => {
                    assert_eq!(output.status.code(), Some(2), "{program}, {length} bytes");
                    assert!(said.contains(missing), "{program}, {length} bytes: {said}");
                }
            }
        }
    }
}
