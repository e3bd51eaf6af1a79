//! What is read: odd, broken, endless, no file at all.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::{POD, check_refused, ended, folder, run, run_as_nobody};

#[test]
fn paths_are_any_bytes() {
    let folder = folder();
    let odd = OsString::from_vec(b"a\xff\x1b[31m.conf".to_vec());
    fs::write(folder.path().join(&odd), POD).unwrap();
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let mut args = words(&["explain", "web", "--file"]);
    args.push(odd.clone());
    let ended = run(folder.path(), &args);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(
        ended.out.contains("a\\xff\\u{1b}[31m.conf:3:9"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains('\u{1b}'));
    let mut args = words(&["explain", "--scenario"]);
    args.push(odd);
    let ended = run(folder.path(), &args);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.starts_with("kdns: a\\xff\\u{1b}[31m.conf:1:1: "),
        "{}",
        ended.err
    );
    let args = [
        OsString::from("explain"),
        OsString::from_vec(b"we\xffb".to_vec()),
    ];
    assert_eq!(run(folder.path(), &args).status, 2);
}

#[test]
fn an_option_behind_a_message_is_one() {
    let words = ["why", "i/o timeout", "--root", "/"];
    let part = "option --root goes before the message";
    check_refused(folder().path(), &words, part);
    let words = ["why", "i/o timeout", "--target", "web"];
    let part = "option --target takes the place of a message";
    check_refused(folder().path(), &words, part);
    let words = ["why", "i/o timeout", "--rot", "/"];
    check_refused(folder().path(), &words, "did you mean --root?");
}

/// A pipe into which nobody writes would be waited for without a word.
#[test]
fn standard_input_is_named_before_it_is_read() {
    let ended = run(folder().path(), &["why"]);
    assert_eq!(ended.status, 2, "{}", ended.err);
    let (first, rest) = ended.err.split_once('\n').unwrap();
    assert_eq!(first, "kdns: reading standard input");
    assert!(rest.starts_with("kdns: nothing to explain"), "{rest}");
}

/// A machine that is named is a node of a cluster where a kubelet is.
#[test]
fn a_machine_with_docker_is_no_node() {
    let folder = folder();
    fs::create_dir(folder.path().join("etc")).unwrap();
    fs::write(folder.path().join("etc/resolv.conf"), POD).unwrap();
    let message = "docker-compose up: getaddrinfo EAI_AGAIN db on 127.0.0.11:53";
    let args = ["why", "--format", "json", "--root", ".", message];
    let ended = run(folder.path(), &args);
    let place = |code: &str| ended.out.find(&format!("\"code\": \"{code}\""));
    let (own, strange) = (place("docker-network"), place("service-path"));
    assert!(
        own.is_some() && own < strange,
        "{own:?} {strange:?}: {}",
        ended.out
    );
}

#[test]
fn a_snapshot_that_finds_no_room_says_where() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let node = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/nodes/cluster-loop");
    run(
        folder.path(),
        &["doctor", "--root", node, "--snapshot", &path("n.tar.zst")],
    );
    let mut command = crate::kdns(folder.path());
    command
        .args(["check-loop", "--root", &path("n.tar.zst")])
        .env("TMPDIR", path("nowhere"));
    let ended = ended(command);
    let part = format!("it cannot be unpacked below {}: ", path("nowhere"));
    assert!(ended.err.contains(&part), "{}", ended.err);
    assert!(ended.err.contains("TMPDIR"), "{}", ended.err);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = folder();
    let path = folder.path();
    nix::unistd::mkfifo(&path.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (option, file, part) in [
        (
            "--file",
            "missing",
            "cannot read missing: no such file or directory",
        ),
        ("--file", ".", "it is a directory, not a regular file"),
        ("--file", "/dev/zero", "it is a device, not a regular file"),
        (
            "--pod",
            "missing",
            "cannot read missing: no such file or directory",
        ),
        ("--pod", "resolv.conf", "there is no Pod in it"),
        ("--root", "missing", "cannot open the directory missing"),
        (
            "--root",
            "resolv.conf",
            "cannot open the directory resolv.conf: not a directory",
        ),
    ] {
        check_refused(path, &["explain", "web", option, file], part);
    }
    for (file, part) in [
        ("missing", "cannot read missing: no such file or directory"),
        (".", "cannot read .: it is a directory"),
        ("/dev/zero", "cannot read /dev/zero: it is a device"),
    ] {
        check_refused(path, &["explain", "--scenario", file], part);
    }
    // A FIFO that nobody reads cannot be written either.
    let explain = [
        "explain",
        "web",
        "--file",
        "resolv.conf",
        "--output",
        "fifo",
    ];
    check_refused(
        path,
        &explain,
        "cannot write fifo: no such device or address",
    );
}

