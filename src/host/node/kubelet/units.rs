//! Reads how systemd starts a service.

use std::collections::BTreeMap;

use crate::config::env_file;
use crate::config::traced::Traced;
use crate::config::unit_file::{self, Service};
use crate::host::node::kubelet::reader::Reader;
use crate::kubelet::distribution::{UNIT_DIRECTORIES, kubelet_arguments};

/// How a service is started.
#[derive(Debug, Default)]
pub(super) struct Launch {
    /// The unit's file, safe to print.
    pub(super) file: String,
    /// The program and its arguments.
    pub(super) command: Vec<Traced>,
    /// The environment that the unit gives.
    pub(super) environment: Vec<(String, Traced)>,
    /// The working directory.
    pub(super) directory: Option<String>,
    /// Why not all of it is known.
    pub(super) unread: Option<String>,
    /// Whole sentences without a full stop.
    pub(super) remarks: Vec<String>,
}

/// How the unit of this name starts its service; `None`: there is no such
/// unit, it is masked, or it starts nothing.
pub(super) fn launch(reader: &mut Reader<'_>, unit: &str) -> Option<Launch> {
    let main = main_file(reader, unit)?;
    let mut numbers = vec![main];
    for path in drop_ins(reader, unit) {
        numbers.extend(reader.of_node(&path));
    }
    let entries: Vec<_> = numbers
        .iter()
        .flat_map(|&number| unit_file::entries(&reader.file(number).bytes, number))
        .collect();
    let service = Service::of(&entries);
    let mut launch = Launch {
        file: reader.file(main).name.clone(),
        environment: service.environment,
        directory: service.working_directory,
        ..Launch::default()
    };
    for path in &service.environment_files {
        let path = unit_file::with_name(path, unit);
        environment_file(reader, &path, &mut launch);
    }
    let commands: Vec<Vec<Traced>> = service
        .exec_start
        .iter()
        .map(|it| unit_file::command(it, &launch.environment))
        .collect();
    let of_kubelet = commands.iter().find(|it| kubelet_arguments(it).is_some());
    launch.command.clone_from(of_kubelet.or(commands.last())?);
    Some(launch)
}

fn main_file(reader: &mut Reader<'_>, unit: &str) -> Option<usize> {
    for directory in UNIT_DIRECTORIES {
        let path = format!("{directory}/{unit}");
        let link = reader.node.read_link(path.as_ref());
        if link.is_some_and(|target| target.as_os_str() == "/dev/null") {
            return None;
        }
        if let Some(number) = reader.of_node(&path) {
            return Some(number);
        }
    }
    None
}

/// The paths of a unit's drop-ins, in the order in which they count: by name,
/// of equal names only that in the strongest directory.
fn drop_ins(reader: &mut Reader<'_>, unit: &str) -> Vec<String> {
    let mut found = BTreeMap::new();
    for folder in [format!("{unit}.d"), "service.d".to_owned()] {
        for directory in UNIT_DIRECTORIES {
            let directory = format!("{directory}/{folder}");
            reader.directory_of_units(&directory);
            for name in reader.node.list(directory.as_ref()).unwrap_or_default() {
                let Some(name) = name
                    .to_str()
                    .filter(|name| name.as_bytes().ends_with(b".conf"))
                else {
                    continue;
                };
                found
                    .entry(name.to_owned())
                    .or_insert_with(|| format!("{directory}/{name}"));
            }
        }
    }
    found.into_values().collect()
}

/// Reads the files that `EnvironmentFile=` names.
fn environment_file(reader: &mut Reader<'_>, value: &str, launch: &mut Launch) {
    let path = value.strip_prefix('-').unwrap_or(value);
    for path in matching(reader, path) {
        let before = reader.skipped.len();
        let read = reader.of_node(&path);
        launch.unread = launch
            .unread
            .take()
            .or_else(|| reader.skipped_since(before));
        match read {
            Some(number) => {
                let variables = env_file::variables(&reader.file(number).bytes, number);
                let pairs = variables.into_iter().map(|it| (it.name, it.value));
                launch.environment.extend(pairs);
            }
            None if !value.starts_with('-') => launch.remarks.push(format!(
                "{} does not start without {}",
                launch.file,
                crate::host::shown(&path)
            )),
            None => {}
        }
    }
}

/// The files that a path with `*` in its last part means.
fn matching(reader: &Reader<'_>, path: &str) -> Vec<String> {
    let Some((directory, (before, after))) = path
        .rsplit_once('/')
        .and_then(|(directory, name)| Some((directory, name.split_once('*')?)))
    else {
        return vec![path.to_owned()];
    };
    let names = reader.node.list(directory.as_ref()).unwrap_or_default();
    let fits = |name: &&str| {
        let rest = name.strip_prefix(before);
        rest.is_some_and(|rest| rest.ends_with(after)) && !name.starts_with('.')
    };
    let names = names.iter().filter_map(|name| name.to_str()).filter(fits);
    names.map(|name| format!("{directory}/{name}")).collect()
}
