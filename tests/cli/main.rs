//! The program from outside: streams, paths, files and statuses.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod endless;
mod inputs;
mod nodes;
mod outputs;
mod statuses;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const POD: &str = "search default.svc.cluster.local svc.cluster.local cluster.local\n\
                   nameserver 10.96.0.10\noptions ndots:5\n";

/// Nothing takes longer, however large its input, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

struct Ended {
    status: i32,
    out: String,
    err: String,
}

/// A folder of its own with a pod's `resolv.conf`, readable by everybody.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("resolv.conf"), POD).unwrap();
    folder
}

fn kdns(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.current_dir(directory).env_clear();
    command
}

fn ended(mut command: Command) -> Ended {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(start.elapsed() < PATIENCE, "{command:?} takes too long");
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn run(directory: &Path, args: &[impl AsRef<OsStr>]) -> Ended {
    let mut command = kdns(directory);
    command.args(args);
    ended(command)
}

/// Fails with status 2, nothing on standard output and one line that has `part`.
fn check_refused(directory: &Path, args: &[impl AsRef<OsStr>], part: &str) {
    let ended = run(directory, args);
    assert_eq!(ended.status, 2, "{part}: {}", ended.err);
    assert_eq!(ended.out, "", "{part}");
    assert_eq!(ended.err.lines().count(), 1, "{part}: {}", ended.err);
    assert!(ended.err.starts_with("kdns: "), "{part}: {}", ended.err);
    assert!(ended.err.contains(part), "{part}: {}", ended.err);
}

/// Runs as nobody; `None`, aloud, where that is impossible.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn run_as_nobody(directory: &Path, args: &[&str]) -> Option<Ended> {
    const NOBODY: u32 = 65_534;
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root, so no other user can be tried");
        return None;
    }
    let mut command = kdns(directory);
    command
        .args(args)
        .uid(NOBODY)
        .gid(NOBODY)
        .stdin(Stdio::null());
    match command.output() {
        Ok(output) => Some(Ended {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }),
        Err(error) => {
            eprintln!("skipped: nobody cannot run the program: {error}");
            None
        }
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = folder();
    let line = format!("{{\"name\":\"web\",\"resolv_conf\":{POD:?}}}\n");
    fs::write(folder.path().join("cases.jsonl"), line.repeat(300)).unwrap();
    for args in [
        &[
            "explain",
            "web",
            "--file",
            "resolv.conf",
            "--resolver",
            "all",
        ][..],
        &["explain", "--scenario", "cases.jsonl", "--format", "jsonl"],
        &["explain", "--scenario", "cases.jsonl", "--format", "json"],
        &["schema", "explain"],
        &["completions", "zsh"],
        &["explain", "--help"],
    ] {
        let mut child = kdns(folder.path())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}

#[test]
fn colours_are_wanted_or_not() {
    let folder = folder();
    for (variables, args, has_colours) in [
        (&[][..], &[][..], false),
        (&[("CLICOLOR_FORCE", "1")], &[], true),
        (&[("CLICOLOR_FORCE", "0")], &[], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[], false),
        (&[("NO_COLOR", "1")], &["--color", "always"], true),
        (&[("NO_COLOR", "")], &["--color=always"], true),
        (&[("CLICOLOR_FORCE", "1")], &["--color=never"], false),
    ] {
        let mut command = kdns(folder.path());
        command.args(["explain", "web", "--file", "resolv.conf"]);
        command.args(args).envs(variables.iter().copied());
        let ended = ended(command);
        assert_eq!(ended.status, 0);
        let what = format!("{variables:?} {args:?}");
        assert_eq!(ended.out.contains('\u{1b}'), has_colours, "{what}");
        // Without them the text is the same.
        let plain = run(folder.path(), &["explain", "web", "--file", "resolv.conf"]);
        assert_eq!(without_colours(&ended.out), plain.out, "{what}");
    }
}

/// Whoever opens the file sees no terminal.
#[test]
fn a_file_has_no_colours() {
    let folder = folder();
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes/cluster-loop");
    let node = node.to_str().unwrap();
    let report = run(
        folder.path(),
        &["check-loop", "--root", node, "--format", "jsonl"],
    );
    fs::write(folder.path().join("reports"), report.out).unwrap();
    let wrong = folder.path().join("wrong");
    fs::create_dir(&wrong).unwrap();
    fs::write(wrong.join("resolv.conf"), "nameserver 1.2.3.4.5\n").unwrap();
    let scenario = [
        "explain",
        "web",
        "--file",
        "resolv.conf",
        "--save-scenario",
        "cases.jsonl",
    ];
    run(folder.path(), &scenario);
    for args in [
        &["explain", "web", "--file", "resolv.conf"][..],
        &["explain", "--scenario", "cases.jsonl"],
        &["explain", "127.0.0.1", "--file", "resolv.conf", "--live"],
        &["check-loop", "--root", node],
        &["upstream", "--root", node],
        &["pods", "--root", node],
        &["report", "merge", "reports"],
        &["lint", "wrong/resolv.conf"],
    ] {
        let shown = run(folder.path(), &[args, &["--color", "always"]].concat());
        assert!(shown.out.contains('\u{1b}'), "{args:?}: {}", shown.out);
        let to_file = ["--color", "always", "--output", "file"];
        let ended = run(folder.path(), &[args, &to_file].concat());
        assert_eq!(
            (ended.status, ended.out),
            (shown.status, String::new()),
            "{args:?}"
        );
        let written = fs::read_to_string(folder.path().join("file")).unwrap();
        assert!(
            !written.is_empty() && !written.contains('\u{1b}'),
            "{args:?}: {written}"
        );
    }
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
    first + &rest.collect::<String>()
}

#[test]
fn every_line_fits_80_columns() {
    let folder = folder();
    let name = "a-rather-long-name-of-a-service.and-of-its-namespace";
    let args = [
        "explain",
        name,
        "--file",
        "resolv.conf",
        "--resolver",
        "all",
        "-v",
    ];
    for line in run(folder.path(), &args).out.lines() {
        // A name that is longer cannot be broken.
        let is_one_word = line.split_whitespace().count() <= 2;
        assert!(is_one_word || line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn an_unknown_resolver_has_a_near_one() {
    let folder = folder();
    for (word, near) in [
        ("glibcc", "did you mean glibc?"),
        ("musl1.2.5", "did you mean musl-1.2.5?"),
        ("gloang", "did you mean golang?"),
    ] {
        let args = [
            "explain",
            "web",
            "--file",
            "resolv.conf",
            "--resolver",
            word,
        ];
        let ended = run(folder.path(), &args);
        assert_eq!(ended.status, 2, "{word}");
        assert!(ended.err.contains(near), "{word}: {}", ended.err);
    }
}

/// Nothing that a stranger writes reaches the terminal as he wrote it.
#[test]
fn no_control_character_is_printed() {
    let folder = folder();
    let path = folder.path();
    let evil = "\u{1b}[31m\u{9b}1m\u{7}\u{202e}\u{7f}";
    let file = format!(
        "nameserver fe80::1%{evil}\nnameserver 127.0.0.53\nsearch {evil} a{evil}.test\n\
         options {evil} ndots:{evil}\n{evil}\n"
    );
    fs::write(path.join("f"), &file).unwrap();
    let manifest = "kind: Pod\nmetadata: {name: \"\\e[31m\"}\nspec: {dnsPolicy: x}\n";
    fs::write(path.join("pod.yaml"), manifest).unwrap();
    fs::write(path.join("aliases"), format!("web {evil}.test\n")).unwrap();
    let scenario = serde_json::json!({
        "id": evil, "name": format!("web{evil}"), "resolv_conf": file, "hostname": format!("h.{evil}"),
        "env": {"LOCALDOMAIN": evil, evil: evil}, "answers": [{"reply": "ANSWER", "cname": evil}],
    });
    fs::write(
        path.join("s.jsonl"),
        format!("{scenario}\n{{\"{evil}\": 1}}\n"),
    )
    .unwrap();
    let named = format!("web{evil}");
    let host = format!("h.{evil}");
    let answer = format!("{evil}=CNAME:{evil}");
    let runs: [&[&str]; 6] = [
        &["explain", &named, "--file", "f"],
        &[
            "explain",
            "web",
            "--file",
            "f",
            "--hostname",
            &host,
            "--answer",
            &answer,
        ],
        &[
            "explain",
            "web",
            "--file",
            "f",
            "--env",
            "HOSTALIASES=aliases",
        ],
        &["explain", "web", "--pod", "pod.yaml"],
        &["explain", "--scenario", "s.jsonl"],
        &["explain", "web", "--file", evil],
    ];
    for args in runs {
        for format in ["text", "json", "jsonl"] {
            let words = ["--resolver", "all", "-v", "--format", format];
            let ended = run(path, &[args, &words].concat());
            let printed = format!("{}{}", ended.out, ended.err);
            let odd = |c: &char| *c != '\n' && kdns::text::is_unprintable(*c);
            let found = printed.chars().find(odd);
            assert_eq!(found, None, "{args:?} {format}: {printed}");
            assert!(!printed.is_empty());
        }
    }
}
