//! A directory that is taken for the root of a machine.

#[cfg(test)]
pub(in crate::host) mod fixture;
mod look;
mod process;
mod recorder;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2};
use nix::sys::stat::Mode;
use tempfile::TempDir;

use crate::host::{
    FileRead, MAX_BYTES, ReadError, USUAL, errno_of, open_regular, open_unseen, read_as, shown,
    system, walk,
};

use crate::host::worker::{What, Workers, to_file};
use crate::node::mountinfo;

use self::recorder::Recording;

pub use self::recorder::{Entry, Recorder};
pub use crate::host::walk::Link;

/// A machine's root: `/`, or a directory that has its files. Links are
/// resolved inside it, absolute ones from it, and `..` stops at it.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    /// As the user gave it; `None`: this machine's own root.
    given: Option<PathBuf>,
    resolution: Resolution,
    remembered: RefCell<Remembered>,
    /// Once it was asked: whether the directory is one of a real procfs.
    is_procfs: OnceCell<bool>,
    /// Once they were asked for: the mounts below it whose files a daemon or
    /// another machine serves. Only a worker looks behind them.
    served: OnceCell<BTreeSet<PathBuf>>,
    /// Who reads the files of processes, if this program does not itself.
    pub(super) workers: Option<Rc<Workers>>,
    /// Whether the root is that of the process whose directory of `/proc` this
    /// is: behind a link that only a worker follows.
    pub(super) is_behind: bool,
    /// Who notes what is read, if anybody does.
    recording: Option<Recording>,
    /// The directory that a snapshot was unpacked to: it goes with the root.
    pub(super) unpacked: Option<Rc<TempDir>>,
}

/// Small files that were read, so that several readers of one file see the
/// same bytes, and a node is not read again and again.
#[derive(Debug, Default)]
struct Remembered {
    /// By path: as bytes, which compare ten times as fast.
    files: BTreeMap<OsString, Result<FileRead, ReadError>>,
    bytes: usize,
}

/// Longer files are read again.
const MAX_REMEMBERED_FILE: usize = 64 << 10;
/// Once there are so many bytes, no more are remembered.
const MAX_REMEMBERED: usize = 4 << 20;

/// How paths are resolved inside a root.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Resolution {
    /// With `openat2(2)`, or by a walk where the kernel does not have it
    /// (before 5.6) or a filter refuses it.
    #[default]
    Kernel,
    /// One component after the other.
    Walk,
}

impl Root {
    /// The root of this machine.
    ///
    /// # Errors
    ///
    /// The root directory cannot be opened.
    pub fn live() -> Result<Self, ReadError> {
        Self::open(Path::new("/"), None, Resolution::default())
    }

    /// The machine whose files lie below `directory`; below `/` this one's do.
    ///
    /// # Errors
    ///
    /// It is not there, no directory, or cannot be opened.
    pub fn below(directory: &Path, resolution: Resolution) -> Result<Self, ReadError> {
        let given = (directory != Path::new("/")).then(|| directory.to_owned());
        Self::open(directory, given, resolution)
    }

