//! Finds the files below a directory.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statfs::{
    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, FsType, PROC_SUPER_MAGIC, SYSFS_MAGIC,
    TRACEFS_MAGIC, statfs,
};

use super::git::Ignored;
use super::{io_reason, shown};
use crate::order::Order as _;

/// What lies below a directory.
#[derive(Debug, Default)]
pub struct Tree {
    /// Regular files, sorted.
    pub files: Vec<PathBuf>,
    /// Symbolic links, as shown, with what they say.
    pub links: BTreeMap<String, String>,
    /// What could not be looked at, and why; sorted.
    pub unread: Vec<String>,
    /// How many directories were left out that hold input for tests.
    pub of_tests: usize,
}

/// Directories of version control, which hold nothing that anyone wrote.
const UNWANTED: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// Directories with what programs are tested with: right and wrong on purpose.
///
/// Source: Go, `go help packages`: a directory named testdata is ignored; Jest,
/// "Snapshot Testing"; Ruby on Rails, "Testing Rails Applications", "Fixtures".
const OF_TESTS: [&str; 4] = ["testdata", "__snapshots__", "fixtures", ".fixtures"];

/// File systems whose files nobody wrote.
const OF_THE_KERNEL: [FsType; 6] = [
    PROC_SUPER_MAGIC,
    SYSFS_MAGIC,
    CGROUP_SUPER_MAGIC,
    CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,
    TRACEFS_MAGIC,
];

/// Finds the files below `directory` whose name is `wanted`; what a
/// `.gitignore` or `.ignore` names, there or above, is left out, and so is what
/// the kernel shows of itself (`/proc`, `/sys`). Links are not followed. Directories of
/// test data are left out, and counted.
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
    tree.files.order();
    tree.unread.order();
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
        if kind.is_dir() && OF_TESTS.iter().any(|it| name == *it) {
            self.tree.of_tests += 1;
        } else if kind.is_dir() {
            if !is_of_the_kernel(&path) {
                self.below(&path, &place);
            }
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

fn is_of_the_kernel(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|it| OF_THE_KERNEL.contains(&it.filesystem_type()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_shows_of_itself_is_no_file_of_anybody() {
        for (directory, expected) in [("/proc", true), ("/proc/self/net", true), ("/", false)] {
            let is_it = is_of_the_kernel(Path::new(directory));
            assert_eq!(is_it, expected, "{directory}");
        }
    }
}
