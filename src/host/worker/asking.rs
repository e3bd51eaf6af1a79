//! The side of a root whose files a worker reads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::message::PROGRAM;
use super::{Answer, Failure, Request, Silence, What, Whose, Workers};
use crate::host::root::Root;
use crate::host::{MAX_BYTES, ReadError, not_regular, system};

/// What of `/proc/PID` is read from the memory of the process, or waits for
/// those who change it. Source: Linux `fs/proc/base.c`, `fs/proc/task_mmu.c`.
const OF_MEMORY: &[&str] = &["cmdline", "environ", "maps"];

impl Root {
    /// Asks the worker about a file that a stranger may keep us waiting for.
    /// `None`: nobody can, or there is no worker.
    ///
    /// # Errors
    ///
    /// What the worker found, or that there is no answer.
    pub(in crate::host) fn ask(
        &self,
        path: &Path,
        what: What,
    ) -> Result<Option<Vec<Vec<u8>>>, ReadError> {
        let Some(workers) = &self.workers else {
            return Ok(None);
        };
        if self.is_behind {
            return self.ask_about(workers, self, path, what).map(Some);
        }
        if let Some(asked) = self.ask_behind_mount(workers, path, what) {
            return asked.map(Some);
        }
        let is_of_memory = path
            .file_name()
            .is_some_and(|name| OF_MEMORY.iter().any(|it| name == *it) && what == What::Read);
        if !is_of_memory {
            return Ok(None);
        }
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        let entered = directory.map(|it| self.enter(it)).transpose()?;
        let process = entered.as_ref().unwrap_or(self);
        if !process.is_procfs() {
            return Ok(None);
        }
        self.ask_about(workers, process, path, what).map(Some)
    }

    /// Asks about a file on a mount that only a worker looks behind; `None`: it is on none.
    fn ask_behind_mount(
        &self,
        workers: &Workers,
        path: &Path,
        what: What,
    ) -> Option<Result<Vec<Vec<u8>>, ReadError>> {
        let mount = self.served_on_the_way(path)?;
        let request = Request {
            what,
            is_below_root: false,
            path: path.to_owned(),
        };
        let whose = Whose::Mount(mount.clone());
        let asked = workers.ask(self.directory().as_fd(), whose, &request);
        Some(self.answered(path, Some(&mount), asked))
    }

    /// Asks about a file of the process whose directory of `/proc` this is.
    fn ask_about(
        &self,
        workers: &Workers,
        process: &Self,
        path: &Path,
        what: What,
    ) -> Result<Vec<Vec<u8>>, ReadError> {
        let in_process = path.file_name().filter(|_| !process.is_behind);
        let request = Request {
            what,
            is_below_root: process.is_behind,
            path: in_process.map_or_else(|| path.to_owned(), PathBuf::from),
        };
        let name = process.process().to_owned();
        let whose = if request.is_below_root || request.path == Path::new(PROGRAM) {
            Whose::Files(name)
        } else {
            Whose::Memory(name)
        };
        let asked = workers.ask(process.directory().as_fd(), whose, &request);
        self.answered(path, None, asked)
    }

    fn answered(
        &self,
        path: &Path,
        mount: Option<&Path>,
        asked: Result<Answer, Silence>,
    ) -> Result<Vec<Vec<u8>>, ReadError> {
        let file = || self.named(path);
        match asked {
            Ok(Ok(texts)) => Ok(texts),
            Ok(Err(Failure::System(errno))) => Err(system(file(), errno)),
            Ok(Err(Failure::NotRegular(kind))) => Err(not_regular(file(), kind)),
            Err(silence) => Err(ReadError::Unanswered {
                file: file(),
                mount: mount.map(|it| self.named(it)),
                silence,
            }),
        }
    }

    /// A file of any length, of which parts are read.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or not a regular file.
    pub fn parts(&self, path: &Path) -> Result<Parts<'_>, ReadError> {
        let is_there = self.is_behind || self.served_on_the_way(path).is_some();
        let workers = self.workers.as_deref().filter(|_| is_there);
        match workers {
            None => Ok(Parts::Here(self.open_long(path)?)),
            Some(workers) => There::open(self, workers, path),
        }
    }

    /// The same of the program of the process whose directory of `/proc` this is.
    ///
    /// # Errors
    ///
    /// As the system says; `ENOTSUP`: the directory is not one of a live procfs,
    /// and whoever made it may have made the link.
    pub(in crate::host) fn program(&self) -> Result<Parts<'_>, ReadError> {
        let path = Path::new(PROGRAM);
        let workers = self.workers.as_deref().filter(|_| self.is_procfs());
        match workers {
            None => {
                let opened = self.open_magic(path);
                let opened = opened.map_err(|errno| system(self.named(path), errno))?;
                Ok(Parts::Here(File::from(opened)))
            }
            Some(workers) => There::open(self, workers, path),
        }
    }
}

/// A file of which parts are read.
#[derive(Debug)]
pub enum Parts<'r> {
    /// By kdns itself.
    Here(File),
    /// By a worker.
    There(There<'r>),
}

/// A file that a worker reads.
#[derive(Debug)]
pub struct There<'r> {
    root: &'r Root,
    workers: &'r Workers,
    path: PathBuf,
    length: u64,
    position: u64,
}

impl<'r> There<'r> {
    fn open(root: &'r Root, workers: &'r Workers, path: &Path) -> Result<Parts<'r>, ReadError> {
        let mut there = Self {
            root,
            workers,
            path: path.to_owned(),
            length: 0,
            position: 0,
        };
        let texts = there.ask(What::Length)?;
        let length = texts
            .first()
            .and_then(|it| str::from_utf8(it).ok()?.parse().ok());
        there.length = length.unwrap_or(0);
        Ok(Parts::There(there))
    }

    fn ask(&self, what: What) -> Result<Vec<Vec<u8>>, ReadError> {
        let (root, workers, path) = (self.root, self.workers, self.path.as_path());
        root.ask_behind_mount(workers, path, what)
            .unwrap_or_else(|| root.ask_about(workers, root, path, what))
    }
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let there = match self {
            Self::Here(file) => return file.read(buffer),
            Self::There(there) => there,
        };
        let wanted = What::Part(there.position, buffer.len().min(MAX_BYTES) as u64);
        let texts = there.ask(wanted).map_err(|error| match error {
            ReadError::System { errno, .. } => errno.into(),
            _ => io::Error::from(Errno::EIO),
        })?;
        let bytes = texts.first().map_or(&[][..], Vec::as_slice);
        let count = bytes.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), bytes.get(..count)) {
            to.copy_from_slice(from);
        }
        there.position += count as u64;
        Ok(count)
    }
}

impl Seek for Parts<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let there = match self {
            Self::Here(file) => return file.seek(to),
            Self::There(there) => there,
        };
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => there.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => there.position.checked_add_signed(offset),
        };
        there.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(there.position)
    }
}
