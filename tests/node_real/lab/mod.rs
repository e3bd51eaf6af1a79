//! A node in namespaces of its own, for one case.
//!
//! The test program starts itself twice with a hidden argument: the first
//! child makes the namespaces, the second is process 1 there, so that
//! everything ends with it.

pub(crate) mod recorder;
pub(crate) mod servers;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use serde_json::Value;

const OUTER: &str = "kdns-node-outer";
const INNER: &str = "kdns-node-inner";

/// A case that takes longer has failed.
const LIMIT: Duration = Duration::from_secs(90);

/// What is never this machine's below /etc.
const OWN: [&str; 12] = [
    "systemd",
    "resolv.conf",
    "hosts",
    "hostname",
    "dnsmasq.conf",
    "dnsmasq.d",
    "unbound",
    "bind",
    "NetworkManager",
    "kubernetes",
    "coredns",
    "default",
];

/// How a case ends.
pub(crate) type Outcome = Result<(), String>;

/// A test that runs on a node of its own.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Programs that it needs.
    pub(crate) needs: &'static [&'static str],
    pub(crate) run: fn(&mut Lab, &str) -> Outcome,
    /// What `run` is given.
    pub(crate) argument: String,
}

/// The node that a case has.
#[derive(Debug, Default)]
pub(crate) struct Lab {
    children: Vec<Child>,
}

/// The trial of a case.
pub(crate) fn trial(case: Case) -> Trial {
    let (name, missing) = (case.name.clone(), missing(&case));
    crate::needs::trial(&name, missing, move || {
        start(&case.name).map_err(Failed::from)
    })
}

fn missing(case: &Case) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    let lacks = case.needs.iter().find(|it| program(it).is_none())?;
    Some(format!("needs {lacks}: run .ci/install-real"))
}

/// A program of this machine, or one that `.ci/install-real` has unpacked.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let real = std::env::var_os("KDNS_REAL_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/real")),
        PathBuf::from,
    );
    let folders = [
        real.join("servers/usr/sbin"),
        real.join("resolved/lib/systemd"),
        real.join("resolved/usr/lib/systemd"),
        "/usr/sbin".into(),
        "/usr/bin".into(),
        "/bin".into(),
        "/usr/lib/systemd".into(),
        "/lib/systemd".into(),
    ];
    let mut files = folders.into_iter().map(|it| it.join(name));
    files.find(|it| it.is_file())
}

/// Starts the case's child and waits for it.
fn start(name: &str) -> Outcome {
    let mut child = Command::new("/proc/self/exe")
        .args([OUTER, name])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("starting: {e}"))?;
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            let mut said = String::new();
            let stderr = child.stderr.as_mut().ok_or("no stderr")?;
            let _ = stderr.read_to_string(&mut said);
            return if status.success() { Ok(()) } else { Err(said) };
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("not done after {LIMIT:?}"))
}

/// Does what this process was started for, if it is a child of [`start`].
pub(crate) fn run_hidden(cases: &[Case]) -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).take(2).collect();
    let [stage, name] = arguments.as_slice() else {
        return None;
    };
    let done = match stage.as_str() {
        OUTER => outer(name),
        INNER => inner(name, cases),
        _ => return None,
    };
    if let Err(reason) = done {
        eprintln!("{reason}");
        return Some(ExitCode::FAILURE);
    }
    Some(ExitCode::SUCCESS)
}

fn outer(name: &str) -> Outcome {
    // A killed test leaves nothing behind.
    set_pdeathsig(Signal::SIGKILL).map_err(|e| e.to_string())?;
    let flags = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWPID;
    unshare(flags).map_err(|e| format!("unshare: {e}"))?;
    let status = Command::new("/proc/self/exe")
        .args([INNER, name])
        .status()
        .map_err(|e| format!("process 1: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the case {name} failed"))
    }
}

fn inner(name: &str, cases: &[Case]) -> Outcome {
    set_pdeathsig(Signal::SIGKILL).map_err(|e| e.to_string())?;
    let case = cases.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case {name}"))?;
    files().map_err(|e| format!("files: {e}"))?;
    nix::unistd::sethostname("node-a").map_err(|e| format!("host name: {e}"))?;
    run("ip", &["link", "set", "lo", "up"])?;
    let mut lab = Lab::default();
    (case.run)(&mut lab, &case.argument)
}

