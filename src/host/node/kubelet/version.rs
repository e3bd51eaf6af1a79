//! Looks for what tells the kubelet's version.

use std::path::Path;

use crate::config::traced::Traced;
use crate::host::root::Root;
use crate::kubelet::Version;
use crate::kubelet::version::of_os_release;

/// The version, from the program's path, its arguments' program, and files
/// that name it. Programs themselves are not read, nor run.
pub(super) fn version(root: &Root, program: Option<&str>, command: &[Traced]) -> Option<Version> {
    // Flags after the program name other versions: that of an image.
    let words = command
        .iter()
        .take_while(|it| !it.bytes().starts_with(b"-"));
    let words: Vec<String> = words.map(|it| it.text().into_owned()).collect();
    let paths = program.into_iter().chain(words.iter().map(String::as_str));
    for path in paths {
        if let Some(version) = Version::find(path).or_else(|| of_snap(root, path)) {
            return Some(version);
        }
    }
    let text = |path: &str| Some(read(root, path)?.lines().next()?.to_owned());
    text("/kind/version")
        .and_then(|text| Version::find(&text))
        .or_else(|| of_os_release(&read(root, "/etc/os-release")?))
        .or_else(|| of_extension(root))
        .or_else(|| {
            let is_packaged =
                program == Some(PACKAGED) || words.first().is_some_and(|it| it == PACKAGED);
            is_packaged.then(|| of_package(root)).flatten()
        })
}

/// From `/snap/NAME/REVISION/…` or a snap's file of arguments.
fn of_snap(root: &Root, path: &str) -> Option<Version> {
    let rest = path
        .strip_prefix("/var")
        .unwrap_or(path)
        .strip_prefix("/snap/")?;
    let mut parts = rest.split('/');
    let (snap, revision) = (parts.next()?, parts.next()?);
    let about = read(root, &format!("/snap/{snap}/{revision}/meta/snap.yaml"))?;
    let line = about
        .lines()
        .find_map(|line| line.strip_prefix("version:"))?;
    let version = line.trim().trim_matches(['\'', '"']);
    // A package can leave the patch level out: 1.28.
    Version::find(version).or_else(|| Version::find(&format!("{version}.0")))
}

/// Flatcar's system extension: a link to `kubernetes-v1.29.2-x86-64.raw`.
fn of_extension(root: &Root) -> Option<Version> {
    let link = root.read_link(Path::new("/etc/extensions/kubernetes.raw"))?;
    Version::find(&link.file_name()?.to_string_lossy())
}

/// Where the package puts the program.
const PACKAGED: &str = "/usr/bin/kubelet";

/// Debian's package database.
fn of_package(root: &Root) -> Option<Version> {
    let packages = read(root, "/var/lib/dpkg/status")?;
    let mut about = packages.split("\n\n");
    let kubelet = about.find(|it| it.trim_start().starts_with("Package: kubelet\n"))?;
    let is_installed = kubelet.contains("\nStatus: install ok installed")
        || kubelet.contains("\nStatus: hold ok installed");
    let line = kubelet
        .lines()
        .find_map(|line| line.strip_prefix("Version: "))?;
    Version::find(line).filter(|_| is_installed)
}

fn read(root: &Root, path: &str) -> Option<String> {
    let file = root.read(Path::new(path)).ok()?;
    Some(String::from_utf8_lossy(&file.source.bytes).into_owned())
}
