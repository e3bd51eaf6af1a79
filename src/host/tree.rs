//! Finds the files below a directory and reads them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use ignore::{DirEntry, WalkBuilder, WalkState};
use nix::fcntl::OFlag;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

use super::{FileRead, MAX_BYTES, ReadError, errno_of, io_reason, shown};
use crate::text::Source;

/// What lies below a directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// Regular files, sorted.
    pub files: Vec<PathBuf>,
    /// Symbolic links, as shown, with what they say.
    pub links: BTreeMap<String, String>,
    /// What could not be looked at, and why; sorted.
    pub unread: Vec<String>,
}

/// Directories of version control, which hold nothing that anyone wrote.
const UNWANTED: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Finds the files below `directory` whose name is `wanted`; what a
/// `.gitignore` or `.ignore` names is left out. Links are not followed.
pub fn walk(directory: &Path, wanted: &(dyn Fn(&Path) -> bool + Sync)) -> Tree {
    let tree = Mutex::new(Tree::default());
    let mut builder = WalkBuilder::new(directory);
    builder.hidden(false).require_git(false).git_global(false);
    builder.filter_entry(|entry| !UNWANTED.iter().any(|it| entry.file_name() == *it));
    let take = |entry| {
        let mut tree = tree.lock().unwrap_or_else(PoisonError::into_inner);
        match entry {
            Ok(entry) => add(&entry, wanted, &mut tree),
            Err(error) => tree.unread.push(unread(directory, &error)),
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    if threads > 1 && are_there(threads) {
        builder.threads(threads).build_parallel().run(|| {
            Box::new(|entry| {
                take(entry);
                WalkState::Continue
            })
        });
    } else {
        builder.build().for_each(take);
    }
    let mut tree = tree.into_inner().unwrap_or_else(PoisonError::into_inner);
    tree.files.sort_unstable();
    tree.unread.sort_unstable();
    tree
}

/// Whether so many threads can be had at a time: `ignore` panics, or waits for
/// ever, where it gets only some of them.
fn are_there(threads: usize) -> bool {
    // Memory that is there now can be gone a moment later.
    let memory = getrlimit(Resource::RLIMIT_AS);
    if memory.is_ok_and(|it| it.0 != RLIM_INFINITY) {
        return false;
    }
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let closed = gate.lock();
        let one = |_| Builder::new().spawn_scoped(scope, || drop(gate.lock()));
        let are_there = (0..threads).map(one).all(|it| it.is_ok());
        drop(closed);
        are_there
    })
}

fn add(entry: &DirEntry, wanted: &dyn Fn(&Path) -> bool, tree: &mut Tree) {
    let Some(kind) = entry.file_type() else {
        return;
    };
    if kind.is_symlink() {
        if let Ok(to) = std::fs::read_link(entry.path()) {
            tree.links.insert(shown(entry.path()), shown(to));
        }
    } else if kind.is_file() && wanted(entry.path()) {
        tree.files.push(entry.path().to_owned());
    }
}

fn unread(directory: &Path, error: &ignore::Error) -> String {
    let reason = error
        .io_error()
        .map_or_else(|| error.to_string(), io_reason);
    let path = match error {
        ignore::Error::WithPath { path, .. } => path,
        ignore::Error::WithDepth { err, .. } => match err.as_ref() {
            ignore::Error::WithPath { path, .. } => path,
            _ => directory,
        },
        _ => directory,
    };
    format!("cannot read {}: {reason}", shown(path))
}

/// Reads a file that a walk has found, up to [`MAX_BYTES`], with fewer calls
/// than [`super::read_path`]: what was a regular file then is not looked at
/// twice.
///
/// # Errors
///
/// It is not there any more, not readable, or no regular file.
pub fn read(path: &Path) -> Result<FileRead, ReadError> {
    let name = || shown(path);
    let system = |error: &std::io::Error| ReadError::System {
        file: name(),
        errno: errno_of(error),
    };
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
    let mut options = File::options();
    let open = options.read(true).custom_flags(flags.bits()).open(path);
    let file = open.map_err(|error| system(&error))?;
    let status = file.metadata().map_err(|error| system(&error))?;
    if !status.is_file() {
        return Err(ReadError::NotRegular {
            file: name(),
            kind: "something else by now",
            hint: "",
        });
    }
    let length = usize::try_from(status.len()).unwrap_or(MAX_BYTES);
    let mut bytes = Vec::with_capacity(length.min(MAX_BYTES) + 1);
    let mut rest = file.take(MAX_BYTES as u64 + 1);
    rest.read_to_end(&mut bytes)
        .map_err(|error| system(&error))?;
    let is_cut = bytes.len() > MAX_BYTES;
    bytes.truncate(MAX_BYTES);
    let name = name();
    Ok(FileRead {
        source: Source { name, bytes },
        is_cut,
    })
}
