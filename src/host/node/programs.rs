//! Which release a program of the node is: by its file, its package, its logs.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use memchr::memmem;
use object::ReadCache;

use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::host::shown;
use crate::host::worker::Parts;
use crate::kubelet::Version;
use crate::program::elf;
use crate::program::release::{self, Product};

/// A version, and what tells it, safe to print.
pub type VersionFound = (Version, String);

/// The release of the program that a process runs, also where its file was
/// replaced meanwhile.
pub fn of_process(root: &Root, directory: &Directory, product: &Product) -> Option<VersionFound> {
    let link = directory.link("exe")?;
    let named = shown(&link);
    let own = root.of_process(directory);
    let file = match directory.open_link("exe") {
        Ok(descriptor) => Parts::Here(File::from(descriptor)),
        Err(_) if named.ends_with(" (deleted)") => return None,
        // In a container it is a path of its own file system.
        Err(_) => own
            .as_ref()
            .and_then(|own| own.parts(&link).ok())
            .or_else(|| root.parts(&link).ok())?,
    };
    Some((release_of(file, product)?, named))
}

/// The release of the program in a file.
pub fn of_file(root: &Root, path: &str, product: &Product) -> Option<VersionFound> {
    let file = root.parts(Path::new(path)).ok()?;
    Some((release_of(file, product)?, shown(path)))
}

/// Only the parts of the file that are asked for are read.
fn release_of(file: Parts<'_>, product: &Product) -> Option<Version> {
    elf::release(&ReadCache::new(file), product)
}

/// Debian's package database.
const PACKAGES: &str = "/var/lib/dpkg/status";
/// More of it is not read.
const MAX_PACKAGES: u64 = 32 << 20;

/// The version of an installed package of Debian's, by one of its names.
pub fn of_package(root: &Root, names: &[&str]) -> Option<VersionFound> {
    let file = root.parts(Path::new(PACKAGES)).ok()?;
    let mut text = b"\n".to_vec();
    file.take(MAX_PACKAGES).read_to_end(&mut text).ok()?;
    let version = names.iter().find_map(|name| {
        let head = format!("\nPackage: {name}\n");
        let rest = text.get(memmem::find(&text, head.as_bytes())?..)?;
        let end = memmem::find(rest, b"\n\n").unwrap_or(rest.len());
        let about = String::from_utf8_lossy(rest.get(..end)?);
        let has = |line: &str| about.lines().any(|it| it == line);
        let is_installed = has("Status: install ok installed") || has("Status: hold ok installed");
        let version = about.lines().find_map(|it| it.strip_prefix("Version: "))?;
        let version = version.split_once(':').map_or(version, |(_, rest)| rest);
        release::version(version).filter(|_| is_installed)
    })?;
    Some((version, PACKAGES.to_owned()))
}

/// Logs as text, the most telling first.
const LOGS: [&str; 6] = [
    "/var/log/kubelet.log",
    "/var/log/containerd.log",
    "/var/log/crio.log",
    "/var/log/daemon.log",
    "/var/log/syslog",
    "/var/log/messages",
];

/// What a program says of itself when it starts: the last time in the first log
/// that has it.
pub fn of_logs(root: &Root, product: &Product) -> Option<VersionFound> {
    LOGS.iter().find_map(|path| {
        let file = root.read_end(Path::new(path)).ok()?;
        let text = String::from_utf8_lossy(&file.source.bytes);
        let said = text.lines().rev().find_map(|it| product.said(it))?;
        Some((said, (*path).to_owned()))
    })
}
