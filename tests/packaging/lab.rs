//! Where the release is, and how programs are run on it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::Trial;

/// What a trial cannot do without.
#[derive(Clone, Copy)]
pub(crate) enum Needs {
    /// `packaging/release` was run.
    Release,
    /// The user is root.
    Root,
    /// A program on the `PATH`.
    Program(&'static str),
}

impl Needs {
    /// Why it cannot be had.
    fn missing(self) -> Option<String> {
        match self {
            Self::Release if !dist().join("SHA256SUMS").is_file() => {
                Some("needs a run of packaging/release".to_owned())
            }
            Self::Root if !nix::unistd::geteuid().is_root() => Some("needs root".to_owned()),
            Self::Program(name) if !is_on_path(name) => Some(format!("needs {name}")),
            _ => None,
        }
    }
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|it| it.join(program).is_file())
}

pub(crate) fn trial(name: &str, needs: &[Needs], run: fn()) -> Trial {
    let missing = needs.iter().find_map(|it| it.missing());
    crate::needs::trial(name, missing, move || {
        run();
        Ok(())
    })
}

pub(crate) fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The directory of the release.
pub(crate) fn dist() -> PathBuf {
    env::var_os("KDNS_DIST").map_or_else(|| source().join("target/dist"), PathBuf::from)
}

/// `kdns-VERSION-TARGET`, the name of the tarball and of the directory in it.
pub(crate) fn stem() -> String {
    format!(
        "kdns-{}-x86_64-unknown-linux-gnu",
        env!("CARGO_PKG_VERSION")
    )
}

/// The program of the release.
pub(crate) fn program() -> Vec<u8> {
    fs::read(dist().join("kdns")).unwrap()
}

/// What the program says, which must go well.
#[track_caller]
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = texts(&output);
    assert!(output.status.success(), "{command:?}: {text:?}");
    text.0
}

/// Standard output and standard error.
pub(crate) fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Every file and link below a directory, relative to it, sorted.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(directory).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}
