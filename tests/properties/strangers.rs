//! A node's files with any bytes in them: our parsers and those of libraries
//! (procfs, etherparse, flate2, TOML, YAML…) read them without a panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kdns::host::node::{Parts, StandIns, read_node};
use kdns::host::root::{Resolution, Root};
use kdns::probe::frame::query_of;

use crate::generate::Random;

/// Nodes of all kinds of files.
const NODES: &[&str] = &["cluster-loop", "machine-per-link", "kind", "podman"];
const ROUNDS: usize = 60;

/// What parsers have stumbled over.
const PIECES: &[&[u8]] = &[
    b"\xc3\xa9",
    b"\xff",
    b"\0",
    b")",
    b"(",
    b" ",
    b"\n",
    b":",
    b"-",
    b",",
    b"=",
    b"\"",
    b"[",
    b"]",
    b"{",
    b"18446744073709551616",
    b"-1",
    b"\xe2\x82\xac",
    b"\\012",
    b"\t",
];

#[test]
fn a_node_of_any_bytes_is_read() {
    let mut random = Random(0x7374_7261);
    for name in NODES {
        let directory = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("testdata/nodes")
            .join(name);
        let root = directory.path().join("root");
        let copied = Command::new("cp").arg("-a").args([&from, &root]).status();
        assert!(copied.unwrap().success());
        let zeros = " 0".repeat(40);
        for process in fs::read_dir(root.join("proc")).unwrap() {
            let path = process.unwrap().path();
            if path.join("comm").exists() && !path.join("stat").exists() {
                fs::write(path.join("stat"), format!("812 (kubelet) S 1{zeros}\n")).unwrap();
            }
        }
        let mut files = Vec::new();
        regular_files(&root, &mut files);
        files.sort();
        assert!(files.len() > 10, "{name}");
        for _ in 0..ROUNDS {
            let mut before = Vec::new();
            for _ in 0..=random.below(6) {
                let path = &files[random.below(files.len())];
                let bytes = fs::read(path).unwrap();
                fs::write(path, changed(&bytes, &mut random)).unwrap();
                before.push((path, bytes));
            }
            let root = Root::below(&root, Resolution::default()).unwrap();
            read_node(&root, &StandIns::default(), Parts::ALL).unwrap();
            for (path, bytes) in before.into_iter().rev() {
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

#[test]
fn packets_of_any_bytes_are_read() {
    let mut random = Random(0x7061_636b);
    // A query for `a.` over UDP, and the beginning of one over IPv6 and TCP.
    let v4 = b"\x45\0\0\x2f\0\0\0\0\x40\x11\0\0\x7f\0\0\x01\x7f\0\0\x01\x30\x39\0\x35\0\x1b\0\0\
        \0\x01\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01";
    assert!(query_of(v4).is_some());
    let v6 = [&b"\x60\0\0\0\0\x40\0\x40"[..], &[0; 32], &v4[..]].concat();
    for _ in 0..20_000 {
        let packet: &[u8] = if random.chance(2) { v4 } else { &v6 };
        query_of(&changed(packet, &mut random));
    }
}

/// The bytes with some of them cut, doubled, or replaced.
fn changed(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            2 => bytes.extend_from_within(at..),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ => drop(bytes.splice(at..at, random.pick(PIECES).iter().copied())),
        }
    }
    bytes
}

fn regular_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            regular_files(&entry.path(), found);
        } else if kind.is_file() && entry.metadata().unwrap().len() < 100_000 {
            found.push(entry.path());
        }
    }
}
