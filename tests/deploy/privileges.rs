//! A node read with just the privileges of the `DaemonSet`, beside one read with
//! all of them: the answers are the same.
//!
//! The node has the files of a fixture, of which some are other users', and
//! the real procfs with a kubelet and a DNS server in a network of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::{KDNS, Outcome, deploy, documents, output, root};

const HIDDEN: &str = "--privileges-in-namespaces";
const NODES: [&str; 4] = [
    "cluster-loop",
    "machine-dnsmasq-self",
    "k0s-two-servers",
    "eks-al2023",
];
const NOBODY: u32 = 12_345;

pub(crate) fn same_answer() -> Outcome {
    let all = documents(&deploy("daemonset/daemonset.yaml"))?;
    let container = &all[0]["spec"]["template"]["spec"]["initContainers"][0];
    let added = container["securityContext"]["capabilities"]["add"]
        .as_array()
        .unwrap();
    let added: Vec<String> = added
        .iter()
        .map(|it| it.as_str().unwrap().to_lowercase())
        .collect();
    let words = container["args"].as_array().unwrap();
    let words: Vec<&str> = words.iter().map(|it| it.as_str().unwrap()).collect();
    let test = std::env::current_exe().unwrap();
    let mut inside = Command::new("unshare");
    inside.args([
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    inside
        .arg(test)
        .args([HIDDEN, &added.join(",")])
        .args(words);
    output(&mut inside)?;
    Ok(())
}

/// Runs the trial itself, if this process was started for that.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip_while(|it| it != HIDDEN).skip(1);
    let added = arguments.next()?;
    let added: Vec<&str> = added.split(',').collect();
    let words: Vec<String> = arguments.collect();
    let scene = Scene::new(words);
    let mut needed = Vec::new();
    for node in NODES {
        scene.put(node);
        let (whole, _) = scene.read(None);
        let (least, text) = scene.read(Some(&added));
        assert_eq!(whole, least, "{node}");
        assert_ne!(least["verdict"], Value::Null, "{node}: {text}");
        assert_eq!(least["node"], Value::from("node-x"));
        for without in &added {
            let fewer: Vec<&str> = added.iter().copied().filter(|it| it != without).collect();
            let (other, _) = scene.read(Some(&fewer));
            needed.extend((whole != other).then_some(*without));
        }
    }
    let useless = added.iter().find(|it| !needed.contains(it));
    assert_eq!(useless, None, "it changes no answer");
    Some(ExitCode::SUCCESS)
}

struct Scene {
    /// What the pod has as its root; `/host` in it is the node.
    pod: tempfile::TempDir,
    words: Vec<String>,
    processes: Vec<Child>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill().and_then(|()| process.wait());
        }
        // The folder cannot go while something is mounted in it.
        let proc = self.host().join("proc");
        let mut unmount = Command::new("umount");
        let _ = unmount.arg("-R").arg(proc).stderr(Stdio::null()).status();
    }
}

impl Scene {
    fn new(words: Vec<String>) -> Self {
        let mut scene = Self {
            pod: tempfile::tempdir().unwrap(),
            words,
            processes: Vec::new(),
        };
        let corefile = scene.pod.path().join("Corefile");
        fs::write(corefile, ".:53 {\n    forward . /etc/resolv.conf\n}\n").unwrap();
        // A DNS server by its name, with all capabilities, in a network of its
        // own.
        let program = scene.pod.path().join("dnsmasq");
        fs::copy("/bin/sleep", &program).unwrap();
        let mut other = Command::new("unshare");
        other.args(["--net", "--mount"]).arg(program).arg("1000");
        scene
            .processes
            .push(other.stdin(Stdio::null()).spawn().unwrap());
        std::thread::sleep(Duration::from_millis(300));
        scene
    }

    fn host(&self) -> PathBuf {
        self.pod.path().join("host")
    }

    /// The fixture as the node's files.
    fn put(&self, node: &str) {
        let host = self.host();
        if host.is_dir() {
            run(Command::new("umount").arg("-R").arg(host.join("proc")));
            fs::remove_dir_all(&host).unwrap();
        }
        let fixture = root().join("testdata/nodes").join(node);
        run(Command::new("cp").arg("-a").arg(&fixture).arg(&host));
        run(Command::new("chown").args(["-R", "0:0"]).arg(&host));
        close(&host);
        let _ = fs::remove_dir_all(host.join("proc"));
        fs::create_dir(host.join("proc")).unwrap();
        run(Command::new("mount")
            .args(["--rbind", "/proc"])
            .arg(host.join("proc")));
    }

    /// The report, with all privileges or with these alone.
    fn read(&self, capabilities: Option<&[&str]>) -> (Value, String) {
        let mut command = Command::new("unshare");
        // A pod's own network and processes, and the node read-only.
        command.args(["--mount", "--net", "--pid", "--fork"]);
        let script =
            "mount --rbind -o ro \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
        command.args(["sh", "-c", script]).arg(self.host());
        if let Some(capabilities) = capabilities {
            let added: Vec<String> = capabilities.iter().map(|it| format!("+{it}")).collect();
            command.args(["setpriv", "--no-new-privs"]);
            command.arg(format!("--bounding-set=-all,{}", added.join(",")));
            command.arg("--inh-caps=-all");
        }
        let (host, corefile) = (self.host(), self.pod.path().join("Corefile"));
        let words = self.words.iter().map(|it| match it.as_str() {
            "/host" => host.as_os_str(),
            "/corefile/Corefile" => corefile.as_os_str(),
            it => it.as_ref(),
        });
        command.arg(KDNS).args(words).env("NODE_NAME", "node-x");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr);
        let value = serde_json::from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}{said}"));
        (value, text)
    }
}

/// Files as they are on nodes that take care: root's alone, and those of the
/// pods of users that they run as.
fn close(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        let is_directory = path.is_dir();
        if is_directory {
            close(&path);
        }
        let mode = if is_directory { 0o700 } else { 0o600 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        if path.components().any(|it| it.as_os_str() == "volumes")
            || path.ends_with("etc/resolv.conf")
        {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

fn run(command: &mut Command) {
    if let Err(error) = output(command) {
        let message: Failed = error;
        panic!("{}", message.message().unwrap_or_default());
    }
}
