use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::host::MAX_BYTES;
use crate::host::node::processes::{ProcessSeen, scan};
use crate::host::root::Resolution;
use crate::host::root::fixture::root_with;

mod corefile;

const ALL: Parts = Parts {
    pods: true,
    dns_pods: true,
    servers: false,
};

fn node(name: &str) -> Root {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    Root::below(&nodes.join(name), Resolution::default()).unwrap()
}

fn pods_of(root: &Root, parts: Parts) -> Vec<Pod> {
    let (processes, skipped) = scan(root);
    assert_eq!(skipped, Vec::<String>::new());
    let (pods, skipped) = read_pods(root, &processes, parts, |_| true);
    assert_eq!(skipped.sentences, Vec::<String>::new());
    pods
}

#[test]
fn dns_servers_have_their_corefile_and_newest_logs() {
    for name in ["coredns-crashes", "disk-of-a-node"] {
        let pods = pods_of(&node(name), ALL);
        let [pod] = pods.as_slice() else {
            panic!("{} pods on {name}", pods.len());
        };
        let uid = "54f38bab-043d-4069-8201-91e9ecb6b1e8";
        let volume =
            format!("/var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~configmap/config-volume");
        let corefiles: Vec<&str> = pod.corefiles.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(corefiles, [format!("{volume}/Corefile")]);
        let logs: Vec<&str> = pod.containers[0]
            .logs
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        let directory = format!("/var/log/pods/kube-system_coredns-57c679d4f5-w6wdl_{uid}/coredns");
        assert_eq!(
            logs,
            [format!("{directory}/5.log"), format!("{directory}/4.log")]
        );
        assert!(pod.containers[0].logs[0].bytes.ends_with(b"\"\n") && pod.crashes());
    }
}

#[test]
fn only_what_is_wanted_is_read() {
    let root = node("coredns-crashes");
    assert!(pods_of(&root, Parts::default()).is_empty());
    let pods = pods_of(
        &root,
        Parts {
            dns_pods: false,
            ..ALL
        },
    );
    assert!(pods[0].corefiles.is_empty() && pods[0].containers[0].logs.is_empty());
    let pods = pods_of(&node("cgroup-v2"), ALL);
    let with_arguments = pods
        .iter()
        .flat_map(|it| &it.processes)
        .filter(|it| !it.arguments.is_empty());
    let arguments: Vec<_> = with_arguments.map(|it| it.arguments.as_slice()).collect();
    assert_eq!(arguments, [["/coredns", "-conf", "/etc/coredns/Corefile"]]);
}

#[test]
fn the_node_itself_has_addresses() {
    let addresses = |name| crate::host::node::networks::of_node(&node(name)).0;
    let found: Vec<String> = addresses("cgroup-v2")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        found,
        ["10.96.0.1", "10.96.0.10", "10.244.0.1", "172.31.0.10"]
    );
    assert!(addresses("plain").is_empty());
}

/// `DIRECTORY/proc/PID/cgroup` of a process of a container, whose runtime's
/// state is `config`.
fn made(pid: u32, config: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::TempDir::new().unwrap();
    let id = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    let process = directory.path().join(format!("proc/{pid}"));
    fs::create_dir_all(&process).unwrap();
    let group = format!("0::/kubepods/pod6fbd4d33-804b-43cd-b042-9dde89aeac6a/{id}\n");
    fs::write(process.join("cgroup"), group).unwrap();
    let bundles = "run/containerd/io.containerd.runtime.v2.task/k8s.io";
    let bundle = directory.path().join(bundles).join(id);
    fs::create_dir_all(&bundle).unwrap();
    fs::write(bundle.join("config.json"), config).unwrap();
    (directory, process)
}

#[test]
fn what_cannot_be_read_is_said() {
    let (directory, process) = made(7, b"{");
    fs::create_dir_all(process.join("root/etc")).unwrap();
    fs::write(
        process.join("root/etc/resolv.conf"),
        vec![b'#'; MAX_BYTES + 1],
    )
    .unwrap();
    let root = Root::below(directory.path(), Resolution::default()).unwrap();
    let (processes, _) = scan(&root);
    let (pods, skipped) = read_pods(&root, &processes, ALL, |_| true);
    assert_eq!(pods.len(), 1);
    assert_eq!(skipped.sentences.len(), 1, "{skipped:?}");
    assert!(
        skipped.sentences[0].ends_with("at line 1 column 1, and 1 more like this"),
        "{skipped:?}"
    );
}

