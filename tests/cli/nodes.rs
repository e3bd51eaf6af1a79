//! The commands that read a node, under attack.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;

use crate::{ended, folder, kdns, run};

const LINES: usize = 12_000;

/// A node with a kubelet, and CoreDNS as a pod that asks the node.
fn node(name_server: &str) -> TempDir {
    let folder = folder();
    let path = folder.path();
    write(
        path,
        "etc/resolv.conf",
        &format!("nameserver {name_server}\n"),
    );
    write(path, "proc/1/comm", "systemd\n");
    write(path, "proc/1/cmdline", "/sbin/init\0");
    write(path, "proc/1/cgroup", "0::/init.scope\n");
    write(path, "proc/710/comm", "kubelet\n");
    write(path, "proc/710/cmdline", "/usr/bin/kubelet\0");
    write(
        path,
        "proc/710/cgroup",
        "0::/system.slice/kubelet.service\n",
    );
    write(
        path,
        "etc/coredns/Corefile",
        ".:53 {\n forward . /etc/resolv.conf\n}\n",
    );
    folder
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The kubelet's configuration, which it was started with.
fn configure(root: &Path, settings: &str) {
    let file = "/var/lib/kubelet/config.yaml";
    let head = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n";
    write(
        root,
        file.trim_start_matches('/'),
        &format!("{head}{settings}"),
    );
    write(
        root,
        "proc/710/cmdline",
        &format!("/usr/bin/kubelet\0--config={file}\0"),
    );
}

/// A process on the node with this configuration.
fn serve(root: &Path, program: &str, file: &str, text: &str) {
    write(root, "proc/600/comm", &format!("{program}\n"));
    write(root, "proc/600/cmdline", &format!("{program}\0"));
    write(root, "proc/600/cgroup", "0::/system.slice/dns.service\n");
    write(root, file, text);
}

/// Programs with long files.
fn long_lists() -> [(&'static str, &'static str, String); 9] {
    let numbered = |each: &dyn Fn(usize) -> String| (0..LINES).map(each).collect::<String>();
    let ip = |at: usize| format!("10.{}.{}.1", at / 250, at % 250);
    [
        (
            "dnsmasq",
            "etc/dnsmasq.conf",
            numbered(&|at| format!("server=/z{at}.ex/10.0.0.1\n")),
        ),
        (
            "dnsmasq",
            "etc/dnsmasq.conf",
            numbered(&|at| format!("server={}\n", ip(at))),
        ),
        (
            "unbound",
            "etc/unbound/unbound.conf",
            format!(
                "forward-zone:\n name: .\n{}",
                numbered(&|at| format!(" forward-addr: {}\n", ip(at)))
            ),
        ),
        (
            "unbound",
            "etc/unbound/unbound.conf",
            "include: /etc/unbound/unbound.conf\n".repeat(LINES / 4),
        ),
        (
            "named",
            "etc/bind/named.conf",
            format!(
                "options {{ forwarders {{ {} }}; }};\n",
                numbered(&|at| format!("{}; ", ip(at)))
            ),
        ),
        (
            "named",
            "etc/bind/named.conf",
            numbered(&|at| {
                format!("zone \"z{at}.ex\" {{ type forward; forwarders {{ 10.0.0.1; }}; }};\n")
            }),
        ),
        (
            "systemd-resolve",
            "etc/systemd/resolved.conf",
            format!(
                "[Resolve]\nDNS={}\n",
                numbered(&|at| format!("{} ", ip(at)))
            ),
        ),
        (
            "systemd-resolve",
            "run/systemd/resolve/resolv.conf",
            numbered(&|at| format!("nameserver {}\n", ip(at))),
        ),
        (
            "other",
            "etc/resolv.conf",
            numbered(&|at| format!("nameserver {}\n", ip(at))),
        ),
    ]
}

/// `ended` fails if it takes long.
#[test]
fn long_lists_take_no_long_time() {
    for (program, file, text) in long_lists() {
        let folder = node("127.0.0.53");
        serve(folder.path(), program, file, &text);
        for args in [&["check-loop", "--root", "."], &["upstream", "--root", "."]] {
            let ended = run(folder.path(), args);
            assert!(ended.status <= 2, "{program}: {}", ended.err);
            assert!(ended.out.len() < 1 << 20, "{program}: {args:?}");
        }
    }
}

#[test]
fn standard_input_stands_for_one_file() {
    let folder = folder();
    for args in [
        &["check-loop", "--node-file", "-", "--corefile", "-"][..],
        &["check-loop", "--node-file", "-", "--log", "-"],
        &["pod-file", "--host-file", "-", "--node-file", "-"],
    ] {
        let mut child = kdns(folder.path())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"nameserver 127.0.0.1\n").unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.contains("cannot read standard input twice"), "{err}");
    }
}

