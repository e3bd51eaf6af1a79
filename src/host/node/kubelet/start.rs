//! How the kubelet was started, or would be.

use std::collections::{BTreeMap, VecDeque};

use crate::config::env_file;
use crate::config::traced::Traced;
use crate::config::unit_file::{self, Escapes};
use crate::host::node::kubelet::process::Running;
use crate::host::node::kubelet::reader::Reader;
use crate::kubelet::distribution::{self, Kind};
use crate::kubelet::flags;
use crate::kubelet::rancher::RKE2;
use crate::kubelet::start::{self, Files as _, Launch, Start, given, in_rancher, in_snap, launch};
use crate::kubelet::{Found, Remark};

/// How a running kubelet was started.
pub(super) fn of_process(reader: &mut Reader<'_>, running: &Running) -> Start {
    let kind = refined(running);
    let launch = launch_of(reader, kind).unwrap_or_default();
    let mut start = Start {
        found: Found::Process {
            pid: running.pid,
            comm: running.comm.clone(),
            started: running.ticks,
        },
        command: running.command.clone(),
        environment: running.environment.clone(),
        directory: running.directory.clone(),
        ..Start::default()
    };
    let arguments: Vec<Traced> = running.command.iter().skip(1).cloned().collect();
    let environment = running.environment.as_ref().unwrap_or(&launch.environment);
    match kind {
        Kind::Rancher(program) if running.comm != "kubelet" => {
            // The process hides its arguments, which can hold secrets.
            let given = arguments.iter().filter(|it| !it.bytes().is_empty());
            let arguments = match given.count() {
                0 | 1 => launch.command.iter().skip(1).cloned().collect(),
                _ => arguments,
            };
            in_rancher(reader, &mut start, program, &arguments, environment);
        }
        Kind::ArgumentsFile(usual) if running.comm == "kubelite" => {
            let path = named_arguments_file(&arguments).unwrap_or_else(|| usual.to_owned());
            in_snap(reader, &mut start, &path, running.environment.as_deref());
        }
        _ => program(reader, &mut start, kind, &launch, arguments),
    }
    // Another unit than the one that started it proves nothing.
    if reader.newer_units.is_empty() && !is_service_of(running, &launch) {
        start.restarted = None;
    }
    start
}

/// Whether systemd started the process by this unit, and all variables that can
/// have flags are the unit's: `systemctl set-environment` gives others.
fn is_service_of(running: &Running, launch: &Launch) -> bool {
    let Some((_, unit)) = launch.file.rsplit_once('/') else {
        return false;
    };
    let groups = String::from_utf8_lossy(&running.cgroup);
    let is_foreign = |(name, value): &(String, Traced)| {
        value.text().contains("--") && launch.environment.iter().all(|it| it.0 != *name)
    };
    groups.lines().any(|it| it.rsplit('/').next() == Some(unit))
        && !running.environment.iter().flatten().any(is_foreign)
}

/// What a kubelet is a program of, by its own path and those in its arguments.
fn refined(running: &Running) -> Kind {
    if running.kind != Kind::Program {
        return running.kind;
    }
    let first = running.command.first().map(|it| it.text().into_owned());
    let path = running.program.clone().or(first).unwrap_or_default();
    let mentions = |folder: &str| {
        let in_arguments = running.command.iter().any(|it| it.text().contains(folder));
        path.contains(folder) || in_arguments
    };
    if mentions("/rancher/rke2/") {
        return Kind::Rancher(&RKE2);
    }
    if mentions("/var/lib/k0s/") || mentions("/run/k0s/") {
        return Kind::K0s;
    }
    let of_snap = |(_, kind): &&(&str, Kind)| match kind {
        Kind::ArgumentsFile(file) => {
            let snap = file.split('/').nth(3).unwrap_or_default();
            path.starts_with(&format!("/snap/{snap}/"))
        }
        _ => false,
    };
    distribution::MARKS
        .iter()
        .find(of_snap)
        .map_or(Kind::Program, |(_, kind)| *kind)
}

/// The first unit of this kind that is there.
fn launch_of(reader: &mut Reader<'_>, kind: Kind) -> Option<Launch> {
    let mut units = distribution::UNITS
        .iter()
        .filter(|(_, other)| *other == kind);
    units.find_map(|(unit, _)| launch(reader, unit))
}

