//! A pod that looks names up, and what was captured at its interface.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lab::observation::Outcome;
use crate::lab::programs::How;
use crate::lab::{Observation, ResolverId, Scenario, real, resolved, sandbox};

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
/// The hidden argument; the scene is on standard input.
const RUN: &str = "kdns-watch-run";

/// A pod's file. Time-outs are short, so that tests are.
pub(crate) const FILE: &str = "nameserver 10.96.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5 timeout:1 attempts:3\n";

/// No lookup of systemd-resolved takes longer here.
const LIMIT: Duration = Duration::from_secs(20);

/// What happens.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Scene {
    /// The server's rules, as in the vectors.
    pub(crate) answers: Value,
    /// A ruleset of nft for the server's namespace.
    pub(crate) nft: String,
    /// By resolver: the names that it looks up.
    pub(crate) lookups: Vec<(String, Vec<String>)>,
    /// So many of its programs run at the same time; 0 is 1.
    pub(crate) together: usize,
    /// Other programs that the pod runs.
    pub(crate) commands: Vec<Vec<String>>,
}

/// What was captured, and the pod's file.
#[derive(Debug)]
pub(crate) struct Captured {
    folder: tempfile::TempDir,
}

impl Scene {
    /// Plays the scene in namespaces of its own.
    pub(crate) fn play(&self) -> Result<Captured, Failed> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("resolv.conf"), FILE)?;
        let mut child = Command::new("/proc/self/exe")
            .arg(RUN)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let scene = serde_json::to_vec(self)?;
        child.stdin.take().ok_or("no input")?.write_all(&scene)?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(Captured { folder })
    }
}

impl Captured {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The summary, with these further arguments.
    pub(crate) fn summary(&self, resolver: Option<&str>, has_file: bool) -> Result<Value, Failed> {
        let mut command = Command::new(KDNS);
        command
            .arg("watch")
            .arg("--read")
            .arg(self.path("pod.pcap"));
        command.args(["--format", "json"]);
        if has_file {
            command.arg("--file").arg(self.path("resolv.conf"));
        }
        command.args(resolver.map(|it| format!("--resolver={it}")));
        let output = command.output()?;
        let summary: Value = serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("{e}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let is_found = !codes(&summary).is_empty();
        if output.status.code() != Some(i32::from(is_found)) {
            return Err(format!("{:?} with {:?}", output.status, codes(&summary)).into());
        }
        Ok(summary)
    }

    /// What was seen is found healthy with all that is known of the pod, without its
    /// resolver, and without its file either: for each, what it is and its summary.
    pub(crate) fn healthy(&self, id: &str) -> Result<[(String, Value); 3], Failed> {
        let of = |resolver: Option<&str>, has_file| {
            let summary = self.summary(resolver, has_file)?;
            let about = format!("{id}, given {resolver:?}, file {has_file}");
            let found = codes(&summary);
            if !found.is_empty() || summary["unanswered"] != 0 || summary["broken"] != 0 {
                return Err(Failed::from(format!(
                    "{about}: {found:?}: {}",
                    summary["findings"]
                )));
            }
            Ok((about, summary))
        };
        Ok([of(Some(id), true)?, of(None, true)?, of(None, false)?])
    }
}

/// The codes of a summary's findings.
pub(crate) fn codes(summary: &Value) -> Vec<String> {
    let findings = summary["findings"].as_array();
    let codes = findings.into_iter().flatten().map(|it| it["code"].as_str());
    codes.flatten().map(str::to_owned).collect()
}

/// Does what the hidden argument asks for.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [mode, folder] = words.as_slice() else {
        return None;
    };
    if mode != RUN {
        return None;
    }
    let scene: Scene = serde_json::from_reader(std::io::stdin()).unwrap();
    Some(match child(&scene, Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "{e}");
            ExitCode::FAILURE
        }
    })
}

fn child(scene: &Scene, folder: &Path) -> Result<(), String> {
    let text = serde_json::json!({"resolv_conf": FILE, "name": "x", "answers": scene.answers});
    let scenario: Scenario = serde_json::from_value(text).map_err(|e| e.to_string())?;
    let observation = sandbox::record(&scenario, "pod", How::Program, || {
        pod(scene, &scenario, folder).map(|()| Outcome::default())
    });
    observation.map(|_: Observation| ())
}

/// The pod's network, behind a veth pair; in the sandbox every address was
/// local.
const NETWORK: &str = "set -e
ip route del local 0.0.0.0/0 dev lo table local
ip -6 route del local ::/0 dev lo table local
ip link del eth0
ip netns add pod
ip link add veth0 type veth peer name eth0 netns pod
ip addr add 10.244.1.1/24 dev veth0
ip link set veth0 up
ip addr add 10.96.0.10/32 dev lo
ip addr add 10.96.0.11/32 dev lo
ip netns exec pod ip link set lo up
ip netns exec pod ip addr add 10.244.1.5/24 dev eth0
ip netns exec pod ip link set eth0 up
ip netns exec pod ip route add default via 10.244.1.1
# Neighbours are found before anybody measures.
ip netns exec pod ping -c 1 -W 2 10.244.1.1 >/dev/null || true
nft -f -
";