/// Nothing in the root of a container leads out of it, or waits.
#[test]
fn a_containers_root_is_a_strangers() {
    for target in [
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "fifo",
        "/proc/self/environ",
        "resolv.conf",
    ] {
        let (directory, process) = made(7, b"{}");
        let etc = process.join("root/etc");
        fs::create_dir_all(&etc).unwrap();
        nix::unistd::mkfifo(&etc.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink(target, etc.join("resolv.conf")).unwrap();
        let root = Root::below(directory.path(), Resolution::default()).unwrap();
        let (processes, _) = scan(&root);
        let (pods, _) = read_pods(&root, &processes, ALL, |_| true);
        assert!(!pods[0].is_resolv_conf_seen, "{target}");
    }
}

#[test]
fn a_process_that_is_gone_stays_gone() {
    let root = Root::live().unwrap();
    let mut child = Command::new("sleep").arg("100").spawn().unwrap();
    let (processes, _) = scan(&root);
    let seen = processes.iter().find(|it| it.pid == child.id()).unwrap();
    assert_eq!(seen.parent, Some(std::process::id()));
    let held = Directory::of_seen(&root, seen).unwrap();
    assert_eq!(held.namespace("net"), seen.netns);
    assert!(held.root().unwrap().list(Path::new("/")).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(Directory::of_seen(&root, seen).is_none() && held.read("cmdline").is_err());
    // Another process with the same number is another one.
    let own = processes
        .iter()
        .find(|it| it.pid == std::process::id())
        .unwrap();
    let other = ProcessSeen {
        started: own.started.map(|it| it + 1),
        ..own.clone()
    };
    assert!(
        Directory::of_seen(&root, own).is_some() && Directory::of_seen(&root, &other).is_none()
    );
}

#[test]
fn of_a_long_log_the_end_is_read() {
    let directory = tempfile::TempDir::new().unwrap();
    let mut text = b"first\n".repeat(MAX_BYTES / 6 + 1);
    text.extend(b"last\n");
    fs::write(directory.path().join("long"), &text).unwrap();
    fs::write(directory.path().join("short"), b"first\nlast\n").unwrap();
    let root = Root::below(directory.path(), Resolution::default()).unwrap();
    let long = root.read_end(Path::new("/long")).unwrap();
    assert!(long.is_cut && long.source.bytes.len() < MAX_BYTES);
    assert!(long.source.bytes.starts_with(b"first\n") && long.source.bytes.ends_with(b"\nlast\n"));
    assert_eq!(long.source.name, "/long (its last MiB)");
    let short = root.read_end(Path::new("/short")).unwrap();
    assert_eq!(
        (short.is_cut, short.source.bytes.as_slice()),
        (false, &b"first\nlast\n"[..])
    );
    assert!(root.read_end(Path::new("/none")).unwrap_err().is_missing());
}

/// The directories of every distribution of Kubernetes: state and root.
#[test]
fn runtimes_are_found_where_distributions_put_them() {
    let id = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    let bundle = format!("io.containerd.runtime.v2.task/k8s.io/{id}/config.json");
    let old = format!("io.containerd.runtime.v1.linux/k8s.io/{id}/config.json");
    let sandbox = format!("io.containerd.grpc.v1.cri/sandboxes/{id}/resolv.conf");
    for (config, conf) in [
        (
            format!("run/containerd/{bundle}"),
            format!("var/lib/containerd/{sandbox}"),
        ),
        (
            format!("run/containerd/{old}"),
            format!("var/lib/containerd/{sandbox}"),
        ),
        (
            format!("run/k3s/containerd/{bundle}"),
            format!("var/lib/rancher/k3s/agent/containerd/{sandbox}"),
        ),
        (
            format!("run/k3s/containerd/{bundle}"),
            format!("var/lib/rancher/rke2/agent/containerd/{sandbox}"),
        ),
        (
            format!("run/k0s/containerd/{bundle}"),
            format!("var/lib/k0s/containerd/{sandbox}"),
        ),
        (
            format!("var/snap/microk8s/common/run/containerd/{bundle}"),
            format!("var/snap/microk8s/common/var/lib/containerd/{sandbox}"),
        ),
    ] {
        let annotations = format!(
            r#"{{"annotations": {{"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "{id}",
            "io.kubernetes.cri.sandbox-name": "web", "io.kubernetes.cri.sandbox-namespace": "default"}}}}"#
        );
        let (_directory, root) = root_with(&[
            (&config, annotations.as_str()),
            (&conf, "nameserver 10.96.0.10\n"),
        ]);
        let pods = pods_of(&root, ALL);
        let file = pods[0].resolv_conf.as_ref().unwrap();
        assert_eq!(
            (pods[0].label(), &file.source.name),
            ("default/web".to_owned(), &format!("/{conf}"))
        );
    }
}

/// A directory that only a configuration or an argument of containerd names.
#[test]
fn containerd_is_found_where_it_was_told_to_be() {
    let id = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    let bundle = format!("s/io.containerd.runtime.v2.task/k8s.io/{id}/config.json");
    let annotations = format!(
        r#"{{"annotations": {{"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "{id}",
        "io.kubernetes.cri.sandbox-name": "web", "io.kubernetes.cri.sandbox-namespace": "default"}}}}"#
    );
    let conf = format!("r/io.containerd.grpc.v1.cri/sandboxes/{id}/resolv.conf");
    let own = "root = '/r'\nstate = \"/s\"\n[plugins]\n";
    let arguments = "/usr/bin/containerd\0--root=/r\0--state\0/s\0";
    let named = "containerd\0-c\0/opt/c.toml\0";
    let tests: [(&[(&str, &str)], bool); 4] = [
        (&[], false),
        (&[("etc/containerd/config.toml", own)], true),
        (
            &[
                ("proc/9/comm", "containerd\n"),
                ("proc/9/cmdline", arguments),
            ],
            true,
        ),
        (
            &[
                ("proc/9/comm", "containerd\n"),
                ("proc/9/cmdline", named),
                ("opt/c.toml", own),
            ],
            true,
        ),
    ];
    for (files, is_found) in tests {
        let mut all = files.to_vec();
        all.push((&bundle, &annotations));
        all.push((&conf, "nameserver 10.96.0.10\n"));
        let (_directory, root) = root_with(&all);
        let (pods, _) = read_pods(&root, &scan(&root).0, ALL, |_| true);
        let files: Vec<&str> = pods
            .iter()
            .filter_map(|it| Some(it.resolv_conf.as_ref()?.source.name.as_str()))
            .collect();
        let expected = [format!("/{conf}")];
        let expected: &[String] = if is_found { &expected } else { &[] };
        assert_eq!(files, expected);
    }
}
