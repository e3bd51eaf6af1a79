//! Which status a run ends with, and which options are refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use kdns::text::is_unprintable;

use crate::{folder, run};

const COREFILE: &str = ".:53 {\n forward . /etc/resolv.conf\n loop\n}\n";

/// Fails with status 2 before anything is read; `part` is in the message,
/// which has nothing that could steer a terminal.
fn check_usage(directory: &Path, args: &[&str], part: &str) {
    let ended = run(directory, args);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{args:?}");
    assert!(ended.err.starts_with("error: "), "{}", ended.err);
    assert!(ended.err.contains(part), "{part}: {}", ended.err);
    let is_odd = |c: char| c != '\n' && is_unprintable(c);
    assert!(!ended.err.chars().any(is_odd), "{:?}", ended.err);
}

/// Files alone: a loop, its opposite, and no answer.
#[test]
fn the_threshold_decides_the_status_and_not_the_output() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("loop.conf", "nameserver 127.0.0.53\n");
    write("good.conf", "nameserver 192.0.2.53\n");
    write("Corefile", COREFILE);
    let check = |file: &str, more: &[&str], expected: i32| {
        let mut args = vec!["check-loop", "--node-file", file, "--corefile", "Corefile"];
        args.extend(more);
        let ended = run(folder.path(), &args);
        assert_eq!(ended.status, expected, "{args:?}: {}", ended.err);
    };
    for level in ["error", "warning", "info"] {
        check("loop.conf", &["--fail-on", level], 1);
        check("good.conf", &["--fail-on", level], 0);
        check("loop.conf", &["--fail-on", level, "--exit-zero"], 0);
    }
    check("loop.conf", &["--fail-on", "sometimes"], 2);
}

#[test]
fn other_commands_have_the_threshold_too() {
    let folder = folder();
    let many = "nameserver 192.0.2.1
nameserver 192.0.2.2\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n";
    fs::write(folder.path().join("many.conf"), many).unwrap();
    fs::create_dir(folder.path().join("etc")).unwrap();
    symlink("/nowhere", folder.path().join("etc/resolv.conf")).unwrap();
    let check = |args: &[&str], expected: i32| {
        let ended = run(folder.path(), args);
        assert_eq!(ended.status, expected, "{args:?}: {}", ended.err);
    };
    let cut = [
        "pod-file",
        "--policy",
        "Default",
        "--node-file",
        "many.conf",
    ];
    check(&cut, 0);
    check(&[&cut[..], &["--fail-on", "info"]].concat(), 1);
    let refused = [
        "pod-file",
        "--policy",
        "None",
        "--node-file",
        "many.conf",
        "--kubelet-arg",
    ];
    check(&[&refused[..], &["--cluster-dns"]].concat(), 1);
    check(
        &[&refused[..], &["--cluster-dns", "--exit-zero"]].concat(),
        0,
    );
    check(&["upstream", "--root", "."], 1);
    check(&["upstream", "--root", ".", "--exit-zero"], 0);
}

#[test]
fn a_kubelet_that_does_not_start_starts_no_pod() {
    let folder = folder();
    fs::write(
        folder.path().join("wrong.yaml"),
        "kind: KubeletConfiguration\n",
    )
    .unwrap();
    let check = |more: &[&str], sentence: &str| {
        let mut args = vec!["pod-file", "--node-file", "resolv.conf"];
        args.extend(more);
        let ended = run(folder.path(), &args);
        assert_eq!((ended.status, ended.out.as_str()), (1, ""), "{args:?}");
        assert_eq!(ended.err, format!("kdns: no pod starts: {sentence}\n"));
    };
    check(
        &["--kubelet-arg", "--resolv-conf"],
        "the kubelet does not start with --resolv-conf at the end of its arguments: it needs a value",
    );
    check(
        &["--kubelet-arg=-cluster-dns=10.0.0.1"],
        "the kubelet does not start with -cluster-dns=10.0.0.1: the flag has two dashes",
    );
    check(
        &["--kubelet-config", "wrong.yaml"],
        "wrong.yaml:1:1: the kubelet does not start with this file: it needs apiVersion \
         kubelet.config.k8s.io/v1beta1 and kind KubeletConfiguration",
    );
}

#[test]
fn one_file_takes_one_format() {
    let folder = folder();
    fs::create_dir(folder.path().join("d")).unwrap();
    symlink("out", folder.path().join("link")).unwrap();
    fs::write(folder.path().join("out"), "old").unwrap();
    for (first, second) in [("new", "new"), ("new", "d/../new"), ("out", "link")] {
        let args = [
            "check-loop",
            "--format",
            "json",
            "--output",
            first,
            "--format",
            "sarif",
            "--output",
            second,
        ];
        check_usage(folder.path(), &args, "more than once");
    }
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"old");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn versions_and_addresses_are_what_they_say() {
    let folder = folder();
    let check = |args: &[&str], part: &str| check_usage(folder.path(), args, part);
    check(
        &["pod-file", "--kubelet-version", "1.29\u{1b}[31m"],
        "\\u{1b}[31m",
    );
    check(
        &["pod-file", "--kubelet-version", "1.29\u{202e}"],
        "\\u{202e}",
    );
    check(
        &["pod-file", "--runtime", "containerd@"],
        "containerd@1.6.20 would be",
    );
    check(
        &["pod-file", "--cluster-dns", "fe80::1%eth0"],
        "no address with a scope",
    );
    check(&["upstream", "fe80::1%"], "fe80::1%eth0 would be");
    let ended = run(folder.path(), &["upstream", "fe80::1%eth0", "--root", "."]);
    assert!(
        ended.out.contains("fe80::1 is "),
        "{}{}",
        ended.out,
        ended.err
    );
}

/// A target has files of its own; on the node each program has.
#[test]
fn who_is_watched_has_files_of_its_own() {
    let folder = folder();
    for who in ["1", "--node"] {
        for option in ["--file", "--pod", "--namespace"] {
            let args = ["watch", who, option, "x"];
            check_usage(folder.path(), &args, "cannot be used with");
        }
    }
}

/// kubectl runs plugins by their own names; what it shows is what one types.
#[test]
fn a_plugin_of_kubectl_names_itself_as_one_types_it() {
    let folder = folder();
    let plugin = folder.path().join("kubectl-kdns");
    symlink(env!("CARGO_BIN_EXE_kdns"), &plugin).unwrap();
    for (args, usage) in [
        (&["--help"][..], "Usage: kubectl kdns [OPTIONS] <COMMAND>"),
        (&["explain", "--help"], "Usage: kubectl kdns explain"),
    ] {
        let output = std::process::Command::new(&plugin).args(args).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(text.contains(usage), "{text}");
    }
}
