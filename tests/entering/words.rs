//! What people and scripts write in the place of a target and of a command,
//! and what an enemy would.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::lab::{KDNS, Running, explains, kdns, result};
use crate::places::shell;

/// One sentence, and the status of what cannot be entered.
#[track_caller]
fn not_entered(target: &str, expected: &str) {
    let (status, out, err) = kdns(&["nsenter", target, "--", "echo", "ran"]);
    assert_eq!((status, out.as_str()), (125, ""), "{target}: {err}");
    let is_one = err.lines().count() == 1 && err.starts_with("kdns: ");
    assert!(is_one && err.contains(expected), "{target}: {err}");
    assert!(!err.contains('\u{1b}'), "{err}");
    let (status, out, err) = kdns(&["nsenter", target, "explain", "db"]);
    assert_eq!((status, out.as_str()), (2, ""), "{target}: {err}");
    assert!(err.contains(expected), "{target}: {err}");
}

pub(crate) fn targets() {
    let process = Running::script(&["unshare", "--net"], "true");
    let pid = process.pid();
    shell(
        "ip netns add blue; mkfifo /run/netns/fifo; touch /run/netns/file; ln -s blue /run/netns/link",
    );
    shell("ln -s nowhere /run/netns/dangling; ln -s loop /run/netns/loop");
    let of = |name: &str| format!("/proc/{pid}/{name}");
    not_entered("", "`` is no target");
    not_entered("0", "the ids of processes begin at 1");
    not_entered("4194305", "there is no process 4194305");
    not_entered("99999999", "there is no container or sandbox 99999999");
    not_entered("self", "there is no pod self");
    not_entered("\u{1b}[31mx", "\\u{1b}[31mx` is no target");
    not_entered("shop/web/main", "is no target");
    not_entered("pod/web", "there is no pod/web on this node");
    not_entered("containerd://", "an id has 8 to 64 hexadecimal digits");
    for kind in ["mnt", "user", "pid", "uts", "ipc", "cgroup"] {
        let link = of(&format!("ns/{kind}"));
        not_entered(&link, &format!("{link} is no network namespace"));
    }
    shell(&format!(
        "touch /run/netns/uts; mount --bind /proc/{pid}/ns/uts /run/netns/uts"
    ));
    not_entered("/run/netns/uts", "/run/netns/uts is no network namespace");
    not_entered(&of("ns"), "is no network namespace");
    not_entered(&of("root"), "is no network namespace");
    not_entered("/run/netns/fifo", "/run/netns/fifo is no network namespace");
    not_entered("/run/netns/file", "/run/netns/file is no network namespace");
    not_entered("/run/netns/dangling", "no such file");
    not_entered("/run/netns/loop", "too many");
    not_entered(
        "/run/netns/\u{1b}[31m",
        "/run/netns/\\u{1b}[31m: no such file",
    );
    not_entered("./nothing", "./nothing: no such file");
    // One that has ended, and its parent does not ask how.
    let zombie = Running::start(&mut Command::new("true"));
    zombie.wait_for("true");
    let stat = format!("/proc/{}/stat", zombie.pid());
    while !fs::read_to_string(&stat).unwrap().contains(") Z ") {
        thread::sleep(Duration::from_millis(5));
    }
    not_entered(&zombie.pid(), "it is a zombie");
    not_entered(&format!("/proc/{}/ns/net", zombie.pid()), "it is a zombie");
    let pid_before = Running::script(&["env"], "true").pid();
    not_entered(&pid_before, &format!("there is no process {pid_before}"));

    // These are targets: the first process, kdns itself, a thread's, a link.
    explains("1", &["on the node's network"]);
    let of_itself = "exec \"$0\" explain db --target $$ --format json";
    let (status, out, err) = result(&sh(of_itself).output().unwrap());
    assert_eq!(status, 0, "{out}{err}");
    let of_itself = "exec \"$0\" nsenter $$ -- sh -c 'test $$ = '$$";
    let (status, out, err) = result(&sh(of_itself).output().unwrap());
    assert_eq!(status, 0, "{out}{err}");
    explains(&of(&format!("task/{pid}/ns/net")), &["network namespace"]);
    explains("/run/netns/link", &["its programs read the node's"]);
    explains(&format!("00{pid}"), &[&format!("process {pid}")]);
}

