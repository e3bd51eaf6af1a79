//! From a target that is held to its files.

use super::{Aim, NAMED_FILES, daemon, expect_alive, files, program};
use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::host::situation;
use crate::netns::{EnterError, Namespace, process};
use crate::target::{Files, Plan};

/// A target that is held, before its files are read.
pub(super) struct Held<'r> {
    pub(super) root: &'r Root,
    pub(super) plan: Plan,
    pub(super) namespace: Result<Namespace, EnterError>,
    pub(super) process: Option<Directory>,
    pub(super) skipped: Vec<String>,
}

impl Held<'_> {
    /// Reads them, by its plan.
    pub(super) fn aim(self) -> Result<Aim, EnterError> {
        let Self {
            root,
            mut plan,
            namespace,
            process,
            mut skipped,
        } = self;
        let mut program = None;
        let mut seen = match (&plan.files, &process) {
            (Files::Process(_), Some(process)) => {
                let own = process
                    .root()
                    .map_err(|error| process::gone(&error, process.pid()))?;
                let mut read = program::read_program(process, &own);
                read.daemon = daemon::read_names(root, process, &read);
                skipped.extend(read.skipped.iter().cloned());
                program = Some(read);
                let seen = files::read_process(process, &own, &mut skipped);
                let mut seen = seen.map_err(|error| process::ended(error, process.pid()))?;
                seen.aliases = files::aliases(&own, program.as_ref(), &mut skipped);
                seen
            }
            (Files::Kept, _) => files::read_kept(&plan),
            (Files::Named(name), _) => {
                let first = format!("{NAMED_FILES}/{name}");
                files::read_node(root, Some(&first), &mut skipped)?
            }
            (Files::Node | Files::Process(_), _) => files::read_node(root, None, &mut skipped)?,
        };
        if seen.situation.interfaces.is_none()
            && let Ok(namespace) = &namespace
        {
            seen.situation.interfaces = namespace
                .within(situation::interfaces)
                .ok()
                .and_then(Result::ok);
        }
        // What was read of a process that has ended meanwhile may be what its
        // mounts had hidden.
        if let Some(process) = &process {
            expect_alive(process)?;
        }
        if matches!(plan.files, Files::Process(_)) {
            let bytes = seen
                .situation
                .resolv_conf
                .as_ref()
                .map(|it| it.source.bytes.as_slice());
            plan.warnings.extend(plan.drift(bytes.unwrap_or_default()));
        }
        Ok(Aim {
            plan,
            namespace,
            seen,
            program,
            skipped,
            process,
        })
    }
}
