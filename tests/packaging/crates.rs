//! The package for `cargo install`.

use std::path::Path;
use std::process::Command;

use crate::lab::{files, said, source};

/// Most bytes that crates.io takes (doc.rust-lang.org/cargo/reference/publishing.html).
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// `cargo package` takes every source file, and no more than is needed.
pub(crate) fn package() {
    let cargo = || {
        let mut command = Command::new(env!("CARGO"));
        let words = [
            "package",
            "--quiet",
            "--allow-dirty",
            "--offline",
            "--locked",
        ];
        command.current_dir(source()).args(words);
        command
    };
    let list = said(cargo().arg("--list"));
    let listed: Vec<&Path> = list.lines().map(Path::new).collect();
    for file in files(&source().join("src")) {
        let path = Path::new("src").join(file);
        assert!(
            listed.contains(&&*path),
            "{} is not packaged",
            path.display()
        );
    }
    for file in [
        "build.rs",
        "Cargo.lock",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
        "man/kdns.1",
    ] {
        assert!(listed.contains(&Path::new(file)), "{file} is not packaged");
    }

    let target = tempfile::tempdir().unwrap();
    said(
        cargo()
            .arg("--no-verify")
            .arg("--target-dir")
            .arg(target.path()),
    );
    let name = format!("package/kdns-{}.crate", env!("CARGO_PKG_VERSION"));
    let size = target.path().join(name).metadata().unwrap().len();
    assert!(size < MAX_BYTES, "{size} bytes");
}
