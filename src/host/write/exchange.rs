//! A file that is being written, and how it takes its place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, Write};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};
use nix::unistd::linkat;

use super::keep::Kept;
use super::place::{self, Place};
use super::watch::Watch;
use super::{Others, WriteError};
use crate::host::{file_type, shown};

/// A file that is written beside its place, without a name as far as the system
/// allows: it is gone if the program ends early.
#[derive(Debug)]
pub struct Draft {
    place: Place,
    /// What is at the place; `None`: nothing was.
    old: Option<Old>,
    out: BufWriter<File>,
    /// The name that it has in the meantime.
    name: Option<OsString>,
}

/// The file that is to be replaced. It is held, so that no other one can get
/// its number.
#[derive(Debug)]
struct Old {
    file: File,
    kept: Kept,
    status: FileStat,
    /// The bytes that the file must still have, where the caller knows them.
    bytes: Option<Vec<u8>>,
    watch: Option<Watch>,
}

impl Draft {
    /// Begins to write the file at `path`. With `must_be_there` there is
    /// already one.
    pub(super) fn begin(
        path: &Path,
        others: Others,
        must_be_there: bool,
    ) -> Result<Self, WriteError> {
        let place = Place::at(path)?;
        match place.status(&place.name) {
            Err(Errno::ENOENT) if !must_be_there => Self::at(place, None),
            Err(errno) => Err(errno.into()),
            Ok(status) if file_type(status.st_mode) == SFlag::S_IFLNK => {
                Err(place::link_on(path).unwrap_or(WriteError::Changed))
            }
            Ok(status) if file_type(status.st_mode) == SFlag::S_IFREG => {
                let old = Old::hold(&place, others)?;
                Self::at(place, Some(old))
            }
            Ok(_) => Err(WriteError::Changed),
        }
    }

    fn at(place: Place, old: Option<Old>) -> Result<Self, WriteError> {
        // What replaces a file gets the rights of that at the end.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let mode = Mode::from_bits_truncate(mode);
        let (file, name) = if let Some(file) = nameless(&place, mode) {
            (file, None)
        } else {
            let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
            let (name, file) = Place::at_free_name(|name| place.open(name, flags, mode))?;
            (File::from(file), Some(name))
        };
        Ok(Self {
            place,
            old,
            out: BufWriter::new(file),
            name,
        })
    }

    /// What is there now must be `bytes`, until the end.
    pub(super) fn expect(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        match &mut self.old {
            Some(old) if old.holds(bytes)? => {
                old.bytes = Some(bytes.to_owned());
                Ok(())
            }
            _ => Err(WriteError::Changed),
        }
    }

    /// Ends: the file is there now, whole, or what was there is as it was.
    ///
    /// # Errors
    ///
    /// It cannot be written, or was changed meanwhile.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.out.flush()?;
        let Some(old) = self.old.take() else {
            return undisturbed(|| self.put_new());
        };
        let file = self.out.get_ref();
        old.kept.give(file)?;
        // What was there must not be lost for what never reached the disk.
        file.sync_all()?;
        undisturbed(|| {
            self.put_over(&old)?;
            let Some(name) = self.name.take() else {
                return Ok(());
            };
            let removed = self.place.remove(&name);
            removed.map_err(|errno| WriteError::Beside(shown(&name), errno.desc()))
        })
    }

    /// Gives the file the name that was free.
    fn put_new(&mut self) -> Result<(), WriteError> {
        let appeared = |errno| match errno {
            Errno::EEXIST => WriteError::Appeared,
            errno => WriteError::from(errno),
        };
        let Some(name) = &self.name else {
            return self.link(&self.place.name).map_err(appeared);
        };
        let place = &self.place;
        match place.rename_to_free(name, &place.name) {
            // Not in this file system: other names for a file may be there.
            Err(Errno::EINVAL | Errno::ENOSYS) => {
                let (directory, new) = (place.directory(), place.name.as_os_str());
                linkat(
                    directory,
                    name.as_os_str(),
                    directory,
                    new,
                    AtFlags::empty(),
                )
                .map_err(appeared)
            }
            result => {
                result.map_err(appeared)?;
                self.name = None;
                Ok(())
            }
        }
    }

    /// Puts the file in the place of `old`.
    fn put_over(&mut self, old: &Old) -> Result<(), WriteError> {
        if self.name.is_none() {
            let linked = Place::at_free_name(|name| self.link(name))?;
            self.name = Some(linked.0);
        }
        let place = &self.place;
        let name = self.name.clone().unwrap_or_default();
        let watch = Watch::over(self.out.get_ref());
        match place.exchange(&name) {
            Ok(()) => {}
            Err(Errno::ENOENT) => return Err(WriteError::Changed),
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => return self.put_plainly(old),
            Err(errno) => return Err(errno.into()),
        }
        match old.stays_unchanged(place, &name) {
            Ok(()) => Ok(()),
            Err(reason) => {
                let ours = fstat(self.out.get_ref())?;
                let result = back(place, &name, Id::from_status(&ours));
                let is_edited = watch.is_some_and(|it| it.is_open() || it.is_written());
                if result.is_err() || is_edited {
                    // What has the name now is, or became, somebody's.
                    self.name = None;
                    return Err(WriteError::Restless(shown(&name)));
                }
                Err(reason)
            }
        }
    }

    /// The same where files cannot be exchanged: only what nobody will miss,
    /// where nobody else can put anything.
    fn put_plainly(&mut self, old: &Old) -> Result<(), WriteError> {
        let place = &self.place;
        if old.bytes.is_some() || !place.is_callers_alone() {
            return Err(WriteError::NoExchange);
        }
        old.is_unchanged(place, &place.name)?;
        place.rename_over(self.name.as_deref().unwrap_or_default())?;
        self.name = None;
        Ok(())
    }

    /// Gives the file, which has no name, this one.
    fn link(&self, name: &OsStr) -> nix::Result<()> {
        let (follow, path) = (AtFlags::AT_SYMLINK_FOLLOW, descriptor(self.out.get_ref()));
        linkat(AT_FDCWD, &path, self.place.directory(), name, follow)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Draft {
    /// Takes away what is beside the place: the new file that did not get there,
    /// or the old one.
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = self.place.remove(name);
        }
    }
}

