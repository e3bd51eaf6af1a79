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

/// More files below one directory are not looked for: a whole system has more.
const MAX_FILES: usize = 200_000;

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
        most: MAX_FILES,
        is_full: false,
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
    most: usize,
    /// Whether something was passed over because of that.
    is_full: bool,
}

impl Walk<'_> {
    /// Everything below `directory`, which really is `place`.
    fn below(&mut self, directory: &Path, place: &Path) {
        if self.tree.files.len() >= self.most {
            return self.passed_over(directory);
        }
        let mark = self.ignored.enter(place);
        match fs::read_dir(directory) {
            Ok(entries) => {
                let mut all = Vec::new();
                for entry in entries {
                    match entry {
                        Ok(entry) => all.push(entry),
                        Err(error) => self.unread(directory, &error),
                    }
                }
                all.sort_by_cached_key(DirEntry::file_name);
                for entry in &all {
                    self.entry(entry, place);
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
            if self.tree.files.len() >= self.most {
                return self.passed_over(&path);
            }
            self.tree.files.push(path);
        }
    }

    /// Once, at the first file or directory of which nothing is known.
    fn passed_over(&mut self, path: &Path) {
        if !self.is_full {
            self.is_full = true;
            self.tree.unread.push(format!(
                "cannot read {} and what comes behind it: {} files were found before; name the directories that are meant",
                shown(path),
                self.most
            ));
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
    fn what_comes_behind_too_many_files_is_said() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a/1", "a/2", "b/3", "c/4"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |most| {
            let mut walk = Walk {
                wanted: &|_: &Path| true,
                ignored: Ignored::above(directory.path()),
                tree: Tree::default(),
                most,
                is_full: false,
            };
            walk.below(directory.path(), directory.path());
            walk.tree
        };
        assert!(found(10).unread.is_empty());
        let tree = found(2);
        assert_eq!((tree.files.len(), tree.unread.len()), (2, 1));
        let b = format!("cannot read {}/b and", shown(directory.path()));
        assert!(tree.unread[0].starts_with(&b), "{:?}", tree.unread);
    }

    #[test]
    fn what_the_kernel_shows_of_itself_is_no_file_of_anybody() {
        for (directory, expected) in [("/proc", true), ("/proc/self/net", true), ("/", false)] {
            let is_it = is_of_the_kernel(Path::new(directory));
            assert_eq!(is_it, expected, "{directory}");
        }
    }
}
