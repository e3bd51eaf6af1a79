//! Resolves a path inside a directory as `openat2(2)` with
//! `RESOLVE_IN_ROOT` does, one component after the other.
//!
//! Every directory on the way is held by a descriptor and opened without
//! following links, so that nothing that is moved meanwhile leads outside:
//! `..` goes back to the descriptor before. Who writes follows no link at all.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat, fstatat};

use crate::host::{errno_of, file_type};

/// The kernel's own limit (`path_resolution(7)`).
const MAX_LINKS: usize = 40;

/// A symbolic link on the way to a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// The link's own path, free of links.
    pub path: PathBuf,
    /// What it says.
    pub target: PathBuf,
    /// Where that leads, an absolute path; there can be further links in it.
    pub leads_to: PathBuf,
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Found {
    /// A directory: the descriptor is good for nothing but its place.
    Directory(OwnedFd),
    /// Something else: the directory that has it, and its name there.
    File(OwnedFd, OsString),
    /// One of the places to stop at, which was not touched.
    Stop(PathBuf),
}

/// Opens what `path` leads to; with `O_NOFOLLOW` a link at its end itself. What
/// lies at or behind one of `stops` is not touched (`ENOTSUP`).
pub(super) fn open(
    root: &OwnedFd,
    path: &Path,
    flags: OFlag,
    stops: &BTreeSet<PathBuf>,
) -> nix::Result<OwnedFd> {
    let follows_last = !flags.contains(OFlag::O_NOFOLLOW);
    let flags = flags | OFlag::O_NOFOLLOW;
    match walk(root, path, follows_last, stops, &mut Vec::new())? {
        Found::Directory(directory) => openat(directory, ".", flags, Mode::empty()),
        Found::File(directory, name) => openat(directory, name.as_os_str(), flags, Mode::empty()),
        Found::Stop(_) => Err(Errno::ENOTSUP),
    }
}

/// The first of `stops` on the way to `path`, links followed.
pub(super) fn first_stop(
    root: &OwnedFd,
    path: &Path,
    stops: &BTreeSet<PathBuf>,
) -> Option<PathBuf> {
    if stops.is_empty() {
        return None;
    }
    match walk(root, path, true, stops, &mut Vec::new()) {
        Ok(Found::Stop(place)) => Some(place),
        _ => None,
    }
}

/// Whether the kernel meets no link on the way to `path`, as on most ways; it
/// says so in one call. `false`: it does, or cannot tell.
pub(super) fn is_without_links(root: &OwnedFd, path: &Path) -> bool {
    let resolve = ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_SYMLINKS;
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
    let how = OpenHow::new().flags(flags).resolve(resolve);
    let opened = openat2(root, path, how);
    // Of a link it says ELOOP, also before something that is not there.
    matches!(opened, Ok(_) | Err(Errno::ENOENT | Errno::ENOTDIR))
}

/// Follows `path`, and notes every link on the way.
pub(super) fn find(root: &OwnedFd, path: &Path, links: &mut Vec<Link>) -> nix::Result<Found> {
    walk(root, path, true, &BTreeSet::new(), links)
}

