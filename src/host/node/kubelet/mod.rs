//! Reads what decides the settings of a kubelet.

mod process;
mod rancher;
mod reader;
mod start;
mod units;
mod version;

use std::path::{Path, PathBuf};

use crate::config::resolv_conf::ResolvConf;
use crate::config::traced::Traced;
use crate::host::node::kubelet::process::Running;
use crate::host::node::kubelet::reader::Reader;
use crate::host::node::kubelet::start::Start;
use crate::host::node::processes::Seen;
use crate::host::root::Root;
use crate::host::{ReadError, shown};
use crate::kubelet::effective::{self, File, Inputs};
use crate::kubelet::flags::{self, Flag, Flags, Name};
use crate::kubelet::{Found, Kubelet, Origin, Version};
use crate::node::{HostFile, Unread};
use crate::text::{Source, escaped};

/// Of more flags than this the first are left out.
const MAX_FLAGS: usize = 100;

/// The kubelet of a node: the one that runs, else what would start it. `None`:
/// there is nothing of one. With what could not be read, as sentences without
/// a full stop. `stand_in` is taken for its configuration file.
pub fn read(
    root: &Root,
    processes: &[Seen],
    stand_in: Option<&Source>,
) -> (Option<Kubelet>, Vec<String>) {
    read_as(root, processes, stand_in, None)
}

/// The same with the version that the caller knows.
pub fn read_as(
    root: &Root,
    processes: &[Seen],
    stand_in: Option<&Source>,
    version: Option<Version>,
) -> (Option<Kubelet>, Vec<String>) {
    let mut remarks = Vec::new();
    let running = process::running(root, processes, &mut remarks);
    let own = running
        .as_ref()
        .and_then(|it| process::own_root(root, it.pid));
    let mut reader = Reader {
        node: root,
        own: own.as_ref().unwrap_or(root),
        files: Vec::new(),
        skipped: Vec::new(),
        started: running.as_ref().and_then(|it| it.started),
        newer: Vec::new(),
    };
    let start = match &running {
        Some(running) => Some(start::of_process(&mut reader, running)),
        None => start::of_files(&mut reader),
    };
    let start = start.or_else(|| stand_in.map(|_| Start::default()));
    let Some(mut start) = start else {
        // A kubelet of another node is worth a word where there is no own one.
        reader.skipped.extend(remarks);
        return (None, reader.skipped);
    };
    remarks.append(&mut start.remarks);
    start.remarks = remarks;
    if let (Some(running), Some(_)) = (&running, &own) {
        start.remarks.push(format!(
            "the kubelet has a file system of its own: its files are those below /proc/{}/root",
            running.pid
        ));
    }
    let kubelet = kubelet(&mut reader, start, running.as_ref(), stand_in, version);
    (Some(kubelet), reader.skipped)
}

/// Reads the files that the arguments name, and has the core decide.
fn kubelet(
    reader: &mut Reader<'_>,
    start: Start,
    running: Option<&Running>,
    stand_in: Option<&Source>,
    version: Option<Version>,
) -> Kubelet {
    let program = running.and_then(|it| it.program.as_deref());
    let version = version.or_else(|| version::version(reader.node, program, &start.command));
    let flags = flags::read(&start.arguments);
    let mut remarks = start.remarks;
    remarks.extend(flags.remarks.iter().cloned());
    let directory = PathBuf::from(start.directory.as_deref().unwrap_or("/"));
    let named = start.configuration.as_deref().or(flags.last(Name::Config));
    let main = match (stand_in, named.filter(|path| !path.is_empty())) {
        (Some(source), _) => Some(File::Read(source.clone())),
        (None, Some(path)) => Some(reader.needed(&directory.join(path))),
        (None, None) => start.unread.map(File::Unread),
    };
    let folder = start.drop_ins.as_deref().or(flags.last(Name::ConfigDir));
    let mut drop_ins = Vec::new();
    if let Some(folder) = folder.filter(|path| !path.is_empty()) {
        let has_variable = start.environment.as_ref().map(|environment| {
            let is_it = |(name, _): &(String, Traced)| name == "KUBELET_CONFIG_DROPIN_DIR_ALPHA";
            environment.iter().any(is_it)
        });
        remarks.extend(effective::refuses_drop_ins(version, has_variable));
        let (files, skipped) = reader.drop_ins(&directory.join(folder));
        drop_ins = files;
        remarks.extend(skipped);
    }
    let inputs = Inputs {
        version,
        stops: flags.stops.clone(),
        defaults: start.defaults,
        main,
        drop_ins,
        flags: with_origins(reader, flags, running),
        remarks,
    };
    let mut kubelet = effective::effective(start.found, inputs);
    if let Some((program, given)) = &start.rancher {
        rancher::look_behind(&mut kubelet, program, given, reader);
    }
    let pid = running.map_or(0, |it| it.pid);
    kubelet.remarks.extend(reader.newer.iter().map(|file| {
        format!("{file} is newer than process {pid}, which still has what stood there when it was started")
    }));
    kubelet.newer.clone_from(&reader.newer);
    kubelet
}

