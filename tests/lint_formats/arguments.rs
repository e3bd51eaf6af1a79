//! What arguments of `kdns lint` lead to, and what is too long.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::settings::run;
use super::{Ended, kdns};

const CONF: &str = "nameserver 192.0.2.1\nnameserver 192.0.2.1\n";

/// A checkout and a file outside of it.
fn checkout() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for directory in ["repo/.git", "repo/sub", "etc"] {
        fs::create_dir_all(folder.path().join(directory)).unwrap();
    }
    fs::write(folder.path().join("etc/secret.conf"), CONF).unwrap();
    fs::write(folder.path().join("repo/real.resolv.conf"), CONF).unwrap();
    let link = |to: &str, at: &str| symlink(to, folder.path().join(at)).unwrap();
    link("../etc/secret.conf", "repo/resolv.conf");
    link("../etc", "repo/out");
    link("../real.resolv.conf", "repo/sub/resolv.conf");
    folder
}

#[test]
fn a_link_does_not_lead_out_of_a_checkout() {
    let folder = checkout();
    let repo = folder.path().join("repo");
    let absolute = repo.join("resolv.conf").display().to_string();
    let cases: [(&Path, &str); 5] = [
        (&repo, "resolv.conf"),
        (&repo, "out"),
        (&repo, "out/secret.conf"),
        (&repo.join("sub"), "../resolv.conf"),
        (&repo, &absolute),
    ];
    for (directory, path) in cases {
        for fix in ["--fix", "--diff", "--exit-zero"] {
            let ended = run(directory, &[fix, path]);
            let reason = "through a link it leads out of ";
            assert!(ended.err.contains(reason), "{path}: {}", ended.err);
            assert!(ended.err.contains("--follow allows it"), "{}", ended.err);
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{path}");
        }
        let ended = run(directory, &["--follow", "--exit-zero", path]);
        assert_eq!(ended.status, 0, "{path}: {}", ended.err);
        // It is read then, but nothing is written through it.
        let ended = run(directory, &["--follow", "--fix", path]);
        assert!(
            ended.err.contains("is a link, and nothing is written"),
            "{}",
            ended.err
        );
        assert_eq!(ended.status, 2);
    }
    let secret = fs::read_to_string(folder.path().join("etc/secret.conf")).unwrap();
    assert_eq!(secret, CONF);
}

/// Links inside of the checkout, and paths that are the caller's own.
#[test]
fn other_links_are_read() {
    let folder = checkout();
    let repo = folder.path().join("repo");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = repo.join("resolv.conf").display().to_string();
    let cases: [(&Path, &str); 3] = [
        (&repo, "sub/resolv.conf"),
        (&repo.join("sub"), "resolv.conf"),
        (elsewhere.path(), &link),
    ];
    for (directory, path) in cases {
        let ended = run(directory, &["--exit-zero", path]);
        assert_eq!(ended.status, 0, "{path}: {}", ended.err);
        assert!(
            ended.out.contains("resolv.conf:2:1"),
            "{path}: {}",
            ended.out
        );
    }
    // Without a checkout the working directory is what is meant.
    fs::remove_dir(repo.join(".git")).unwrap();
    let ended = run(&repo.join("sub"), &["resolv.conf"]);
    assert!(ended.err.contains("leads out of"), "{}", ended.err);
    // And below --root its directory.
    let root = repo.display().to_string();
    let ended = run(elsewhere.path(), &["--root", &root, &link]);
    assert!(ended.err.contains("leads out of"), "{}", ended.err);
}

