//! What does not end, and what is none of what it is given for.

use std::fs::{self, File};
use std::io::Read as _;
use std::process::Stdio;
use std::time::Instant;

use crate::{PATIENCE, check_refused, folder, kdns, run};

/// Zeros without an end of a line, which take no room on a disk.
#[test]
fn what_does_not_end_is_given_up() {
    let folder = folder();
    let path = folder.path();
    let endless = File::create(path.join("endless")).unwrap();
    endless.set_len(3 << 30).unwrap();
    let report = "{\"format\":1,\"node\":\"a\",\"verdict\":\"no loop\",\"now\":\"no loop\",\"next_start\":\"no loop\"}\n";
    fs::write(path.join("report"), report).unwrap();
    let merged = run(path, &["report", "merge", "report", "endless"]);
    let reason = "endless has no report in 1 GiB: its rest was not read";
    assert_eq!(merged.status, 2, "{}", merged.out);
    assert!(merged.out.contains(reason), "{}", merged.out);
    assert!(merged.out.contains("1 node"), "{}", merged.out);
    let reason = "endless is no log: it is a binary file";
    check_refused(path, &["why", "--log", "endless"], reason);
    fs::write(path.join("line"), "x".repeat(4096)).unwrap();
    let line = File::options().write(true).open(path.join("line")).unwrap();
    line.set_len(3 << 30).unwrap();
    let reason = "line is no log: it has a line of 1 GiB";
    check_refused(path, &["why", "--log", "line"], reason);
    let reason = "cannot read endless: line 1 is longer than 64 MiB, which no rule is";
    check_refused(path, &["path", "192.0.2.1", "--rules", "endless"], reason);
    let reason = "endless is no resolv.conf: it is a binary file";
    check_refused(path, &["explain", "web", "--file", "endless"], reason);
    let reason = "cannot read endless: it is longer than 1 MiB";
    check_refused(
        path,
        &["lint", "--config", "endless", "resolv.conf"],
        reason,
    );
}

#[test]
fn two_directories_without_a_node_are_not_alike() {
    let folder = folder();
    for name in ["a", "b"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let ended = run(folder.path(), &["diff", "a", "b"]);
    assert_eq!(ended.status, 2, "{}", ended.out);
    assert_eq!(
        ended.err,
        "kdns: neither of the two holds anything of a node\n"
    );
}

#[test]
fn noise_is_no_resolv_conf() {
    let folder = folder();
    let noise = (0..4096_u32).map(|it| (it * it).to_le_bytes()[1] | 0x80);
    let noise: Vec<u8> = noise.collect();
    fs::write(folder.path().join("noise"), noise).unwrap();
    let reason = "noise is no resolv.conf: it is a binary file";
    check_refused(
        folder.path(),
        &["explain", "web", "--file", "noise"],
        reason,
    );
}

/// Whatever is piped in, and however much, it is not kept in memory for ever.
#[test]
fn endless_input_ends() {
    let folder = folder();
    for option in ["--file", "--scenario"] {
        let mut command = kdns(folder.path());
        command.arg("explain").args([option, "-"]);
        if option == "--file" {
            command.arg("web");
        }
        let start = Instant::now();
        let zero = File::open("/dev/zero").unwrap();
        let mut child = command
            .stdin(zero)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        child.wait().unwrap();
        assert!(start.elapsed() < PATIENCE, "{option}");
        let said = ["it is a binary file", "more than 64 MiB"];
        assert!(
            said.iter().any(|part| text.contains(part)),
            "{option}: {text:.200}"
        );
    }
}
