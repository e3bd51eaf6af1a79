//! The Debian package, in the hands of dpkg and lintian.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::lab::{dist, files, said, source};

fn package() -> PathBuf {
    dist().join(format!("kdns_{}-1_amd64.deb", env!("CARGO_PKG_VERSION")))
}

/// Neither an error nor a warning; what is overridden has its reason there.
pub(crate) fn lintian() {
    let mut lintian = Command::new("lintian");
    lintian.args(["--no-cfg", "--allow-root", "--fail-on", "error,warning"]);
    let found = said(lintian.arg(package()));
    let serious = |it: &&str| it.starts_with("E:") || it.starts_with("W:");
    assert_eq!(found.lines().find(serious), None, "{found}");
}

/// Installed into an empty root, used there, and removed without a trace.
pub(crate) fn installed() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    let database = root.join("var/lib/dpkg");
    for directory in ["info", "updates", "triggers"] {
        fs::create_dir_all(database.join(directory)).unwrap();
    }
    for file in ["status", "available"] {
        fs::write(database.join(file), "").unwrap();
    }
    dpkg(root, &["--install", package().to_str().unwrap()]);
    let state = dpkg(root, &["--status", "kdns"]);
    assert!(state.contains("Status: install ok installed"), "{state}");
    assert!(
        !state.contains("\nDepends: "),
        "a static program needs nothing: {state}"
    );

    let version = concat!("kdns ", env!("CARGO_PKG_VERSION"), "\n");
    for program in ["/usr/bin/kdns", "/usr/bin/kubectl-kdns"] {
        let run = said(
            Command::new("chroot")
                .arg(root)
                .args([program, "--version"]),
        );
        assert_eq!(run, version, "{program}");
    }
    pages(root);
    completions(root);
    kubectl_completes(root);

    dpkg(root, &["--purge", "kdns"]);
    let is_left = |it: &PathBuf| !it.starts_with("var/lib/dpkg") && *it != Path::new("dpkg.log");
    let left: Vec<PathBuf> = files(root).into_iter().filter(is_left).collect();
    assert!(
        left.is_empty() && !root.join("usr").exists(),
        "{left:?} is left"
    );
}

fn dpkg(root: &Path, words: &[&str]) -> String {
    let mut command = Command::new("dpkg");
    command.arg(format!("--root={}", root.display()));
    command.arg(format!("--log={}", root.join("dpkg.log").display()));
    said(command.args(words))
}

/// Every page of the repository, as it is there.
fn pages(root: &Path) {
    let directory = root.join("usr/share/man/man1");
    for page in files(&source().join("man")) {
        let packed = directory.join(format!("{}.gz", page.display()));
        let mut text = Vec::new();
        GzDecoder::new(fs::File::open(&packed).unwrap())
            .read_to_end(&mut text)
            .unwrap();
        assert!(
            text == fs::read(source().join("man").join(&page)).unwrap(),
            "{}",
            page.display()
        );
    }
    for link in ["kubectl-kdns.1.gz", "kubectl_complete-kdns.1.gz"] {
        assert!(directory.join(link).exists(), "the page {link}");
    }
}

/// Where the shells of Debian look; bash completes with its file.
fn completions(root: &Path) {
    for (place, own) in [
        ("bash-completion/completions/kdns", "kdns.bash"),
        ("zsh/vendor-completions/_kdns", "_kdns"),
        ("fish/vendor_completions.d/kdns.fish", "kdns.fish"),
    ] {
        let installed = fs::read(root.join("usr/share").join(place)).unwrap();
        assert!(
            installed == fs::read(source().join("completions").join(own)).unwrap(),
            "{place}"
        );
    }
    let script = r#"
        PATH=$1/usr/bin:$PATH
        source "$1/usr/share/bash-completion/completions/kdns"
        COMP_WORDS=(kdns che) COMP_CWORD=1
        function=$(complete -p kdns | sed 's/.*-F \([^ ]*\).*/\1/')
        "$function" kdns che kdns
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", script, "bash"]).arg(root);
    assert_eq!(said(&mut bash), "check-loop\n");
}

/// kubectl runs this program with the words behind `kubectl kdns`.
fn kubectl_completes(root: &Path) {
    let mut asked = Command::new("chroot");
    asked
        .arg(root)
        .args(["/usr/bin/kubectl_complete-kdns", "che"]);
    let answer = said(&mut asked);
    assert!(
        answer.starts_with("check-loop\t") && answer.ends_with("\n:4\n"),
        "{answer}"
    );
}
