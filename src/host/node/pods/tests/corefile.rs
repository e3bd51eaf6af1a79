//! Which Corefile a pod has.

use super::*;
use crate::node::Presence;
use crate::topology::CorefileUnknown;

/// What NodeLocal `DNSCache` made of a Corefile with places for addresses.
#[test]
fn the_corefile_that_node_cache_made_is_read() {
    let uid = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
    let base =
        format!("var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~configmap/c/Corefile.base");
    let cgroup = format!(
        "0::/kubepods/pod{uid}/7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a\n"
    );
    let usual = "/node-cache\0-localip\x00169.254.20.10\0";
    let made = "proc/7/root/etc/Corefile";
    let other = "/node-cache\0-conf\0/run/mine\0";
    let tests = [
        (
            "forward . __PILLAR__CLUSTER__DNS__",
            usual,
            made,
            Some("/etc/Corefile"),
        ),
        (
            "forward . __PILLAR__CLUSTER__DNS__",
            other,
            "proc/7/root/run/mine",
            Some("/run/mine"),
        ),
        ("forward . __PILLAR__UPSTREAM__SERVERS__", usual, made, None),
        ("forward . 10.96.0.10", usual, made, None),
    ];
    for (text, arguments, generated, expected) in tests {
        let (_directory, root) = root_with(&[
            (base.as_str(), text),
            ("proc/7/comm", "node-cache\n"),
            ("proc/7/cmdline", arguments),
            ("proc/7/cgroup", cgroup.as_str()),
            (generated, "forward . 10.96.0.11"),
        ]);
        let (pods, _) = read_pods(&root, &scan(&root).0, ALL, |_| true);
        let made = expected.map(|it| format!("/proc/7/root{it}"));
        let mut names: Vec<String> = made.into_iter().collect();
        // The one that is read stands first.
        names.push(format!("/{base}"));
        let found: Vec<&str> = pods[0]
            .corefiles
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(found, names, "{text}");
    }
}

/// The files of a `CoreDNS` in a pod, and why its Corefile is not known.
fn corefile_of(
    arguments: &str,
    config: &str,
    files: &[(&str, &str)],
) -> (Vec<String>, Option<CorefileUnknown>) {
    let uid = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
    let id = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    let cgroup = format!("0::/kubepods/pod{uid}/{id}\n");
    let bundle = format!("run/containerd/io.containerd.runtime.v2.task/k8s.io/{id}/config.json");
    let volume = format!("var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~configmap/c");
    let config = config.replace("VOLUME", &format!("/{volume}"));
    let json = format!(
        r#"{{"annotations": {{"io.kubernetes.cri.container-type": "container",
            "io.kubernetes.cri.sandbox-id": "{}", "io.kubernetes.cri.container-name": "coredns",
            "io.kubernetes.cri.sandbox-uid": "{uid}"}}, "mounts": [{config}]}}"#,
        "4".repeat(64)
    );
    let words = arguments.replace(' ', "\0") + "\0";
    let placed: Vec<(String, &str)> = files
        .iter()
        .map(|(path, text)| (path.replace("VOLUME", &volume), *text))
        .collect();
    let mut all: Vec<(&str, &str)> = placed
        .iter()
        .map(|(path, text)| (path.as_str(), *text))
        .collect();
    all.extend([
        (bundle.as_str(), json.as_str()),
        ("proc/7/comm", "coredns\n"),
        ("proc/7/cmdline", words.as_str()),
        ("proc/7/cgroup", cgroup.as_str()),
    ]);
    let (_directory, root) = root_with(&all);
    let (pods, _) = read_pods(&root, &scan(&root).0, ALL, |_| true);
    let names = pods[0]
        .corefiles
        .iter()
        .map(|it| it.name.replace(&format!("/{volume}"), "VOLUME"));
    (names.collect(), pods[0].corefile_unknown.clone())
}

const USUAL: &str = "/coredns -conf /etc/coredns/Corefile";

/// The node's own, which belongs to no pod.
const OF_NODE: (&str, &str) = ("etc/coredns/Corefile", "forward . 127.0.0.1\n");

