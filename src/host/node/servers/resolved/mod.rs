//! Reads what systemd-resolved does.

mod ask;

use std::path::Path;

use super::include::drop_ins;
use crate::host::node::files;
use crate::host::node::place::{Inside, Place};
use crate::host::node::processes::ProcessSeen;
use crate::host::root::Root;
use crate::node::HostFile;
use crate::text::Source;
use crate::topology::Instance;
use crate::topology::resolved::{self, Files, Mode, Resolved, UPLINK_FILE};

pub use ask::{PATIENCE, SOCKET, ask};

/// Where drop-ins are, the strongest first.
///
/// Source: resolved.conf(5).
const DROP_INS: [&str; 4] = [
    "/etc/systemd/resolved.conf.d",
    "/run/systemd/resolved.conf.d",
    "/usr/local/lib/systemd/resolved.conf.d",
    "/usr/lib/systemd/resolved.conf.d",
];

/// The main file: the first that is there counts.
const MAIN: [&str; 4] = [
    "/etc/systemd/resolved.conf",
    "/run/systemd/resolved.conf",
    "/usr/local/lib/systemd/resolved.conf",
    "/usr/lib/systemd/resolved.conf",
];

/// Most interfaces whose state is read.
const MAX_LINKS: usize = 1000;

/// What it does, and what people call it; `None`: it does not run. On the
/// machine that kdns runs on it is asked, too. What could not be read, or why it could
/// not be asked, is noted.
pub(super) fn read_and_ask(
    root: &Root,
    processes: &[ProcessSeen],
    skipped: &mut Vec<String>,
) -> Option<(Resolved, Instance)> {
    let (resolved, instance) = of_files(root, processes, skipped)?;
    let asked = root.is_live().then(|| ask(Path::new(SOCKET)));
    match asked.unwrap_or(Ok(None)) {
        Ok(Some(reported)) => Some((resolved.with(reported), instance)),
        nothing => {
            skipped.extend(nothing.err());
            Some((resolved, instance))
        }
    }
}

/// What its files say, and which process it is; `None`: it does not run. Where
/// no process can be seen, its files in `/run` say that it does.
pub fn of_files(
    root: &Root,
    processes: &[ProcessSeen],
    skipped: &mut Vec<String>,
) -> Option<(Resolved, Instance)> {
    let node = Inside::of_processes(root, processes);
    // The kernel cuts names to 15 bytes.
    let mut named = processes.iter().filter(|it| it.comm == "systemd-resolve");
    let process = named.find(|it| node.place(it) == Place::Node);
    let uplink = files::host_file(root, Path::new(UPLINK_FILE)).content.ok();
    let instance = match process {
        Some(process) => Instance::Process(process.pid),
        None if processes.is_empty() && uplink.is_some() => Instance::Only,
        None => return None,
    };
    let mut mains = MAIN.iter().map(Path::new);
    let main = mains.find_map(|path| files::source(root, path, skipped));
    let drop_ins = drop_ins(root, &DROP_INS);
    let drop_ins = drop_ins.iter();
    let drop_ins = drop_ins.filter_map(|path| files::source(root, path, skipped));
    let settings = main.into_iter().chain(drop_ins).collect();
    let etc = files::host_file(root, Path::new("/etc/resolv.conf"));
    let files = Files {
        settings,
        links: links(root, "/run/systemd/resolve/netif", skipped),
        networkd: links(root, "/run/systemd/netif/links", skipped),
        uplink,
        foreign: foreign(etc),
    };
    Some((resolved::from_files(&files), instance))
}

/// The file, if it is one of others.
fn foreign(file: HostFile) -> Option<crate::config::resolv_conf::ResolvConf> {
    let end = file.links.last().unwrap_or(&file.path);
    let is_foreign = Mode::of_file(Some(end)) == Mode::Foreign;
    file.content.ok().filter(|_| is_foreign)
}

/// The files of a directory that are named by numbers.
fn links(root: &Root, directory: &str, skipped: &mut Vec<String>) -> Vec<(u32, Source)> {
    let names = files::names(root, Path::new(directory), skipped);
    let mut found = Vec::new();
    for name in names.into_iter().take(MAX_LINKS) {
        let index = name.to_str().and_then(|name| name.parse().ok());
        let Some(index) = index else { continue };
        let path = Path::new(directory).join(&name);
        let source = files::source(root, &path, skipped);
        found.extend(source.map(|it| (index, it)));
    }
    found
}
