use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::host::root::Resolution;

/// What counts. Of files that need not be read nobody learns that they cannot be.
fn outcome(aim: Result<Aim, EnterError>) -> String {
    let aim = match aim {
        Ok(aim) => aim,
        Err(error) => return error.to_string(),
    };
    let namespace = aim.namespace.map(|it| it.number());
    let pid = aim.process.map(|it| it.pid());
    format!(
        "{:?}\n{namespace:?}\n{:?}\n{:?}\n{pid:?}",
        aim.plan, aim.seen, aim.program
    )
}

/// All words that can mean something on the node, and some that cannot.
fn words(root: &Root) -> BTreeSet<String> {
    let (processes, _) = processes::scan(root);
    let (pods, _) = read_pods(root, &processes, |_| false);
    let mut words =
        BTreeSet::from(["no-such-pod", "deadbeef", "default/no-such-pod"].map(str::to_owned));
    for pod in &pods {
        words.insert(pod.label());
        words.extend(pod.name.clone());
        words.extend(pod.uid.clone());
        let ids = pod.containers.iter().filter_map(|it| it.id.as_deref());
        for id in ids.chain(pod.sandbox.as_deref()) {
            words.insert(id.to_owned());
            words.extend(id.get(..8).map(str::to_owned));
            words.insert(format!("containerd://{id}"));
        }
    }
    words.extend(processes.iter().map(|it| it.pid.to_string()));
    words.retain(|word| {
        word.parse::<Target>()
            .is_ok_and(|it| !matches!(it, Target::File(_)))
    });
    words
}

/// How often a part of the node was enough.
fn check(node: &Path) -> usize {
    let root = || Root::below(node, Resolution::default()).unwrap();
    let mut enough = 0;
    for word in words(&root()) {
        let target: Target = word.parse().unwrap();
        if let Target::Pid(pid) = target {
            // Without control groups that tell, all is read.
            let full = at_process_by(&root(), pid, |_| None);
            assert_eq!(
                outcome(aim(&root(), &word)),
                outcome(full),
                "{word} on {node:?}"
            );
            continue;
        }
        let full = outcome(at_pod_by_all(&root(), &target));
        assert_eq!(outcome(aim(&root(), &word)), full, "{word} on {node:?}");
        let little = little_for(&root(), &target).and_then(|it| it.plan(&target).ok());
        enough += usize::from(little.is_some_and(|it| it.is_settled()));
    }
    enough
}

/// Of every node at hand, with every runtime and layout.
#[test]
fn a_part_of_the_node_tells_the_same_as_all_of_it() {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let mut enough = 0;
    for entry in fs::read_dir(nodes).unwrap() {
        let node = entry.unwrap().path();
        if node.is_dir() {
            enough += check(&node);
        }
    }
    assert!(enough > 300, "only {enough}");
}

const SLICE: &str = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod";
const BUNDLES: &str = "run/containerd/io.containerd.runtime.v2.task/k8s.io";
const SANDBOXES: &str = "var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes";

/// A node of pods that are alike.
struct Made(tempfile::TempDir);

impl Made {
    fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn process(&self, pid: u32, comm: &str, group: &str, netns: u32) {
        let stat = format!("{pid} ({comm}) S 1 0 0 0 -1 0 0 0 0 0 4 3 0 0 20 0 9 0 {pid} 7 1 1\n");
        self.file(&format!("proc/{pid}/stat"), &stat);
        self.file(&format!("proc/{pid}/cgroup"), &format!("0::{group}\n"));
        self.file(
            &format!("proc/{pid}/root/etc/resolv.conf"),
            "nameserver 10.96.0.10\n",
        );
        let links = self.0.path().join(format!("proc/{pid}/ns"));
        fs::create_dir_all(&links).unwrap();
        symlink(
            format!("net:[{}]", 4_026_530_000 + netns),
            links.join("net"),
        )
        .unwrap();
    }

    /// The tree of control groups with the processes that there are.
    fn tree(&self) {
        for entry in fs::read_dir(self.0.path().join("proc")).unwrap() {
            let process = entry.unwrap();
            let group = fs::read_to_string(process.path().join("cgroup")).unwrap();
            let mut path = self.0.path().join("sys/fs/cgroup");
            for part in group.trim().split('/').skip(1) {
                path = path.join(part);
                fs::create_dir_all(&path).unwrap();
                let file = path.join("cgroup.procs");
                if !file.exists() {
                    fs::write(file, "").unwrap();
                }
            }
            let pid = process.file_name().into_string().unwrap();
            let file = path.join("cgroup.procs");
            let before = fs::read_to_string(&file).unwrap();
            fs::write(file, format!("{before}{pid}\n")).unwrap();
        }
    }

