//! Targets that end, whose number another process gets, and runs of kdns that
//! are killed in the middle.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kdns::host::node as reader;
use kdns::host::node::processes::{self, ProcessSeen};
use kdns::host::root::Root;
use kdns::kubelet::{Found, Kubelet};
use kdns::netns;
use kdns::topology::Network;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::lab::{KDNS, Running, kdns, result};
use crate::node::{self, Node};
use crate::places::root;

const VANISHED: &[&str] = &["has ended", "there is no process", "is a zombie"];

/// A process of this root, in a network and with a host name of its own.
fn start(root: &str, name: &str) -> Child {
    let mut command = Command::new("unshare");
    command.args(["--net", "--uts", "--mount", "chroot", root, "sh", "-ec"]);
    command.arg(format!("hostname {name}; exec sleep 1000"));
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null());
    let child = silent.stderr(Stdio::null()).spawn().unwrap();
    let comm = format!("/proc/{}/comm", child.id());
    while fs::read_to_string(&comm).unwrap() != "sleep\n" {
        thread::sleep(Duration::from_millis(1));
    }
    child
}

/// The next process gets this number: it must be free.
fn start_as(pid: u32, root: &str, name: &str) -> Child {
    fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
    let child = start(root, name);
    assert_eq!(child.id(), pid, "another process has taken the number");
    child
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The number of one process becomes that of another one, at some moment of a
/// run: all that kdns says is about one of them, or it says that it is gone.
pub(crate) fn reused_ids() {
    let [one, two] = ["one", "two"].map(|name| {
        let number = name.len() + usize::from(name == "two");
        let root = root(
            name,
            &format!("nameserver 10.0.0.{number}\nsearch {name}.test\n"),
        );
        fs::write(
            format!("{root}/etc/hosts"),
            format!("10.0.1.1 {name}-hosts\n"),
        )
        .unwrap();
        root
    });
    held(&one, &two);
    let length = duration(&one);
    let mut ends = Vec::new();
    for turn in 0..100 {
        ends.push(turn_of_hands(&one, &two, length * turn / 80));
    }
    let firsts = ends.iter().filter(|it| **it == "one").count();
    let gone = ends.iter().filter(|it| **it == "gone").count();
    assert!(firsts > 0 && gone > 0, "{ends:?}");
}

/// A kubelet with this argument.
fn kubelet(argument: &str) -> Child {
    const PROGRAM: &str = "/tmp/kubelet";
    const TEXT: &str = "#!/usr/bin/python3
import socket, sys, time
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if '/two' in sys.argv[1]: server.bind(('127.0.0.1', 53))
print('ready', flush=True)
time.sleep(1000)
";
    fs::write(PROGRAM, TEXT).unwrap();
    fs::set_permissions(PROGRAM, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg(format!("--resolv-conf={argument}"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.as_mut().unwrap();
    out.read_exact(&mut [0; 6]).unwrap();
    child
}

/// A process that was seen has ended, and another one has its number: nothing is
/// said of the first that is the second's.
pub(crate) fn reused_after_a_scan() {
    let root = Root::live().unwrap();
    let first = kubelet("/one");
    let pid = first.id();
    let (seen, _) = processes::scan(&root);
    let found = reader::kubelet::read_kubelet(&root, &seen, None).0.unwrap();
    assert_eq!(found.resolv_conf.value, "/one");
    assert!(!reader::kubelet::arguments(&root, &found).is_empty());
    end(first);
    fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).unwrap();
    let second = kubelet("/two");
    assert_eq!(second.id(), pid, "another process has taken the number");
    // What a root has read it remembers.
    let root = Root::live().unwrap();
    assert!(reader::kubelet::arguments(&root, &found).is_empty());
    assert!(reader::kubelet::own_root(&root, &found).is_none());
    let late = reader::kubelet::read_kubelet(&root, &seen, None).0;
    let is_running = |it: &Kubelet| matches!(it.found, Found::Process { .. });
    assert!(!late.as_ref().is_some_and(is_running), "{late:?}");
    let networks = [(Network::Node, 1)];
    let owner = |seen: &[ProcessSeen]| {
        let (listeners, _) = reader::sockets::read_listeners(&root, seen, &networks);
        listeners[0].owner.as_ref().map(|it| it.pid)
    };
    assert_eq!(owner(&seen), None);
    assert_eq!(owner(&processes::scan(&root).0), Some(pid));
    let own = Network::Pod("own".to_owned());
    assert_eq!(reader::sockets::of_process(&root, &seen, &own, pid), None);
    end(second);
}

/// A number changes hands so long after kdns has begun to look: whom its answer
/// is about.
fn turn_of_hands(one: &str, two: &str, after: Duration) -> &'static str {
    let first = start(one, "one");
    let pid = first.id();
    let mut look = Command::new(KDNS)
        .args(["explain", "db", "--target", &pid.to_string()])
        .args(["--save-scenario", "/tmp/saved"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    thread::sleep(after);
    // It waits while that happens, unless it is done.
    let reader = Pid::from_raw(i32::try_from(look.id()).unwrap());
    let runs = look.try_wait().unwrap().is_none();
    let signal = |signal| {
        if runs {
            kill(reader, signal).unwrap();
        }
    };
    signal(Signal::SIGSTOP);
    end(first);
    let second = start_as(pid, two, "two");
    signal(Signal::SIGCONT);
    let (status, out, err) = result(&look.wait_with_output().unwrap());
    end(second);
    if status == 0 {
        let saved = fs::read_to_string("/tmp/saved").unwrap();
        if is_all_of(&saved, &out, "one", "two") {
            return "one";
        }
        assert!(is_all_of(&saved, &out, "two", "one"), "{out}{saved}");
        return "two";
    }
    let is_said = VANISHED.iter().any(|it| err.contains(it)) && err.lines().count() == 1;
    assert!(status == 2 && is_said && out.is_empty(), "{status} {err}");
    "gone"
}

/// How long a look takes here.
fn duration(root: &str) -> Duration {
    let process = start(root, "one");
    let pid = process.id().to_string();
    let times = (0..5).map(|_| {
        let since = Instant::now();
        let (status, _, err) = kdns(&["explain", "db", "--target", &pid]);
        assert_eq!(status, 0, "{err}");
        since.elapsed()
    });
    let longest = times.max().unwrap();
    end(process);
    longest
}

/// Everything that was saved is of this one, and nothing of the other one.
fn is_all_of(saved: &str, said: &str, name: &str, other: &str) -> bool {
    let saved: Value = serde_json::from_str(saved).unwrap();
    let all = format!("{saved}{said}");
    let words = [format!("{name}.test"), format!("{name}-hosts")];
    let others = [format!("{other}.test"), format!("{other}-hosts")];
    let is_named = saved["hostname"] == name;
    is_named
        && words.iter().all(|it| all.contains(it.as_str()))
        && !others.iter().any(|it| all.contains(it.as_str()))
}

/// What is held is not the one that has the number later.
fn held(one: &str, two: &str) {
    let first = start(one, "one");
    let pid = first.id();
    let node = Root::live().unwrap();
    let aim = netns::aim(&node, &pid.to_string()).unwrap();
    let number = aim.namespace.as_ref().unwrap().number();
    let link = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    end(first);
    let second = start_as(pid, two, "two");
    let other = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert!(
        aim.expect_alive()
            .unwrap_err()
            .to_string()
            .contains("has ended")
    );
    assert!(aim.process().unwrap().root().is_err());
    let inside = aim.namespace.as_ref().unwrap().within(link).unwrap();
    assert_eq!(inside.display().to_string(), format!("net:[{number}]"));
    assert_ne!(inside, other);
    end(second);
}

/// A container that ends between the look and the entry: the command runs in
/// its network or not at all.
pub(crate) fn ends() {
    let node = Node::boot();
    let (mut entered, mut gone) = (0, 0);
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    for turn in 0..30 {
        let id = node.id(turn);
        let pid = node.container(&id, |_| {});
        let expected = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
        let target = if turn % 2 == 0 {
            pid.to_string()
        } else {
            id.clone()
        };
        let ender = thread::spawn(move || {
            thread::sleep(Duration::from_micros(u64::from(turn) * 300));
            node::kill(&id);
        });
        let words = ["nsenter", &target, "--", "readlink", "/proc/self/ns/net"];
        let (status, out, err) = kdns(&words);
        ender.join().unwrap();
        assert_ne!(out.trim(), own.to_str().unwrap());
        if status == 0 {
            assert_eq!(out.trim(), expected.to_str().unwrap());
            entered += 1;
        } else {
            let said = ["there is no container", "nothing of"];
            let is_said = VANISHED.iter().chain(&said).any(|it| err.contains(it));
            assert!(
                status == 125 && is_said && out.is_empty(),
                "turn {turn}: {status} {err}"
            );
            gone += 1;
        }
    }
    assert!(entered + gone == 30);
}

/// Whatever kdns is doing when it is killed, the caller is as before.
pub(crate) fn kills() {
    let own = root("box", "nameserver 10.5.5.5\nsearch box.test\n");
    let prefix = ["unshare", "--net", "--uts", "--mount", "chroot", &own];
    let target = Running::script(&prefix, "hostname inner");
    let pid = target.pid();
    let before = picture(&pid);
    let since = Instant::now();
    let runs: [&[&str]; 3] = [
        &["nsenter", &pid, "--", "sleep", "1000"],
        &[
            "nsenter",
            &pid,
            "--",
            "sh",
            "-c",
            "mount -t tmpfs x /etc; hostname evil; echo > /etc/hosts; sleep 1000",
        ],
        &[
            "explain",
            "db",
            "--target",
            &pid,
            "--save-scenario",
            "/tmp/saved",
        ],
    ];
    for words in runs {
        let mut command = Command::new(KDNS);
        command
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for turn in 0..50 {
            // In a group of its own: what it has started goes with it.
            let mut child = command.process_group(0).spawn().unwrap();
            thread::sleep(Duration::from_micros(turn * turn * 8));
            let group = Pid::from_raw(-i32::try_from(child.id()).unwrap());
            kill(group, Signal::SIGKILL).unwrap();
            child.wait().unwrap();
        }
        assert_eq!(picture(&pid), before, "{words:?}");
    }
    // And when nobody kills it.
    let (status, _, err) = kdns(&["nsenter", &pid, "--", "mount", "-t", "tmpfs", "x", "/srv"]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(picture(&pid), before);
    assert!(
        since.elapsed() < Duration::from_secs(60),
        "{:?}",
        since.elapsed()
    );
}

/// Namespaces, mounts, files and host names of this process and of the target.
fn picture(pid: &str) -> String {
    let script = format!(
        "for p in self {pid}; do for n in net mnt uts user pid ipc cgroup; do readlink /proc/$p/ns/$n; done
        sed 's/master:[0-9]* //' /proc/$p/mountinfo; done
        uname -n; nsenter -t {pid} -u uname -n
        find /etc /tmp/box/etc /mnt /run /srv -xdev -type f -exec sha256sum {{}} + | sort
        find /etc /tmp/box/etc /mnt /run /srv -xdev -printf '%p %y %m %u %l\\n' | sort"
    );
    let (status, out, err) = result(&Command::new("sh").args(["-c", &script]).output().unwrap());
    assert_eq!(status, 0, "{err}");
    out
}
