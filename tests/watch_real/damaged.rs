//! Captures that are damaged: times that cannot be, and compressed ones cut anywhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::network::{answer, query};
use crate::reading::{read, write_header, write_packet};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("damaged::times", &[], times),
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

/// One time that cannot be loses no answer, wherever it is and however wrong. Of the first
/// packet nothing says that its time is wrong, nor of the last one.
fn times() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("made.pcap");
    let (bytes, records) = write_healthy(&path);
    assert_eq!(summary(&path)["counted"]["mistimed"], 0);
    for wrong in [70_u32, 3600, 1 << 31, u32::MAX] {
        for at in &records[1..records.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[*at..at + 4].copy_from_slice(&wrong.to_le_bytes());
            fs::write(&path, damaged).unwrap();
            let summary = summary(&path);
            let about = format!("{wrong} at byte {at}: {summary:#}");
            assert_eq!(summary["findings"].as_array().unwrap().len(), 0, "{about}");
            assert_eq!(summary["lookups"], LOOKUPS, "{about}");
            assert_eq!(summary["unanswered"], 0, "{about}");
            assert_eq!(summary["counted"]["mistimed"], 1, "{about}");
        }
    }
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