/// A kubelet that is a program: finds the files that gave its arguments.
fn program(
    reader: &mut Reader<'_>,
    start: &mut Start,
    kind: Kind,
    launch: &Launch,
    arguments: Vec<Traced>,
) {
    let mut known = distribution::kubelet_arguments(&launch.command).unwrap_or_default();
    let expected = known.clone();
    match kind {
        Kind::Rancher(program) => {
            let command: Vec<Traced> = launch.command.iter().skip(1).cloned().collect();
            let given = given(reader, program, &command, &launch.environment);
            known = given.options.flags(true);
            start.rancher = Some((program, given));
        }
        Kind::ArgumentsFile(path) => {
            if let Some(number) = reader.setting(path) {
                let variables = distribution::snap_variables(path);
                let bytes = &reader.file(number).bytes;
                known = distribution::arguments_file(bytes, number, &variables);
            }
        }
        Kind::Program | Kind::K0s => {}
    }
    if arguments.is_empty() {
        start.remarks.extend(launch.remarks.iter().cloned());
        start.arguments = known;
        start.unread.clone_from(&launch.unread);
        return;
    }
    start.are_seen = true;
    if kind == Kind::Program && !expected.is_empty() {
        let changed = changed(&launch.file, &expected, &arguments);
        start.restarted = changed.is_some().then_some(expected);
        start.remarks.extend(changed);
    }
    start.arguments = attributed(arguments, &known);
}

/// Whether a unit would give other flags than the process has.
fn changed(unit: &str, expected: &[Traced], arguments: &[Traced]) -> Option<Remark> {
    let values = |arguments: &[Traced]| -> Vec<_> {
        let found = flags::read_flags(arguments).flags;
        found.into_iter().map(|it| (it.name, it.value)).collect()
    };
    (values(expected) != values(arguments)).then(|| Remark::OtherFlags(unit.to_owned()))
}

/// The arguments, each with the places of the first known one that is the
/// same and was not taken yet.
fn attributed(arguments: Vec<Traced>, known: &[Traced]) -> Vec<Traced> {
    let mut by_text: BTreeMap<&[u8], VecDeque<&Traced>> = BTreeMap::new();
    for word in known {
        by_text.entry(word.bytes()).or_default().push_back(word);
    }
    let known = |argument: Traced| {
        let found = by_text
            .get_mut(argument.bytes())
            .and_then(VecDeque::pop_front);
        found.cloned().unwrap_or(argument)
    };
    arguments.into_iter().map(known).collect()
}

fn named_arguments_file(arguments: &[Traced]) -> Option<String> {
    let value = arguments.iter().enumerate().find_map(|(index, argument)| {
        let text = argument.text();
        if let Some(path) = text.strip_prefix("--kubelet-args-file=") {
            return Some(path.to_owned());
        }
        let next = arguments.get(index + 1)?;
        (text == "--kubelet-args-file").then(|| next.text().into_owned())
    });
    value.filter(|path| path.starts_with('/'))
}

/// How the kubelet of a node would be started on which none runs.
pub(super) fn of_files(reader: &mut Reader<'_>) -> Option<Start> {
    start::of_files(reader).or_else(|| of_configuration(reader))
}

/// A kubelet of which only its files are there.
fn of_configuration(reader: &mut Reader<'_>) -> Option<Start> {
    let configuration = reader.configuration();
    let mut start = Start::default();
    let mut file = configuration.clone();
    for path in distribution::ENVIRONMENT_FILES {
        let Some(number) = reader.unit(path) else {
            continue;
        };
        for variable in env_file::variables(&reader.file(number).bytes, number) {
            if variable.value.bytes().trim_ascii_start().starts_with(b"--") {
                let words = unit_file::words(&variable.value, Escapes::Plain);
                start.arguments.extend(words);
                file.get_or_insert_with(|| path.to_owned());
            }
        }
    }
    let is_named = flags::read_flags(&start.arguments)
        .last(flags::Name::Config)
        .is_some();
    let has_drop_ins = |(main, _): &&(&str, &str)| configuration.as_deref() == Some(*main);
    let drop_ins = distribution::DROP_INS.iter().find(has_drop_ins);
    let drop_ins = drop_ins.map(|(_, folder)| (*folder).to_owned());
    start.drop_ins = drop_ins.filter(|path| reader.own.is_directory(path.as_ref()));
    start.found = Found::Files { file: file? };
    start.configuration = configuration.filter(|_| !is_named);
    start.remarks.push(Remark::NoUnit);
    Some(start)
}
