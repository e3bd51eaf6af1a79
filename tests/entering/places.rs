//! Namespaces, roots and files of all kinds.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use kdns::host::root::Root;
use kdns::netns;
use libtest_mimic::Trial;

use crate::dig;
use crate::lab::{KDNS, Running, alone, explains, kdns, refuses, result};
use crate::root::trial;
use crate::scenes;

const SCENES: &[&str] = &[
    "named namespaces",
    "roots of strangers",
    "processes that are none",
    "processes that vanish",
    "commands",
    "another user",
    "work inside",
    "dig in a process",
    "dig in a named namespace",
    "dig in a dead pod",
    "dig as another user",
];

pub(crate) fn trials() -> Vec<Trial> {
    let programs = ["unshare", "mount", "ip", "setpriv", "getent", "chroot"];
    let trial =
        |scene: &'static str| trial(&format!("places::{scene}"), &programs, || alone(scene, &[]));
    SCENES.iter().map(|scene| trial(scene)).collect()
}

/// Runs one scene; this is process 1 of its own pid namespace.
pub(crate) fn scene(name: &str) {
    fs::create_dir_all("/run/netns").unwrap();
    let own = std::env::current_exe().unwrap();
    let programs = [Path::new(KDNS), &own].map(|it| (it, fs::read(it).unwrap()));
    shell("mount -t tmpfs x /tmp; mount -t tmpfs x /run; mkdir /run/netns; hostname node-a");
    shell(
        "mkdir /tmp/up /tmp/work; mount -t overlay x -o lowerdir=/etc,upperdir=/tmp/up,workdir=/tmp/work /etc || mount --bind /etc /etc",
    );
    for (program, bytes) in programs {
        if !program.exists() {
            // The project itself lies below one of these.
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(program, bytes).unwrap();
            shell(&format!("chmod 755 {}", program.display()));
        }
    }
    if let Some(run) = scenes::find(name) {
        return run();
    }
    match name {
        "named namespaces" => named_namespaces(),
        "roots of strangers" => roots_of_strangers(),
        "processes that are none" => no_processes(),
        "processes that vanish" => vanishing(),
        "commands" => commands(),
        "another user" => another_user(),
        "work inside" => work_inside(),
        "dig in a process" => dig::a_process(),
        "dig in a named namespace" => dig::a_named_namespace(),
        "dig in a dead pod" => dig::a_dead_pod(),
        "dig as another user" => dig::another_user(),
        other => panic!("{other}"),
    }
}

#[track_caller]
pub(crate) fn shell(script: &str) {
    let (status, out, err) = result(&Command::new("sh").args(["-ec", script]).output().unwrap());
    assert_eq!(status, 0, "{script}: {out}{err}");
}

/// A root with these lines in its resolv.conf, for `chroot`.
pub(crate) fn root(name: &str, resolv_conf: &str) -> String {
    let root = format!("/tmp/{name}");
    shell(&format!("mkdir -p {root}/etc"));
    for directory in ["bin", "lib", "lib64", "usr"] {
        if fs::exists(format!("/{directory}")).unwrap() {
            shell(&format!(
                "mkdir {root}/{directory}; mount --bind /{directory} {root}/{directory}"
            ));
        }
    }
    fs::write(format!("{root}/etc/resolv.conf"), resolv_conf).unwrap();
    root
}

fn named_namespaces() {
    shell("ip netns add blue; ip netns add red; mkdir -p /etc/netns/blue");
    fs::write(
        "/etc/netns/blue/resolv.conf",
        "nameserver 10.1.1.1\nsearch blue.test\n",
    )
    .unwrap();
    explains(
        "/run/netns/blue",
        &[
            "its resolv.conf is /etc/netns/blue/resolv.conf",
            "db.blue.test.",
            "10.1.1.1",
        ],
    );
    explains(
        "/run/netns/red",
        &["its programs read the node's", "/etc/resolv.conf"],
    );
    refuses("/etc/passwd", "/etc/passwd is no network namespace");
    refuses("/proc/self/ns/uts2", "no such file");
    refuses("/run/netns", "/run/netns is no network namespace");
    refuses("/dev/zero", "/dev/zero is no network namespace");
    let (status, _, err) = kdns(&["nsenter", "/proc/self/ns/uts", "--", "true"]);
    assert_eq!(status, 125);
    assert!(err.contains("is no network namespace"), "{err}");
}

