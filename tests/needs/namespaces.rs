//! Namespaces of a trial's own, and programs that set something up there.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs this program once more with these words, in namespaces that end with it.
#[track_caller]
pub(crate) fn in_namespaces(words: &[&str]) {
    let kinds = "--mount --net --pid --fork --kill-child --mount-proc";
    let output = Command::new("unshare")
        .args(kinds.split(' '))
        .arg(std::env::current_exe().unwrap())
        .args(words)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Gives a program its input, which it must like.
#[track_caller]
pub(crate) fn feed(program: &[&str], input: &str) {
    let (first, rest) = program.split_first().unwrap();
    let mut child = Command::new(first)
        .args(rest)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}\n{input}\n{said}");
}
