//! A node whose root is the one of the scene, with containers of runc in it:
//! empty images but for one static program, the files of containerd or CRI-O
//! beside them, and control groups as the kubelet names them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{result, wait_until_asleep};
use crate::places::shell;

pub(crate) const SANDBOXES: &str = "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";
const BUNDLES: &str = "/run/containerd/io.containerd.runtime.v2.task/k8s.io";
const CRI_O: &str = "/run/containers/storage/overlay-containers";

/// Sleeps, or looks its second word up as getent does and says what it got.
const APP: &str = r#"
#define _GNU_SOURCE
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    struct addrinfo hints, *found = 0;
    if (count < 3) { for (;;) pause(); }
    memset(&hints, 0, sizeof hints);
    hints.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG | AI_CANONNAME;
    printf("%d\n", getaddrinfo(words[2], 0, &hints, &found));
    return 0;
}
"#;

/// The variable that makes what a scene leaves in the machine's own control
/// groups different from what another run leaves.
pub(crate) const UNIQUE: &str = "KDNS_TEST_UNIQUE";

/// How the groups of a container are named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Groups {
    /// By the kubelet with the driver cgroupfs.
    Plain,
    /// By systemd.
    Systemd,
}

/// Which runtime keeps the files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keeper {
    Containerd,
    CriO,
}

/// The network that a pod is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Network<'p> {
    /// One of its own.
    Own,
    /// That of the node.
    Nodes,
    /// The one that this file keeps.
    At(&'p str),
}

#[derive(Debug)]
pub(crate) struct Node {
    unique: String,
    pub(crate) groups: Groups,
    pub(crate) keeper: Keeper,
}

/// A pod of the namespace `shop`.
#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) sandbox: String,
}

impl Node {
    /// Makes this scene's root the node's. Its own programs stay.
    pub(crate) fn boot() -> Self {
        shell("mount -t tmpfs x /var/lib; mount -t tmpfs x /var/log; mkdir -p /run/app");
        fs::write("/run/app/app.c", APP).unwrap();
        shell("gcc -static -w -O1 -o /run/app/app /run/app/app.c 2>/dev/null");
        Self {
            unique: std::env::var(UNIQUE).unwrap(),
            groups: Groups::Plain,
            keeper: Keeper::Containerd,
        }
    }

    /// A container's or sandbox's id.
    pub(crate) fn id(&self, number: u32) -> String {
        format!("{}{number:056x}", self.unique)
    }

    /// A container that is of no pod, from an image that has only the program.
    /// `change` may change what it is made from. Gives its first process.
    pub(crate) fn container(&self, id: &str, change: impl FnOnce(&mut Value)) -> u32 {
        let bundle = self.bundle(id);
        let root = format!("{bundle}/rootfs");
        shell(&format!("mkdir -p {root}; cp -n /run/app/app {root}/app"));
        let groups = match self.groups {
            Groups::Plain => format!("kubepods/{id}"),
            Groups::Systemd => format!("system.slice/{}", self.scope(id)),
        };
        let mut config = json!({
            "ociVersion": "1.0.2",
            "process": {"user": {"uid": 0, "gid": 0}, "args": ["/app"], "cwd": "/", "env": []},
            "root": {"path": "rootfs"},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
            "linux": {
                "namespaces": [
                    {"type": "mount"}, {"type": "pid"}, {"type": "uts"}, {"type": "ipc"}, {"type": "network"},
                ],
                "cgroupsPath": format!("/{}/{groups}", self.top()),
            },
        });
        change(&mut config);
        fs::write(format!("{bundle}/config.json"), config.to_string()).unwrap();
        let mut command = runc(&["run", "--detach", "--bundle", &bundle, id]);
        let log = format!("/tmp/{id}.log");
        command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&log).unwrap());
        command.stderr(fs::File::create(&log).unwrap());
        let status = command.status().unwrap();
        assert!(status.success(), "{}", fs::read_to_string(&log).unwrap());
        let process = first_process(id);
        // For a moment it is runc's own.
        let comm = format!("/proc/{process}/comm");
        while fs::read_to_string(&comm).is_ok_and(|it| it != "app\n") {
            thread::sleep(Duration::from_millis(2));
        }
        wait_until_asleep(process);
        process
    }

    /// Where the image of a container is.
    pub(crate) fn image(&self, id: &str) -> PathBuf {
        Path::new(&self.bundle(id)).join("rootfs")
    }

    /// A pod with its sandbox.
    pub(crate) fn pod(&self, name: &str, number: u32, network: Network<'_>) -> Pod {
        let pod = Pod {
            name: name.to_owned(),
            uid: format!("{}-1111-4111-8111-{number:012x}", self.unique),
            sandbox: self.id(number),
        };
        let conf = self.conf(&pod);
        fs::create_dir_all(Path::new(&conf).parent().unwrap()).unwrap();
        let text = format!("nameserver 10.96.0.10\nsearch {name}.test\n");
        fs::write(conf, text).unwrap();
        for directory in [
            format!("/var/lib/kubelet/pods/{}", pod.uid),
            format!("/var/log/pods/shop_{name}_{}", pod.uid),
        ] {
            fs::create_dir_all(directory).unwrap();
        }
        self.in_pod(&pod, &pod.sandbox, None, network);
        pod
    }

    /// Starts a container of a pod, in the network of its sandbox.
    pub(crate) fn container_of(&self, pod: &Pod, name: &str, number: u32) -> u32 {
        let network = format!("/proc/{}/ns/net", first_process(&pod.sandbox));
        self.in_pod(pod, &self.id(number), Some(name), Network::At(&network))
    }

    /// Starts a container of a pod, or its sandbox.
    fn in_pod(&self, pod: &Pod, id: &str, container: Option<&str>, network: Network<'_>) -> u32 {
        if let Some(name) = container {
            let log = format!("/var/log/pods/shop_{}_{}/{name}", pod.name, pod.uid);
            fs::create_dir_all(&log).unwrap();
            fs::write(format!("{log}/0.log"), "").unwrap();
        }
        self.container(id, |config| {
            let conf = json!({"destination": "/etc/resolv.conf", "type": "bind", "source": self.conf(pod), "options": ["rbind"]});
            config["mounts"].as_array_mut().unwrap().push(conf);
            config["annotations"] = match self.keeper {
                Keeper::Containerd => containerd(pod, container),
                Keeper::CriO => cri_o(pod, container, &self.conf(pod)),
            };
            config["hostname"] = json!(pod.name.get(..62).unwrap_or(&pod.name));
            config["linux"]["cgroupsPath"] = json!(format!("/{}/{}", self.top(), self.group(pod, id)));
            let namespaces = config["linux"]["namespaces"].as_array_mut().unwrap();
            match network {
                Network::Own => {}
                Network::Nodes => drop(namespaces.pop()),
                Network::At(path) => namespaces.last_mut().unwrap()["path"] = json!(path),
            }
            if network == Network::Nodes {
                namespaces.retain(|it| it["type"] != "uts");
                config.as_object_mut().unwrap().remove("hostname");
            }
        })
    }

    /// The path of a container's group, as the kubelet and the runtime name it.
    fn group(&self, pod: &Pod, id: &str) -> String {
        match self.groups {
            Groups::Plain => format!("kubepods/besteffort/pod{}/{id}", pod.uid),
            Groups::Systemd => format!(
                "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{}.slice/{}",
                pod.uid.replace('-', "_"),
                self.scope(id)
            ),
        }
    }

    fn scope(&self, id: &str) -> String {
        match self.keeper {
            Keeper::Containerd => format!("cri-containerd-{id}.scope"),
            Keeper::CriO => format!("crio-{id}.scope"),
        }
    }

    /// The sandbox's resolv.conf on the node.
    pub(crate) fn conf(&self, pod: &Pod) -> String {
        match self.keeper {
            Keeper::Containerd => format!("{SANDBOXES}/{}/resolv.conf", pod.sandbox),
            Keeper::CriO => format!("{}/resolv.conf", self.bundle(&pod.sandbox)),
        }
    }

    pub(crate) fn bundle(&self, id: &str) -> String {
        match self.keeper {
            Keeper::Containerd => format!("{BUNDLES}/{id}"),
            Keeper::CriO => format!("{CRI_O}/{id}/userdata"),
        }
    }

    fn top(&self) -> String {
        top(&self.unique)
    }
}