fn roots_of_strangers() {
    let own = root("own", "nameserver 10.2.2.2\nsearch own.test\n");
    let start = |root: &str| {
        let prefix = ["unshare", "--net", "--uts", "--mount", "chroot", root];
        Running::script(&prefix, "hostname box-1 2>/dev/null || true")
    };
    let process = start(&own);
    let pid = process.pid();
    let file = format!("its resolv.conf is /proc/{pid}/root/etc/resolv.conf");
    explains(
        &pid,
        &[&file, "db.own.test.", "10.2.2.2", "its resolver is glibc"],
    );
    explains(&format!("/proc/{pid}/ns/net"), &[&file]);
    let resolv_conf = format!("{own}/etc/resolv.conf");
    let put = |make: &dyn Fn(&str)| {
        let _ = fs::remove_file(&resolv_conf);
        make(&resolv_conf);
    };
    // Absolute links stay inside: the node's own file is not read.
    fs::write("/etc/kdns-secret", "nameserver 10.9.9.9\n").unwrap();
    put(&|path| symlink("/etc/kdns-secret", path).unwrap());
    explains(&pid, &["the target has no /etc/resolv.conf"]);
    put(&|path| symlink("../../../../../../etc/kdns-secret", path).unwrap());
    explains(&pid, &["the target has no /etc/resolv.conf"]);
    fs::create_dir_all(format!("{own}/run/x")).unwrap();
    fs::write(format!("{own}/run/x/file"), "nameserver 10.3.3.3\n").unwrap();
    put(&|path| symlink("/run/x/file", path).unwrap());
    explains(&pid, &["10.3.3.3"]);
    put(&|path| shell(&format!("mkfifo {path}")));
    refuses(&pid, "it is a FIFO, not a regular file");
    put(&|path| shell(&format!("mknod {path} c 1 5")));
    refuses(&pid, "it is a device, not a regular file");
    put(&|path| {
        shell(&format!(
            "echo nameserver 10.4.4.4 > {path}; truncate -s 100M {path}"
        ));
    });
    explains(&pid, &["10.4.4.4", "only the first 1048576 bytes are read"]);
}

fn no_processes() {
    refuses("999999", "there is no process 999999");
    refuses(
        "nobody/nothing",
        "there is no pod nobody/nothing on this node",
    );
    let zombie = Running::start(&mut Command::new("true"));
    zombie.wait_for("true");
    thread::sleep(Duration::from_millis(200));
    refuses(&zombie.pid(), "it is a zombie");
    // In this pid namespace process 2 is an ordinary one.
    let (status, out, err) = kdns(&["explain", "db", "--target", "1"]);
    assert_eq!(status, 0, "{out}{err}");
}

/// A target that ends between the look and the entry is never mistaken.
fn vanishing() {
    let mut alive = 0;
    for turn in 0..100 {
        let mut child = Command::new("sleep")
            .arg(format!("0.0{:02}", turn % 40))
            .spawn()
            .unwrap();
        let pid = child.id().to_string();
        let reaper = thread::spawn(move || child.wait());
        thread::sleep(Duration::from_millis(turn % 25));
        let (status, out, err) = kdns(&["explain", "db", "--target", &pid]);
        reaper.join().unwrap().unwrap();
        match status {
            0 => alive += 1,
            2 => {
                let said = ["there is no process", "has ended"];
                let is_said = said.iter().any(|it| err.contains(it));
                assert!(is_said && out.is_empty(), "turn {turn}: {err}");
            }
            other => panic!("turn {turn}: status {other}: {err}"),
        }
    }
    assert!(alive < 100, "nothing has vanished");
}

fn commands() {
    let own = root("box", "nameserver 10.5.5.5\nsearch box.test\n");
    fs::write(format!("{own}/etc/hosts"), "10.5.0.9 inner\n").unwrap();
    let prefix = [
        "env",
        "RES_OPTIONS=ndots:3",
        "unshare",
        "--net",
        "--uts",
        "--mount",
        "chroot",
        &own,
    ];
    shell(
        "rm -f /etc/resolv.conf; ln -s ../run/stub.conf /etc/resolv.conf; echo nameserver 127.0.0.53 > /run/stub.conf",
    );
    let process = Running::script(&prefix, "hostname inner-1");
    let pid = process.pid();
    let before = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let inside = |script: &str| kdns(&["nsenter", &pid, "--", "sh", "-c", script]);
    let says = |script: &str, expected: &str| {
        let (status, out, err) = inside(script);
        assert_eq!((status, out.trim()), (0, expected), "{script}: {err}");
    };
    says(
        "cat /etc/resolv.conf",
        "nameserver 10.5.5.5\nsearch box.test",
    );
    says("getent hosts inner", "10.5.0.9        inner");
    says("uname -n", "inner-1");
    says("echo $RES_OPTIONS", "ndots:3");
    says(
        "readlink /proc/self/ns/net",
        fs::read_link(format!("/proc/{pid}/ns/net"))
            .unwrap()
            .to_str()
            .unwrap(),
    );
    says("echo x > /etc/resolv.conf || echo read-only", "read-only");
    says(
        "ls /mnt | wc -l",
        &fs::read_dir("/mnt").unwrap().count().to_string(),
    );
    statuses(&pid);
    // Also when it is killed in the middle.
    let mut long = Command::new(KDNS)
        .args(["nsenter", &pid, "--", "sleep", "1000"])
        .spawn()
        .unwrap();
    thread::sleep(Duration::from_millis(300));
    long.kill().unwrap();
    long.wait().unwrap();
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
    assert_eq!(
        fs::read_to_string("/run/stub.conf").unwrap(),
        "nameserver 127.0.0.53\n"
    );
    assert_eq!(
        fs::read_to_string("/proc/sys/kernel/hostname").unwrap(),
        "node-a\n"
    );
    questions(&pid);
}