    fn open(
        directory: &Path,
        given: Option<PathBuf>,
        resolution: Resolution,
    ) -> Result<Self, ReadError> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let descriptor =
            openat(AT_FDCWD, directory, flags, Mode::empty()).map_err(|errno| ReadError::Root {
                directory: shown(directory),
                errno,
            })?;
        super::expect_room(descriptor.as_fd())?;
        Ok(Self {
            given,
            resolution,
            workers: Workers::available(),
            served: OnceCell::new(),
            ..Self::of_descriptor(descriptor)
        })
    }

    /// What a descriptor leads to, as one file system.
    pub(super) fn of_descriptor(directory: OwnedFd) -> Self {
        Self {
            directory,
            given: None,
            resolution: Resolution::default(),
            remembered: RefCell::default(),
            is_procfs: OnceCell::new(),
            served: OnceCell::from(BTreeSet::new()),
            workers: None,
            is_behind: false,
            recording: None,
            unpacked: None,
        }
    }

    /// The directory at `path` as a root of its own. It is held: what is moved
    /// to its place later is not seen.
    ///
    /// # Errors
    ///
    /// It is not there, no directory, or cannot be opened.
    pub fn enter(&self, path: &Path) -> Result<Self, ReadError> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY;
        let opened = self.open_file(path, flags);
        self.entered(path, opened)
    }

    fn entered(&self, path: &Path, opened: nix::Result<OwnedFd>) -> Result<Self, ReadError> {
        let directory = opened.map_err(|errno| system(self.named(path), errno))?;
        Ok(Self {
            given: Some(
                self.given
                    .as_deref()
                    .unwrap_or(Path::new("/"))
                    .join(path.strip_prefix("/").unwrap_or(path)),
            ),
            resolution: self.resolution,
            workers: self.workers.clone(),
            recording: self.recording_of(path),
            unpacked: self.unpacked.clone(),
            ..Self::of_descriptor(directory)
        })
    }

    /// The root whose files are named as below `path`.
    pub(super) fn named_as(&mut self, path: &Path) {
        self.given = Some(path.to_owned());
    }

    pub(super) fn directory(&self) -> &OwnedFd {
        &self.directory
    }

    /// Whether this is the machine that kdns runs on.
    pub fn is_live(&self) -> bool {
        self.given.is_none()
    }

    /// Reads a regular file. Its name in the result is `path`. A small one is
    /// remembered: who reads it later gets the same.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or not a regular file.
    pub fn read(&self, path: &Path) -> Result<FileRead, ReadError> {
        if let Some(read) = self.remembered.borrow().files.get(path.as_os_str()) {
            return read.clone();
        }
        let read = self.read_once(path);
        self.remembered.borrow_mut().add(path, &read);
        read
    }

    /// Reads a regular file that nobody else reads, and remembers nothing.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or not a regular file.
    pub fn read_once(&self, path: &Path) -> Result<FileRead, ReadError> {
        self.record_read(path, self.read_file(path))
    }

    fn read_file(&self, path: &Path) -> Result<FileRead, ReadError> {
        if let Some(texts) = self.ask(path, What::Read)? {
            return Ok(to_file(texts));
        }
        let named = || self.named(path);
        let open = |flags| self.open_file(path, flags);
        // A scan of all processes takes half as long without a look before.
        let opened = if self.is_procfs() {
            open_unseen(named, open)
        } else {
            open_regular(named, open)
        };
        read_as(shown(path), named, opened?, USUAL, MAX_BYTES)
    }

    /// Reads the end of a regular file, from the beginning of a line: of a log
    /// the newest part counts. Its name in the result is `path`, and says so
    /// when something is missing before.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or not a regular file.
    pub fn read_end(&self, path: &Path) -> Result<FileRead, ReadError> {
        self.record_read(path, self.read_file_end(path))
    }

    fn read_file_end(&self, path: &Path) -> Result<FileRead, ReadError> {
        if let Some(texts) = self.ask(path, What::End)? {
            return Ok(to_file(texts));
        }
        let named = || self.named(path);
        let open = |flags| self.open_file(path, flags);
        let mut file = open_regular(named, open)?;
        let failed = |error: io::Error| system(named(), errno_of(&error));
        let length = file.metadata().map_err(failed)?.len();
        let is_cut = length > MAX_BYTES as u64;
        if is_cut {
            let start = SeekFrom::Start(length - MAX_BYTES as u64);
            file.seek(start).map_err(failed)?;
        }
        let mut end = read_as(shown(path), named, file, USUAL, MAX_BYTES)?;
        if is_cut {
            let bytes = &mut end.source.bytes;
            let newline = bytes.iter().position(|&byte| byte == b'\n');
            bytes.drain(..newline.map_or(0, |at| at + 1));
            end.source.name.push_str(" (its last MiB)");
            end.is_cut = true;
        }
        Ok(end)
    }

    /// Reads a file that need not be there.
    ///
    /// # Errors
    ///
    /// It is there, but not readable, or not a regular file.
    pub fn read_if_there(&self, path: &Path) -> Result<Option<FileRead>, ReadError> {
        match self.read(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The path with the directory below which it was looked for.
    pub(super) fn named(&self, path: &Path) -> String {
        match &self.given {
            None => shown(path),
            Some(directory) => format!("{} below {}", shown(path), shown(directory)),
        }
    }

    /// Opens a regular file of any length.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or not a regular file.
    pub(super) fn open_long(&self, path: &Path) -> Result<File, ReadError> {
        let open = |flags| self.open_file(path, flags);
        open_regular(|| self.named(path), open)
    }

    /// The mounts below the root that only a worker looks behind; none without
    /// a worker.
    fn served(&self) -> &BTreeSet<PathBuf> {
        self.served.get_or_init(|| {
            if self.workers.is_none() {
                return BTreeSet::new();
            }
            let descriptor = format!("/proc/self/fd/{}", self.directory.as_raw_fd());
            let directory = fs::read_link(descriptor).unwrap_or_else(|_| "/".into());
            let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
            let inside =
                |point: PathBuf| Some(Path::new("/").join(point.strip_prefix(&directory).ok()?));
            let points = mountinfo::served(&table).filter_map(inside);
            // The root itself was opened, and answered.
            points.filter(|it| it.parent().is_some()).collect()
        })
    }

    /// The mount on the way to `path` that only a worker looks behind.
    pub(super) fn served_on_the_way(&self, path: &Path) -> Option<PathBuf> {
        walk::first_stop(&self.directory, path, self.served())
    }

    /// Opens what is at `path`, whatever it is.
    pub(crate) fn open_file(&self, path: &Path, flags: OFlag) -> nix::Result<OwnedFd> {
        if self.is_behind {
            return Err(Errno::ENOTSUP);
        }
        let flags = flags | OFlag::O_CLOEXEC;
        let served = self.served();
        if self.resolution == Resolution::Kernel && served.is_empty() {
            let resolve = ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS;
            let how = OpenHow::new().flags(flags).resolve(resolve);
            match openat2(&self.directory, path, how) {
                // EAGAIN: something was moved meanwhile, and the kernel cannot
                // tell whether the way still is inside.
                Err(Errno::ENOSYS | Errno::EPERM | Errno::EAGAIN) => {}
                opened => return opened,
            }
        }
        walk::open(&self.directory, path, flags, served)
    }
}

impl Remembered {
    fn add(&mut self, path: &Path, read: &Result<FileRead, ReadError>) {
        let bytes = read.as_ref().map_or(0, |file| file.source.bytes.len());
        if bytes <= MAX_REMEMBERED_FILE && self.bytes + bytes <= MAX_REMEMBERED {
            self.bytes += bytes;
            self.files.insert(path.into(), read.clone());
        }
    }
}
