mod running;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::*;
use crate::host::node::processes::scan;
use crate::host::node::{Parts, StandIns};
use crate::host::root::Resolution;
use crate::host::root::fixture::root_with;
use crate::kubelet::Setting;
use crate::kubelet::tests::origin as shown_origin;
use crate::text::Place;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kubelet")
}

fn setting<T>(name: &str, setting: &Setting<T>, shown: impl Fn(&T) -> String) -> String {
    let set = shown_origin(&setting.origin);
    let mut text = format!("{name}: {}, {set}\n", shown(&setting.value));
    for (value, origin) in &setting.overrode {
        let origin = shown_origin(origin);
        writeln!(text, "  over {}, {origin}", shown(value)).unwrap();
    }
    text
}

/// What `expected` of a tree holds; the kubelet's file only if it is `asked` for.
fn described(root: &Root, asked: bool) -> String {
    let (kubelet, skipped) = read_kubelet(root, &scan(root).0, None);
    let mut text = String::new();
    if let Some(kubelet) = &kubelet {
        let found = match &kubelet.found {
            Found::Process { pid, comm, .. } => format!("process {pid} ({comm})"),
            Found::Files { file } => file.clone(),
            Found::Named => "named".to_owned(),
        };
        let version = kubelet
            .version
            .map_or("not known".to_owned(), |it| it.to_string());
        let or_none = |text: &str| if text.is_empty() { "none" } else { text }.to_owned();
        writeln!(text, "found: {found}\nversion: {version}").unwrap();
        text += &setting("resolvConf", &kubelet.resolv_conf, |it| {
            format!("{it:?}").replace('"', "")
        });
        text += &setting("clusterDNS", &kubelet.cluster_dns, |it| {
            let servers: Vec<String> = it.iter().map(ToString::to_string).collect();
            or_none(&servers.join(" "))
        });
        text += &setting("clusterDomain", &kubelet.cluster_domain, |it| or_none(it));
        for remark in &kubelet.remarks {
            writeln!(text, "remark: {remark:?}").unwrap();
        }
    } else {
        text += "no kubelet\n";
    }
    for sentence in skipped {
        writeln!(text, "skipped: {sentence}").unwrap();
    }
    let file = kubelet
        .filter(|_| asked)
        .and_then(|it| kubelet_file(root, &it, None));
    if let Some(file) = file {
        let mut way = vec![file.path];
        way.extend(file.links);
        write!(text, "file: {}", way.join(" > ")).unwrap();
        if let Err(unread) = file.content {
            write!(text, ": {}", unread.reason).unwrap();
        }
        text += "\n";
    }
    text
}