#[test]
fn dns_that_asks_nobody_does_not_loop() {
    let folder = folder();
    let corefile = ".:53 {\n kubernetes cluster.local\n cache\n}\n";
    write(folder.path(), "Corefile", corefile);
    let mut command = kdns(folder.path());
    command.args([
        "check-loop",
        "--node-file",
        "resolv.conf",
        "--corefile",
        "Corefile",
    ]);
    let ended = ended(command);
    assert_eq!(ended.status, 0, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("asks no other server"), "{}", ended.out);
}

/// The kubelet puts the node's domains after the cluster's: they are asked, or it is said that they are not known.
#[test]
fn a_pod_in_mind_has_the_domains_of_its_node() {
    let node = node("192.0.2.53");
    write(
        node.path(),
        "etc/resolv.conf",
        "search corp.example\nnameserver 192.0.2.53\n",
    );
    write(
        node.path(),
        "pod.yaml",
        "kind: Pod\nmetadata:\n  name: web\nspec:\n  containers: []\n",
    );
    let assumed = "assumed: the node's file has no search domains";
    for question in [["--namespace", "shop"], ["--pod", "pod.yaml"]] {
        let words = ["explain", "db", "--format", "json"];
        let alone = run(node.path(), &[&words[..], &question].concat());
        assert!(alone.out.contains(assumed), "{}", alone.out);
        assert!(!alone.out.contains("corp.example"), "{}", alone.out);
        let there = run(
            node.path(),
            &[&words[..], &question, &["--root", "."]].concat(),
        );
        assert!(!there.out.contains(assumed), "{}", there.out);
        assert!(there.out.contains("db.corp.example"), "{}", there.out);
    }
    // A pod with servers of its own has nothing of the cluster's.
    let own = "kind: Pod\nmetadata:\n  name: web\nspec:\n  containers: []\n  dnsPolicy: None\n  dnsConfig:\n    nameservers: [192.0.2.1]\n";
    write(node.path(), "own.yaml", own);
    let alone = run(node.path(), &["explain", "db", "--pod", "own.yaml"]);
    assert!(alone.out.contains("192.0.2.1"), "{}", alone.out);
    assert!(!alone.out.contains("assumed"), "{}", alone.out);
}

/// A second key beside one without a value is no fix.
#[test]
fn a_key_without_a_value_is_written_over() {
    for null in ["", " # the default", " ~", " null"] {
        let folder = node("127.0.0.53");
        configure(
            folder.path(),
            &format!("resolvConf:{null}\nclusterDomain: cluster.local\n"),
        );
        let root = folder.path().to_str().unwrap();
        let out = run(folder.path(), &["check-loop", "--root", root]).out;
        let edit = format!(
            "Edit /var/lib/kubelet/config.yaml:3:1\n       - resolvConf:{null}\n       + resolvConf: "
        );
        assert!(out.contains(&edit), "{out}");
    }
}

/// Of a node whose own file is systemd-resolved's stub, or leads nowhere, pods get a loop.
#[test]
fn the_file_in_place_of_a_missing_one_is_no_loopback_address() {
    for (server, is_named) in [("10.0.0.2", true), ("127.0.0.53", false), ("", false)] {
        let folder = node(server);
        configure(
            folder.path(),
            "resolvConf: /run/systemd/resolve/resolv.conf\n",
        );
        let root = folder.path().to_str().unwrap();
        let out = run(folder.path(), &["lint", "--root", root]).out;
        assert!(out.contains("KR024[file-missing]"), "{out}");
        let named = out.contains("name another file: resolvConf: /etc/resolv.conf");
        assert_eq!(named, is_named, "{server}: {out}");
    }
}

/// Of a pod that is gone its directories stay for a while: it neither counts nor crashes.
#[test]
fn what_is_left_over_of_a_pod_is_no_pod() {
    let folder = node("192.0.2.53");
    let logs = "var/log/pods/shop_gone_5f0c1d1e-0000-4000-8000-000000000001/web";
    for number in 0..3 {
        write(
            folder.path(),
            &format!("{logs}/{number}.log"),
            "2026-11-30T08:00:00.000000000Z stdout F hello\n",
        );
    }
    let said = run(folder.path(), &["pods", "--root", "."]);
    let head = "0 pods and 1 left over; nothing wrong";
    assert!(said.out.starts_with(head), "{}", said.out);
    let note = "left over: its sandbox is gone";
    assert!(said.out.contains(note), "{}", said.out);
    let words = ["pods", "--root", ".", "--format", "json"];
    let said = run(folder.path(), &words).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let pod = &said["pods"][0];
    let found = (&pod["presence"], &pod["crashes"]);
    assert_eq!(found, (&"left-over".into(), &false.into()), "{said}");
}
