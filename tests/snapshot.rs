//! `kdns doctor --snapshot`: whatever a command says of a node, it says of its
//! snapshot, and no secret is in there.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use kdns::cli::{self, Streams};
use serde_json::Value;

const NOT_HELD: &str = "the snapshot does not hold it";

/// Why files of the nodes cannot be read.
const REASONS: &[&str] = &[
    "it is a directory, not a regular file",
    "it is a FIFO, not a regular file",
    "too many symbolic links encountered",
];

/// Runs kdns in this process: hundreds of runs are not to start hundreds of
/// programs.
fn kdns(args: &[&str]) -> (i32, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = std::iter::once("kdns").chain(args.iter().copied());
    let status = cli::run(
        words.map(Into::into),
        &mut Streams {
            input: &mut std::io::empty(),
            is_input_read: false,
            out: &mut out,
            err: &mut err,
            colors: false,
            terminal: None,
        },
    );
    (
        status as i32,
        String::from_utf8(out).unwrap(),
        String::from_utf8(err).unwrap(),
    )
}

fn nodes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let entries = fs::read_dir(folder).unwrap();
    let mut nodes: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    nodes.retain(|it| it.is_dir());
    nodes.sort();
    nodes
}

fn snapshot(node: &Path, folder: &Path) -> PathBuf {
    let name = node.file_name().unwrap().to_str().unwrap();
    let file = folder.join(format!("{name}.tar.zst"));
    let (status, _, err) = kdns(&[
        "doctor",
        "--root",
        node.to_str().unwrap(),
        "--snapshot",
        file.to_str().unwrap(),
    ]);
    assert!((0..=2).contains(&status), "{name}: {err}");
    assert!(file.is_file(), "{name}: {err}");
    file
}

/// Where files are made fastest; snapshots are unpacked there, too.
fn in_memory() {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        // Somebody has said so before.
        let _ = tempfile::env::override_temp_dir(memory);
    }
}

