//! How a kubelet is started, from the files of its node, whoever has them:
//! systemd's units, what k3s and rke2 make of their own options, the files of
//! arguments of snaps.

mod rancher;
mod units;

use crate::config::traced::Traced;
use crate::config::unit_file::Unset;
use crate::kubelet::choice::{Chooser, NODE_FILE};
use crate::kubelet::distribution::{self, Kind};
use crate::kubelet::effective::{DROP_IN_GATE, Defaults};
use crate::kubelet::flags;
use crate::kubelet::rancher::Program;
use crate::kubelet::{Found, Remark};
use crate::text::Source;

pub use self::rancher::{Given, given};
pub use self::units::{Launch, launch};

/// The files of a node, whoever has them. What is read has a number, which is
/// that of the spots in it.
pub trait Files {
    /// Reads a unit, or variables for one, as the machine has them; `None`: it
    /// is not there, or cannot be read.
    fn unit(&mut self, path: &str) -> Option<usize>;
    /// The same of a file with settings, as the kubelet sees it.
    fn setting(&mut self, path: &str) -> Option<usize>;
    /// The same of one that the kubelet needs.
    ///
    /// # Errors
    ///
    /// Why its settings are not known, a whole sentence without a full stop.
    fn needed(&mut self, path: &str) -> Result<usize, String> {
        self.setting(path).ok_or_else(String::new)
    }
    /// The file with this number.
    fn file(&self, number: usize) -> &Source;
    /// The names in a directory of units, or of variables for them.
    fn units(&mut self, directory: &str) -> Vec<String> {
        self.names(directory)
    }
    /// The names in a directory as the kubelet sees it, in order.
    fn names(&self, directory: &str) -> Vec<String>;
    /// Whether a unit is a link to `/dev/null`.
    fn is_masked(&self, _path: &str) -> bool {
        false
    }
    /// Whether the kubelet sees a file here.
    fn is_there(&self, path: &str) -> bool;
    /// The file that a distribution gives the kubelet where none is named.
    fn chosen(&self, _chooser: Chooser, _own: &str) -> String {
        NODE_FILE.to_owned()
    }
    /// The first configuration file in a usual place.
    fn configuration(&mut self) -> Option<String> {
        None
    }
    /// How many files could not be read so far.
    fn unread(&self) -> usize {
        0
    }
    /// Why settings are not known, if one more than these could not be read.
    fn unread_since(&self, _before: usize) -> Option<String> {
        None
    }
    /// What a variable is that none of the files sets.
    fn unset(&self) -> Unset;
}

/// What decides a kubelet's settings, apart from the files that it reads.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// How it was found.
    pub found: Found,
    /// The program and its arguments, for the version in its path.
    pub command: Vec<Traced>,
    /// The kubelet's arguments.
    pub arguments: Vec<Traced>,
    /// Its environment, if that is known.
    pub environment: Option<Vec<(String, Traced)>>,
    /// Its working directory.
    pub directory: Option<String>,
    /// The configuration file, where no flag tells.
    pub configuration: Option<String>,
    /// The directory of drop-ins, where no flag tells.
    pub drop_ins: Option<String>,
    /// Why not all of it is known: a file that could not be read.
    pub unread: Option<String>,
    /// What counts where nothing is set.
    pub defaults: Defaults,
    /// Whether `arguments` are those of the process itself.
    pub are_seen: bool,
    /// The arguments that it gets at its restart, if they were changed.
    pub restarted: Option<Vec<Traced>>,
    /// What k3s or rke2 gave it.
    pub rancher: Option<(&'static Program, Given)>,
    /// What is worth knowing of that.
    pub remarks: Vec<Remark>,
}

impl Start {
    /// Whether its environment has [`DROP_IN_GATE`], if that is known.
    pub fn has_drop_in_gate(&self) -> Option<bool> {
        let environment = self.environment.as_ref()?;
        Some(environment.iter().any(|it| it.0 == DROP_IN_GATE))
    }
}

/// How the kubelet of a node would be started on which none runs; `None`: no
/// unit starts one, and no file of a distribution tells of one.
pub fn of_files(files: &mut dyn Files) -> Option<Start> {
    for (unit, kind) in distribution::UNITS {
        if let Some(launch) = launch(files, unit)
            && let Some(start) = of_unit(files, kind, launch)
        {
            return Some(start);
        }
    }
    for (path, kind) in distribution::MARKS {
        if files.is_there(path) {
            let launch = Launch {
                file: path.to_owned(),
                ..Launch::default()
            };
            return of_unit(files, kind, launch);
        }
    }
    None
}

/// What a unit would start; `None`: no kubelet.
fn of_unit(files: &mut dyn Files, kind: Kind, launch: Launch) -> Option<Start> {
    let mut start = Start {
        found: Found::Files { file: launch.file },
        remarks: launch.remarks,
        unread: launch.unread,
        directory: launch.directory,
        ..Start::default()
    };
    let environment = launch.environment;
    match kind {
        Kind::Program => {
            start.arguments = distribution::kubelet_arguments(&launch.command)?;
        }
        Kind::K0s => {
            start.arguments = distribution::kubelet_arguments(&launch.command).unwrap_or_default();
            start.configuration = files.configuration();
            if start.configuration.is_none() {
                start.defaults.resolv_conf = files.chosen(Chooser::K0s, "");
                start.remarks.push(Remark::K0sChooses);
            }
        }
        Kind::ArgumentsFile(path) => in_snap(files, &mut start, path, None),
        Kind::Rancher(program) => {
            let arguments: Vec<Traced> = launch.command.iter().skip(1).cloned().collect();
            in_rancher(files, &mut start, program, &arguments, &environment);
        }
    }
    start.command.splice(0..0, launch.command);
    start.environment = Some(environment);
    Some(start)
}

/// A kubelet inside k3s, or a child of rke2: what they give it.
pub fn in_rancher(
    files: &mut dyn Files,
    start: &mut Start,
    program: &'static Program,
    arguments: &[Traced],
    environment: &[(String, Traced)],
) {
    let given = given(files, program, arguments, environment);
    start.arguments.clone_from(&given.arguments);
    start.defaults = given.defaults.clone();
    start.unread = given.unread.clone().or(start.unread.take());
    start.rancher = Some((program, given));
}

/// A kubelet with a snap's file of arguments.
pub fn in_snap(
    files: &mut dyn Files,
    start: &mut Start,
    path: &str,
    environment: Option<&[(String, Traced)]>,
) {
    let mut variables = distribution::snap_variables(path);
    variables.extend(environment.unwrap_or_default().iter().cloned());
    match files.needed(path) {
        Ok(number) => {
            let bytes = &files.file(number).bytes;
            start.arguments = distribution::arguments_file(bytes, number, &variables);
        }
        Err(reason) => start.unread = Some(reason),
    }
    let is_named = flags::read_flags(&start.arguments)
        .last(flags::Name::ResolvConf)
        .is_some();
    let runs = matches!(start.found, Found::Process { .. });
    if path.starts_with("/var/snap/microk8s/") && !is_named && !runs {
        start.defaults.resolv_conf = files.chosen(Chooser::MicroK8s, "");
        start.remarks.push(Remark::MicroK8sChooses(path.to_owned()));
    }
    start.command.push(Traced::untraced(path.as_bytes()));
}