/// `<(…)` of a shell is a FIFO.
#[test]
fn a_fifo_can_stand_for_any_file_that_is_named() {
    let folder = folder();
    let path = folder.path();
    let scenario = "{\"name\":\"web\",\"resolv_conf\":\"nameserver 192.0.2.1\\n\"}\n";
    let resolv_conf = "nameserver 192.0.2.1\n";
    let kubelet = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n\
                   clusterDNS: [192.0.2.1]\nclusterDomain: cluster.local\n";
    let corefile = ".:53 {\n  forward . 192.0.2.1\n}\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: []}\n";
    let report = "{\"format\":1,\"verdict\":\"no loop\"}\n";
    for (text, command, status) in [
        (resolv_conf, "kdns explain web --file FIFO", 0),
        (scenario, "kdns explain --scenario FIFO", 0),
        (pod, "kdns explain web --pod FIFO", 0),
        (resolv_conf, "kdns check-loop --node-file FIFO", 2),
        (corefile, "kdns check-loop --root . --corefile FIFO", 2),
        (kubelet, "kdns check-loop --kubelet-config FIFO", 2),
        (
            resolv_conf,
            "kdns pod-file --policy Default --node-file FIFO",
            0,
        ),
        (
            resolv_conf,
            "kdns lint --role node --stdin-filename x FIFO",
            0,
        ),
        (report, "kdns report merge FIFO", 2),
    ] {
        let fifo = path.join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let writer = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::write(fifo, text).unwrap()
        });
        let words = command.split(' ').skip(1);
        let args: Vec<&str> = words
            .map(|it| if it == "FIFO" { "fifo" } else { it })
            .collect();
        let ended = run(path, &args);
        writer.join().unwrap();
        assert!(
            !ended.err.contains("cannot read"),
            "{command}: {}",
            ended.err
        );
        assert!(!ended.err.contains("Usage"), "{command}: {}", ended.err);
        assert_eq!(
            ended.status, status,
            "{command}: {}{}",
            ended.out, ended.err
        );
        fs::remove_file(fifo).unwrap();
    }
}

#[test]
fn an_unreadable_file_says_what_would_help() {
    let folder = folder();
    let path = folder.path().join("resolv.conf");
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let args = [
        "explain",
        "web",
        "--file",
        "resolv.conf",
        "--format",
        "jsonl",
    ];
    if let Some(ended) = run_as_nobody(folder.path(), &args) {
        let message = "cannot read resolv.conf: permission denied (needs root)";
        assert_eq!(ended.status, 2);
        assert_eq!(ended.err, format!("kdns: {message}\n"));
        let line = format!("{{\"case\":\"web\",\"error\":{{\"message\":\"{message}\"}}}}\n");
        assert_eq!(ended.out, line);
    }
}