#[test]
fn a_snapshot_says_what_its_node_says() {
    in_memory();
    let folder = tempfile::tempdir().unwrap();
    let nodes = nodes();
    assert!(nodes.len() > 100, "only {}", nodes.len());
    let next = Mutex::new(nodes.iter());
    let work = || {
        loop {
            let Some(node) = next.lock().unwrap().next() else {
                return;
            };
            says_the_same(node, folder.path());
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

fn says_the_same(node: &Path, folder: &Path) {
    let name = node.file_name().unwrap().to_str().unwrap();
    let file = snapshot(node, folder);
    for command in ["check-loop", "upstream", "pods"] {
        let said = |root: &Path| {
            let root = root.to_str().unwrap();
            let (status, out, err) = kdns(&[command, "--root", root, "--format", "json"]);
            let below = format!(" below {root}");
            let plain = |text: String| {
                // Why a file could not be read is not in a snapshot.
                let text = text.replace(&below, "").replace(NOT_HELD, "…");
                REASONS.iter().fold(text, |text, it| text.replace(it, "…"))
            };
            (status, plain(out), plain(err))
        };
        assert_eq!(said(node), said(&file), "{name} {command}");
    }
}

#[test]
fn a_node_and_its_snapshot_do_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes");
    let node = testdata.join("cluster-loop");
    let file = snapshot(&node, folder.path());
    let other = testdata.join("cluster-cgroup-v2");
    let diff = |one: &Path, two: &Path| {
        let args = [
            "diff",
            one.to_str().unwrap(),
            two.to_str().unwrap(),
            "--format",
            "json",
        ];
        let (status, out, err) = kdns(&args);
        let document: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        (status, document)
    };
    let (status, same) = diff(&node, &file);
    assert_eq!((status, &same["same"]), (0, &Value::Bool(true)), "{same}");
    let (status, document) = diff(&node, &other);
    let first = &document["differences"][0];
    assert_eq!(
        (status, &first["code"], &first["changes_verdict"]),
        (1, &Value::from("now"), &Value::Bool(true)),
        "{document}"
    );
}

const NOTE: &[u8] = b"kdns snapshot 1\n";

type Tar = tar::Builder<Vec<u8>>;

fn of_tar(make: &dyn Fn(&mut Tar)) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    make(&mut archive);
    compressed(&archive.into_inner().unwrap())
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// One that begins as ours do.
fn of_ours(make: &dyn Fn(&mut Tar)) -> Vec<u8> {
    of_tar(&|it| {
        add(it, "kdns-snapshot", NOTE);
        make(it);
    })
}

fn add(archive: &mut Tar, name: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    archive.append_data(&mut header, name, bytes).unwrap();
}

fn link(archive: &mut Tar, name: &str, target: &str) {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    archive.append_link(&mut header, name, target).unwrap();
}

fn directory(archive: &mut Tar, name: &str, time: u64) {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mtime(time);
    archive.append_data(&mut header, name, &[][..]).unwrap();
}

#[test]
fn what_is_no_snapshot_is_refused_and_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.tar.zst");
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let way_out = outside.to_str().unwrap();
    for (what, bytes) in strange().into_iter().chain(hostile(way_out)) {
        fs::write(&file, bytes).unwrap();
        let (status, out, err) = kdns(&["check-loop", "--root", file.to_str().unwrap()]);
        assert_eq!(status, 2, "{what}: {out}{err}");
        assert!(
            err.starts_with("kdns: cannot read the snapshot "),
            "{what}: {out}{err}"
        );
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{what}");
    }
}

/// Bytes that are cut or turned, and headers that are none: the reason is ours, and short.
#[test]
fn what_is_damaged_is_said_to_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.tar.zst");
    let whole = of_ours(&|it| {
        (0..50).for_each(|i| add(it, &format!("etc/{i}"), b"nameserver 192.0.2.1\n"));
    });
    let cut = (1..8).map(|it| whole[..whole.len() * it / 8].to_vec());
    let turned = (40..whole.len()).step_by(97).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        bytes
    });
    let noise: Vec<u8> = (0..4096_u32)
        .map(|it| (it * it / 7 + 128).to_le_bytes()[0])
        .collect();
    let noise = compressed(&noise);
    let known = [
        "it is damaged or cut, or no snapshot of kdns",
        "it is no snapshot of kdns",
        "it is no snapshot of kdns, or one of a newer kdns",
        "it is not compressed with zstd",
        "it is empty",
        "it has something twice",
        "it has something other than files",
    ];
    for bytes in cut.chain(turned).chain([noise]) {
        fs::write(&file, bytes).unwrap();
        let (status, out, err) = kdns(&["check-loop", "--root", file.to_str().unwrap()]);
        assert_eq!(status, 2, "{out}{err}");
        let reason = err.trim_end().rsplit_once(".tar.zst: ").map(|it| it.1);
        // Where only the bytes of a file were turned, it is a snapshot.
        assert!(err.is_empty() || known.contains(&reason.unwrap()), "{err}");
    }
}

