//! Reads what decides the settings of a kubelet.

mod process;
mod rancher;
mod reader;
mod start;
mod version;

use std::path::PathBuf;

use crate::config::traced::Traced;
use crate::host::node::files;
use crate::host::node::kubelet::process::Running;
use crate::host::node::kubelet::reader::Reader;
use crate::host::node::processes::{Directory, ProcessSeen};
use crate::host::node::unseen;
use crate::host::root::Root;
use crate::kubelet::effective::{self, File, Inputs};
use crate::kubelet::flags::{self, Flag, Flags, Name};
use crate::kubelet::running::{self, Changes};
use crate::kubelet::start::Start;
use crate::kubelet::{Found, Kubelet, Origin, Remark, Version};
use crate::node::{HostFile, Unread};
use crate::text::{Source, escaped};

/// Of more flags than this the first are left out.
const MAX_FLAGS: usize = 100;

/// The kubelet of a node: the one that runs, else what would start it. `None`:
/// there is nothing of one. With what could not be read, as sentences without
/// a full stop. `stand_in` is taken for its configuration file.
pub fn read_kubelet(
    root: &Root,
    processes: &[ProcessSeen],
    stand_in: Option<&Source>,
) -> (Option<Kubelet>, Vec<String>) {
    read_kubelet_of_version(root, processes, stand_in, None)
}

/// As [`read_kubelet`], of a version that the caller knows.
pub fn read_kubelet_of_version(
    root: &Root,
    processes: &[ProcessSeen],
    stand_in: Option<&Source>,
    version: Option<Version>,
) -> (Option<Kubelet>, Vec<String>) {
    let mut others = Vec::new();
    let running = process::running(root, processes, &mut others);
    let own = running
        .as_ref()
        .and_then(|it| process::own_root(root, &it.held));
    let mut reader = Reader {
        started: running.as_ref().and_then(|it| it.started),
        is_live: running.as_ref().is_some_and(|it| it.held.is_live()),
        ..Reader::new(root, own.as_ref().unwrap_or(root))
    };
    let start = match &running {
        Some(running) => Some(start::of_process(&mut reader, running)),
        None => start::of_files(&mut reader),
    };
    let start = start.or_else(|| stand_in.map(|_| Start::default()));
    let Some(mut start) = start else {
        // A kubelet of another node is worth a word where there is no own one.
        reader
            .skipped
            .extend(others.iter().map(ToString::to_string));
        return (None, reader.skipped);
    };
    let others = others.into_iter().map(Remark::Process);
    start.remarks.splice(0..0, others);
    if let (Some(running), Some(_)) = (&running, &own) {
        start.remarks.push(Remark::OwnRoot(running.pid));
    }
    let given = Given {
        running: running.as_ref(),
        stand_in,
        version,
    };
    let kubelet = kubelet(&mut reader, &start, &given);
    let unseen = not_seen(root, processes, &kubelet).or_else(|| hidden(running.as_ref()?, &start));
    let unseen = unseen.filter(|_| stand_in.is_none());
    let kubelet = match unseen {
        Some(why) => kubelet.not_seen(&why),
        None => kubelet,
    };
    (Some(kubelet), reader.skipped)
}

/// The units, variables and options by which the kubelet of a node would be
/// started, and what of them could not be read.
pub fn files(root: &Root) -> (Vec<Source>, Vec<String>) {
    let mut reader = Reader::new(root, root);
    start::of_files(&mut reader);
    (reader.files, reader.skipped)
}

/// Why a kubelet can run that was not seen, where only files tell of it.
fn not_seen(root: &Root, processes: &[ProcessSeen], kubelet: &Kubelet) -> Option<String> {
    let Found::Files { file } = &kubelet.found else {
        return None;
    };
    let why = unseen::why(root, processes)?;
    Some(format!(
        "whether the kubelet runs, and with other flags than {file} has, is not known: {why}"
    ))
}

/// Why it is not known how a kubelet that runs was started: each program has a name,
/// but those that are ending, and no unit says more.
fn hidden(running: &Running, start: &Start) -> Option<String> {
    let is_hidden = running.command.is_empty() && start.arguments.is_empty();
    is_hidden.then(|| {
        format!(
            "the arguments of process {} ({}) could not be read",
            running.pid, running.comm
        )
    })
}

/// What decides a kubelet's settings beside the files of the node: its process,
/// and what the command line of kdns says.
struct Given<'g> {
    running: Option<&'g Running>,
    stand_in: Option<&'g Source>,
    version: Option<Version>,
}

