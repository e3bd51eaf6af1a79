//! Finds the files below a directory and reads them.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::git::Ignored;
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
/// `.gitignore` or `.ignore` names, there or above, is left out. Links are not
/// followed.
pub fn walk(directory: &Path, wanted: &dyn Fn(&Path) -> bool) -> Tree {
    // Patterns are about the place itself, however it was named.
    let place = directory.canonicalize();
    let place = place.unwrap_or_else(|_| directory.to_owned());
    let mut walk = Walk {
        wanted,
        ignored: Ignored::above(&place),
        tree: Tree::default(),
    };
    walk.below(directory, &place);
    let mut tree = walk.tree;
    tree.files.sort_unstable();
    tree.unread.sort_unstable();
    tree
}

struct Walk<'w> {
    wanted: &'w dyn Fn(&Path) -> bool,
    ignored: Ignored,
    tree: Tree,
}

impl Walk<'_> {
    /// Everything below `directory`, which really is `place`.
    fn below(&mut self, directory: &Path, place: &Path) {
        let mark = self.ignored.enter(place);
        match fs::read_dir(directory) {
            Ok(entries) => {
                for entry in entries {
                    match entry {
                        Ok(entry) => self.entry(&entry, place),
                        Err(error) => self.unread(directory, &error),
                    }
                }
            }
            Err(error) => self.unread(directory, &error),
        }
        self.ignored.leave(mark);
    }

    fn entry(&mut self, entry: &DirEntry, place: &Path) {
        let name = entry.file_name();
        let path = entry.path();
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.unread(&path, &error),
        };
        let place = place.join(&name);
        if UNWANTED.iter().any(|it| name == *it) || self.ignored.has(&place, kind.is_dir()) {
            return;
        }
        if kind.is_dir() {
            self.below(&path, &place);
        } else if kind.is_symlink() {
            if let Ok(to) = fs::read_link(&path) {
                self.tree.links.insert(shown(&path), shown(to));
            }
        } else if kind.is_file() && (self.wanted)(&path) {
            self.tree.files.push(path);
        }
    }

    fn unread(&mut self, path: &Path, error: &io::Error) {
        let reason = io_reason(error);
        self.tree
            .unread
            .push(format!("cannot read {}: {reason}", shown(path)));
    }
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
    let system = |error: &io::Error| ReadError::System {
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
