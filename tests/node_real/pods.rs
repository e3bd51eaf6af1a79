//! Containers of runc as a node has them: with the kubelet's control groups,
//! containerd's annotations, and the mounts of both.
//!
//! The node is a directory with the real procfs in it; everything runs in
//! namespaces of its own, and ends with them.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tempfile::TempDir;

const HIDDEN: &str = "--pods-in-namespaces";
const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const NAME: &str = "pods::containers of runc";
const OLD: &str = "nameserver 10.96.0.10\n";
const NEW: &str = "nameserver 127.0.0.53\n";
const BUNDLES: &str = "run/containerd/io.containerd.runtime.v2.task/k8s.io";
const SANDBOXES: &str = "var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

/// The trials of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![crate::needs::trial(NAME, missing(), in_namespaces)]
}

/// Runs the trial itself, if this process was started for that.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip_while(|it| it != HIDDEN).skip(1);
    let unique = arguments.next()?;
    scenes(unique.parse().unwrap());
    Some(ExitCode::SUCCESS)
}

fn missing() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root".to_owned());
    }
    let is_there = |program: &&str| {
        let mut command = Command::new(program);
        command
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok()
    };
    let programs = ["runc", "unshare", "mount"];
    let missing = programs.iter().find(|program| !is_there(program))?;
    Some(format!("needs {missing}"))
}

fn in_namespaces() -> Result<(), Failed> {
    let unique = std::process::id() ^ nanoseconds();
    let output = Command::new("unshare")
        .args([
            "--mount",
            "--net",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ])
        .arg(std::env::current_exe().unwrap())
        .args([HIDDEN, &unique.to_string()])
        .output()
        .unwrap();
    remove_groups(unique);
    if output.status.success() {
        return Ok(());
    }
    Err(Failed::from(
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// What a pod of the node is made of.
struct Pod<'n> {
    node: &'n Node,
    name: &'static str,
    uid: String,
    sandbox: String,
    has_own_network: bool,
}

struct Node {
    root: TempDir,
    /// Makes ids different from those of another run at the same time.
    unique: u32,
}

/// Waits until a process has ended; nobody takes its status here.
fn wait_for_end(process: u64) {
    let stat = format!("/proc/{process}/stat");
    let runs = || fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") Z "));
    while runs() {
        thread::sleep(Duration::from_millis(5));
    }
}

/// All scenes follow each other on one node.
fn scenes(unique: u32) {
    let node = Node::boot(unique);
    let web = node.pod("web", 1, true);
    let dead = node.pod("coredns", 2, true);
    let host = node.pod("agent", 3, false);
    let web_pid = web.container("main", 7, "sleep 1000");
    host.container("main", 8, "sleep 1000");
    wait_for_end(dead.container("coredns", 9, "true"));
    dead.logs("coredns", &[0, 3]);

    let pods = node.pods();
    let found = of(&pods, "web");
    assert_eq!(found["uid"], json!(web.uid));
    assert_eq!(found["sandbox"], json!(web.sandbox));
    assert_eq!(found["containers"][0]["pid"], json!(web_pid));
    assert_eq!(found["netns"], json!(netns(web_pid)));
    assert_eq!(found["host_network"], json!(false));
    assert_eq!(found["resolv_conf"]["content"], json!(OLD));
    assert_eq!(found["drift"], json!(false));
    assert_eq!(of(&pods, "agent")["host_network"], json!(true));
    let found = of(&pods, "coredns");
    assert_eq!(found["crashes"], json!(true));
    assert_eq!(found["containers"][0]["restarts"], json!(3));
    assert_eq!(found["processes"].as_array().unwrap().len(), 1);

    // A new file in the place of the old one is not what containers see.
    let path = node.path(&format!("{SANDBOXES}/{}/resolv.conf", web.sandbox));
    fs::write(path.with_extension("new"), NEW).unwrap();
    fs::rename(path.with_extension("new"), &path).unwrap();
    let pods = node.pods();
    let found = of(&pods, "web");
    assert_eq!(found["drift"], json!(true));
    assert_eq!(found["resolv_conf"]["content"], json!(NEW));
    assert_eq!(found["seen_resolv_conf"]["content"], json!(OLD));

    // The runtime's state is gone: groups and mounts still tell.
    for bundle in fs::read_dir(node.path(BUNDLES)).unwrap() {
        fs::remove_file(bundle.unwrap().path().join("config.json")).unwrap();
    }
    let pods = node.pods();
    let found = of(&pods, "web");
    assert_eq!(found["sandbox"], json!(web.sandbox));
    assert_eq!(found["containers"][0]["name"], json!("main"));
    assert_eq!(found["containers"][0]["pid"], json!(web_pid));
    assert_eq!(found["drift"], json!(true));

    // The containers are gone as well, and their shims, which take their bundles away:
    // directories tell.
    node.end();
    fs::remove_dir_all(node.path(BUNDLES)).unwrap();
    let pods = node.pods();
    let found = of(&pods, "coredns");
    assert_eq!(found["sandbox"], json!(dead.sandbox));
    assert_eq!(found["resolv_conf"]["content"], json!(OLD));
    assert_eq!(found["processes"], json!([]));
    assert_eq!(found["presence"], json!("left-over"));
    assert_eq!(found["crashes"], json!(false));
}