fn containerd(pod: &Pod, container: Option<&str>) -> Value {
    let kind = container.map_or("sandbox", |_| "container");
    let mut annotations = json!({
        "io.kubernetes.cri.container-type": kind,
        "io.kubernetes.cri.sandbox-id": pod.sandbox,
        "io.kubernetes.cri.sandbox-name": pod.name,
        "io.kubernetes.cri.sandbox-namespace": "shop",
        "io.kubernetes.cri.sandbox-uid": pod.uid,
    });
    if let Some(name) = container {
        annotations["io.kubernetes.cri.container-name"] = json!(name);
    }
    annotations
}

fn cri_o(pod: &Pod, container: Option<&str>, conf: &str) -> Value {
    let kind = container.map_or("sandbox", |_| "container");
    let mut annotations = json!({
        "io.container.manager": "cri-o",
        "io.kubernetes.cri-o.ContainerType": kind,
        "io.kubernetes.cri-o.SandboxID": pod.sandbox,
        "io.kubernetes.cri-o.ResolvPath": conf,
    });
    let labels = json!({
        "io.kubernetes.pod.name": pod.name,
        "io.kubernetes.pod.namespace": "shop",
        "io.kubernetes.pod.uid": pod.uid,
        "io.kubernetes.container.name": container.unwrap_or("POD"),
    });
    annotations["io.kubernetes.cri-o.Labels"] = json!(labels.to_string());
    annotations
}

pub(crate) fn runc(arguments: &[&str]) -> Command {
    let mut command = Command::new("runc");
    command.args(["--root", "/run/runc"]).args(arguments);
    command
}

pub(crate) fn first_process(id: &str) -> u32 {
    let (_, state, _) = result(&runc(&["state", id]).output().unwrap());
    let state: Value = serde_json::from_str(&state).unwrap();
    u32::try_from(state["pid"].as_u64().unwrap()).unwrap()
}

/// Kills a container and waits for its end; its bundle stays.
pub(crate) fn kill(id: &str) {
    let process = first_process(id);
    result(&runc(&["kill", id, "KILL"]).output().unwrap());
    let stat = format!("/proc/{process}/stat");
    while fs::read_to_string(&stat).is_ok_and(|it| !it.contains(") Z ")) {
        thread::sleep(Duration::from_millis(5));
    }
}

/// All groups of a scene are below this one.
fn top(unique: &str) -> String {
    format!("kdns-test-{unique}")
}

/// Takes away what runc has left in the machine's own control groups.
pub(crate) fn remove_groups(unique: &str) {
    let root = PathBuf::from("/sys/fs/cgroup");
    for hierarchy in directories(&root).into_iter().chain([root]) {
        remove(&hierarchy.join(top(unique)));
    }
}

fn remove(group: &Path) {
    for inner in directories(group) {
        remove(&inner);
    }
    // Processes that have just been killed are in it for a moment.
    for _ in 0..100 {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                thread::sleep(Duration::from_millis(20));
            }
            _ => break,
        }
    }
}

fn directories(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let directories = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    directories.map(|it| it.path()).collect()
}