fn mount(source: &str, point: &str) -> String {
    format!(r#"{{"destination": "{point}", "type": "bind", "source": "{source}"}}"#)
}

#[test]
fn the_corefile_is_that_of_the_container() {
    // From a hostPath, with an import; the node's own is another one.
    let files = [
        OF_NODE,
        ("opt/dns/Corefile", "import custom/*.override\n"),
        ("opt/dns/custom/a.override", ""),
        ("opt/dns/custom/b", ""),
    ];
    let (found, why) = corefile_of(USUAL, &mount("/opt/dns", "/etc/coredns"), &files);
    assert_eq!(
        found,
        ["/opt/dns/Corefile", "/opt/dns/custom/a.override"],
        "{why:?}"
    );
    // Imports go through mounts of their own.
    let mounts = [
        mount("VOLUME", "/etc/coredns"),
        mount("/opt/more", "/etc/coredns/custom"),
    ];
    let files = [
        ("VOLUME/Corefile", "import custom/*.override\n"),
        ("VOLUME/x.override", ""),
        ("opt/more/y.override", ""),
    ];
    let (found, why) = corefile_of(USUAL, &mounts.join(","), &files);
    assert_eq!(
        found,
        ["VOLUME/Corefile", "/opt/more/y.override"],
        "{why:?}"
    );
    // Another -conf: the file that is called Corefile is not it.
    let files = [("VOLUME/Corefile", "x\n"), ("VOLUME/my.conf", "y\n")];
    let (found, _) = corefile_of("/coredns --conf=/c/my.conf", &mount("VOLUME", "/c"), &files);
    assert_eq!(found, ["VOLUME/my.conf"]);
}

#[test]
fn what_is_mounted_nowhere_is_not_known() {
    // A single file, as subPath mounts it.
    let files = [("opt/one", "x\n"), OF_NODE];
    let (found, _) = corefile_of(USUAL, &mount("/opt/one", "/etc/coredns/Corefile"), &files);
    assert_eq!(found, ["/opt/one"]);
    // What is mounted is not there, or it is the image's, or comes by a pipe.
    let usual = || "/etc/coredns/Corefile".to_owned();
    let in_image = |path: &str| CorefileUnknown::InImage(path.to_owned());
    for (arguments, mounts, expected) in [
        (
            USUAL,
            mount("/opt/dns", "/etc/coredns"),
            CorefileUnknown::NotThere(usual()),
        ),
        (USUAL, String::new(), in_image(&usual())),
        ("/coredns", String::new(), in_image("/Corefile")),
        (
            "/coredns -conf stdin",
            String::new(),
            CorefileUnknown::Stdin,
        ),
    ] {
        let found = corefile_of(arguments, &mounts, &[OF_NODE, ("VOLUME/other", "x\n")]);
        assert_eq!(found, (Vec::new(), Some(expected)), "{arguments}");
    }
    // Where no mount is known, the volume's file of this name is it.
    let (found, why) = corefile_of(USUAL, "", &[("VOLUME/Corefile", "x\n"), OF_NODE]);
    assert_eq!((found, why), (vec!["VOLUME/Corefile".to_owned()], None));
}

/// As for whoever may see what is mounted there, and not what it says.
#[test]
fn what_is_there_and_cannot_be_read_is_not_missing() {
    let table = "36 35 8:1 /opt/dns /etc/coredns ro - ext4 /dev/sda1 rw\n";
    let files = [
        ("proc/7/mountinfo", table),
        ("opt/dns/Corefile/no-file", "x\n"),
    ];
    let (found, why) = corefile_of(USUAL, "", &files);
    assert!(found.is_empty(), "{found:?}");
    let is_told = |it: &CorefileUnknown| match it {
        CorefileUnknown::Unread(reason) => reason.contains("/opt/dns/Corefile"),
        _ => false,
    };
    assert!(why.as_ref().is_some_and(is_told), "{why:?}");
}

/// The Corefile of a CoreDNS that crashed, whose pod has two files that could
/// be it; `specs` is what containerd's database has.
fn corefile_of_crashed(specs: &[u8]) -> Vec<String> {
    let uid = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
    let volume = format!("var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~configmap/c");
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let pause = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    write("proc/7/comm", b"pause\n");
    write("proc/7/cmdline", b"/pause\0");
    write(
        "proc/7/cgroup",
        format!("0::/kubepods/pod{uid}/{pause}\n").as_bytes(),
    );
    let plugin = "var/lib/containerd/io.containerd.grpc.v1.cri";
    write(
        &format!("{plugin}/sandboxes/{pause}/resolv.conf"),
        b"nameserver 10.0.0.1\n",
    );
    let link = format!("kube-system_coredns-x_{uid}");
    write(&format!("var/log/pods/{link}/coredns/0.log"), b"");
    write(&format!("{volume}/Corefile"), b"usual\n");
    write(&format!("{volume}/mine"), b"mine\n");
    let database = "var/lib/containerd/io.containerd.metadata.v1.bolt/meta.db";
    write(database, specs);
    let root = Root::below(directory.path(), Resolution::default()).unwrap();
    let (pods, _) = read_pods(&root, &scan(&root).0, ALL, |_| true);
    assert_eq!(pods.len(), 1, "{pods:?}");
    let names = pods[0].corefiles.iter();
    let names = names.map(|it| it.name.replace(&format!("/{volume}"), "VOLUME"));
    names.collect()
}

#[test]
fn the_corefile_of_one_that_crashed_is_in_the_database() {
    let uid = "6fbd4d33-804b-43cd-b042-9dde89aeac6a";
    let sandbox = "7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a";
    let spec = |conf: &str, log: &str| {
        format!(
            r#"{{"ociVersion":"1.0.2","process":{{"args":["/coredns","-conf","{conf}"]}},
            "mounts":[{{"destination":"/dev/termination-log","source":"/x/{log}"}},
            {{"destination":"/c","source":"/var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~configmap/c"}}],
            "annotations":{{"io.kubernetes.cri.container-name":"coredns",
            "io.kubernetes.cri.sandbox-id":"{sandbox}"}}}}"#
        )
    };
    let twice = |one: &str, other: &str| {
        let mut bytes = vec![0; 3 << 20];
        // On the edge of two parts that are read.
        let at = (2 << 20) - 100;
        bytes.splice(at.., spec(one, "a").bytes());
        bytes.extend(vec![0; 1000]);
        bytes.extend(spec(other, "b").bytes());
        bytes
    };
    let mine = twice("/c/mine", "/c/mine");
    assert_eq!(corefile_of_crashed(&mine), ["VOLUME/mine"]);
    // Where it does not tell, the one with the usual name is it.
    let both = twice("/c/mine", "/c/Corefile");
    for unknown in [both.as_slice(), b"no database", b""] {
        assert_eq!(corefile_of_crashed(unknown), ["VOLUME/Corefile"]);
    }
}