fn of<'v>(document: &'v Value, name: &str) -> &'v Value {
    let pods = document["pods"].as_array().unwrap();
    let found = pods.iter().find(|pod| pod["name"] == json!(name));
    found.unwrap_or_else(|| panic!("no pod {name} in {document:#}"))
}

fn netns(pid: u64) -> u64 {
    let link = fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    let text = link.to_str().unwrap();
    text.trim_matches(|it: char| !it.is_ascii_digit())
        .parse()
        .unwrap()
}

impl Node {
    fn boot(unique: u32) -> Self {
        let node = Self {
            root: TempDir::new().unwrap(),
            unique,
        };
        let proc = node.path("proc");
        fs::create_dir(&proc).unwrap();
        run(Command::new("mount").args(["--rbind", "/proc"]).arg(proc));
        node
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn pod(&self, name: &'static str, number: u32, has_own_network: bool) -> Pod<'_> {
        let pod = Pod {
            node: self,
            name,
            uid: format!("{:08x}-1111-4111-8111-{number:012x}", self.unique),
            sandbox: self.id(number),
            has_own_network,
        };
        self.write(&format!("{SANDBOXES}/{}/resolv.conf", pod.sandbox), OLD);
        self.write(&format!("{SANDBOXES}/{}/hostname", pod.sandbox), name);
        self.write(
            &format!("{}/etc-hosts", pod.kubelet()),
            "# Kubernetes-managed hosts file.\n",
        );
        pod.logs("main", &[0]);
        let mut namespaces = json!([{"type": "mount"}, {"type": "pid"}]);
        if has_own_network {
            let network = json!({"type": "network"});
            namespaces.as_array_mut().unwrap().push(network);
        }
        pod.run(&pod.sandbox, None, &namespaces, "sleep 1000");
        pod
    }

    fn id(&self, number: u32) -> String {
        format!("{:08x}{number:056x}", self.unique)
    }

    fn runc(&self) -> Command {
        let mut command = Command::new("runc");
        command.arg("--root").arg(self.path("runc"));
        command
    }

    /// The document of `kdns pods`.
    fn pods(&self) -> Value {
        let output = Command::new(KDNS)
            .args(["pods", "--format", "json", "--root"])
            .arg(self.root.path())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{errors}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn end(&self) {
        for entry in fs::read_dir(self.path("runc")).unwrap() {
            let id = entry.unwrap().file_name();
            run(self.runc().args(["delete", "--force"]).arg(id));
        }
    }
}

impl Pod<'_> {
    fn kubelet(&self) -> String {
        format!("var/lib/kubelet/pods/{}", self.uid)
    }

    fn logs(&self, container: &str, starts: &[u32]) {
        for start in starts {
            let directory = format!("var/log/pods/default_{}_{}", self.name, self.uid);
            self.node
                .write(&format!("{directory}/{container}/{start}.log"), "");
        }
    }

    /// Starts a container and gives its first process.
    fn container(&self, name: &str, number: u32, command: &str) -> u64 {
        let sandbox = self.first_process(&self.sandbox);
        let mut namespaces = json!([{"type": "mount"}, {"type": "pid"}]);
        if self.has_own_network {
            let network = json!({"type": "network", "path": format!("/proc/{sandbox}/ns/net")});
            namespaces.as_array_mut().unwrap().push(network);
        }
        let log = format!("{}/containers/{name}/0f1e2d3c", self.kubelet());
        self.node.write(&log, "");
        let id = self.node.id(number);
        self.run(&id, Some((name, &log)), &namespaces, command);
        self.first_process(&id)
    }

    fn first_process(&self, id: &str) -> u64 {
        let output = self.node.runc().args(["state", id]).output().unwrap();
        let state: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        state["pid"].as_u64().unwrap_or(0)
    }

    /// Starts a container, or the sandbox.
    fn run(&self, id: &str, container: Option<(&str, &str)>, namespaces: &Value, command: &str) {
        let node = self.node;
        let bundle = format!("{BUNDLES}/{id}");
        for directory in ["usr", "etc", "proc", "dev"] {
            fs::create_dir_all(node.path(&format!("{bundle}/rootfs/{directory}"))).unwrap();
        }
        for name in ["bin", "lib", "lib64"] {
            let link = node.path(&format!("{bundle}/rootfs/{name}"));
            symlink(Path::new("usr").join(name), link).unwrap();
        }
        let bind = |source: &Path, destination: &str| json!({"destination": destination, "type": "bind", "source": source, "options": ["rbind", "rprivate"]});
        let conf = format!("{SANDBOXES}/{}/resolv.conf", self.sandbox);
        let mut mounts = vec![
            json!({"destination": "/proc", "type": "proc", "source": "proc"}),
            bind(Path::new("/usr"), "/usr"),
            bind(&node.path(&conf), "/etc/resolv.conf"),
        ];
        let mut annotations = json!({
            "io.kubernetes.cri.container-type": "sandbox",
            "io.kubernetes.cri.sandbox-id": self.sandbox,
            "io.kubernetes.cri.sandbox-name": self.name,
            "io.kubernetes.cri.sandbox-namespace": "default",
            "io.kubernetes.cri.sandbox-uid": self.uid,
        });
        if let Some((name, log)) = container {
            annotations["io.kubernetes.cri.container-type"] = json!("container");
            annotations["io.kubernetes.cri.container-name"] = json!(name);
            mounts.push(json!({"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}));
            mounts.push(bind(&node.path(log), "/dev/termination-log"));
            let hosts = format!("{}/etc-hosts", self.kubelet());
            mounts.push(bind(&node.path(&hosts), "/etc/hosts"));
        }
        let words: Vec<&str> = command.split(' ').collect();
        let config = json!({
            "ociVersion": "1.0.2",
            "process": {"user": {"uid": 0, "gid": 0}, "args": words, "cwd": "/", "env": ["PATH=/usr/bin"]},
            "root": {"path": "rootfs"},
            "mounts": mounts,
            "annotations": annotations,
            "linux": {
                "namespaces": namespaces,
                "cgroupsPath": format!("/kubepods/besteffort/pod{}/{id}", self.uid),
            },
        });
        node.write(&format!("{bundle}/config.json"), &config.to_string());
        let mut command = node.runc();
        command
            .args(["run", "--detach", "--bundle"])
            .arg(node.path(&bundle))
            .arg(id);
        run(command.stdin(Stdio::null()).stdout(Stdio::null()));
    }
}

/// Takes away what runc leaves behind in the machine's own control groups.
fn remove_groups(unique: u32) {
    let root = PathBuf::from("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(&root).into_iter().flatten().flatten();
    let hierarchies = hierarchies.map(|it| it.path()).chain([root]);
    for parent in hierarchies.map(|it| it.join("kubepods/besteffort")) {
        let name = format!("pod{unique:08x}-");
        let is_ours = |it: &PathBuf| {
            it.file_name()
                .is_some_and(|it| it.to_string_lossy().starts_with(&name))
        };
        for pod in directories(&parent).into_iter().filter(is_ours) {
            for group in directories(&pod).into_iter().chain([pod]) {
                // Processes that have just been killed are in it for a moment.
                for _ in 0..50 {
                    match fs::remove_dir(&group) {
                        Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                            thread::sleep(Duration::from_millis(20));
                        }
                        _ => break,
                    }
                }
            }
        }
        // Not if others use them.
        let _ = fs::remove_dir(&parent);
        let _ = fs::remove_dir(parent.parent().unwrap());
    }
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|it| it.path())
        .filter(|it| it.is_dir())
        .collect()
}

fn nanoseconds() -> u32 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos()
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?} failed");
}