#[test]
fn the_kubelets_of_all_distributions_are_read() {
    let mut names: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    names.sort();
    assert!(names.len() > 25);
    let mut wrong = String::new();
    for tree in names {
        let expected = fs::read_to_string(tree.join("expected")).unwrap();
        let directory = tree.join("root");
        for resolution in [Resolution::Kernel, Resolution::Walk] {
            let root = Root::below(&directory, resolution).unwrap();
            let found = described(&root, expected.contains("\nfile: "));
            let found = found.replace(directory.to_str().unwrap(), "ROOT");
            if found != expected {
                writeln!(
                    wrong,
                    "== {}\n{found}-- expected\n{expected}",
                    tree.display()
                )
                .unwrap();
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const CONFIGURATION: &str =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: /a\n";

#[test]
fn a_directory_of_drop_ins_that_is_a_link_is_not_followed() {
    for (given, expected) in [("/d", "/a"), ("/d/", "/b")] {
        let (_directory, root) = root_with(&[
            ("/proc/5/comm", "kubelet\n"),
            (
                "/proc/5/cmdline",
                &format!("kubelet\0--config=/k.yaml\0--config-dir={given}\0"),
            ),
            ("/d", "->/real"),
            ("/real/1.conf", &CONFIGURATION.replace("/a", "/b")),
            ("/real/sub", "->/other"),
            ("/other/2.conf", &CONFIGURATION.replace("/a", "/c")),
            ("/k.yaml", CONFIGURATION),
        ]);
        let kubelet = read_kubelet(&root, &scan(&root).0, None).0.unwrap();
        assert_eq!(kubelet.resolv_conf.value, expected, "{given}");
    }
}

#[test]
fn a_named_file_stands_in_for_the_configuration_alone() {
    let named = Source::new("mine.yaml", CONFIGURATION.as_bytes());
    let (_directory, root) = root_with(&[
        ("/proc/5/comm", "kubelet\n"),
        (
            "/proc/5/cmdline",
            "kubelet\0--config=/gone\0--cluster-domain=x\0",
        ),
    ]);
    let (kubelet, skipped) = read_kubelet(&root, &scan(&root).0, Some(&named));
    let kubelet = kubelet.unwrap();
    let place = Place::new("mine.yaml", 3, 13);
    assert_eq!(kubelet.resolv_conf.origin, Origin::File(place));
    assert_eq!(kubelet.cluster_domain.value, "x");
    assert_eq!(skipped, [""; 0]);
    let (_directory, root) = root_with::<&str, &str>(&[]);
    let kubelet = read_kubelet(&root, &[], Some(&named)).0.unwrap();
    assert_eq!(kubelet.found, Found::Named);
    let file = kubelet_file(&root, &kubelet, None).unwrap();
    assert!(file.content.unwrap_err().is_missing);
    let file = kubelet_file(&root, &kubelet, Some(&named)).unwrap();
    assert_eq!(file.path, "mine.yaml");
}

/// On this machine itself, with the kernel's own `/proc`.
#[test]
fn the_root_of_a_process_is_a_directory_or_nothing() {
    let root = Root::live().unwrap();
    let held = Directory::open(&root, std::process::id()).unwrap();
    let own = root.of_process(&held).unwrap();
    assert!(own.is_directory(Path::new("/proc")));
    assert!(process::own_root(&root, &held).is_none());
    let fixture = tempfile::tempdir().unwrap();
    fs::create_dir_all(fixture.path().join("proc/7")).unwrap();
    let fixture = Root::below(fixture.path(), Resolution::Kernel).unwrap();
    let rootless = Directory::open(&fixture, 7).unwrap();
    assert!(fixture.of_process(&rootless).is_none());
}

#[test]
fn links_themselves_are_seen_both_ways() {
    let (directory, _root) = root_with(&[
        ("/dangling", "->net:[1]"),
        ("/up", "->real"),
        ("/real/link", "->/dev/null"),
        ("/real/file", ""),
    ]);
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let root = Root::below(directory.path(), resolution).unwrap();
        let link = |path: &str| root.read_link(Path::new(path));
        assert_eq!(link("/dangling"), Some("net:[1]".into()));
        assert_eq!(link("/up"), Some("real".into()));
        assert_eq!(link("/up/link"), Some("/dev/null".into()));
        assert_eq!(link("/up/file"), None);
        assert!(!root.is_directory(Path::new("/up")));
        assert!(root.is_directory(Path::new("/up/")));
        assert!(root.is_directory(Path::new("/real")));
        assert!(!root.is_directory(Path::new("/real/file")));
    }
}

/// The words at a place are those that the kubelet reads: the node can have
/// another file of that name.
#[test]
fn settings_are_kept_as_the_kubelet_sees_them() {
    let path = "/var/lib/kubelet/config.yaml";
    for (namespace, expected) in [("->mnt:[2]", "its own"), ("->mnt:[1]", "the node's")] {
        let (_directory, root) = root_with(&[
            ("/proc/1/ns/mnt", "->mnt:[1]"),
            ("/proc/7/ns/mnt", namespace),
            ("/proc/7/comm", "kubelet\n"),
            (
                "/proc/7/cmdline",
                "kubelet\0--config=/var/lib/kubelet/config.yaml\0",
            ),
            (path, "resolvConf: /x # the node's\n"),
            (
                "/proc/7/root/var/lib/kubelet/config.yaml",
                "resolvConf: /x # its own\n",
            ),
        ]);
        let parts = Parts::default();
        let node = crate::host::node::read_node(&root, &StandIns::default(), parts).unwrap();
        let texts: Vec<String> = node
            .sources
            .iter()
            .map(|it| format!("{}: {}", it.name, String::from_utf8_lossy(&it.bytes)))
            .collect();
        assert_eq!(texts, [format!("{path}: resolvConf: /x # {expected}\n")]);
    }
}

#[test]
fn any_bytes_can_stand_for_what_the_kernel_says_of_a_process() {
    for stat in [
        "812 (kubelet)\u{e9} S 1 812",
        "812 (kubelet)",
        "(kubelet) S 1",
        "812 )kubelet( S",
        "(",
        "",
        "812 (kubelet) S 1 812 812 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 18446744073709551615 0\n",
    ] {
        let (_directory, root) = root_with(&[
            ("/proc/812/comm", "kubelet\n"),
            ("/proc/812/cmdline", "kubelet\0--config=/k.yaml\0"),
            ("/proc/812/stat", stat),
            ("/proc/stat", "btime 9223372036854775807\n"),
            ("/k.yaml", CONFIGURATION),
        ]);
        let processes = [ProcessSeen {
            pid: 812,
            comm: "kubelet".to_owned(),
            ..ProcessSeen::default()
        }];
        let kubelet = read_kubelet(&root, &processes, None).0.unwrap();
        assert_eq!(kubelet.resolv_conf.value, "/a", "{stat}");
    }
}

/// What a process has that is called kubelet, and why it is not the node's.
struct Stranger {
    init: &'static str,
    cgroup: &'static str,
    net: &'static str,
    pid: &'static str,
    why: &'static str,
}

const A_POD: &str = "0::/kubepods.slice/kubepods-besteffort.slice/\
    kubepods-besteffort-pod6fbd4d33_804b_43cd_b042_9dde89aeac6a.slice/\
    cri-containerd-7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a.scope\n";
const IN_KIND: &str = "0::/docker/f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0/kubelet/kubepods/\
    pod6fbd4d33-804b-43cd-b042-9dde89aeac6a/7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a\n";
const KIND: &str =
    "0::/docker/f3c2d1b98413cc66d7b32f17ff03264eb1d157942ddaf68983e57b3f9a6af0f0/init.scope\n";
const DOCKER: &str =
    "0::/docker/7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a\n";

const STRANGER: Stranger = Stranger {
    init: "0::/init.scope\n",
    cgroup: A_POD,
    net: "->net:[1]",
    pid: "->pid:[1]",
    why: "runs in a container of a pod: it is not the node's kubelet",
};

const STRANGERS: &[Stranger] = &[
    STRANGER,
    Stranger {
        net: "->net:[2]",
        pid: "->pid:[2]",
        ..STRANGER
    },
    Stranger {
        init: KIND,
        cgroup: IN_KIND,
        ..STRANGER
    },
    Stranger {
        cgroup: "9:name=systemd:/\n0::/\n",
        pid: "->pid:[2]",
        why: "does not see the node's processes: it is not the node's kubelet",
        ..STRANGER
    },
    Stranger {
        cgroup: DOCKER,
        net: "->net:[2]",
        why: "has another network than process 1: it is the kubelet of another node",
        ..STRANGER
    },
    // Some distributions run the kubelet so, with the node's directory.
    Stranger {
        cgroup: DOCKER,
        why: "whether it is the node's kubelet is not known",
        ..STRANGER
    },
    Stranger {
        cgroup: "0::/k8s.io/7d7b97a64e581cca30cf98900fe06a2076585d0286621263cf5e970c10bfd03a\n",
        why: "whether it is the node's kubelet is not known",
        ..STRANGER
    },
];

/// One that is ending has none, and what it was started with decides all.
#[test]
fn a_kubelet_whose_arguments_are_hidden_is_not_known() {
    for (arguments, unit, is_known) in [
        ("kubelet\0", "", true),
        ("", "", false),
        (
            "",
            "[Service]\nExecStart=/usr/bin/kubelet --config=/k.yaml\n",
            true,
        ),
    ] {
        let (_directory, root) = root_with(&[
            ("/proc/1/comm", "systemd\n"),
            ("/proc/812/comm", "kubelet\n"),
            ("/proc/812/cmdline", arguments),
            ("/etc/systemd/system/kubelet.service", unit),
            ("/k.yaml", CONFIGURATION),
        ]);
        let kubelet = read_kubelet(&root, &scan(&root).0, None).0.unwrap();
        let is_unread = matches!(kubelet.resolv_conf.origin, Origin::Unread(_));
        assert_eq!(is_unread, !is_known, "{arguments:?} {unit:?}");
    }
}

#[test]
fn a_kubelet_in_a_container_is_not_the_nodes() {
    let service = |init: &str| match init {
        KIND => KIND.replace("init.scope", "kubelet.slice/kubelet.service"),
        _ => "0::/system.slice/kubelet.service\n".to_owned(),
    };
    for (it, is_alone) in STRANGERS.iter().flat_map(|it| [(it, true), (it, false)]) {
        let service = service(it.init);
        let mut files = vec![
            ("/proc/1/comm", "systemd\n"),
            ("/proc/1/cgroup", it.init),
            ("/proc/1/ns/net", "->net:[1]"),
            ("/proc/1/ns/pid", "->pid:[1]"),
            ("/proc/300/comm", "kubelet\n"),
            (
                "/proc/300/cmdline",
                "kubelet\0--config=/evil.yaml\0--resolv-conf=/evil\0",
            ),
            ("/proc/300/cgroup", it.cgroup),
            ("/proc/300/ns/net", it.net),
            ("/proc/300/ns/pid", it.pid),
            ("/k.yaml", CONFIGURATION),
        ];
        if !is_alone {
            files.extend([
                ("/proc/812/comm", "kubelet\n"),
                ("/proc/812/cmdline", "kubelet\0--config=/k.yaml\0"),
                ("/proc/812/cgroup", &service),
                ("/proc/812/ns/net", "->net:[1]"),
                ("/proc/812/ns/pid", "->pid:[1]"),
            ]);
        }
        let (_directory, root) = root_with(&files);
        let (kubelet, skipped) = read_kubelet(&root, &scan(&root).0, None);
        let is_said = |text: String| text.contains(it.why);
        match kubelet {
            Some(kubelet) if !is_alone => {
                assert_eq!(kubelet.resolv_conf.value, "/a", "{}", it.cgroup);
                let mut others = kubelet.remarks.iter();
                let is_it =
                    |it: &Remark| matches!(it, Remark::Process(it) if is_said(it.to_string()));
                assert!(others.any(is_it), "{:?}", kubelet.remarks);
            }
            None if is_alone => assert!(is_said(skipped.join("\n")), "{skipped:?} {}", it.cgroup),
            other => panic!("{other:?}"),
        }
    }
}