#[test]
fn settings_are_no_link_to_elsewhere() {
    let folder = checkout();
    let repo = folder.path().join("repo");
    symlink("../etc/secret.conf", repo.join("kdns.toml")).unwrap();
    let ended = run(&repo, &["real.resolv.conf"]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.err.contains("cannot read kdns.toml")
            || ended.err.contains("kdns.toml: it is a link"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("nameserver"), "{}", ended.err);
}

fn with_input(directory: &Path, args: &[&str], input: &[u8]) -> Ended {
    let mut child = kdns(directory);
    let mut child = child
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who has read enough closes it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// What is behind the first MiB would pass.
#[test]
fn what_is_too_long_is_not_clean() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(
        "nameserver 192.0.2.1\n{}nameserver 127.0.0.53\n",
        "# a comment\n".repeat(100_000)
    );
    let said = "it is longer than 1 MiB\n";
    for more in [
        &[][..],
        &["--fail-on", "error"],
        &["--select", "KC"],
        &["--fix"],
    ] {
        let args = [&["-", "--stdin-filename", "resolv.conf"], more].concat();
        let ended = with_input(folder.path(), &args, long.as_bytes());
        assert_eq!(ended.status, 2, "{more:?}");
        assert!(
            ended.err.starts_with("kdns: cannot read resolv.conf: "),
            "{}",
            ended.err
        );
        assert!(
            ended.err.lines().next().unwrap().ends_with(said.trim_end()),
            "{}",
            ended.err
        );
    }
    let args = [
        "-",
        "--stdin-filename",
        "resolv.conf",
        "--format",
        "json",
        "--ignore",
        "KR,KS",
    ];
    let ended = with_input(folder.path(), &args, long.as_bytes());
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(report["errors"][0]["code"], "too-large", "{report}");
    fs::write(folder.path().join("resolv.conf"), &long).unwrap();
    for args in [
        &["."][..],
        &["resolv.conf"],
        &[".", "--select", "KC"],
        &[".", "--fix"],
    ] {
        let ended = run(folder.path(), args);
        assert_eq!(ended.status, 2, "{args:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{}", ended.err);
    }
}

/// A long file with nothing of ours is none of ours, what stands at its end is
/// found, and a document that is too long is not passed over.
#[test]
fn the_limit_is_one_documents() {
    let other = tempfile::tempdir().unwrap();
    let words = "a: [1, 2, 3]\n".repeat(100_000);
    fs::write(other.path().join("data.yaml"), &words).unwrap();
    assert_eq!(run(other.path(), &["--allow-empty"]).status, 0);
    let pod = format!("{words}---\nkind: Pod\nspec: {{dnsPolicy: x, containers: []}}\n");
    let stream = ["-", "--stdin-filename", "data.yaml"];
    fs::write(other.path().join("data.yaml"), &pod).unwrap();
    assert_eq!(run(other.path(), &["--allow-empty"]).status, 1);
    assert_eq!(with_input(other.path(), &stream, pod.as_bytes()).status, 1);
    let one = format!("kind: Pod\nspec: {{dnsPolicy: x, containers: []}}\n{words}");
    fs::write(other.path().join("data.yaml"), &one).unwrap();
    assert_eq!(run(other.path(), &["--allow-empty"]).status, 2);
    assert_eq!(with_input(other.path(), &stream, one.as_bytes()).status, 2);
}

/// The same for files that stand in for those of a node.
#[test]
fn what_stands_in_for_a_file_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!(
        ".:53 {{\n forward . 192.0.2.1\n}}\n{}",
        "# a comment\n".repeat(100_000)
    );
    fs::write(folder.path().join("long"), long).unwrap();
    for option in ["--corefile", "--node-file", "--kubelet-config"] {
        let output = Command::new(env!("CARGO_BIN_EXE_kdns"))
            .args(["check-loop", option, "long"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{option}: {err}");
        assert!(
            err.contains("cannot read long: it is longer than 1 MiB"),
            "{option}: {err}"
        );
    }
}

#[test]
fn what_is_written_about_it_is_no_resolv_conf() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "resolv.conf.5",
        "resolv_conf.lua",
        "resolvconf.txt",
        "dns.lua",
        "resolv.conf.tmpl",
        "resolv-conf.patch",
    ] {
        fs::write(folder.path().join(name), CONF).unwrap();
    }
    let ended = run(folder.path(), &["--fix", "--allow-empty"]);
    assert_eq!((ended.status, ended.out.as_str()), (0, ""), "{}", ended.err);
    // Who names one means it.
    let ended = run(folder.path(), &["resolv.conf.5", "--exit-zero"]);
    assert!(ended.out.contains("resolv.conf.5:2:1"), "{}", ended.out);
    for name in [
        "resolv.conf",
        "pod.resolv.conf",
        "resolv.conf.bak",
        "resolv-uplink.conf",
        "dns.conf",
        "dns",
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), CONF).unwrap();
        let ended = run(folder.path(), &["--exit-zero"]);
        assert!(
            ended.out.contains(&format!("{name}:2:1")),
            "{name}: {}",
            ended.out
        );
    }
}
