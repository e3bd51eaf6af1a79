//! The files of a snapshot, put below a directory, whoever made it.
//!
//! Every directory is entered by descriptor from the one above it, and no link
//! is followed: nothing is written outside. What kdns does not write into a
//! snapshot is refused.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, UtimensatFlags, futimens, mkdirat, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::symlinkat;
use tar::{Archive, Entry, EntryType};

use super::ended::hold;
use super::{FORMAT, MAX_DEPTH, NOTE};

/// A snapshot with more bytes, unpacked, is none of ours.
const MAX_UNPACKED: u64 = 512 << 20;
/// The same for files, links and directories, also those that only stand in a path.
const MAX_MADE: usize = 1_000_000;
/// The same for the bytes of all paths: so many steps it takes to go there.
const MAX_PATHS: usize = 128 << 20;
/// The kernel's own limit of a path, with what ends it.
const MAX_PATH: u64 = 4096;

/// Unpacks a tar archive that begins with our note.
///
/// # Errors
///
/// It is no snapshot, or cannot be read or written.
pub(super) fn unpack(from: impl Read, directory: OwnedFd) -> io::Result<()> {
    let mut from = from.take(MAX_UNPACKED);
    let mut archive = Archive::new(&mut from);
    // As they are: what the next one is called is read here, and not without an end.
    let mut entries = archive.entries()?.raw(true);
    let Some(first) = entries.next() else {
        return Err(invalid("it is empty"));
    };
    if !is_note(first?)? {
        return Err(invalid("it is no snapshot of kdns, or one of a newer kdns"));
    }
    let mut tree = Tree::new(directory);
    let (mut name, mut target) = (None, None);
    for entry in entries {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        match kind {
            EntryType::GNULongName => name = Some(long(&mut entry)?),
            EntryType::GNULongLink => target = Some(long(&mut entry)?),
            _ => {
                let short = || entry.path_bytes().into_owned();
                let path = as_path(name.take().unwrap_or_else(short));
                let link = || Some(entry.link_name_bytes()?.into_owned());
                let target = target.take().or_else(link).map(as_path);
                tree.add(&path, target, &mut entry).map_err(of_names)?;
            }
        }
    }
    tree.set_times()?;
    if from.limit() == 0 {
        return Err(invalid("it unfolds to more than 512 MiB"));
    }
    Ok(())
}

/// Why it is refused. What else ends unpacking without a word of the system's is damage.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refused(pub(super) &'static str);

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Refused(reason))
}

/// What names of the archive itself make the system say.
fn of_names(error: io::Error) -> io::Error {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EEXIST) => invalid("it has something twice"),
        Some(Errno::ENOTDIR) => invalid("it has something below a file or a link"),
        Some(Errno::ENAMETOOLONG) => invalid("it has a name that no file can have"),
        _ => error,
    }
}

fn is_note(entry: Entry<'_, impl Read>) -> io::Result<bool> {
    let is_named = *entry.path_bytes() == *NOTE.as_bytes();
    let mut first = Vec::new();
    entry.take(FORMAT.len() as u64).read_to_end(&mut first)?;
    Ok(is_named && first == FORMAT.as_bytes())
}

/// A name that is too long for a header.
fn long(entry: &mut Entry<'_, impl Read>) -> io::Result<Vec<u8>> {
    let mut name = Vec::new();
    entry.take(MAX_PATH + 1).read_to_end(&mut name)?;
    if name.last() == Some(&0) {
        name.pop();
    }
    if name.len() as u64 >= MAX_PATH {
        return Err(invalid("it has a path that no file can have"));
    }
    Ok(name)
}

fn as_path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// What lies below the directory so far.
struct Tree {
    root: OwnedFd,
    /// Where the last file went: the next one mostly lies beside it.
    last: Option<(PathBuf, OwnedFd)>,
    /// When directories were changed: they still are, as long as files come.
    times: Vec<(PathBuf, TimeSpec)>,
    made: usize,
    paths: usize,
}

impl Tree {
    fn new(root: OwnedFd) -> Self {
        Self {
            root,
            last: None,
            times: Vec::new(),
            made: 0,
            paths: 0,
        }
    }

    fn add(
        &mut self,
        path: &Path,
        target: Option<PathBuf>,
        entry: &mut Entry<'_, impl Read>,
    ) -> io::Result<()> {
        let is_inside = path
            .components()
            .all(|it| matches!(it, Component::Normal(_)));
        let name = path.file_name().filter(|_| is_inside);
        let name = name.ok_or_else(|| invalid("it is no snapshot of kdns"))?;
        self.paths += path.as_os_str().len();
        if self.paths > MAX_PATHS || path.components().count() > MAX_DEPTH {
            return Err(invalid("it has more directories than a node"));
        }
        let header = entry.header();
        let (kind, size, time) = (header.entry_type(), header.size()?, header.mtime()?);
        let seconds = i64::try_from(time).map_err(|_| invalid("it has a time that never is"))?;
        let time = TimeSpec::new(seconds, 0);
        let _not_ended = hold();
        if kind == EntryType::Directory {
            self.enter(path)?;
            self.times.push((path.to_owned(), time));
            return Ok(());
        }
        self.count()?;
        let parent = self.enter(path.parent().unwrap_or(Path::new("")))?;
        match kind {
            EntryType::Regular => {
                let flags = OFlag::O_WRONLY
                    | OFlag::O_CREAT
                    | OFlag::O_EXCL
                    | OFlag::O_NOFOLLOW
                    | OFlag::O_CLOEXEC;
                let mut file =
                    File::from(openat(parent, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?);
                if io::copy(entry, &mut file)? != size {
                    return Err(invalid("it ends too early"));
                }
                futimens(&file, &time, &time)?;
            }
            EntryType::Symlink => {
                let target = target.ok_or_else(|| invalid("a link leads nowhere"))?;
                symlinkat(&target, parent, name)?;
            }
            _ => return Err(invalid("it has something other than files")),
        }
        Ok(())
    }

    fn count(&mut self) -> io::Result<()> {
        self.made += 1;
        if self.made > MAX_MADE {
            return Err(invalid("it has more files than a node"));
        }
        Ok(())
    }

    /// The directory at `path`, which is made where it is missing.
    fn enter(&mut self, path: &Path) -> io::Result<&OwnedFd> {
        if self.last.as_ref().is_none_or(|(at, _)| at != path) {
            let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let mut here = openat(&self.root, ".", flags, Mode::empty())?;
            for name in path {
                let next = || openat(&here, name, flags, Mode::empty());
                here = match next() {
                    Err(Errno::ENOENT) => {
                        mkdirat(&here, name, Mode::S_IRWXU)?;
                        self.count()?;
                        next()?
                    }
                    opened => opened?,
                };
            }
            return Ok(&self.last.insert((path.to_owned(), here)).1);
        }
        Ok(self.last.as_ref().map_or(&self.root, |(_, at)| at))
    }

    fn set_times(&mut self) -> io::Result<()> {
        for (path, time) in std::mem::take(&mut self.times) {
            let directory = self.enter(&path)?;
            let follow = UtimensatFlags::NoFollowSymlink;
            utimensat(directory, ".", &time, &time, follow)?;
        }
        Ok(())
    }
}
