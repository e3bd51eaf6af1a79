//! The pods and the DNS of a large node: kdns beside a `cat` of the same files.
//!
//! The node is made for the bench: for each pod a sandbox and two containers
//! with four processes each, and one process of the node itself; bundles of
//! containerd with a seccomp profile, logs, the kubelet's directories, tables
//! of sockets. Two of the pods are CoreDNS, which will loop.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::figures::{Bound, Figures, median};
use crate::measure::{Cost, cost};

const KDNS: &str = env!("CARGO_BIN_EXE_kdns");
pub(crate) const PODS: usize = 500;
const CONTAINERS: usize = 2;
const PROCESSES: usize = 4;
const ROUNDS: usize = 7;

/// What a command may take, as a part of what `cat` takes.
const MOST: f64 = 1.5;
const MOST_MIB: f64 = 32.0;

/// Pods that are CoreDNS.
const DNS_PODS: usize = 2;

const COREFILE: &str = ".:53 {\n    errors\n    kubernetes cluster.local\n    \
    forward . /etc/resolv.conf\n    cache 30\n    loop\n}\n";

/// A table of sockets without one.
const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
    uid  timeout inode ref pointer drops\n";

const BUNDLES: &str = "run/containerd/io.containerd.runtime.v2.task/k8s.io";
const SANDBOXES: &str = "var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

pub(crate) fn run(figures: &mut Figures) {
    let large = Node::with(PODS);
    let small = Node::with(PODS / 5);
    command(figures, &["pods", "--format", "json"], &large, &small);
    command(figures, &["check-loop"], &large, &small);
    command(figures, &["check-loop", "--format", "npd"], &large, &small);
    let doctor = (0..ROUNDS).map(|_| large.kdns(&["doctor"]).seconds);
    figures.check(
        &format!("doctor, seconds with {PODS} pods"),
        median(doctor.collect()),
        Bound::AtMost(1.0),
        "nobody is asked",
    );
}

/// What `command` costs on the two nodes.
fn command(figures: &mut Figures, command: &[&str], large: &Node, small: &Node) {
    let name = command.join(" ");
    let list = if command.first() == Some(&"pods") {
        List::Pods
    } else {
        List::All
    };
    let own = |node: &Node| node.kdns(command);
    beside_cat(figures, &name, large, list, own);
    let growth = (0..ROUNDS).map(|_| own(large).seconds / own(small).seconds);
    figures.check(
        &format!("{name}, time with {PODS} pods / with {} pods", PODS / 5),
        median(growth.collect()),
        Bound::AtMost(5.0 * 1.3),
        "no peer",
    );
}

