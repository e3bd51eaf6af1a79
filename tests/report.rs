//! `kdns report merge` with the reports of many nodes: memory that does not
//! grow with them, order that does not matter, input that nobody wrote.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

/// Groups in a cluster of [`line`]s: by how the kubelet is set up, and by
/// verdict.
const KINDS: usize = 7;

/// The report of a node, with pods and ids that only this node has.
fn line(number: usize) -> String {
    let kind = number % KINDS;
    let pod = format!("coredns-5d78c9869d-{:05x}", number.wrapping_mul(7919));
    let uid = format!("{number:08x}-1111-4111-8111-{number:012x}");
    let (verdict, end) = match kind {
        0 => ("loop", "cycle"),
        1 => ("unknown", "unknown"),
        _ => ("no loop", "outside"),
    };
    let hop = json!({
        "who": format!("CoreDNS (pod kube-system/{pod})"), "network": "in the pod's network",
        "sends_to": if kind == 0 { "127.0.0.53:53".to_owned() } else { format!("10.{}.0.2:53", number % 250) },
        "file": format!("/var/lib/kubelet/pods/{uid}/Corefile"), "line": 1, "column": 1,
        "proof": [{"file": "/x", "line": 1, "column": 1, "text": "y".repeat(2000)}]
    });
    let missing = format!("/etc/resolv.conf of CoreDNS (pod kube-system/{pod}) has no name server");
    let value = json!({
        "format": 1, "node": format!("node-{number:05}"), "verdict": verdict, "now": "no loop",
        "next_start": verdict, "headline": "x", "chain": [hop], "fix": null, "evidence": [],
        "setup": {
            "resolv_conf": format!("/etc/resolv.{kind}"), "resolv_conf_from": "a file",
            "leads_to": "/x", "name_servers": ["10.0.0.2"], "on_node": [], "forwards": []
        },
        "chains": [{"when": "now", "zone": ".", "hops": [hop], "end": end, "share": {"ways": 1, "of": 1}}],
        "missing": [missing], "remarks": [], "skipped": [], "errors": []
    });
    value.to_string()
}

fn start(arguments: &[&str]) -> Child {
    Command::new(KDNS)
        .args(["report", "merge"])
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn merge(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments);
    // It ends early where there is nothing to read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn document(input: &[u8]) -> (Value, i32) {
    let output = merge(&["-", "--format", "json"], input);
    let value = serde_json::from_slice(&output.stdout).unwrap();
    (value, output.status.code().unwrap())
}

