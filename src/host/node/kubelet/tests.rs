use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::host::node::{Parts, StandIns};
use crate::host::root::Resolution;
use crate::kubelet::Setting;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kubelet")
}

/// The processes of a root, as far as they matter here.
fn processes(root: &Root) -> Vec<Seen> {
    let names = root.list(Path::new("/proc")).unwrap_or_default();
    let pids = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    let mut found: Vec<Seen> = pids
        .map(|pid: u32| {
            let path = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
            let comm = root.read(&path("comm")).map(|file| file.source.bytes);
            let comm = String::from_utf8(comm.unwrap_or_default()).unwrap();
            let network = root.read_link(&path("ns/net"));
            let number = |link: PathBuf| {
                let text = link.to_str()?.strip_prefix("net:[")?;
                text.strip_suffix(']')?.parse().ok()
            };
            Seen {
                pid,
                comm: comm.trim_end().to_owned(),
                netns: network.and_then(number),
                ..Seen::default()
            }
        })
        .collect();
    found.sort_by_key(|seen| seen.pid);
    found
}

fn setting<T>(name: &str, setting: &Setting<T>, shown: impl Fn(&T) -> String) -> String {
    let mut text = format!("{name}: {}, {}\n", shown(&setting.value), setting.origin);
    for (value, origin) in &setting.overrode {
        writeln!(text, "  over {}, {origin}", shown(value)).unwrap();
    }
    text
}

/// What `expected` of a tree holds; the kubelet's file only if it is `asked` for.
fn described(root: &Root, asked: bool) -> String {
    let (kubelet, skipped) = read(root, &processes(root), None);
    let mut text = String::new();
    if let Some(kubelet) = &kubelet {
        let found = match &kubelet.found {
            Found::Process { pid, comm } => format!("process {pid} ({comm})"),
            Found::Files { file } => file.clone(),
            Found::Named => "named".to_owned(),
        };
        let version = kubelet.version.map_or("not known".to_owned(), |it| {
            format!("{}.{}.{}", it.major, it.minor, it.patch)
        });
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
            writeln!(text, "remark: {remark}").unwrap();
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

/// A root with these files; a text that begins with `->` is a link.
fn root_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.strip_prefix("->") {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, text).unwrap(),
        }
    }
    let root = Root::below(directory.path(), Resolution::default()).unwrap();
    (directory, root)
}

const CONFIGURATION: &str =
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: /a\n";

#[test]
fn a_file_that_is_newer_than_the_process_is_told() {
    let stat = |ticks: u64| {
        let zeros = " 0".repeat(30);
        format!("812 (kubelet) S 1 812 812 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {ticks}{zeros}\n")
    };
    for (ticks, is_newer) in [(0, true), (1_000_000_000_000, false)] {
        let (_directory, root) = root_with(&[
            ("/proc/812/comm", "kubelet\n"),
            ("/proc/812/cmdline", "kubelet\0--config=/k.yaml\0"),
            ("/proc/812/stat", &stat(ticks)),
            ("/proc/stat", "cpu 1 2 3\nbtime 1000000000\n"),
            ("/k.yaml", CONFIGURATION),
        ]);
        let kubelet = read(&root, &processes(&root), None).0.unwrap();
        let sentence = "/k.yaml is newer than process 812, which still has what stood there when it was started";
        let expected: &[&str] = if is_newer { &[sentence] } else { &[] };
        assert_eq!(kubelet.remarks, expected, "{ticks}");
    }
}

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
        let kubelet = read(&root, &processes(&root), None).0.unwrap();
        assert_eq!(kubelet.resolv_conf.value, expected, "{given}");
    }
}

#[test]
fn a_named_file_stands_in_for_the_configuration_alone() {
    let named = Source {
        name: "mine.yaml".to_owned(),
        bytes: CONFIGURATION.as_bytes().to_vec(),
    };
    let (_directory, root) = root_with(&[
        ("/proc/5/comm", "kubelet\n"),
        (
            "/proc/5/cmdline",
            "kubelet\0--config=/gone\0--cluster-domain=x\0",
        ),
    ]);
    let (kubelet, skipped) = read(&root, &processes(&root), Some(&named));
    let kubelet = kubelet.unwrap();
    assert_eq!(kubelet.resolv_conf.origin.to_string(), "mine.yaml:3:13");
    assert_eq!(kubelet.cluster_domain.value, "x");
    assert_eq!(skipped, [""; 0]);
    let (_directory, root) = root_with(&[]);
    let kubelet = read(&root, &[], Some(&named)).0.unwrap();
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
    let own = root.of_process(std::process::id()).unwrap();
    assert!(own.is_directory(Path::new("/proc")));
    assert!(process::own_root(&root, std::process::id()).is_none());
    assert!(root.of_process(u32::MAX).is_none());
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
        let node = crate::host::node::read(&root, &StandIns::default(), parts).unwrap();
        let texts: Vec<String> = node
            .sources
            .iter()
            .map(|it| format!("{}: {}", it.name, String::from_utf8_lossy(&it.bytes)))
            .collect();
        assert_eq!(texts, [format!("{path}: resolvConf: /x # {expected}\n")]);
    }
}
