//! Reads what a process says about its program.

use std::path::Path;

use object::ReadCache;

use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::host::shown;
use crate::host::worker::Parts;
use crate::program::elf::{self, Executable};
use crate::program::{Program, environment, maps};

/// The program of the process, whose root is `own`.
pub(super) fn read_program(process: &Directory, own: &Root) -> Program {
    let mut skipped = Vec::new();
    let mut take = |name: &str| match process.read(name) {
        Ok(file) => file.source.bytes,
        Err(error) => {
            if !error.is_missing() {
                skipped.push(error.to_string());
            }
            Vec::new()
        }
    };
    let env = environment(&take("environ"));
    let libraries = maps::libraries(&take("maps"));
    let path = process.link("exe").map(shown).unwrap_or_default();
    let executable = match process.program() {
        Ok(file) => read_elf(file),
        Err(error) if process.is_live() => {
            skipped.push(error.to_string());
            None
        }
        Err(_) => None,
    };
    let of_libc = libraries.iter().find(|it| maps::libc_of(it).is_some());
    let libc = of_libc.and_then(|it| read_elf(own.parts(Path::new(it)).ok()?)?.libc);
    Program {
        path,
        arguments: process.arguments(),
        executable,
        libraries,
        libc,
        env,
        daemon: None,
        skipped,
    }
}

/// Only the parts of the file that are asked for are read.
fn read_elf(file: Parts<'_>) -> Option<Executable> {
    elf::parse_executable(&ReadCache::new(file))
}