/// Large or odd files: an answer in seconds, and never a panic.
#[test]
fn odd_files_are_read_in_time() {
    let folder = folder();
    let path = folder.path();
    let server = "nameserver 10.0.0.53\n";
    let domains: Vec<String> = (0..30_000).map(|n| format!("b{n}.test")).collect();
    let domains = domains.join(" ");
    for (name, text) in [
        ("empty", String::new()),
        (
            "megabyte-word",
            format!("search {}\n{server}", "a".repeat(1_000_000)),
        ),
        ("megabyte-line", format!("search {domains}\n{server}")),
        (
            "lines",
            format!(
                "{}{}",
                "search a.test\n".repeat(5_000),
                server.repeat(5_000)
            ),
        ),
        (
            "nul",
            "nameserver 10.0.0.53\0\nsearch \0a.test\n".to_owned(),
        ),
        ("cut", "# a comment\n".repeat(100_000)),
    ] {
        fs::write(path.join(name), text).unwrap();
        for format in ["text", "json", "jsonl"] {
            let args = ["explain", "web", "--file", name, "--format", format];
            let ended = run(path, &args);
            assert_eq!(
                (ended.status, ended.err.as_str()),
                (0, ""),
                "{name} {format}"
            );
        }
    }
    let ended = run(path, &["explain", "web", "--file", "cut"]);
    let part = "cut: only the first 1048576 bytes are read";
    assert!(ended.out.lines().any(|it| it == part), "{}", ended.out);
}

#[test]
fn broken_scenarios_have_places() {
    let folder = folder();
    let path = folder.path();
    let deep = "[".repeat(200_000);
    let long = format!(
        "{{\"name\":\"a\",\"resolv_conf\":\"{}\"}}",
        "# ".repeat(10_000_000)
    );
    for (text, place) in [
        (
            "{\"name\":\"a\"}\n{\"name\":1}\n{\"name\":\"b\"}\n",
            ":2:9: ",
        ),
        ("{\"name\":\"a\"}\n\n{\"name\":\"b\"\n", ":3:11: "),
        ("{\n  \"name\": \"a\",\n  \"nam\": 1\n}\n", ":3:7: "),
        ("{\n  \"name\": \"a\"\n", ":2:13: "),
        ("{\"name\": \"a\"\n{\"name\": \"b\"}\n", ":1:12: "),
        ("\n \n  5\n", ":3:3: "),
        (&deep, ":1:1: "),
        ("\u{feff}{\"name\":\"a\"}\n", ""),
        (&long, ""),
    ] {
        fs::write(path.join("f"), text).unwrap();
        let ended = run(path, &["explain", "--scenario", "f", "--format", "jsonl"]);
        let start: String = text.chars().take(60).collect();
        let is_broken = !place.is_empty();
        let expected = if is_broken { 2 } else { 0 };
        assert_eq!(ended.status, expected, "{start:?}: {}", ended.err);
        assert_eq!(
            ended.err.lines().count(),
            usize::from(is_broken),
            "{start:?}: {}",
            ended.err
        );
        if is_broken {
            assert!(
                ended.err.starts_with(&format!("kdns: f{place}")),
                "{start:?}: {}",
                ended.err
            );
            assert!(ended.out.contains("\"error\""), "{start:?}");
        }
    }
}

/// A stranger's file can have more than anybody can use.
#[test]
fn a_working_directory_that_was_deleted_is_named() {
    let directory = folder();
    let mut command = Command::new("sh");
    let script = r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" lint"#;
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_kdns")])
        .current_dir(directory.path());
    let ended = ended(command);
    let says = "the working directory was deleted";
    assert!(
        ended.status == 2 && ended.err.contains(says),
        "{}",
        ended.err
    );
}

#[test]
fn what_is_cut_is_said() {
    let folder = folder();
    let mut text = String::from("search");
    text.extend((0..20_000).map(|it| format!(" d{it}")));
    text += "\n";
    let servers = (0..30_000).map(|it| format!("nameserver 127.0.{}.{}\n", it / 250, it % 250));
    text.extend(servers);
    fs::write(folder.path().join("resolv.conf"), text).unwrap();
    let args = [
        "explain",
        "target",
        "--file",
        "resolv.conf",
        "--resolver",
        "glibc,hickory",
        "--format",
        "json",
    ];
    let ended = run(folder.path(), &args);
    assert_eq!(ended.status, 0, "{}", ended.err);
    for said in [
        "resolv.conf: where 29984 more loopback and link-local servers lead is not looked at",
        "only the first 2000 queries are shown",
        "kdns plays only the first 100 servers",
        "kdns plays only the first 2000 domains",
        "\"search_more\": 1000",
        "\"unused_more\": 28998",
    ] {
        assert!(ended.out.contains(said), "{said}");
    }
}
