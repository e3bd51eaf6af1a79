//! Looks for what tells the kubelet's version.

use std::path::Path;

use crate::config::traced::Traced;
use crate::host::node::kubelet::process::Running;
use crate::host::node::programs::{self, VersionFound};
use crate::host::root::Root;
use crate::host::shown;
use crate::kubelet::Version;
use crate::kubelet::version::of_os_release;
use crate::program::release::KUBELET;

/// The version, from the program's path or that of its arguments' program, files
/// that name it, the program itself, its package and its logs. Nothing is run.
pub(super) fn version(
    root: &Root,
    running: Option<&Running>,
    command: &[Traced],
) -> Option<VersionFound> {
    let program = running.and_then(|it| it.program.as_deref());
    // Flags after the program name other versions: that of an image.
    let words = command
        .iter()
        .take_while(|it| !it.bytes().starts_with(b"-"));
    let words: Vec<String> = words.map(|it| it.text().into_owned()).collect();
    let mut paths = program.into_iter().chain(words.iter().map(String::as_str));
    let of_path = |path: &str| {
        let found = Version::find(path).or_else(|| of_snap(root, path))?;
        Some((found, shown(path)))
    };
    let first = words.first().map(String::as_str);
    let of_program = || match running {
        Some(running) => programs::of_process(root, &running.held, &KUBELET),
        None => programs::of_file(root, first?, &KUBELET),
    };
    let of_file = |path: &'static str, find: fn(&str) -> Option<Version>| {
        Some((find(&text_at(root, path)?)?, path.to_owned()))
    };
    let is_packaged = program == Some(PACKAGED) || first == Some(PACKAGED);
    let of_package = || programs::of_package(root, &["kubelet"]).filter(|_| is_packaged);
    paths
        .find_map(of_path)
        .or_else(|| of_file("/kind/version", |text| Version::find(text.lines().next()?)))
        .or_else(of_program)
        .or_else(|| of_extension(root))
        .or_else(of_package)
        .or_else(|| programs::of_logs(root, &KUBELET))
        .or_else(|| of_file("/etc/os-release", of_os_release))
}

/// From `/snap/NAME/REVISION/…` or a snap's file of arguments.
fn of_snap(root: &Root, path: &str) -> Option<Version> {
    let rest = path
        .strip_prefix("/var")
        .unwrap_or(path)
        .strip_prefix("/snap/")?;
    let mut parts = rest.split('/');
    let (snap, revision) = (parts.next()?, parts.next()?);
    let about = text_at(root, &format!("/snap/{snap}/{revision}/meta/snap.yaml"))?;
    let line = about
        .lines()
        .find_map(|line| line.strip_prefix("version:"))?;
    let version = line.trim().trim_matches(['\'', '"']);
    // A package can leave the patch level out: 1.28.
    Version::find(version).or_else(|| {
        let minor = Version::find(&format!("{version}.0"))?;
        Some(Version::minor(minor.major, minor.minor))
    })
}

/// Flatcar's system extension: a link to `kubernetes-v1.29.2-x86-64.raw`.
fn of_extension(root: &Root) -> Option<VersionFound> {
    const LINK: &str = "/etc/extensions/kubernetes.raw";
    let link = root.read_link(Path::new(LINK))?;
    let version = Version::find(&link.file_name()?.to_string_lossy())?;
    Some((version, LINK.to_owned()))
}

/// Where the package puts the program.
const PACKAGED: &str = "/usr/bin/kubelet";

fn text_at(root: &Root, path: &str) -> Option<String> {
    let file = root.read(Path::new(path)).ok()?;
    Some(String::from_utf8_lossy(&file.source.bytes).into_owned())
}
