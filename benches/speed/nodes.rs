//! The pods of a large node: kdns beside a `cat` of the same files.
//!
//! The node is made for the bench: for each pod a sandbox and two containers
//! with four processes each, and one process of the node itself; bundles of
//! containerd with a seccomp profile, logs, the kubelet's directories.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::figures::{Bound, Figures, median};
use crate::measure::{Cost, cost};

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
const PODS: usize = 500;
const CONTAINERS: usize = 2;
const PROCESSES: usize = 4;
const ROUNDS: usize = 7;

/// What a command may take, as a part of what `cat` takes.
const MOST: f64 = 1.5;
const MOST_MIB: f64 = 32.0;

const BUNDLES: &str = "run/containerd/io.containerd.runtime.v2.task/k8s.io";
const SANDBOXES: &str = "var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

pub(crate) fn run(figures: &mut Figures) {
    let large = Node::with(PODS);
    let small = Node::with(PODS / 5);
    command(figures, &["pods", "--format", "json"], &large, &small);
}

/// What `command` costs on the two nodes.
fn command(figures: &mut Figures, command: &[&str], large: &Node, small: &Node) {
    let name = command.first().copied().unwrap();
    let own = |node: &Node| node.kdns(command);
    beside_cat(figures, name, large, own);
    let growth = (0..ROUNDS).map(|_| own(large).seconds / own(small).seconds);
    figures.check(
        &format!("{name}, time with {PODS} pods / with {} pods", PODS / 5),
        median(growth.collect()),
        Bound::AtMost(5.0 * 1.3),
        "no peer",
    );
}

fn beside_cat(figures: &mut Figures, name: &str, node: &Node, own: impl Fn(&Node) -> Cost) {
    let Some(first) = node.cat() else {
        figures.missing("cat");
        return;
    };
    let rounds = (0..ROUNDS).map(|_| own(node).seconds / node.cat().unwrap().seconds);
    let beside = format!(
        "cat takes {:.0} ms for {} files",
        first.seconds * 1e3,
        node.files.len()
    );
    let what = format!("{name} on a node of {PODS} pods, time / cat of the same files");
    figures.check(
        &what,
        median(rounds.collect()),
        Bound::AtMost(MOST),
        &beside,
    );
    let peak = f64::from(own(node).peak_kib) / 1024.0;
    let what = format!("{name} on a node of {PODS} pods, MiB");
    figures.check(&what, peak, Bound::AtMost(MOST_MIB), "resident at most");
}

/// A node below a directory of its own.
struct Node {
    root: TempDir,
    /// What kdns reads, by path from the root.
    files: Vec<String>,
    processes: usize,
}

impl Node {
    fn with(pods: usize) -> Self {
        let mut node = Self {
            root: TempDir::new().unwrap(),
            files: Vec::new(),
            processes: 0,
        };
        node.process("systemd", "/init.scope", 1);
        node.file("proc/1/mountinfo", &mounts(pods));
        for number in 0..pods {
            node.pod(number);
        }
        let list = node.files.join("\n");
        fs::write(node.root.path().join("files"), list).unwrap();
        node
    }

    fn kdns(&self, command: &[&str]) -> Cost {
        let root = self.root.path().to_str().unwrap();
        let mut words = vec![KDNS];
        words.extend(command);
        words.extend(["--root", root]);
        cost(1, &words).unwrap()
    }

    /// One process reads them all.
    fn cat(&self) -> Option<Cost> {
        let script = format!(
            "cd {} && exec xargs -n 100000 -s 2000000 cat < files",
            self.root.path().display()
        );
        cost(1, &["sh", "-c", &script])
    }

    /// A file that kdns reads.
    fn file(&mut self, path: &str, text: &str) {
        self.other(path, text);
        self.files.push(path.to_owned());
    }