fn walk(
    root: &OwnedFd,
    path: &Path,
    follows_last: bool,
    stops: &BTreeSet<PathBuf>,
    links: &mut Vec<Link>,
) -> nix::Result<Found> {
    let mut position = Position {
        root,
        inside: Vec::new(),
    };
    if path.as_os_str().is_empty() {
        return Err(Errno::ENOENT);
    }
    let mut pending = VecDeque::new();
    prepend(&mut pending, path);
    while let Some(name) = pending.pop_front() {
        match name.as_bytes() {
            b"" | b"." => continue,
            b".." => {
                position.inside.pop();
                continue;
            }
            _ => {}
        }
        if !stops.is_empty() {
            let place = position.path().join(&name);
            if stops.contains(&place) {
                return Ok(Found::Stop(place));
            }
        }
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let next = openat(position.here(), name.as_os_str(), flags, Mode::empty())?;
        match file_type(fstat(&next)?.st_mode) {
            SFlag::S_IFDIR => position.inside.push((name, next)),
            SFlag::S_IFLNK if follows_last || !pending.is_empty() => {
                if links.len() >= MAX_LINKS {
                    return Err(Errno::ELOOP);
                }
                let target = readlinkat(&next, "")?;
                links.push(position.follow(&name, Path::new(&target)));
                prepend(&mut pending, Path::new(&target));
            }
            _ if pending.is_empty() => {
                return Ok(Found::File(owned(position.here())?, name));
            }
            _ => return Err(Errno::ENOTDIR),
        }
    }
    Ok(Found::Directory(owned(position.here())?))
}

/// Where the walk is: the directories from the root, by name and descriptor.
struct Position<'r> {
    root: &'r OwnedFd,
    inside: Vec<(OsString, OwnedFd)>,
}

impl Position<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        self.inside
            .last()
            .map_or(self.root.as_fd(), |(_, directory)| directory.as_fd())
    }

    /// The link `name` of this directory, and goes back to the root if it is
    /// an absolute one.
    fn follow(&mut self, name: &OsStr, target: &Path) -> Link {
        let path = self.path();
        if target.has_root() {
            self.inside.clear();
        }
        Link {
            path: path.join(name),
            target: target.to_owned(),
            leads_to: joined(self.path(), target),
        }
    }

    fn path(&self) -> PathBuf {
        let names = self.inside.iter().map(|(name, _)| name.as_os_str());
        [OsStr::new("/")].into_iter().chain(names).collect()
    }
}

/// `target` seen from `directory`, which is free of links, with `..` taken
/// back as far as that is certain: before the first other name.
fn joined(mut directory: PathBuf, target: &Path) -> PathBuf {
    let mut is_certain = true;
    for part in target.as_os_str().as_bytes().split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if is_certain => {
                directory.pop();
            }
            _ => {
                is_certain = false;
                directory.push(OsStr::from_bytes(part));
            }
        }
    }
    directory
}

/// Puts the components of `path` before those that are still to come. A final
/// slash leaves an empty one, which only a directory can be followed by.
fn prepend(pending: &mut VecDeque<OsString>, path: &Path) {
    let bytes = path.as_os_str().as_bytes();
    for name in bytes.rsplit(|&byte| byte == b'/') {
        pending.push_front(OsString::from_vec(name.to_vec()));
    }
}

fn owned(directory: BorrowedFd<'_>) -> nix::Result<OwnedFd> {
    directory
        .try_clone_to_owned()
        .map_err(|error| errno_of(&error))
}

/// Opens the directory at `path`, from the working directory on; a link on the
/// way is `ELOOP`.
pub(super) fn open_without_links(path: &Path) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let resolve = ResolveFlag::RESOLVE_NO_SYMLINKS;
    let how = OpenHow::new().flags(flags).resolve(resolve);
    match openat2(AT_FDCWD, path, how) {
        Err(Errno::ENOSYS | Errno::EPERM | Errno::EAGAIN) => {}
        opened => return opened,
    }
    let mut here = openat(AT_FDCWD, ".", flags, Mode::empty())?;
    for part in path.components() {
        let flags = flags | OFlag::O_NOFOLLOW;
        let next = openat(&here, part.as_os_str(), flags, Mode::empty());
        here = next.map_err(|errno| match errno {
            // Of a link, too.
            Errno::ENOTDIR if is_link(&here, part.as_os_str()) => Errno::ELOOP,
            errno => errno,
        })?;
    }
    Ok(here)
}

fn is_link(directory: &OwnedFd, name: &OsStr) -> bool {
    let status = fstatat(directory, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    status.is_ok_and(|it| file_type(it.st_mode) == SFlag::S_IFLNK)
}
