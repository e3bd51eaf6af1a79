//! What `kdns lint` writes: whole outputs of every format for one tree, what
//! holds for all of them, and the settings.
//!
//! `KDNS_BLESS=1 cargo test` writes the expected files.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod arguments;
mod formats;
mod readers;
mod settings;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Other rules do not change these outputs.
const RULES: &str = "KC002,KC008,KK001,KK003,KP001,KR001,KR008,KS001,KS002";

const FORMATS: [&str; 6] = ["text", "concise", "json", "sarif", "github", "junit"];

struct Ended {
    status: i32,
    out: String,
    err: String,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/lint-formats")
}

fn tree() -> PathBuf {
    data().join("tree")
}

/// Runs `kdns lint` with the rules above.
fn lint(directory: &Path, args: &[impl AsRef<OsStr>]) -> Ended {
    let mut command = kdns(directory);
    command.args(["--select", RULES]).args(args);
    ended(command)
}

fn kdns(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdns"));
    command.arg("lint").current_dir(directory).env_clear();
    command
}

fn ended(mut command: Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Ended {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A directory with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}
