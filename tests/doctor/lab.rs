//! Copies of nodes that can be broken, and what kdns says of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) const KDNS: &str = env!("CARGO_BIN_EXE_kdns");

/// A node of the test data, below a directory of its own.
pub(crate) struct Node {
    _directory: TempDir,
    pub(crate) root: PathBuf,
}

/// What `kdns doctor` says.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) document: Value,
}

impl Node {
    pub(crate) fn copy_of(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join(name);
        copy(&nodes().join(name), &root);
        Self {
            _directory: directory,
            root,
        }
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn doctor(&self, words: &[&str]) -> Said {
        doctor(&self.root, words)
    }
}

pub(crate) fn nodes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/nodes")
}

pub(crate) fn doctor(root: &Path, words: &[&str]) -> Said {
    let output = Command::new(KDNS)
        .args(["doctor", "--format", "json", "--root"])
        .arg(root)
        .args(words)
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    Said {
        status: output.status.code().unwrap(),
        document: serde_json::from_str(&out).expect(&err),
    }
}

impl Said {
    /// The code of the first cause.
    pub(crate) fn first(&self) -> &str {
        self.document["causes"][0]["code"]
            .as_str()
            .unwrap_or_default()
    }

    /// The state of a check.
    pub(crate) fn state(&self, code: &str) -> &str {
        let mut checks = self.document["checks"].as_array().unwrap().iter();
        let check = checks.find(|it| it["code"] == code);
        check.map_or("", |it| it["state"].as_str().unwrap())
    }

    /// What a check says.
    pub(crate) fn fact(&self, code: &str) -> &str {
        let mut checks = self.document["checks"].as_array().unwrap().iter();
        let check = checks.find(|it| it["code"] == code);
        check.map_or("", |it| it["fact"].as_str().unwrap())
    }

    /// Checks that are neither in order nor unknown.
    pub(crate) fn wrong(&self) -> Vec<&str> {
        let checks = self.document["checks"].as_array().unwrap().iter();
        let wrong = checks.filter(|it| it["state"] == "warning" || it["state"] == "error");
        wrong.map(|it| it["code"].as_str().unwrap()).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&path, &copied);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&path).unwrap(), &copied).unwrap();
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}