/// Gives the node a /proc, a /run, a /var/lib and an /etc of its own.
fn files() -> std::io::Result<()> {
    let nothing: Option<&str> = None;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(nothing, "/", nothing, private, nothing)?;
    let no_flags = MsFlags::empty();
    mount(Some("proc"), "/proc", Some("proc"), no_flags, nothing)?;
    for folder in ["/run", "/var/lib", "/var/log"] {
        mount(
            Some("tmpfs"),
            folder,
            Some("tmpfs"),
            no_flags,
            Some("mode=755"),
        )?;
    }
    let (old, new) = ("/run/lab/etc.old", "/run/lab/etc");
    fs::create_dir_all(old)?;
    fs::create_dir_all(new)?;
    mount(Some("/etc"), old, nothing, MsFlags::MS_BIND, nothing)?;
    for entry in fs::read_dir("/etc")? {
        let name = entry?.file_name();
        if !OWN.iter().any(|own| name == *own) {
            symlink(Path::new(old).join(&name), Path::new(new).join(&name))?;
        }
    }
    fs::write(format!("{new}/hosts"), "127.0.0.1 localhost\n")?;
    fs::write(format!("{new}/hostname"), "node-a\n")?;
    mount(Some(new), "/etc", nothing, MsFlags::MS_BIND, nothing)?;
    Ok(())
}

/// Runs kdns on the node, and gives what it wrote.
pub(crate) fn kdns_text(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("kdns: {e}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs kdns on the node, and gives its exit status and the JSON that it wrote.
pub(crate) fn kdns(arguments: &[&str]) -> Result<(i32, Value), String> {
    let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
        .args(arguments)
        .args(["--format", "json"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("kdns: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout);
    let json = json.map_err(|e| format!("kdns {arguments:?}: {e}: {said}"))?;
    Ok((output.status.code().unwrap_or(-1), json))
}

/// Runs a program to its end.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Result<String, String> {
    let path = program(name).ok_or_else(|| format!("no {name}"))?;
    let output = Command::new(path)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{name}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        let said = text(&output.stderr);
        Err(format!("{name} {arguments:?}: {} {said}", output.status))
    }
}

impl Lab {
    /// Starts a program that goes on, in the network namespace of a pod or the
    /// node's own, and gives its process id. What it says goes to /run/lab.
    pub(crate) fn spawn(
        &mut self,
        pod: Option<&str>,
        name: &str,
        arguments: &[&str],
    ) -> Result<u32, String> {
        let path = program(name).ok_or_else(|| format!("no {name}"))?;
        let log = format!("/run/lab/{name}.{}.log", self.children.len());
        let log = fs::File::create(log).map_err(|e| e.to_string())?;
        let mut command = match pod {
            None => Command::new(&path),
            Some(pod) => {
                let mut command = Command::new(program("nsenter").ok_or("no nsenter")?);
                command.arg(format!("--net=/run/netns/{pod}")).arg(&path);
                command
            }
        };
        let child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(|e| e.to_string())?)
            .stderr(log)
            .spawn()
            .map_err(|e| format!("{name}: {e}"))?;
        let pid = child.id();
        self.children.push(child);
        Ok(pid)
    }
}

/// A pod's network: `eth0` with `address`, joined to the node's 10.244.0.1.
pub(crate) fn make_pod(name: &str, address: &str) -> Outcome {
    let host = format!("veth-{name}");
    run("ip", &["netns", "add", name])?;
    let batch = [
        format!("link add {host} type veth peer name eth0 netns {name}"),
        format!("addr add 10.244.0.1/32 dev {host}"),
        format!("link set {host} up"),
        format!("route add {address}/32 dev {host}"),
    ];
    for line in &batch {
        run("ip", &line.split(' ').collect::<Vec<_>>())?;
    }
    for line in [
        "link set lo up".to_owned(),
        format!("addr add {address}/32 dev eth0"),
        "link set eth0 up".to_owned(),
        "route add 10.244.0.1 dev eth0".to_owned(),
        "route add default via 10.244.0.1 dev eth0".to_owned(),
    ] {
        let mut arguments = vec!["-n", name];
        arguments.extend(line.split(' '));
        run("ip", &arguments)?;
    }
    Ok(())
}

/// Moves this thread to the network namespace of a pod.
pub(crate) fn enter(pod: &str) -> Outcome {
    let file = fs::File::open(format!("/run/netns/{pod}")).map_err(|e| e.to_string())?;
    setns(file, CloneFlags::CLONE_NEWNET).map_err(|e| e.to_string())
}

/// Waits until a program has written this file.
pub(crate) fn wait_for_file(path: &str) -> Outcome {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if Path::new(path).exists() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(format!("nobody wrote {path}: {}", logs()))
}

/// What the programs of the case have said.
pub(crate) fn logs() -> String {
    let mut all = Vec::new();
    for entry in fs::read_dir("/run/lab").into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|it| it == "log") {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            let tail: Vec<&str> = text.lines().rev().take(8).collect();
            all.push(format!("{}: {tail:#?}", entry.path().display()));
        }
    }
    all.join("\n")
}
