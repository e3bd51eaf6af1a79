//! Where queries are made: whose files count.

use std::path::Path;

use crate::cli::target;
use crate::host::situation::{self, RESOLV_CONF};
use crate::host::{self, FileRead};
use crate::netns::Aim;
use crate::program::Program;
use crate::scenario::{self, Scenario};

/// The file of the names that need no server.
const HOSTS: &str = "/etc/hosts";

/// The files, interfaces and environment of the one who asks.
#[derive(Debug)]
pub(super) struct Place {
    /// All but the name that is asked.
    pub(super) scenario: Scenario,
    /// Whether it is a target's.
    pub(super) is_target: bool,
    /// The target's program, if there is one.
    pub(super) program: Option<Program>,
}

impl Place {
    /// The caller's own, as far as dig knows them.
    ///
    /// # Errors
    ///
    /// A file is there and cannot be read.
    pub(super) fn own() -> anyhow::Result<Self> {
        let mut scenario = Scenario::new("dig", "");
        let read = |path: &str| -> anyhow::Result<_> {
            Ok(existing(path)?.map(|read| scenario::file(path, read.source.bytes)))
        };
        scenario.resolv_conf = read(RESOLV_CONF)?;
        scenario.hosts = read(HOSTS)?;
        scenario.interfaces = situation::interfaces().unwrap_or_default();
        Ok(Self {
            scenario,
            is_target: false,
            program: None,
        })
    }

    /// The target's.
    pub(super) fn of_target(aim: &Aim) -> Self {
        let mut scenario = Scenario::new("dig", "");
        target::fill(aim, &mut scenario);
        Self {
            scenario,
            is_target: true,
            program: aim.program.clone(),
        }
    }
}

/// The file, unless there is none.
fn existing(path: &str) -> anyhow::Result<Option<FileRead>> {
    match host::read_path(Path::new(path)) {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