fn pod(scene: &Scene, scenario: &Scenario, folder: &Path) -> Result<(), String> {
    let error = |e: std::io::Error| e.to_string();
    let mut network = Command::new("bash")
        .args(["-c", NETWORK])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(error)?;
    let mut input = network.stdin.take().ok_or("no input")?;
    input.write_all(scene.nft.as_bytes()).map_err(error)?;
    drop(input);
    if !network.wait().map_err(error)?.success() {
        return Err("the network could not be made".to_owned());
    }
    let capture = Tcpdump::start(&folder.join("pod.pcap"))?;
    for (resolver, names) in &scene.lookups {
        let resolver: ResolverId = resolver.parse()?;
        let _daemon = Daemon::start(resolver, scenario)?;
        let named = |name: &str| Scenario {
            name: name.to_owned(),
            ..scenario.clone()
        };
        if resolver.how() == How::Varlink {
            for name in names {
                resolved::resolve(&named(name), LIMIT)?;
            }
            continue;
        }
        let is_slow = SLOW.iter().any(|it| resolver.as_str().starts_with(it));
        let name = if is_slow { "-" } else { PLACE };
        let command = resolver.command(&named(name), &real::folder());
        let together = (name == PLACE).then_some(scene.together.max(1));
        inside(&command, together, &names.join("\n"))?;
    }
    for words in &scene.commands {
        let (program, arguments) = words.split_first().ok_or("no program")?;
        inside(Command::new(program).args(arguments), None, "")?;
    }
    // Younger queries count as open.
    thread::sleep(Duration::from_millis(1300));
    drop(capture);
    Ok(())
}

/// Programs that start slowly, and take names on standard input.
const SLOW: &[&str] = &["dnspython", "erlang", "netty", "node", "ruby"];

/// Where the name stands in a command that is run for each line of its input.
const PLACE: &str = "{}";

/// Runs a command in the pod, to its end; what comes of it does not matter. It has this
/// input, or is run for each line of it, so many at the same time.
fn inside(command: &Command, together: Option<usize>, input: &str) -> Result<(), String> {
    let error = |e: std::io::Error| e.to_string();
    // `ip` is another program than this one.
    let program = match command.get_program() {
        own if own == "/proc/self/exe" => std::env::current_exe().map_err(error)?,
        other => other.into(),
    };
    let mut inside = Command::new("ip");
    inside.args(["netns", "exec", "pod"]);
    if let Some(together) = together {
        inside.args(["xargs", "-I", PLACE, "-P", &together.to_string()]);
    }
    inside.arg(program);
    inside.args(command.get_args()).current_dir("/");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            inside.env(name, value);
        }
    }
    inside.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = inside.stderr(Stdio::null()).spawn().map_err(error)?;
    let mut stdin = child.stdin.take().ok_or("no input")?;
    // A program that reads none may have ended.
    let _ = writeln!(stdin, "{input}");
    drop(stdin);
    child.wait().map(|_| ()).map_err(error)
}

/// systemd-resolved in the pod, as long as this lives; as a stub it is what the pod's file
/// then names.
struct Daemon(Child);

impl Daemon {
    fn start(resolver: ResolverId, scenario: &Scenario) -> Result<Option<Self>, String> {
        let is_stub = resolver.how() == How::Stub;
        if resolver.how() == How::Program {
            return Ok(None);
        }
        let program = resolver.daemon(&real::folder());
        let program = program.ok_or("no systemd-resolved")?;
        fs::create_dir_all("/run/systemd").map_err(|e| e.to_string())?;
        let folder = Path::new("/etc/systemd");
        let configuration = resolved::configuration(scenario, is_stub);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(folder.join("resolved.conf"), configuration))
            .map_err(|e| e.to_string())?;
        // The kernel takes up to a second to say that the link is up.
        let is_up =
            "until ip netns exec pod ip link show eth0 | grep -q 'state UP'; do sleep 0.02; done";
        let waiting = Command::new("timeout")
            .args(["10", "bash", "-c", is_up])
            .status();
        waiting.map_err(|e| e.to_string())?;
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", "pod"]);
        inside.arg(program.get_program()).args(program.get_args());
        let daemon = resolved::start(inside, is_stub).map(Self)?;
        if is_stub {
            fs::write("/etc/resolv.conf", resolved::stub_file()).map_err(|e| e.to_string())?;
        }
        Ok(Some(daemon))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// tcpdump at the pod's interface, as long as this lives.
struct Tcpdump(Child);

impl Tcpdump {
    fn start(file: &Path) -> Result<Self, String> {
        let filter = "port 53 or icmp or ip[6:2] & 0x1fff != 0";
        let child = Command::new("ip")
            .args([
                "netns", "exec", "pod", "tcpdump", "-Z", "root", "-U", "-i", "eth0", "-w",
            ])
            .arg(file)
            .arg(filter)
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("tcpdump: {e}"))?;
        // The header is written when it listens.
        let end = Instant::now() + Duration::from_secs(20);
        while fs::metadata(file).map_or(0, |it| it.len()) < 24 {
            if Instant::now() > end {
                return Err("tcpdump does not begin".to_owned());
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(100));
        Ok(Self(child))
    }
}

impl Drop for Tcpdump {
    fn drop(&mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.0.id()).unwrap_or(i32::MAX));
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT);
        let _ = self.0.wait();
    }
}