    /// A file that is only there.
    fn other(&self, path: &str, text: &str) {
        let full = self.root.path().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn process(&mut self, comm: &str, group: &str, netns: usize) -> usize {
        self.processes += 1;
        let pid = self.processes;
        let path = format!("proc/{pid}");
        let rest = "0 0 0 0 -1 4194560 2209 0 0 0 4 3 0 0 20 0 9 0";
        let stat = format!("{pid} ({comm}) S 1 {rest} {pid} 768512000 11 18446744073709551615\n");
        // `ppid` is the first of the numbers.
        self.file(&format!("{path}/stat"), &stat.replacen("S 1 0", "S 1", 1));
        self.other(&format!("{path}/comm"), &format!("{comm}\n"));
        self.file(&format!("{path}/cgroup"), &format!("0::{group}\n"));
        let links = self.root.path().join(&path).join("ns");
        fs::create_dir_all(&links).unwrap();
        let link = |kind: &str| {
            let to = format!("{kind}:[{}]", 4_026_530_000 + netns);
            symlink(Path::new(&to), links.join(kind)).unwrap();
        };
        link("net");
        link("mnt");
        pid
    }

    fn pod(&mut self, number: usize) {
        let uid = format!("{number:08x}-1111-4111-8111-111111111111");
        let name = format!("web-{number:05}");
        let sandbox = format!("{number:064x}");
        let slice = format!(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice",
            uid.replace('-', "_")
        );
        let conf = "search default.svc.cluster.local svc.cluster.local cluster.local\n\
            nameserver 10.96.0.10\noptions ndots:5\n";
        let netns = number + 2;
        self.process("kworker/0:1", "/system.slice/other.service", 1);
        self.process(
            "pause",
            &format!("{slice}/cri-containerd-{sandbox}.scope"),
            netns,
        );
        self.bundle(&sandbox, &bundle(&sandbox, &name, &uid, None, number));
        self.file(&format!("{SANDBOXES}/{sandbox}/resolv.conf"), conf);
        self.other(&format!("{SANDBOXES}/{sandbox}/hostname"), &name);
        for container in 0..CONTAINERS {
            let id = format!("{:064x}", (container + 1) << 32 | number);
            let group = format!("{slice}/cri-containerd-{id}.scope");
            let first = self.process("web", &group, netns);
            for _ in 1..PROCESSES {
                self.process("web", &group, netns);
            }
            let part = format!("container-{container}");
            self.bundle(&id, &bundle(&sandbox, &name, &uid, Some(&part), number));
            let logs = format!("var/log/pods/default_{name}_{uid}/{part}");
            self.other(&format!("{logs}/0.log"), "");
            self.other(
                &format!("var/log/containers/{name}_default_{part}-{id}.log"),
                "",
            );
            if container == 0 {
                let path = format!("proc/{first}");
                self.file(&format!("{path}/root/etc/resolv.conf"), conf);
                self.file(&format!("{path}/net/fib_trie"), &fib_trie(number));
                self.file(&format!("{path}/net/if_inet6"), "");
            }
        }
        self.other(&format!("var/lib/kubelet/pods/{uid}/etc-hosts"), "");
    }

    fn bundle(&mut self, id: &str, text: &str) {
        self.file(&format!("{BUNDLES}/{id}/config.json"), text);
    }
}

/// The mounts of the first process: those that keep network namespaces.
fn mounts(pods: usize) -> String {
    let mut text = String::new();
    for number in 0..pods {
        let netns = 4_026_530_002 + number;
        writeln!(
            text,
            "{number} 31 0:4 net:[{netns}] /run/netns/cni-{number:08x} rw shared:7 - nsfs nsfs rw"
        )
        .unwrap();
    }
    text
}

fn fib_trie(number: usize) -> String {
    let address = format!("10.244.{}.{}", number / 250, number % 250 + 2);
    format!(
        "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     \
        |-- {address}\n        /32 host LOCAL\n     |-- 127.0.0.1\n        /32 host LOCAL\n"
    )
}

/// A bundle's `config.json`, as long as containerd's are.
fn bundle(sandbox: &str, name: &str, uid: &str, container: Option<&str>, number: usize) -> String {
    let kind = if container.is_some() {
        "container"
    } else {
        "sandbox"
    };
    let container = container.map_or(String::new(), |container| {
        format!(r#""io.kubernetes.cri.container-name": "{container}","#)
    });
    let syscalls: Vec<String> = (0..360).map(|call| format!("\"syscall_{call}\"")).collect();
    let syscalls = syscalls.join(",\n      ");
    format!(
        r#"{{
 "ociVersion": "1.0.2-dev",
 "annotations": {{
  {container}
  "io.kubernetes.cri.container-type": "{kind}",
  "io.kubernetes.cri.sandbox-id": "{sandbox}",
  "io.kubernetes.cri.sandbox-name": "{name}",
  "io.kubernetes.cri.sandbox-namespace": "default",
  "io.kubernetes.cri.sandbox-uid": "{uid}"
 }},
 "mounts": [
  {{"destination": "/etc/hosts", "type": "bind", "source": "/var/lib/kubelet/pods/{uid}/etc-hosts", "options": ["rbind", "rw"]}},
  {{"destination": "/etc/resolv.conf", "type": "bind", "source": "/{SANDBOXES}/{sandbox}/resolv.conf", "options": ["rbind", "rw"]}}
 ],
 "linux": {{
  "namespaces": [{{"type": "pid"}}, {{"type": "network", "path": "/var/run/netns/cni-{number:08x}"}}],
  "seccomp": {{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{{"names": [{syscalls}], "action": "SCMP_ACT_ALLOW"}}]}}
 }}
}}
"#
    )
}
