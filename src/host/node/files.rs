//! Reads the files in the syntax of resolv.conf that a node has.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::resolv_conf::ResolvConf;
use crate::host::root::{Link, Root};
use crate::host::{FileRead, shown};
use crate::node::{HostFile, Unread};
use crate::text::Source;

/// Files that a node can have beside `/etc/resolv.conf`. `/var/run` is left
/// out: it is a link to `/run`.
///
/// Sources: systemd-resolved.service(8), NetworkManager.conf(5), resolvconf(8),
/// openresolv resolvconf.conf(5), dnsmasq(8), Talos `pkg/machinery/constants`,
/// Bottlerocket `netdog`, k3s `pkg/agent/config`, kind's `entrypoint`.
const FILES: &[&str] = &[
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/usr/lib/systemd/resolv.conf",
    "/lib/systemd/resolv.conf",
    "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/etc/resolvconf/run/resolv.conf",
    "/run/dnsmasq/resolv.conf",
    "/etc/resolv.dnsmasq.conf",
    "/etc/dnsmasq-resolv.conf",
    "/etc/resolv.conf.original",
    "/etc/resolvconf.conf",
    "/run/netdog/resolv.conf",
    "/system/resolved/resolv.conf",
    "/var/lib/rancher/k3s/agent/etc/resolv.conf",
    "/var/lib/rancher/rke2/agent/etc/resolv.conf",
];

/// Where resolvconf keeps a file for each interface: Debian's, openresolv's.
const INTERFACES: &[&str] = &["/run/resolvconf/interface", "/run/resolvconf/interfaces"];

/// Most files of those directories that are read.
const MAX_INTERFACES: usize = 100;

/// Those of the files that are there, also as links that lead nowhere; with
/// what could not be read.
pub fn read_host_files(root: &Root) -> (Vec<HostFile>, Vec<String>) {
    let mut paths: Vec<PathBuf> = FILES.iter().map(PathBuf::from).collect();
    for directory in INTERFACES {
        let names = root.list(Path::new(directory)).unwrap_or_default();
        let names = names.iter().take(MAX_INTERFACES);
        paths.extend(names.map(|name| Path::new(directory).join(name)));
    }
    let mut files = Vec::new();
    let mut skipped = Vec::new();
    for path in paths {
        let file = host_file(root, &path);
        match &file.content {
            Err(unread) if unread.is_missing && file.links.is_empty() => continue,
            Err(unread) if !unread.is_missing => skipped.push(unread.reason.clone()),
            _ => {}
        }
        files.push(file);
    }
    (files, skipped)
}

/// The file at `path`, whether it is there or not.
pub fn host_file(root: &Root, path: &Path) -> HostFile {
    // Where it leads is a part of what it is.
    let read = root.read(path);
    let (links, read) = match root.links(path) {
        Ok(links) => (links, read),
        Err(error) => (Vec::new(), read.and(Err(error))),
    };
    let content = read
        .map(|file| ResolvConf::parse(file.source))
        .map_err(|error| Unread {
            is_missing: error.is_missing(),
            reason: error.to_string(),
        });
    HostFile {
        path: shown(path),
        links: whole_paths(path, &links),
        content,
    }
}

/// A file that the user named in place of one of the node.
pub fn stand_in(source: Source) -> HostFile {
    HostFile::without_links(source.name.clone(), Ok(ResolvConf::parse(source)))
}

/// What `path` becomes with each link, the last being the file itself.
fn whole_paths(path: &Path, links: &[Link]) -> Vec<String> {
    let mut current = Path::new("/").join(path);
    let mut found = Vec::with_capacity(links.len());
    for link in links {
        // The rest is lost only where dots make the prefix differ.
        let rest = current.strip_prefix(&link.path);
        current = match rest {
            Ok(rest) if rest.as_os_str().is_empty() => link.leads_to.clone(),
            Ok(rest) => link.leads_to.join(rest),
            Err(_) => link.leads_to.clone(),
        };
        found.push(shown(&current));
    }
    found
}

/// The names in a directory, sorted, none where there is none; what else keeps
/// it from being read is noted.
pub(super) fn names(root: &Root, directory: &Path, skipped: &mut Vec<String>) -> Vec<OsString> {
    root.list(directory).unwrap_or_else(|error| {
        if !error.is_missing() {
            skipped.push(error.to_string());
        }
        Vec::new()
    })
}

/// Reads a regular file that need not be there; notes why it could not be.
pub(super) fn source(root: &Root, path: &Path, skipped: &mut Vec<String>) -> Option<Source> {
    match root.read_if_there(path) {
        Ok(file) => {
            skipped.extend(file.as_ref().and_then(FileRead::cut));
            Some(file?.source)
        }
        Err(error) => {
            skipped.push(error.to_string());
            None
        }
    }
}
