//! A name in a directory that is held, so that nothing that is moved meanwhile
//! leads elsewhere.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, RenameFlags, openat, renameat, renameat2};
use nix::sys::stat::{FileStat, Mode, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};

use super::WriteError;
use crate::host::{shown, walk};

/// A name in a directory.
#[derive(Debug)]
pub(super) struct Place {
    directory: OwnedFd,
    pub(super) name: OsString,
}

impl Place {
    /// The place at `path`, whatever is there. No link is followed on the way.
    pub(super) fn at(path: &Path) -> Result<Self, WriteError> {
        let bytes = path.as_os_str().as_bytes();
        let slash = bytes.iter().rposition(|&byte| byte == b'/');
        let (parent, name) = bytes.split_at(slash.map_or(0, |at| at + 1));
        match name {
            b"" if bytes.is_empty() => return Err(Errno::ENOENT.into()),
            b"" | b"." | b".." => return Err(Errno::EISDIR.into()),
            _ => {}
        }
        let parent = match parent {
            b"" => Path::new("."),
            parent => Path::new(OsStr::from_bytes(parent)),
        };
        let directory = walk::open_without_links(parent).map_err(|errno| match errno {
            Errno::ELOOP => link_on(parent).unwrap_or_else(|| errno.into()),
            errno => errno.into(),
        })?;
        Ok(Self {
            directory,
            name: OsStr::from_bytes(name).to_owned(),
        })
    }

    pub(super) fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// What is at `name` here; a link itself.
    pub(super) fn status(&self, name: &OsStr) -> nix::Result<FileStat> {
        fstatat(&self.directory, name, AtFlags::AT_SYMLINK_NOFOLLOW)
    }

    /// Opens what is at `name` here, but no link.
    pub(super) fn open(&self, name: &OsStr, flags: OFlag, mode: Mode) -> nix::Result<OwnedFd> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
        openat(&self.directory, name, flags, mode)
    }

    /// Gives the file at `from` the name `to`, which must be free.
    pub(super) fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> nix::Result<()> {
        let flags = RenameFlags::RENAME_NOREPLACE;
        renameat2(&self.directory, from, &self.directory, to, flags)
    }

    /// Gives the file at `from` this place's name, whatever has it.
    pub(super) fn rename_over(&self, from: &OsStr) -> nix::Result<()> {
        renameat(
            &self.directory,
            from,
            &self.directory,
            self.name.as_os_str(),
        )
    }

    /// Lets the file at `name` and the one at this place change their names.
    pub(super) fn exchange(&self, name: &OsStr) -> nix::Result<()> {
        let flags = RenameFlags::RENAME_EXCHANGE;
        let (directory, own) = (&self.directory, self.name.as_os_str());
        renameat2(directory, name, directory, own, flags)
    }

    pub(super) fn remove(&self, name: &OsStr) -> nix::Result<()> {
        unlinkat(&self.directory, name, UnlinkatFlags::NoRemoveDir)
    }

    /// Whether only this user and root can put files into the directory.
    pub(super) fn is_callers_alone(&self) -> bool {
        const OTHERS_WRITE: nix::libc::mode_t = 0o022;
        fstat(&self.directory)
            .is_ok_and(|it| it.st_uid == geteuid().as_raw() && it.st_mode & OTHERS_WRITE == 0)
    }

    /// Calls `make` with names that nobody has here, until one is free.
    pub(super) fn at_free_name<T>(
        mut make: impl FnMut(&OsStr) -> nix::Result<T>,
    ) -> nix::Result<(OsString, T)> {
        const TRIES: usize = 100;
        let mut last = Errno::EEXIST;
        for _ in 0..TRIES {
            let random = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!(".kdns-{random:016x}.tmp"));
            match make(&name) {
                Ok(file) => return Ok((name, file)),
                Err(Errno::EEXIST) => last = Errno::EEXIST,
                Err(errno) => return Err(errno),
            }
        }
        Err(last)
    }
}

/// The first link on the way to `path`, or at its end.
pub(super) fn link_on(path: &Path) -> Option<WriteError> {
    let mut so_far = PathBuf::new();
    let link = path.components().find_map(|part| {
        so_far.push(part);
        so_far.is_symlink().then(|| so_far.clone())
    })?;
    let target = path.canonicalize().map(shown).unwrap_or_default();
    Some(WriteError::Link {
        link: shown(link),
        target,
    })
}