/// The kubelet from its restart on, with what it has while it runs.
fn kubelet(reader: &mut Reader<'_>, start: &Start, given: &Given<'_>) -> Kubelet {
    // What a kubelet shows of itself is about the one that runs.
    let is_shown = |it: &&Source| running::shown_at_configz(it).is_some();
    let configz = given
        .stand_in
        .filter(|it| given.running.is_some() && is_shown(it));
    let given = &Given {
        stand_in: given.stand_in.filter(|_| configz.is_none()),
        ..*given
    };
    let actual = made_of(reader, start, &start.arguments, given);
    let mut kubelet = match &start.restarted {
        Some(arguments) => made_of(reader, start, arguments, given),
        None => actual.clone(),
    };
    reader.newer.dedup();
    reader.unsure.dedup();
    let Some(process) = given.running else {
        return kubelet;
    };
    let pid = process.pid;
    let settings = reader.newer.iter().chain(&reader.newer_directories);
    let given_flags = flags::read_flags(&start.arguments);
    let own_flags = given_flags.flags.iter().map(|it| it.name);
    let units = start.restarted.as_ref().map(|_| reader.newer_units.clone());
    let changes = Changes {
        settings: settings.cloned().collect(),
        unsure: reader.unsure.clone(),
        units,
        flags: own_flags.filter(|_| start.are_seen).collect(),
        has_times: reader.has_times(),
        started: process.ticks,
    };
    let newer = reader.newer.iter().map(|file| Remark::Newer {
        file: file.clone(),
        pid,
    });
    if changes.has_times {
        kubelet.remarks.extend(newer);
        kubelet.newer.clone_from(&reader.newer);
    } else if !reader.newer.is_empty() {
        kubelet.remarks.push(Remark::AllNewer);
    }
    kubelet.running = running::running(&actual, &kubelet, &changes, configz);
    kubelet.running_cluster = running::cluster(&actual, &kubelet, &changes, configz);
    kubelet
}

/// Reads the files that the arguments name, and has the core decide.
fn made_of(
    reader: &mut Reader<'_>,
    start: &Start,
    arguments: &[Traced],
    given: &Given<'_>,
) -> Kubelet {
    let found = match given.version {
        Some(version) => Some((version, "--kubelet-version".to_owned())),
        None => version::version(reader.node, given.running, &start.command),
    };
    let version = found.as_ref().map(|it| it.0);
    let flags = flags::read_flags(arguments);
    let mut remarks = start.remarks.clone();
    remarks.extend(flags.remarks.iter().cloned());
    let directory = PathBuf::from(start.directory.as_deref().unwrap_or("/"));
    let named = start.configuration.as_deref().or(flags.last(Name::Config));
    let main = match (given.stand_in, named.filter(|path| !path.is_empty())) {
        (Some(source), _) => Some(File::Read(source.clone())),
        (None, Some(path)) => Some(reader.needed_file(&directory.join(path))),
        (None, None) => start.unread.clone().map(File::Unread),
    };
    let folder = start.drop_ins.as_deref().or(flags.last(Name::ConfigDir));
    let mut drop_ins = Vec::new();
    if let Some(folder) = folder.filter(|path| !path.is_empty()) {
        let refused = effective::refuses_drop_ins(version, start.has_drop_in_gate());
        remarks.extend(refused.map(Remark::Refused));
        let (files, skipped) = reader.drop_ins(&directory.join(folder));
        drop_ins = files;
        remarks.extend(skipped);
    }
    let inputs = Inputs {
        version,
        stops: flags.stops.clone(),
        defaults: start.defaults.clone(),
        main,
        drop_ins,
        flags: with_origins(reader, flags, given.running),
        remarks,
    };
    let mut kubelet = effective::effective(start.found.clone(), inputs);
    if let Some((program, of_rancher)) = &start.rancher {
        rancher::look_behind(&mut kubelet, program, of_rancher, reader);
    }
    kubelet.version_from = found.map(|it| it.1);
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
        return Some(files::stand_in(source.clone()));
    }
    let value = &kubelet.resolv_conf.value;
    if value.is_empty() {
        return None;
    }
    if let Origin::Unread(reason) = &kubelet.resolv_conf.origin {
        let unread = Unread {
            is_missing: false,
            reason: reason.clone(),
        };
        let path = escaped(value.as_bytes());
        return Some(HostFile::without_links(path, Err(unread)));
    }
    let own = own_root(root, kubelet);
    let directory = process_of(root, kubelet).and_then(|it| it.link("cwd"));
    let path = directory.unwrap_or_else(|| PathBuf::from("/")).join(value);
    Some(files::host_file(own.as_ref().unwrap_or(root), &path))
}

/// The same of a kubelet that has another `resolvConf` while it runs.
pub fn running_file(root: &Root, kubelet: &Kubelet, stand_in: Option<&Source>) -> Option<HostFile> {
    let running = kubelet.running.as_ref()?;
    let kubelet = Kubelet {
        resolv_conf: running.resolv_conf.clone(),
        ..kubelet.clone()
    };
    kubelet_file(root, &kubelet, stand_in)
}

/// The root that the kubelet sees, if it runs and sees another one than the
/// node's.
pub fn own_root(root: &Root, kubelet: &Kubelet) -> Option<Root> {
    process::own_root(root, &process_of(root, kubelet)?)
}

/// The arguments of a kubelet that runs, the program first, safe to print.
pub fn arguments(root: &Root, kubelet: &Kubelet) -> Vec<String> {
    process_of(root, kubelet).map_or_else(Vec::new, |it| it.arguments())
}

/// The process of a kubelet that runs; `None`: it has ended since it was found.
fn process_of(root: &Root, kubelet: &Kubelet) -> Option<Directory> {
    let Found::Process { pid, started, .. } = kubelet.found else {
        return None;
    };
    let seen = ProcessSeen {
        pid,
        started,
        ..ProcessSeen::default()
    };
    Directory::of_seen(root, &seen)
}

#[cfg(test)]
mod tests;
