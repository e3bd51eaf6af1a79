//! Reads files of this machine, or of the one below a directory.
//!
//! Nothing is decided here: what a file means is up to the core. Only regular
//! files are read, up to [`MAX_BYTES`], and nothing that a file or link says
//! leads out of the directory.

pub mod capture;
pub mod clock;
pub mod counters;
mod error;
pub mod git;
pub mod interrupt;
pub mod modules;
pub mod netlink;
pub mod network;
pub mod node;
mod regular;
pub mod root;
pub mod rules;
mod short;
pub mod situation;
pub mod snapshot;
pub mod tools;
pub mod tree;
mod walk;
pub mod worker;
pub mod write;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, SFlag};

pub use self::error::ReadError;
use crate::text::{MAX_READ, Source, escaped};
use regular::{KINDS, expect_regular, not_regular};

/// What lies beyond so many bytes of a file is not read.
pub const MAX_BYTES: usize = MAX_READ;

/// A file as it was read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileRead {
    /// Its bytes and its path, safe to print.
    pub source: Source,
    /// Whether there is more of it than [`MAX_BYTES`].
    pub is_cut: bool,
}

impl FileRead {
    /// The whole file, for callers to whom a part is of no use.
    ///
    /// # Errors
    ///
    /// There is more of it than [`MAX_BYTES`].
    pub fn whole(self) -> Result<Source, ReadError> {
        self.within(MAX_BYTES)
    }

    fn within(self, most: usize) -> Result<Source, ReadError> {
        if self.is_cut {
            let file = self.source.name;
            return Err(ReadError::TooLong { file, most });
        }
        Ok(self.source)
    }

    /// That its end is missing, as a sentence without a full stop; `None`: it is
    /// whole.
    pub fn cut(&self) -> Option<String> {
        let name = &self.source.name;
        self.is_cut
            .then(|| format!("{name} is longer than 1 MiB: its end was not read"))
    }
}

/// Reads a file that the caller named: any path, links followed as usual. For
/// the writer of a FIFO it waits, as a shell does: `<(…)` is one.
///
/// # Errors
///
/// It is not there, not readable, or neither a regular file nor a FIFO.
pub fn read_named(path: &Path) -> Result<FileRead, ReadError> {
    read_stream(&shown(path), open_named(path)?)
}

/// Opens a file that the caller named, of any length, in the same way.
///
/// # Errors
///
/// It is not there, not readable, or neither a regular file nor a FIFO.
pub fn open_named(path: &Path) -> Result<File, ReadError> {
    if is_fifo(path) {
        open_lines(path)
    } else {
        open_path(path)
    }
}

/// Whether there is a FIFO, also one of a shell's `<(…)`.
pub fn is_fifo(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo())
}

/// Reads a file of a name that the caller has not chosen for it: any path, links
/// followed as usual.
///
/// # Errors
///
/// It is not there, not readable, or not a regular file.
pub fn read_path(path: &Path) -> Result<FileRead, ReadError> {
    read_stream(&shown(path), open_path(path)?)
}

/// Reads a file that a walk of [`tree`] has found, up to [`MAX_BYTES`], with
/// fewer calls than [`read_path`]: what was a regular file then is not looked
/// at twice.
///
/// # Errors
///
/// It is not there any more, not readable, or no regular file.
pub fn read_found(path: &Path) -> Result<FileRead, ReadError> {
    let name = || shown(path);
    let failed = |error| system(name(), errno_of(&error));
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    let mut options = File::options();
    let open = options.read(true).custom_flags(flags.bits()).open(path);
    let file = open.map_err(failed)?;
    let status = file.metadata().map_err(failed)?;
    if !status.is_file() {
        return Err(not_regular(name(), "something else by now"));
    }
    let length = usize::try_from(status.len()).unwrap_or(MAX_BYTES);
    read_as(name(), name, file, length, MAX_BYTES)
}

/// Opens a regular file of any length.
///
/// # Errors
///
/// It is not there, not readable, or not a regular file.
pub fn open_path(path: &Path) -> Result<File, ReadError> {
    let open = |flags| openat(AT_FDCWD, path, flags | OFlag::O_CLOEXEC, Mode::empty());
    open_regular(|| shown(path), open)
}

/// Opens what the caller wants read line by line: a file, a device, or a FIFO,
/// for whose writer it waits, as a shell does.
///
/// # Errors
///
/// It is not there, not readable, or a directory.
pub fn open_lines(path: &Path) -> Result<File, ReadError> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let descriptor =
        openat(AT_FDCWD, path, flags, Mode::empty()).map_err(|errno| system(shown(path), errno))?;
    let opened = File::from(descriptor);
    if opened.metadata().is_ok_and(|it| it.is_dir()) {
        return Err(not_regular(shown(path), "a directory"));
    }
    Ok(opened)
}

/// Reads all of a stream. `name` is safe to print.
///
/// # Errors
///
/// It cannot be read, or is longer than `most` bytes.
pub fn read_whole(name: &str, stream: impl Read, most: usize) -> Result<Source, ReadError> {
    read_long(name, stream, most)?.within(most)
}

/// Reads what is not a file, up to [`MAX_BYTES`]. `name` is safe to print.
///
/// # Errors
///
/// It cannot be read.
pub fn read_stream(name: &str, stream: impl Read) -> Result<FileRead, ReadError> {
    let name = || name.to_owned();
    read_as(name(), name, stream, USUAL, MAX_BYTES)
}

