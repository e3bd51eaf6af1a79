//! Where results go.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Stdio;

use crate::{check_refused, folder, kdns, run, run_as_nobody};

#[test]
fn a_full_disk_is_an_error() {
    let folder = folder();
    for args in [
        &["explain", "web", "--file", "resolv.conf"][..],
        &[
            "explain",
            "web",
            "--file",
            "resolv.conf",
            "--format",
            "json",
        ],
        &["schema", "explain"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
        &["dig", "-h"],
        &["dig", "@127.0.0.1", "-p", "9", "+tries=1", "web"],
    ] {
        let mut command = kdns(folder.path());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.args(args).stdout(full).output().unwrap();
        let expected = if args.contains(&"dig") { 10 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "kdns: cannot write standard output: no space left on device\n",
            "{args:?}"
        );
    }
}

/// Root could replace the machine's own devices, so nobody tries it.
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = folder();
    let explain = ["explain", "web", "--file", "resolv.conf", "--output"];
    let try_device = |device| {
        let args = [&explain[..], &[device]].concat();
        if nix::unistd::geteuid().is_root() {
            return run_as_nobody(folder.path(), &args);
        }
        Some(run(folder.path(), &args))
    };
    if let Some(ended) = try_device("/dev/full") {
        assert_eq!(ended.status, 2);
        let expected = "kdns: cannot write /dev/full: no space left on device\n";
        assert_eq!(ended.err, expected);
    }
    if let Some(ended) = try_device("/dev/null") {
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    }
}

#[test]
fn a_read_only_directory_keeps_its_file() {
    let folder = folder();
    let report = folder.path().join("report");
    fs::write(&report, "old").unwrap();
    // As root only: nobody else can.
    let _ = chown(&report, Some(65_534), Some(65_534));
    let args = [
        "explain",
        "web",
        "--file",
        "resolv.conf",
        "--output",
        "report",
    ];
    if let Some(ended) = run_as_nobody(folder.path(), &args) {
        assert_eq!(ended.status, 2);
        assert_eq!(
            ended.err,
            "kdns: cannot write report: permission denied (needs root)\n"
        );
        assert_eq!(fs::read(folder.path().join("report")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["report", "resolv.conf"]);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| name(entry.unwrap()))
        .collect();
    names.sort();
    names
}

#[test]
fn outputs_are_whole_or_not_there() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("target"), "old").unwrap();
    fs::set_permissions(path.join("target"), Permissions::from_mode(0o640)).unwrap();
    symlink("target", path.join("link")).unwrap();
    symlink("nowhere", path.join("dangling")).unwrap();
    let explain = ["explain", "web", "--file", "resolv.conf"];
    let to = |words: &[&'static str]| [&explain[..], words].concat();

    // Nothing is written through a link; a file keeps its mode.
    check_refused(
        path,
        &to(&["--output", "link"]),
        "cannot write link: link is a link, and nothing is written through one; it leads to ",
    );
    assert_eq!(fs::read(path.join("target")).unwrap(), b"old");
    let ended = run(path, &to(&["--output", "target"]));
    assert_eq!((ended.status, ended.out.as_str()), (0, ""), "{}", ended.err);
    assert!(
        fs::read_to_string(path.join("target"))
            .unwrap()
            .starts_with("web costs ")
    );
    let mode = fs::metadata(path.join("target"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);

    check_refused(
        path,
        &to(&["--output", "dangling"]),
        "cannot write dangling: dangling is a link, and nothing is written through one",
    );
    check_refused(
        path,
        &to(&["--output", "."]),
        "cannot write .: is a directory",
    );
    check_refused(
        path,
        &to(&["--output", "missing/x"]),
        "cannot write missing/x: no such file",
    );
    check_refused(
        path,
        &to(&["--output", "target/x"]),
        "cannot write target/x: not a directory",
    );
    assert_eq!(names(path), ["dangling", "link", "resolv.conf", "target"]);
}

/// A report of yesterday is better than one that says that all is well.
#[test]
fn files_for_people_stay_where_nothing_could_be_done() {
    let folder = folder();
    let path = folder.path();
    for words in [
        &["explain", "web", "--file", "missing"][..],
        &["pod-file", "--node-file", "missing", "--policy", "Default"],
        &["check-loop", "--root", "missing"],
        &["lint", "missing"],
        &["lint", "missing", "--format", "concise"],
        &["lint", "resolv.conf", "--config", "missing"],
    ] {
        fs::write(path.join("report"), "as before").unwrap();
        let ended = run(path, &[words, &["--output", "report"]].concat());
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{words:?}");
        assert!(ended.err.starts_with("kdns: "), "{words:?}: {}", ended.err);
        let report = fs::read_to_string(path.join("report")).unwrap();
        assert_eq!(report, "as before", "{words:?}");
    }
}

#[test]
fn one_run_writes_several_formats() {
    let folder = folder();
    let path = folder.path();
    let explain = [
        "explain",
        "web",
        "--file",
        "resolv.conf",
        "--format",
        "json",
    ];
    let words = [
        "--output", "a", "--format", "jsonl", "--output", "b", "--format", "text",
    ];
    let ended = run(path, &[&explain[..], &words, &["--output", "-"]].concat());
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.starts_with("web costs "));
    let read = |file| fs::read_to_string(path.join(file)).unwrap();
    assert!(read("a").starts_with("{\n"));
    assert_eq!(read("b").lines().count(), 3);
    assert_eq!(names(path), ["a", "b", "resolv.conf"]);
    let ended = run(path, &[&explain[..], &["--format", "jsonl"]].concat());
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    let part = "only one format can go to standard output";
    assert!(ended.err.contains(part), "{}", ended.err);
}

#[test]
fn a_failed_run_says_so_in_every_format() {
    let folder = folder();
    let words = [
        "--format", "json", "--output", "a", "--format", "jsonl", "--output", "b",
    ];
    let args = [&["explain", "web", "--file", "missing"][..], &words].concat();
    let ended = run(folder.path(), &args);
    assert_eq!(ended.status, 2);
    let message = "cannot read missing: no such file or directory";
    assert_eq!(ended.err, format!("kdns: {message}\n"));
    for file in ["a", "b"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(message), "{text}");
    }
}

/// One pass for all formats, so that standard input is enough.
#[test]
fn scenarios_from_standard_input_go_to_every_output() {
    let folder = folder();
    let input = "{\"id\":\"one\",\"name\":\"a\"}\nbroken\n{\"id\":\"two\",\"name\":\"b\"}\n";
    let mut child = kdns(folder.path())
        .args(["explain", "--scenario", "-", "--resolver", "dig"])
        .args([
            "--format", "json", "--output", "a", "--format", "jsonl", "--output", "b",
        ])
        .args(["--format", "text"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("kdns: <stdin>:2:1: "), "{err}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches("Scenario ").count(), 2, "{text}");
    let documents = fs::read_to_string(folder.path().join("a")).unwrap();
    let documents: Vec<serde_json::Value> = serde_json::from_str(&documents).unwrap();
    let cases: Vec<&str> = documents
        .iter()
        .map(|it| it["case"].as_str().unwrap())
        .collect();
    assert_eq!(cases, ["one", "2", "two"]);
    let lines = fs::read_to_string(folder.path().join("b")).unwrap();
    assert_eq!(lines.lines().count(), 3);
}