fn beside_cat(
    figures: &mut Figures,
    name: &str,
    node: &Node,
    list: List,
    own: impl Fn(&Node) -> Cost,
) {
    let Some(first) = node.cat(list) else {
        figures.missing("cat");
        return;
    };
    let rounds = (0..ROUNDS).map(|_| own(node).seconds / node.cat(list).unwrap().seconds);
    let beside = format!(
        "cat takes {:.0} ms for {} files",
        first.seconds * 1e3,
        node.list(list).len()
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

/// Files that a command reads.
#[derive(Clone, Copy)]
enum List {
    Pods,
    All,
}

/// A node below a directory of its own.
pub(crate) struct Node {
    pub(crate) root: TempDir,
    /// What every command reads, by path from the root.
    files: Vec<String>,
    /// What only `check-loop` reads.
    dns: Vec<String>,
    processes: usize,
}

impl Node {
    pub(crate) fn with(pods: usize) -> Self {
        let mut node = Self {
            root: TempDir::new().unwrap(),
            files: Vec::new(),
            dns: Vec::new(),
            processes: 0,
        };
        node.process("systemd", "/init.scope", 1);
        node.file("proc/1/mountinfo", &mounts(pods));
        node.settings();
        for number in 0..pods {
            node.pod(number);
        }
        for (name, list) in [("pods", List::Pods), ("all", List::All)] {
            let list = node.list(list).join("\n");
            fs::write(node.root.path().join(name), list).unwrap();
        }
        node
    }

    fn list(&self, list: List) -> Vec<String> {
        let more: &[String] = match list {
            List::Pods => &[],
            List::All => &self.dns,
        };
        [&self.files, more].concat()
    }

    /// The kubelet, systemd-resolved, and what they are told.
    fn settings(&mut self) {
        let kubelet = self.process("kubelet", "/system.slice/kubelet.service", 1);
        let command = "/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0";
        self.file(&format!("proc/{kubelet}/cmdline"), command);
        let conf = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n\
            clusterDNS:\n- 10.96.0.10\nclusterDomain: cluster.local\n";
        self.file("var/lib/kubelet/config.yaml", conf);
        self.process(
            "systemd-resolve",
            "/system.slice/systemd-resolved.service",
            1,
        );
        let stub = "run/systemd/resolve/stub-resolv.conf";
        self.dns(stub, "nameserver 127.0.0.53\nsearch corp.example\n");
        self.dns(
            "run/systemd/resolve/resolv.conf",
            "nameserver 172.31.0.53\n",
        );
        fs::create_dir_all(self.root.path().join("etc")).unwrap();
        symlink(format!("/{stub}"), self.root.path().join("etc/resolv.conf")).unwrap();
        let udp = socket("3500007F:0035", 7);
        self.dns("proc/1/net/udp", &udp);
        for name in ["udp6", "tcp", "tcp6"] {
            self.dns(&format!("proc/1/net/{name}"), TABLE);
        }
        self.dns("proc/1/net/fib_trie", &fib_trie(0));
        self.dns("proc/1/net/if_inet6", "");
    }

    fn kdns(&self, command: &[&str]) -> Cost {
        let root = self.root.path().to_str().unwrap();
        let mut words = vec![KDNS];
        words.extend(command);
        words.extend(["--root", root]);
        cost(1, &words).unwrap()
    }

    /// One process reads them all.
    fn cat(&self, list: List) -> Option<Cost> {
        let name = match list {
            List::Pods => "pods",
            List::All => "all",
        };
        let script = format!(
            "cd {} && exec xargs -n 100000 -s 2000000 cat < {name}",
            self.root.path().display()
        );
        cost(1, &["sh", "-c", &script])
    }

    /// A file that only `check-loop` reads.
    fn dns(&mut self, path: &str, text: &str) {
        self.other(path, text);
        self.dns.push(path.to_owned());
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

    /// The tree of control groups, with the processes of each.
    fn group(&self, group: &str, pid: usize) {
        let mut path = self.root.path().join("sys/fs/cgroup");
        for part in group.split('/').skip(1) {
            path = path.join(part);
            fs::create_dir_all(&path).unwrap();
            let before = fs::read(path.join("cgroup.procs")).unwrap_or_default();
            fs::write(path.join("cgroup.procs"), before).unwrap();
        }
        let before = fs::read_to_string(path.join("cgroup.procs")).unwrap();
        fs::write(path.join("cgroup.procs"), format!("{before}{pid}\n")).unwrap();
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
        self.group(group, pid);
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
        let is_dns = number < DNS_PODS;
        let kind = if is_dns { "coredns" } else { "web" };
        let name = format!("{kind}-{number:05}");
        let sandbox = format!("{number:064x}");
        let slice = format!(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice",
            uid.replace('-', "_")
        );
        let conf = "search default.svc.cluster.local svc.cluster.local cluster.local\n\
            nameserver 10.96.0.10\noptions ndots:5\n";
        let netns = number + 2;
        self.process("kworker/0:1", "/system.slice/other.service", 1);
        let pause = self.process(
            "pause",
            &format!("{slice}/cri-containerd-{sandbox}.scope"),
            netns,
        );
        for name in ["udp", "udp6", "tcp", "tcp6"] {
            self.dns(&format!("proc/{pause}/net/{name}"), TABLE);
        }
        self.bundle(&sandbox, &bundle(&sandbox, &name, &uid, None, number));
        self.file(&format!("{SANDBOXES}/{sandbox}/resolv.conf"), conf);
        self.other(&format!("{SANDBOXES}/{sandbox}/hostname"), &name);
        for container in 0..CONTAINERS {
            let id = format!("{:064x}", (container + 1) << 32 | number);
            let group = format!("{slice}/cri-containerd-{id}.scope");
            let first = self.process(kind, &group, netns);
            for _ in 1..PROCESSES {
                self.process("worker", &group, netns);
            }
            let part = format!("container-{container}");
            self.bundle(&id, &bundle(&sandbox, &name, &uid, Some(&part), number));
            let logs = format!("var/log/pods/default_{name}_{uid}/{part}");
            self.other(&format!("{logs}/0.log"), "");
            if is_dns {
                self.dns(&format!("{logs}/0.log"), &log());
                self.dns(
                    &format!("proc/{first}/cmdline"),
                    "/coredns\0-conf\0/etc/coredns/Corefile\0",
                );
            }
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
        let directory = format!("var/lib/kubelet/pods/{uid}");
        self.other(&format!("{directory}/etc-hosts"), "");
        if is_dns {
            let volume = format!("{directory}/volumes/kubernetes.io~configmap/config-volume");
            self.dns(&format!("{volume}/Corefile"), COREFILE);
        }
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

/// A table with one socket.
fn socket(local: &str, inode: usize) -> String {
    format!(
        "{TABLE}  100: {local} 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        \
         0 {inode} 2 0000000000000000 0\n"
    )
}

/// A log as long as CoreDNS's are before they are rotated, of what is common.
fn log() -> String {
    let mut text = String::new();
    for number in 0..5_000 {
        writeln!(
            text,
            "2026-01-01T00:00:00.{number:09}Z stdout F [INFO] 10.244.0.5:34567 - {number} \"A IN \
             www.example.com. udp 33 false 512\" NOERROR qr,rd,ra 64 0.001s"
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