impl Old {
    /// Holds what is at the place, if it may be replaced.
    fn hold(place: &Place, others: Others) -> Result<Self, WriteError> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
        let file = File::from(place.open(&place.name, flags, Mode::empty())?);
        let watch = Watch::over(&file);
        let status = fstat(&file)?;
        if file_type(status.st_mode) != SFlag::S_IFREG {
            return Err(WriteError::Changed);
        }
        let kept = Kept::from_file(&file)?;
        kept.check(&file, others)?;
        Ok(Self {
            file,
            kept,
            status,
            bytes: None,
            watch,
        })
    }

    /// The same a moment later, where something of it could be missed: who was
    /// just opening the file has opened it by then, and nobody else can.
    fn stays_unchanged(&self, place: &Place, name: &OsStr) -> Result<(), WriteError> {
        self.is_unchanged(place, name)?;
        if self.bytes.is_some() {
            thread::sleep(GRACE);
            self.is_unchanged(place, name)?;
        }
        Ok(())
    }

    fn holds(&self, bytes: &[u8]) -> Result<bool, WriteError> {
        let mut file = &self.file;
        file.rewind()?;
        let mut found = Vec::with_capacity(bytes.len() + 1);
        file.take(bytes.len() as u64 + 1).read_to_end(&mut found)?;
        Ok(found == bytes)
    }

    /// Whether what is at `name` is this file, as it was.
    fn is_unchanged(&self, place: &Place, name: &OsStr) -> Result<(), WriteError> {
        let is_it = |status: FileStat| Id::from_status(&status) == Id::from_status(&self.status);
        if !place.status(name).is_ok_and(is_it) || Kept::from_file(&self.file)? != self.kept {
            return Err(WriteError::Changed);
        }
        if let Some(watch) = &self.watch {
            // Of a report the last readers may keep what they have.
            if self.bytes.is_some() && watch.is_open() {
                return Err(WriteError::IsOpen);
            }
            if watch.is_written() {
                return Err(WriteError::Changed);
            }
        }
        let is_same = match &self.bytes {
            Some(bytes) => self.holds(bytes)?,
            None => written(&fstat(&self.file)?) == written(&self.status),
        };
        if is_same {
            Ok(())
        } else {
            Err(WriteError::Changed)
        }
    }
}

/// Length, and when it was written last.
fn written(status: &FileStat) -> (i64, i64, i64) {
    (status.st_size, status.st_mtime, status.st_mtime_nsec)
}

/// Which file it is, as long as it is held.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Id {
    device: u64,
    inode: u64,
}

impl Id {
    fn from_status(status: &FileStat) -> Self {
        Self {
            device: status.st_dev,
            inode: status.st_ino,
        }
    }
}

/// Opening a file takes a thousandth of this, unless the machine is busy.
const GRACE: Duration = Duration::from_millis(10);

/// So often something else comes back than was put there.
const MAX_EXCHANGES: usize = 1000;

/// Puts back what was at the place before ours, which has it now; it is at
/// `name`. Others go on meanwhile: what they have put in the place of ours is
/// newer than what they had there before. In the end their last version is at
/// the place, and at `name` what it replaced.
fn back(place: &Place, name: &OsStr, ours: Id) -> Result<(), WriteError> {
    let restless = || WriteError::Restless(shown(name));
    // With a descriptor that holds it, so that its number stays its own.
    let mut put = (ours, None);
    for _ in 0..MAX_EXCHANGES {
        let out = place.open(name, OFlag::O_PATH, Mode::empty())?;
        match place.exchange(name) {
            Ok(()) => {}
            // Somebody has removed what is there: what was there before is not lost.
            Err(Errno::ENOENT) => match place.rename_to_free(name, &place.name) {
                Ok(()) => return Ok(()),
                Err(Errno::EEXIST) => continue,
                Err(_) => return Err(restless()),
            },
            Err(_) => return Err(restless()),
        }
        if place
            .status(name)
            .is_ok_and(|it| Id::from_status(&it) == put.0)
        {
            return Ok(());
        }
        put = (Id::from_status(&fstat(&out)?), Some(out));
    }
    Err(restless())
}

/// A file without a name that can get one. `None`: not in this file system, or
/// there is no `/proc` to name it by.
fn nameless(place: &Place, mode: Mode) -> Option<File> {
    let flags = OFlag::O_TMPFILE | OFlag::O_WRONLY;
    let file = place.open(OsStr::new("."), flags, mode).ok()?;
    let file = File::from(file);
    descriptor(&file).exists().then_some(file)
}

/// The name that every open file has.
fn descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Calls `call` with signals that end programs put off until it is done.
fn undisturbed<T>(call: impl FnOnce() -> T) -> T {
    let mut signals = SigSet::empty();
    let ends = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    signals.extend(ends);
    let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let result = call();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    result
}
