//! How systemd starts a service.

use std::collections::BTreeMap;

use crate::config::env_file;
use crate::config::traced::Traced;
use crate::config::unit_file::{self, Service};
use crate::kubelet::distribution::{UNIT_DIRECTORIES, kubelet_arguments};
use crate::kubelet::start::Files;
use crate::kubelet::{Refusal, Remark};
use crate::text::escaped;

/// How a service is started.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The unit's file, safe to print.
    pub file: String,
    /// The program and its arguments.
    pub command: Vec<Traced>,
    /// The environment that the unit gives.
    pub environment: Vec<(String, Traced)>,
    /// The working directory.
    pub directory: Option<String>,
    /// Why not all of it is known.
    pub unread: Option<String>,
    /// Whole sentences without a full stop.
    pub remarks: Vec<Remark>,
}

/// How the unit of this name starts its service; `None`: there is no such
/// unit, it is masked, or it starts nothing.
pub fn launch(files: &mut dyn Files, unit: &str) -> Option<Launch> {
    let main = main_file(files, unit)?;
    let mut numbers = vec![main];
    for path in drop_ins(files, unit) {
        numbers.extend(files.unit(&path));
    }
    let entries: Vec<_> = numbers
        .iter()
        .flat_map(|&number| unit_file::entries(&files.file(number).bytes, number))
        .collect();
    let service = Service::of_entries(&entries);
    let mut launch = Launch {
        file: files.file(main).name.clone(),
        environment: service.environment,
        directory: service.working_directory,
        ..Launch::default()
    };
    for path in &service.environment_files {
        let path = unit_file::with_name(path, unit);
        environment_file(files, &path, &mut launch);
    }
    let commands: Vec<Vec<Traced>> = service
        .exec_start
        .iter()
        .map(|it| unit_file::command(it, &launch.environment, files.unset()))
        .collect();
    let of_kubelet = commands.iter().find(|it| kubelet_arguments(it).is_some());
    launch.command.clone_from(of_kubelet.or(commands.last())?);
    Some(launch)
}

fn main_file(files: &mut dyn Files, unit: &str) -> Option<usize> {
    for directory in UNIT_DIRECTORIES {
        let path = format!("{directory}/{unit}");
        if files.is_masked(&path) {
            return None;
        }
        if let Some(number) = files.unit(&path) {
            return Some(number);
        }
    }
    None
}

/// The paths of a unit's drop-ins, in the order in which they count: by name,
/// of equal names only that in the strongest directory.
fn drop_ins(files: &mut dyn Files, unit: &str) -> Vec<String> {
    let mut found = BTreeMap::new();
    for folder in [format!("{unit}.d"), "service.d".to_owned()] {
        for directory in UNIT_DIRECTORIES {
            let directory = format!("{directory}/{folder}");
            for name in files.units(&directory) {
                if let Some(stem) = name.strip_suffix(".conf") {
                    let path = format!("{directory}/{stem}.conf");
                    found.entry(name).or_insert(path);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Reads the files that `EnvironmentFile=` names.
fn environment_file(files: &mut dyn Files, value: &str, launch: &mut Launch) {
    let path = value.strip_prefix('-').unwrap_or(value);
    for path in matching(files, path) {
        let before = files.unread();
        let read = files.unit(&path);
        launch.unread = launch.unread.take().or_else(|| files.unread_since(before));
        match read {
            Some(number) => {
                let variables = env_file::variables(&files.file(number).bytes, number);
                let pairs = variables.into_iter().map(|it| (it.name, it.value));
                launch.environment.extend(pairs);
            }
            None if !value.starts_with('-') => {
                launch
                    .remarks
                    .push(Remark::Refused(Refusal::NoEnvironmentFile {
                        unit: launch.file.clone(),
                        file: escaped(path.as_bytes()),
                    }));
            }
            None => {}
        }
    }
}

/// The files that a path with `*` in its last part means.
fn matching(files: &mut dyn Files, path: &str) -> Vec<String> {
    let Some((directory, (before, after))) = path
        .rsplit_once('/')
        .and_then(|(directory, name)| Some((directory, name.split_once('*')?)))
    else {
        return vec![path.to_owned()];
    };
    let names = files.units(directory);
    let fits = |name: &&String| {
        let rest = name.strip_prefix(before);
        rest.is_some_and(|rest| rest.ends_with(after)) && !name.starts_with('.')
    };
    let names = names.iter().filter(fits);
    names.map(|name| format!("{directory}/{name}")).collect()
}
