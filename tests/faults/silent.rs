//! What `explain`, `check-loop`, `lint` and their like do not do, by the
//! system calls that `strace` sees of all of their threads.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;

use crate::lab::{KDNS, Other, behind, testdata};
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let needs = ["strace", "setpriv"];
    vec![
        trial("silent::explain", &needs, explain),
        trial("silent::check-loop", &needs, check_loop),
        trial("silent::lint", &needs, lint),
        trial("silent::lint follows no link out of a tree", &[], links),
        trial("silent::what else reads a node", &needs, readers),
        trial(
            "silent::capabilities are given up in the target",
            &needs,
            capabilities,
        ),
    ]
}

/// The system calls of a run that change files or start programs.
fn forbidden(calls: &str) -> Vec<&str> {
    let mut starts = 0;
    let is_forbidden = |line: &&str| {
        let call = line.split_once('(').map_or("", |it| it.0);
        let call = call.rsplit(' ').next().unwrap_or_default();
        match call {
            "open" | "openat" | "openat2" => ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                .iter()
                .any(|flag| line.contains(flag)),
            // Itself, as a worker.
            "execve" if line.contains("\"/proc/self/exe\"") => false,
            "execve" => {
                starts += 1;
                starts > 1
            }
            // A worker is started by `posix_spawn`.
            "clone" | "clone3" => !line.contains("CLONE_THREAD") && !line.contains("CLONE_VFORK"),
            "ioctl" => line.contains("TCSET"),
            "access" | "faccessat" | "faccessat2" | "stat" | "lstat" | "newfstatat" | "statx"
            | "readlink" | "readlinkat" | "getcwd" | "statfs" | "fstat" | "exit" | "exit_group"
            | "wait4" | "vfork" | "chdir" | "" => false,
            // Ends of lines that began before, ends of processes.
            _ if line.contains("resumed>") || line.contains("+++") => false,
            _ => true,
        }
    };
    calls.lines().filter(is_forbidden).collect()
}

/// Runs kdns under strace, and holds it to that.
#[track_caller]
fn check(arguments: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let calls = directory.path().join("calls");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-s", "200", "-e", "signal=none", "-e"])
        .arg("trace=%file,%process,ioctl,ftruncate,fchmod,fchown,fallocate,mount,umount2")
        .arg("-o")
        .arg(&calls)
        .arg(KDNS)
        .args(arguments)
        .current_dir(testdata(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let status = output.status.code();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(status, Some(0..=2)),
        "{arguments:?}: {status:?} {said}"
    );
    let is_usage = said.contains("try '--help'");
    assert!(!is_usage, "{arguments:?} does nothing: {said}");
    let calls = fs::read_to_string(calls).unwrap();
    assert!(calls.contains("execve("), "strace saw nothing: {said}");
    let forbidden = forbidden(&calls);
    assert!(
        forbidden.is_empty(),
        "{arguments:?}:\n{}",
        forbidden.join("\n")
    );
}

fn explain() {
    check(&["explain", "web"]);
    check(&[
        "explain",
        "web.prod",
        "--resolver",
        "all",
        "--format",
        "json",
    ]);
    check(&["explain", "web", "--target", "1"]);
    check(&[
        "explain",
        "--scenario",
        "vectors/regressions.jsonl",
        "--format",
        "jsonl",
    ]);
    for node in ["cluster-loop", "hostile-links-out", "resolved-stub"] {
        check(&["explain", "web", "--root", &format!("nodes/{node}")]);
    }
}

fn check_loop() {
    check(&["check-loop"]);
    for format in ["text", "json", "sarif", "prometheus"] {
        check(&[
            "check-loop",
            "--root",
            "nodes/cluster-loop",
            "--format",
            format,
        ]);
    }
    let nodes = fs::read_dir(testdata("nodes")).unwrap();
    let mut nodes: Vec<_> = nodes.map(|it| it.unwrap().path()).collect();
    nodes.retain(|it| it.is_dir());
    nodes.sort();
    assert!(nodes.len() > 50, "{}", nodes.len());
    for node in nodes.iter().step_by(7) {
        check(&["check-loop", "--root", node.to_str().unwrap()]);
    }
}

fn lint() {
    check(&["lint", "lint-real"]);
    check(&["lint", "lint", "--format", "sarif"]);
    check(&["lint", "lint-real", "--diff"]);
    check(&["lint", "--root", "nodes/kubeadm"]);
}

/// Neither a link to a file nor one to a folder.
fn links() {
    let folder = tempfile::tempdir().unwrap();
    let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
    fs::create_dir_all(&tree).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let bad = "nameserver 10.0.0.1\nnameserver 10.0.0.1\noptions ndot:5\n";
    fs::write(outside.join("resolv.conf"), bad).unwrap();
    let run = |path: &Path| behind(&[], &["lint".as_ref(), path.as_os_str()]);
    assert_eq!(run(&outside).status, 1, "there is something to find");
    symlink(&outside, tree.join("folder")).unwrap();
    symlink(outside.join("resolv.conf"), tree.join("resolv.conf")).unwrap();
    let ended = run(&tree);
    let all = format!("{}{}", ended.out, ended.err);
    assert!(
        !all.contains("ndot:5") && !all.contains("outside"),
        "{ended:?}"
    );
}

fn readers() {
    check(&["pods"]);
    check(&["pods", "--root", "nodes/cri-o", "--format", "json"]);
    check(&["upstream"]);
    check(&["upstream", "--root", "nodes/resolved-stub"]);
    check(&["rule", "KR001"]);
    check(&["schema", "explain"]);
    check(&["completions", "bash"]);
    check(&["dig", "+short", "-v"]);
}

/// In the namespaces of a target, what the network sends is read without the
/// right to do anything else.
fn capabilities() {
    let status = |arguments: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let calls = directory.path().join("calls");
        Command::new("strace")
            .args([
                "-f",
                "-qq",
                "-e",
                "trace=setns,capset,socket,connect,sendto,recvfrom,sendmmsg,sendmsg",
            ])
            .arg("-o")
            .arg(&calls)
            .arg(KDNS)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fs::read_to_string(calls).unwrap()
    };
    let other = Other::start();
    let pid = other.0.id().to_string();
    let calls = status(&[
        "nsenter",
        &pid,
        "dig",
        "@127.0.0.1",
        "-p",
        "9",
        "+tries=1",
        "+time=1",
        "web",
    ]);
    let lines: Vec<&str> = calls.lines().collect();
    let at = |call: &str| lines.iter().position(|it| it.contains(call));
    let (entered, asked) = (at("setns(").unwrap(), at("sin_port").unwrap());
    assert!(entered < asked, "{calls}");
    // The last of them before anything is sent is about all sets.
    let between = &lines[entered..asked];
    let dropped = between.iter().rfind(|it| it.contains("capset(")).unwrap();
    let effective = dropped.split_once("effective=").unwrap().1;
    for capability in [
        "CAP_SYS_ADMIN",
        "CAP_SYS_PTRACE",
        "CAP_DAC_OVERRIDE",
        "CAP_SYS_CHROOT",
    ] {
        assert!(!effective.contains(capability), "{dropped}");
    }
}