/// The same, up to `most` bytes.
///
/// # Errors
///
/// It cannot be read.
pub fn read_long(name: &str, stream: impl Read, most: usize) -> Result<FileRead, ReadError> {
    let name = || name.to_owned();
    read_as(name(), name, stream, USUAL, most)
}

/// Nearly every file fits here, which saves some reads.
const USUAL: usize = 4096;

/// Reads up to `most` bytes of a stream that is so long as far as is known; `failing`
/// is its name in errors.
fn read_as(
    name: String,
    failing: impl Fn() -> String,
    stream: impl Read,
    length: usize,
    most: usize,
) -> Result<FileRead, ReadError> {
    let mut bytes = Vec::with_capacity(length.min(most) + 1);
    let mut rest = stream.take(most as u64 + 1);
    rest.read_to_end(&mut bytes)
        .map_err(|error| system(failing(), errno_of(&error)))?;
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    bytes.shrink_to_fit();
    let source = Source::new(name, bytes);
    Ok(FileRead { source, is_cut })
}

/// Opens with `open`, which gets flags. Devices are not opened but looked at.
/// Errors have the file's `name`.
fn open_regular(
    name: impl Fn() -> String,
    open: impl Fn(OFlag) -> nix::Result<OwnedFd>,
) -> Result<File, ReadError> {
    let looked_at = open(OFlag::O_PATH).map_err(|errno| system(name(), errno))?;
    expect_regular(&name, &looked_at)?;
    // Once more: another file can be there by now.
    open_unseen(name, open)
}

/// The same where nothing is dangerous to open: on a procfs.
fn open_unseen(
    name: impl Fn() -> String,
    open: impl Fn(OFlag) -> nix::Result<OwnedFd>,
) -> Result<File, ReadError> {
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let descriptor = open(flags).map_err(|errno| system(name(), errno))?;
    expect_regular(&name, &descriptor)?;
    Ok(File::from(descriptor))
}

fn system(file: String, errno: Errno) -> ReadError {
    ReadError::System { file, errno }
}

/// The type bits of a file's mode.
fn file_type(mode: nix::libc::mode_t) -> SFlag {
    SFlag::from_bits_truncate(mode) & SFlag::S_IFMT
}

pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// What the system said, in words; for an error that is none of the system's,
/// what it says itself.
pub fn io_reason(error: &std::io::Error) -> String {
    let by_kind = match error.kind() {
        // Errors that another crate has wrapped keep only their kind.
        ErrorKind::NotFound => Some(Errno::ENOENT),
        ErrorKind::PermissionDenied => Some(Errno::EACCES),
        ErrorKind::NotADirectory => Some(Errno::ENOTDIR),
        ErrorKind::IsADirectory => Some(Errno::EISDIR),
        ErrorKind::ReadOnlyFilesystem => Some(Errno::EROFS),
        ErrorKind::StorageFull => Some(Errno::ENOSPC),
        _ => None,
    };
    let errno = error.raw_os_error().map(Errno::from_raw).or(by_kind);
    errno.map_or_else(|| error.to_string(), reason)
}

/// More files than this are never open at a time.
const AT_ONCE: usize = 16;

/// So many more files can be opened: what could not be looked at for want of a
/// descriptor would else be taken for what is not there.
fn expect_room(descriptor: BorrowedFd<'_>) -> Result<(), ReadError> {
    let more = (0..AT_ONCE).map(|_| descriptor.try_clone_to_owned());
    let all: std::io::Result<Vec<OwnedFd>> = more.collect();
    all.map(drop).map_err(|_| ReadError::Descriptors)
}

/// A path, safe to print.
pub(crate) fn shown(path: impl AsRef<OsStr>) -> String {
    escaped(path.as_ref().as_bytes())
}

/// What the system said, in words, with the privilege that would help.
pub(crate) fn reason(errno: Errno) -> String {
    let words = errno.desc();
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    let words: String = first.into_iter().chain(characters).collect();
    let root_helps = matches!(errno, Errno::EACCES | Errno::EPERM);
    if root_helps && !nix::unistd::geteuid().is_root() {
        return format!("{words} (needs root)");
    }
    if root_helps && is_root_of_namespace() {
        return format!("{words} (root here is that of a user namespace, not of the machine)");
    }
    if errno == Errno::EACCES
        && let Some(missing) = missing_to_read()
    {
        return format!("{words} (root needs {missing} for that)");
    }
    words
}

/// What keeps root from files whatever their modes are, and from those of other
/// processes.
fn missing_to_read() -> Option<&'static str> {
    let has = |it| caps::has_cap(None, CapSet::Effective, it).unwrap_or(true);
    let may_read = has(Capability::CAP_DAC_READ_SEARCH) || has(Capability::CAP_DAC_OVERRIDE);
    match (may_read, has(Capability::CAP_SYS_PTRACE)) {
        (true, true) => None,
        (true, false) => Some("the capability CAP_SYS_PTRACE"),
        (false, true) => Some("the capability CAP_DAC_READ_SEARCH"),
        (false, false) => Some("the capabilities CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE"),
    }
}

/// Whether users are other ones than the machine's, so that root has no power
/// over what is not its namespace's.
///
/// Source: `user_namespaces(7)`: the first namespace maps all numbers.
pub(crate) fn is_root_of_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map");
    map.is_ok_and(|it| it.split_whitespace().ne(["0", "0", "4294967295"]))
}

#[cfg(test)]
mod tests;