type Case = (&'static str, Vec<u8>);

fn strange() -> Vec<Case> {
    vec![
        (
            "another archive",
            of_tar(&|it| add(it, "etc/resolv.conf", b"x")),
        ),
        ("nothing", of_tar(&|_| {})),
        (
            "a newer one",
            of_tar(&|it| add(it, "kdns-snapshot", b"kdns snapshot 2\n")),
        ),
        (
            "cut",
            of_tar(&|it| add(it, "kdns-snapshot", NOTE))
                .into_iter()
                .take(8)
                .collect(),
        ),
    ]
}

fn hostile(outside: &str) -> Vec<Case> {
    vec![
        (
            "through a link",
            of_ours(&|it| {
                link(it, "etc", outside);
                add(it, "etc/resolv.conf", b"nameserver 127.0.0.53\n");
            }),
        ),
        (
            "a link through a link",
            of_ours(&|it| {
                link(it, "etc", outside);
                link(it, "etc/resolv.conf", "/etc/passwd");
            }),
        ),
        (
            "a time that no clock shows",
            of_ours(&|it| {
                directory(it, "etc", u64::MAX);
            }),
        ),
        (
            "a path without an end",
            of_ours(&|it| {
                add(it, &"a/".repeat(1 << 20), b"");
            }),
        ),
        (
            "a way that is too deep",
            of_ours(&|it| {
                add(it, &format!("{}x", "a/".repeat(1000)), b"");
            }),
        ),
        (
            "a file twice",
            of_ours(&|it| {
                add(it, "etc/hosts", b"1");
                add(it, "etc/hosts", b"2");
            }),
        ),
        (
            "a file that is a directory",
            of_ours(&|it| {
                add(it, "etc", b"1");
                directory(it, "etc", 0);
            }),
        ),
    ]
}

/// What `kdns path --save` writes of a node on which kube-proxy carries the Service, and
/// NodeLocal DNSCache has its address.
const SENT_ON: &str = r#"# kdns path: {"version":2,"of":"node","client":{"label":"the node","servers":[],"is_node":true,"is_elsewhere":false,"in_link":null,"sources":{"10.96.0.10":"10.96.0.10"}},"texts":[],"addresses":[["10.96.0.10",32,"a"],["10.244.0.1",24,"a"]],"links":[{"index":1,"name":"a","kind":"veth","is_up":true,"mtu":1500,"master":null,"hairpin":null}],"routes":[{"table":254,"kind":"unicast","destination":"10.244.0.0","prefix":24,"gateway":null,"link":"a","source":"10.244.0.1","metric":0}],"policies":[{"priority":0,"from":null,"to":null,"mark":null,"in_link":null,"table":255,"is_odd":false},{"priority":32766,"from":null,"to":null,"mark":null,"in_link":null,"table":254,"is_odd":false}],"neighbours":[],"sysctls":{"net.ipv4.ip_forward":"1","net.ipv4.conf.all.rp_filter":"0"},"conntrack":{"count":0,"max":9,"counters":[0,0,0],"entries":[]},"recent":{},"pods":{},"cluster_dns":null,"deaf":[],"listeners":[],"is_partial":false,"skipped":[]}
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A OUTPUT -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.244.0.9:53
-A KUBE-SERVICES -d 10.96.0.10/32 -p tcp -m tcp --dport 53 -j DNAT --to-destination 10.244.0.9:53
COMMIT
"#;

/// NodeLocal DNSCache asks the Service's address, which it has bound. Rules send that past
/// it only where it listens there, and only now.
#[test]
fn rules_that_send_past_a_socket() {
    in_memory();
    let folder = tempfile::tempdir().unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let node = manifest.join("testdata/nodes/row09-nodelocal-service-upstream");
    let file = folder.path().join("node.tar.zst");
    let mut udp = fs::read_to_string(node.join("proc/1/net/udp")).unwrap();
    udp += "  3313: 0A00600A:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 21501 2 0 0\n";
    let up = folder.path().join("up");
    let copied = Command::new("cp").arg("-a").args([&node, &up]).status();
    assert!(copied.unwrap().success());
    fs::write(up.join("proc/1/net/udp"), udp).unwrap();
    let without_tcp: Vec<&str> = SENT_ON
        .lines()
        .filter(|it| !it.contains("-p tcp"))
        .collect();
    let without_tcp = without_tcp.join("\n") + "\n";
    for (rules, is_up, expected) in [
        (SENT_ON, true, ["will loop", "no loop", "loop"]),
        (SENT_ON, false, ["loop"; 3]),
        (&without_tcp, true, ["will loop", "unknown", "loop"]),
        ("", true, ["loop"; 3]),
    ] {
        let bytes = of_ours(&|it| {
            if !rules.is_empty() {
                add(it, "kdns-path", rules.as_bytes());
            }
            it.follow_symlinks(false);
            it.append_dir_all("", if is_up { &up } else { &node })
                .unwrap();
        });
        fs::write(&file, bytes).unwrap();
        let root = file.to_str().unwrap();
        let (_, out, err) = kdns(&["check-loop", "--root", root, "--format", "json"]);
        let said: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        let said = ["verdict", "now", "next_start"].map(|it| said[it].as_str().unwrap());
        assert_eq!(said, expected, "{is_up} {rules}");
    }
}