fn with_origins(
    reader: &Reader<'_>,
    flags: Flags,
    running: Option<&Running>,
) -> Vec<(Flag, Origin)> {
    let otherwise = |flag: &Flag| match running {
        Some(running) => Origin::Argument {
            pid: running.pid,
            argument: flag.argument.clone(),
        },
        None => Origin::BuiltIn,
    };
    let origin = |flag: Flag| {
        let origin = flag.origin(&reader.files, otherwise);
        (flag, origin)
    };
    // The last ones count.
    let before = flags.flags.len().saturating_sub(MAX_FLAGS);
    flags.flags.into_iter().skip(before).map(origin).collect()
}

/// The file that the kubelet's `resolvConf` names, as the kubelet sees it, with
/// the links on the way. `None`: it names none. `stand_in` is taken for the file.
///
/// Where a file that could set `resolvConf` was not readable, the content is
/// an error that says so.
pub fn kubelet_file(root: &Root, kubelet: &Kubelet, stand_in: Option<&Source>) -> Option<HostFile> {
    if let Some(source) = stand_in {
        return Some(HostFile {
            path: source.name.clone(),
            links: Vec::new(),
            content: Ok(ResolvConf::parse(source.clone())),
        });
    }
    let value = &kubelet.resolv_conf.value;
    if value.is_empty() {
        return None;
    }
    if let Origin::Unread(reason) = &kubelet.resolv_conf.origin {
        return Some(HostFile {
            path: escaped(value.as_bytes()),
            links: Vec::new(),
            content: Err(Unread {
                is_missing: false,
                reason: reason.clone(),
            }),
        });
    }
    let own = own_root(root, kubelet);
    let directory =
        pid_of(kubelet).and_then(|pid| root.read_link(Path::new(&format!("/proc/{pid}/cwd"))));
    let path = directory.unwrap_or_else(|| PathBuf::from("/")).join(value);
    Some(host_file(own.as_ref().unwrap_or(root), &path))
}

/// The root that the kubelet sees, if it runs and sees another one than the
/// node's.
pub fn own_root(root: &Root, kubelet: &Kubelet) -> Option<Root> {
    process::own_root(root, pid_of(kubelet)?)
}

fn pid_of(kubelet: &Kubelet) -> Option<u32> {
    match kubelet.found {
        Found::Process { pid, .. } => Some(pid),
        Found::Files { .. } | Found::Named => None,
    }
}

fn host_file(root: &Root, path: &Path) -> HostFile {
    let links = root.links(path).unwrap_or_default();
    let unread = |error: ReadError| Unread {
        is_missing: error.is_missing(),
        reason: error.to_string(),
    };
    HostFile {
        path: shown(path),
        links: links.iter().map(|link| shown(&link.leads_to)).collect(),
        content: root
            .read(path)
            .map(|file| ResolvConf::parse(file.source))
            .map_err(unread),
    }
}

#[cfg(test)]
mod tests;