/// The memory of its own that it has when it has read `nodes` reports, each
/// `times` times, in KiB; and what it says. The pages of the program's file,
/// which count in `VmHWM`, come and go as the kernel likes.
fn memory(nodes: usize, times: usize) -> (u64, Value) {
    let mut child = start(&["-", "--format", "json"]);
    let mut input = child.stdin.take().unwrap();
    for number in (0..times).flat_map(|_| 0..nodes) {
        writeln!(input, "{}", line(number)).unwrap();
    }
    // It waits for more: all is read.
    thread::sleep(Duration::from_millis(500));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let own = status
        .lines()
        .find_map(|it| it.strip_prefix("RssAnon:"))
        .unwrap();
    let own = own.trim().trim_end_matches(" kB").parse().unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    (own, serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn memory_does_not_grow_with_the_nodes() {
    let (few, _) = memory(1000, 1);
    let (many, all) = memory(10_000, 1);
    assert_eq!(all["nodes"], json!(10_000));
    assert_eq!(all["groups"].as_array().unwrap().len(), KINDS);
    // 50 MB more were read. What is kept of a node is 17 bytes in a table that
    // doubles, and 25 in another one: some 700 KiB, and as they grow the old ones beside.
    assert!(many < few + 1280, "{few} KiB, then {many} KiB");
    let (again, all) = memory(1000, 5);
    assert_eq!(all["repeated"], json!(4000));
    assert!(again < few + 256, "{few} KiB, then {again} KiB");
}

#[test]
fn the_order_of_reports_does_not_matter() {
    let mut lines: Vec<String> = (0..400).map(line).collect();
    let (expected, status) = document(lines.join("\n").as_bytes());
    assert_eq!(status, 1);
    let mut seed = 20_261_121_u64;
    for _ in 0..5 {
        for index in (1..lines.len()).rev() {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let other = usize::try_from(seed >> 33).unwrap() % (index + 1);
            lines.swap(index, other);
        }
        let (shuffled, _) = document(lines.join("\n").as_bytes());
        assert_eq!(shuffled, expected);
    }
    // Nor in how many files they are.
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = lines.split_at(123);
    let files = [("one", one), ("other", other)].map(|(name, lines)| {
        let path = directory.path().join(name);
        fs::write(&path, lines.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let output = merge(&[&files[0], &files[1], "--format", "json"], b"");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value, expected);
}

#[test]
fn statuses() {
    let clean = line(2);
    let unknown = line(1);
    let found = line(0);
    let other = line(3);
    for (lines, options, expected) in [
        (&[&clean][..], &[][..], 0),
        (&[&clean, &other], &[], 0),
        (&[&clean, &other], &["--fail-on", "info"], 1),
        (&[&clean], &["--fail-on", "info"], 0),
        (&[&clean, &unknown], &[], 2),
        (&[&clean, &unknown, &found], &[], 1),
        (&[&clean, &found, &"{".to_owned()], &[], 1),
        (&[&clean, &"{".to_owned()], &[], 2),
        (&[&clean, &"{".to_owned()], &["--exit-zero"], 0),
        (&[&found], &["--exit-zero"], 0),
        (&[], &[], 2),
        (&[&"no report".to_owned()], &[], 2),
    ] {
        let mut text = String::new();
        for line in lines {
            writeln!(text, "{line}").unwrap();
        }
        for format in ["text", "json"] {
            let words = [&["-", "--format", format], options].concat();
            let output = merge(&words, text.as_bytes());
            assert_eq!(output.status.code(), Some(expected), "{options:?} {text}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_stop_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let good = directory.path().join("good");
    fs::write(&good, line(2)).unwrap();
    let good = good.to_str().unwrap();
    let folder = directory.path().to_str().unwrap();
    let output = merge(&["/not-there/x", folder, "-", "-", good], b"x\n");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "1 node: 1 no loop.",
        "cannot read /not-there/x: ",
        "it is a directory",
        "standard input",
        "1 line is no report of kdns; the first one is <stdin>:1.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn hostile_input() {
    let good = line(2);
    let long = "x".repeat(4_200_000);
    let inside = format!("{{\"verdict\":\"{long}\"}}");
    let megabyte = good.replace(
        "\"headline\":\"x\"",
        &format!("\"headline\":\"{}\"", "y".repeat(1_000_000)),
    );
    for (bad, errors) in [
        (long.as_bytes(), 1),
        (inside.as_bytes(), 1),
        (megabyte.as_bytes(), 0),
        (b"\0\0\0{\0", 0),
        (b"\0\0\0{\"verdict\0", 1),
        (b"\xff\xfe{\"verdict\":\"\xff\",\"next_start\":\"x\"}", 1),
        (b"{\"verdict\":1e999,\"next_start\":\"x\"}", 1),
        (b"{\"verdict\":1e999}", 0),
        (b"{\n{\n{\n", 3),
        (b"}}}}\x1b[31m", 0),
    ] {
        let input = [bad, b"\n", good.as_bytes(), b"\n"].concat();
        let (value, _) = document(&input);
        assert_eq!(value["nodes"], json!(1));
        assert_eq!(
            value["errors"].as_array().unwrap().len(),
            errors,
            "{}",
            value["errors"]
        );
        let output = merge(&["-"], &input);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(['\u{1b}', '\0']), "{text}");
    }
    let hostile = good.replace("node-00002", "a\\u001b[31m\\nb\\u202e");
    let output = merge(&["-"], hostile.as_bytes());
    let text = String::from_utf8(output.stdout).unwrap();
    let is_harmless = |c| c == '\n' || !kdns::text::is_unprintable(c);
    assert!(text.chars().all(is_harmless), "{text}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = start(&["-", "--format", "json"]);
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    for number in 0..200 {
        writeln!(input, "{}", line(number)).unwrap();
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

/// What check-loop writes for every node of the tests is read.
#[test]
fn reports_of_all_nodes_are_read() {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let mut roots: Vec<_> = fs::read_dir(nodes)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    roots.retain(|it| it.is_dir());
    for format in ["jsonl", "json"] {
        let mut input = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            let output = Command::new(KDNS)
                .args(["check-loop", "--format", format, "--node-name"])
                .arg(format!("n{number}"))
                .arg("--root")
                .arg(root)
                .env_clear()
                .output()
                .unwrap();
            if format == "jsonl" {
                assert_eq!(output.stdout.iter().filter(|it| **it == b'\n').count(), 1);
            }
            input.extend(output.stdout);
        }
        let (value, status) = document(&input);
        assert_eq!(value["nodes"], json!(roots.len()));
        assert_eq!((&value["errors"], status), (&json!([]), 1));
    }
}