fn statuses(pid: &str) {
    let status = |target: &str, command: &[&str]| {
        let arguments = [&["nsenter", target, "--"], command].concat();
        kdns(&arguments).0
    };
    assert_eq!(status(pid, &["sh", "-c", "exit 7"]), 7);
    assert_eq!(status(pid, &["/no/such"]), 127);
    assert_eq!(status(pid, &["/etc/hosts"]), 126);
    assert_eq!(status("999999", &["true"]), 125);
}

/// `nsenter … explain`, and the question for others.
fn questions(pid: &str) {
    let (status, out, err) = kdns(&["nsenter", pid, "explain", "db", "--type", "A"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("db.box.test."), "{out}");
    let saved = "/tmp/saved.json";
    let (status, _, err) = kdns(&["explain", "db", "--target", pid, "--save-scenario", saved]);
    assert_eq!(status, 0, "{err}");
    let saved = fs::read_to_string(saved).unwrap();
    for part in ["10.5.5.5", "inner-1", "ndots:3", "10.5.0.9 inner"] {
        assert!(saved.contains(part), "{part}: {saved}");
    }
}

fn another_user() {
    let process = Running::script(&["env"], "true");
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        result(&command.arg("/tmp/kdns").args(arguments).output().unwrap())
    };
    fs::copy(KDNS, "/tmp/kdns").unwrap();
    shell("chmod 755 /tmp/kdns; chmod 755 /tmp");
    let (status, out, err) = as_nobody(&["explain", "db", "--target", &process.pid()]);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(
        err.contains("another user's: that needs the capability CAP_SYS_PTRACE"),
        "{err}"
    );
    // A user namespace of one's own can be entered without being root.
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.args([
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--mount",
        "sleep",
        "1000",
    ]);
    let own = Running::start(&mut command);
    own.wait_for("sleep");
    let (status, out, err) =
        as_nobody(&["nsenter", &own.pid(), "--", "readlink", "/proc/self/ns/net"]);
    let expected = fs::read_link(format!("/proc/{}/ns/net", own.pid())).unwrap();
    assert_eq!(
        (status, out.trim()),
        (0, expected.to_str().unwrap()),
        "{err}"
    );
    let (status, _, err) = as_nobody(&["explain", "db", "--target", &own.pid()]);
    assert_eq!(status, 0, "{err}");
}

/// Work is done in the namespace, without privileges; this thread stays outside.
fn work_inside() {
    let process = Running::script(&["unshare", "--net"], "true");
    let root = Root::live().unwrap();
    let held = netns::aim(&root, &process.pid()).unwrap();
    let link = |path: &str| fs::read_link(path).unwrap();
    let outside = link("/proc/thread-self/ns/net");
    let namespace = held.namespace.as_ref().unwrap();
    let (inside, privileges) = namespace
        .within(|| {
            let proc_status = fs::read_to_string("/proc/thread-self/status").unwrap();
            (link("/proc/thread-self/ns/net"), proc_status)
        })
        .unwrap();
    assert_eq!(inside, link(&format!("/proc/{}/ns/net", process.pid())));
    assert_ne!(inside, outside);
    assert_eq!(link("/proc/thread-self/ns/net"), outside);
    // CAP_NET_BIND_SERVICE, number 10, is left.
    for set in ["CapInh", "CapPrm", "CapEff"] {
        let found = privileges.lines().find(|it| it.starts_with(set)).unwrap();
        let bits = u64::from_str_radix(found.split_whitespace().last().unwrap(), 16).unwrap();
        assert_eq!(bits & !(1 << 10), 0, "{found}");
    }
    // The process is held: its end is seen, and the namespace stays.
    drop(process);
    let ended = held.expect_alive().unwrap_err();
    assert!(ended.to_string().contains("has ended"), "{ended}");
    assert_eq!(
        namespace.within(|| link("/proc/thread-self/ns/net")),
        Ok(inside)
    );
}
