//! Reads the configuration of a daemon that looks names up by itself.

use std::path::{Path, PathBuf};

use crate::config::statements::Statements;
use crate::host::node::processes::Directory;
use crate::host::node::servers::read_daemon;
use crate::host::root::Root;
use crate::host::shown;
use crate::program::Program;
use crate::program::daemon::{self, Names};
use crate::scenario::own::Daemon;

/// What the configuration of the process says of names; `None`: it is no daemon
/// that is known here.
///
/// A worker can have lost its arguments and have another root (`chroot`): what
/// its master has counts, which is its parent and the same program.
pub(super) fn read_names(root: &Root, process: &Directory, program: &Program) -> Option<Names> {
    let daemon = Daemon::of_program(program.name())?;
    let master = master_of(root, process, daemon);
    let holder = master.as_ref().unwrap_or(process);
    let nothing = |why: String| daemon::names(daemon, &Statements::default(), vec![why]);
    let built = program
        .executable
        .as_ref()
        .and_then(|it| it.nginx.as_deref());
    let Some(start) = daemon::start(daemon, &holder.arguments(), built) else {
        let why = "its command line does not say where its configuration is";
        return Some(nothing(why.to_owned()));
    };
    let own = match holder.root() {
        Ok(own) => own,
        Err(error) => return Some(nothing(error.to_string())),
    };
    let directory = holder.link("cwd").unwrap_or_else(|| PathBuf::from("/"));
    let (mut conf, skipped) = read_daemon(&own, daemon, &start, &directory);
    let beginning = format!("/proc/{}/root", holder.pid());
    let on_disk = conf.files.iter_mut().filter(|it| it.name.starts_with('/'));
    for file in on_disk {
        file.name = format!("{beginning}{}", file.name);
    }
    Some(daemon::names(daemon, &conf, skipped))
}

fn master_of(root: &Root, process: &Directory, daemon: Daemon) -> Option<Directory> {
    let parent = Directory::open(root, process.look().ok()?.parent?).ok()?;
    let path = shown(parent.link("exe")?);
    let path = path.strip_suffix(" (deleted)").unwrap_or(&path);
    let name = Path::new(path).file_name()?;
    (Daemon::of_program(name.to_str()?) == Some(daemon)).then_some(parent)
}
