//! What a file of 1 MiB makes the program itself take, with its memory limited
//! to what it may.

use std::fs;
use std::process::{Command, Output};

const MIB: usize = 1 << 20;

/// kdns with so many MiB of data at most, in a directory with a file that is
/// full of `piece` behind `before`.
fn limited(mib: usize, file: &str, before: &str, piece: &str, arguments: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let bytes = if arguments.contains("all") {
        MIB / 4
    } else {
        MIB
    };
    let count = (bytes - 1 - before.len()) / piece.len();
    fs::write(
        directory.path().join(file),
        before.to_owned() + &piece.repeat(count),
    )
    .unwrap();
    // Not with -v: threads reserve addresses that they never use.
    Command::new("sh")
        .args(["-c", "ulimit -d $0; exec \"$@\"", &(mib << 10).to_string()])
        .arg(env!("CARGO_BIN_EXE_kdns"))
        .args(arguments.split(' '))
        .current_dir(directory.path())
        .output()
        .unwrap()
}

fn check(mib: usize, file: &str, before: &str, piece: &str, arguments: &str) {
    let output = limited(mib, file, before, piece, arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    let ended = matches!(output.status.code(), Some(0..=2));
    assert!(ended, "{arguments} with {piece:?}: {mib} MiB: {err}");
    assert!(!output.stdout.is_empty(), "{arguments}: {err}");
}

#[test]
fn words_without_effect_are_not_kept() {
    let one = "explain --file resolv.conf --resolver busybox x";
    check(48, "resolv.conf", "", "\\\n", one);
    // Nineteen resolvers drop a quarter of that each.
    let all = "explain --file resolv.conf --resolver all --format json x";
    check(40, "resolv.conf", "", "\\\n", all);
}

#[test]
fn a_corefile_is_not_kept_word_by_word() {
    for (piece, mib) in [("}\n", 110), (".:53 {\n", 80), ("a {\n", 100)] {
        check(mib, "Corefile", "", piece, "check-loop --corefile Corefile");
    }
}

#[test]
fn a_command_line_has_runs_of_bytes() {
    let unit = "[Service]\nExecStart=/usr/bin/kubelet ";
    for piece in ["\\x41", "--cluster-dns=10.96.0.10 "] {
        check(64, "kubelet.service", unit, piece, "lint kubelet.service");
    }
}

#[test]
fn results_are_made_one_by_one() {
    let piece = "nameserver 127.0.0.53 # kdns: ignore\n";
    check(
        110,
        "resolv.conf",
        "",
        piece,
        "lint --format sarif resolv.conf",
    );
}

/// Each is short, and after some only their number is told.
#[test]
fn broken_scenarios_are_told_of_boundedly() {
    let long = format!("{{\"{}\":1}}\n", "x".repeat(80_000));
    for piece in ["{\"name\":1}\n", "x\n", &long] {
        let arguments = "explain --scenario cases.jsonl";
        let output = limited(64, "cases.jsonl", "", piece, arguments);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.len() < 64 << 10, "{} bytes", err.len());
        let count = (MIB - 1) / piece.len();
        let more = format!("{} more", count.saturating_sub(100));
        assert!(count <= 100 || err.contains(&more), "{more}: {err}");
    }
}