/// The node of a debug pod is below `/host`, and is entered all the same.
pub(crate) fn below() {
    shell("mount -t tmpfs none /mnt; mkdir /mnt/node /mnt/empty; mount --rbind / /mnt/node");
    let process = Running::script(&["unshare", "--net"], "true");
    let (pid, node) = (process.pid(), "/mnt/node");
    let network = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    let run = [
        "nsenter",
        "--root",
        node,
        &pid,
        "--",
        "readlink",
        "/proc/self/ns/net",
    ];
    let (status, out, err) = kdns(&run);
    assert_eq!(
        (status, out.trim()),
        (0, network.to_str().unwrap()),
        "{err}"
    );
    let (status, out, err) = kdns(&["nsenter", &pid, "--root", node, "explain", "db"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains(&format!("process {pid} (")), "{out}");
    let dig = [
        "nsenter",
        "--root",
        node,
        &pid,
        "dig",
        "@127.0.0.1",
        "db",
        "+tries=1",
    ];
    let (status, out, err) = kdns(&dig);
    assert_eq!(status, 9, "{err}");
    assert!(
        out.starts_with(&format!(";; TARGET: process {pid} (")),
        "{out}"
    );
    for (words, failed) in [
        (["--", "true"], 125),
        (["explain", "db"], 2),
        (["dig", "db"], 10),
    ] {
        let empty = ["nsenter", "--root", "/mnt/empty", &pid];
        let (status, out, err) = kdns(&[&empty[..], &words].concat());
        assert_eq!((status, out.as_str()), (failed, ""), "{err}");
        assert!(err.contains(&format!("there is no process {pid}")), "{err}");
    }
}

/// A kernel's thread: only where those of the machine are to be seen.
pub(crate) fn kernel_thread() {
    let comm = fs::read_to_string("/proc/2/comm").unwrap_or_default();
    if comm != "kthreadd\n" {
        return;
    }
    not_entered("2", "process 2 (kthreadd) is a thread of the kernel");
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, KDNS]);
    command
}

pub(crate) fn commands() {
    let process = Running::script(&["unshare", "--net"], "true");
    let pid = process.pid();
    usage(&pid);
    let status = |words: &[&str]| {
        let (status, _, err) = kdns(&[&["nsenter", &pid, "--"], words].concat());
        (status, err)
    };
    shell("printf '#!/no/such\\n' > /tmp/script; chmod 755 /tmp/script");
    for (command, expected) in [
        ("nosuch", 127),
        ("", 127),
        ("./nosuch", 127),
        ("--version", 127),
        ("/no/\u{1b}[31m", 127),
        ("/tmp/script", 127),
        ("/etc", 126),
        ("/etc/passwd", 126),
        ("/etc/passwd/x", 126),
    ] {
        let (found, err) = status(&[command]);
        assert_eq!(found, expected, "{command}: {err}");
        assert!(
            err.contains("kdns: cannot run ") && !err.contains('\u{1b}'),
            "{err}"
        );
    }
    for code in [0, 1, 2, 125, 126, 127, 255] {
        assert_eq!(status(&["sh", "-c", &format!("exit {code}")]).0, code);
    }
    // It is the command that has kdns' process: its end is the command's.
    for signal in ["TERM", "KILL", "PIPE", "SEGV", "INT"] {
        let script = format!("ulimit -c 0; kill -{signal} $$");
        let output = run(&pid, &["sh", "-c", &script]);
        let plain = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.signal(), plain.status.signal(), "{signal}");
    }
    streams(&pid);
}

/// Nothing to do there, or nothing that can be done.
fn usage(pid: &str) {
    for words in [
        &[][..],
        &[pid],
        &[pid, "--"],
        &[pid, "true"],
        &[pid, "explain"],
        &[pid, "explain", "a", "b", "c"],
        &[pid, "explain", "--nosuch", "a"],
        &["-t", pid, "true"],
    ] {
        let (status, out, err) = kdns(&[&["nsenter"], words].concat());
        assert_eq!((status, out.as_str()), (2, ""), "{words:?}: {err}");
        assert!(!err.is_empty());
    }
}

fn run(pid: &str, words: &[&str]) -> Output {
    let mut command = Command::new(KDNS);
    command
        .args(["nsenter", pid, "--"])
        .args(words)
        .output()
        .unwrap()
}

/// What the command gets from the caller is what it would have got.
fn streams(pid: &str) {
    let mut command = Command::new(KDNS);
    command
        .args(["nsenter", pid, "--", "cat"])
        .stdin(Stdio::piped());
    let mut cat = command.stdout(Stdio::piped()).spawn().unwrap();
    let text = "x".repeat(100_000);
    let mut input = cat.stdin.take().unwrap();
    let sent = text.clone();
    let writer = thread::spawn(move || input.write_all(sent.as_bytes()));
    let output = cat.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(output.stdout, text.as_bytes());
    // Nothing of kdns' is open, also where there is room below.
    let list =
        "for n in 3 4 5 6 7 8; do test ! -e /proc/$$/fd/$n || echo $n >&9; done; echo end >&9";
    fs::write("/tmp/list", list).unwrap();
    for close in ["", "<&-", ">&-", "<&- >&- 2>&-"] {
        let close_others = "3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>/tmp/fds";
        let script = format!("\"$0\" nsenter {pid} -- sh /tmp/list {close_others} {close}");
        sh(&script).output().unwrap();
        // The shell keeps its script open far above.
        let found = fs::read_to_string("/tmp/fds").unwrap();
        assert_eq!(found, "end\n", "{close}");
    }
    // Arguments, name and directory are as they were given.
    let odd = "a b\n'\u{1b}\"";
    let output = Command::new(KDNS)
        .arg0("anything")
        .args([
            "nsenter",
            pid,
            "--",
            "sh",
            "-c",
            "pwd; printf %s \"$1\"",
            "sh",
            odd,
        ])
        .current_dir("/usr/bin")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("/usr/bin\n{odd}")
    );
}