/// A pod that is deleted ends in parts: its container, its volumes, its sandbox.
#[test]
fn a_pod_whose_container_ends_while_it_is_read_is_not_without_a_corefile() {
    for (gone, expected) in [
        (&["proc/16820"][..], (Presence::Runs, 1)),
        (
            &["proc/16820", "var/lib/kubelet/pods"],
            (Presence::LeftOver, 0),
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let from = "testdata/nodes/cluster-restart-will-loop/.";
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(from);
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(from).arg(directory.path());
        assert!(copy.status().unwrap().success());
        let root = Root::below(directory.path(), Resolution::default()).unwrap();
        let (processes, _) = scan(&root);
        for path in gone {
            fs::remove_dir_all(directory.path().join(path)).unwrap();
        }
        let (pods, skipped) = read_pods(&root, &processes, ALL, |_| true);
        assert_eq!(skipped.sentences, Vec::<String>::new(), "{gone:?}");
        let [pod] = pods.as_slice() else {
            panic!("{pods:#?}");
        };
        let found = (pod.presence, pod.corefiles.len());
        assert_eq!(found, expected, "{gone:?}");
        assert_eq!(pod.corefile_unknown, None, "{gone:?}");
    }
}

/// The kubelet renames a log that is long enough, and its runtime begins a new one.
#[test]
fn a_log_that_was_just_rotated_is_read() {
    const LOGS: &str = "/var/log/pods/kube-system_coredns-a_u/coredns";
    let files = [
        ("0.log", ""),
        ("0.log.20261130-150405", "the last line\n"),
        ("0.log.20261129-150405", "an older line\n"),
    ];
    let files = files.map(|(name, text)| (format!("{LOGS}/{name}"), text));
    let (_directory, root) = root_with(&files);
    let (pods, _) = read_pods(&root, &[], ALL, |_| true);
    let logs: Vec<_> = pods[0].containers[0].logs.iter().collect();
    let [log] = logs.as_slice() else {
        panic!("{logs:?}");
    };
    assert_eq!(log.name, format!("{LOGS}/0.log.20261130-150405"));
    assert_eq!(log.bytes, b"the last line\n");
}