    /// A pod with so many containers; `runs`: `s` its sandbox, and each of its
    /// containers by number.
    fn pod(&self, number: u32, name: &str, containers: u32, runs: &str) {
        let uid = format!("{number:08x}-1111-4111-8111-111111111111");
        let slice = format!("{SLICE}{}.slice", uid.replace('-', "_"));
        let sandbox = format!("{number:08x}{:056x}", 1);
        let annotations = |kind: &str, more: &str| {
            format!(
                r#"{{"annotations": {{"io.kubernetes.cri.container-type": "{kind}", {more}
                "io.kubernetes.cri.sandbox-id": "{sandbox}", "io.kubernetes.cri.sandbox-name": "{name}",
                "io.kubernetes.cri.sandbox-namespace": "shop", "io.kubernetes.cri.sandbox-uid": "{uid}"}},
                "linux": {{"namespaces": [{{"type": "network", "path": "/run/netns/{number}"}}]}}}}"#
            )
        };
        self.file(
            &format!("{BUNDLES}/{sandbox}/config.json"),
            &annotations("sandbox", ""),
        );
        self.file(
            &format!("{SANDBOXES}/{sandbox}/resolv.conf"),
            "nameserver 10.96.0.10\n",
        );
        self.file(&format!("var/lib/kubelet/pods/{uid}/etc-hosts"), "");
        let scope = |id: &str| format!("{slice}/cri-containerd-{id}.scope");
        if runs.contains('s') {
            self.process(number * 100, "pause", &scope(&sandbox), number);
        }
        for container in 0..containers {
            let id = format!("{number:08x}{:056x}", container + 2);
            let part = format!("c{container}");
            let logs = format!("var/log/pods/shop_{name}_{uid}/{part}/0.log");
            self.file(&logs, "");
            self.file(
                &format!("var/log/containers/{name}_shop_{part}-{id}.log"),
                "",
            );
            let named = format!(r#""io.kubernetes.cri.container-name": "{part}","#);
            self.file(
                &format!("{BUNDLES}/{id}/config.json"),
                &annotations("container", &named),
            );
            if runs.contains(&container.to_string()) {
                let pid = number * 100 + 10 * (container + 1);
                self.process(pid, "app", &scope(&id), number);
                self.process(pid + 1, "worker", &scope(&id), number);
            }
        }
    }
}

#[test]
fn pods_that_are_dead_or_alike() {
    let made = Made(tempfile::TempDir::new().unwrap());
    made.process(1, "systemd", "/init.scope", 0);
    made.process(2, "containerd", "/system.slice/containerd.service", 0);
    made.pod(3, "web", 2, "s01");
    made.pod(4, "one", 2, "s1");
    made.pod(5, "dead", 2, "s");
    made.pod(6, "gone", 1, "");
    made.pod(7, "twin", 1, "s0");
    made.pod(8, "twin", 1, "s0");
    made.pod(9, "again", 1, "");
    made.pod(10, "again", 1, "s0");
    made.pod(11, "bare", 1, "0");
    made.pod(12, "deadbeef", 1, "s0");
    let enough = check(made.0.path());
    assert!(enough >= 25, "{enough}");
    made.tree();
    assert_eq!(check(made.0.path()), enough);
    // With the tree nobody looks at processes of other pods.
    let path = made.0.path().join("proc/420/cgroup");
    let text = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let little = |name: &str| {
        let root = Root::below(made.0.path(), Resolution::default()).unwrap();
        let target = format!("shop/{name}").parse().unwrap();
        little_for(&root, &target).map(|it| it.processes.len())
    };
    assert_eq!((little("web"), little("one")), (Some(6), None));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, text).unwrap();
    // A pod that runs and has no logs can have any name.
    let uid = "00000003-1111-4111-8111-111111111111";
    fs::remove_dir_all(made.0.path().join(format!("var/log/pods/shop_web_{uid}"))).unwrap();
    assert_eq!(check(made.0.path()), 0);
}
