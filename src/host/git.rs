//! Which files `.gitignore` and `.ignore` leave out.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix_ignore::Search;
use gix_ignore::glob::pattern::Case;
use gix_ignore::search::Ignore;

/// The files with patterns that count, the later over the earlier. `.ignore`
/// is ripgrep's: for programs that search, not for git.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The patterns for a directory: its own, and those of the directories above.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    search: Search,
}

/// How many lists of patterns there were, to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

impl Ignored {
    /// What the directories above `directory` say, which is absolute.
    pub(super) fn above(directory: &Path) -> Self {
        let mut ignored = Self::default();
        let mut above: Vec<&Path> = directory.ancestors().skip(1).collect();
        above.reverse();
        for directory in above {
            ignored.enter(directory);
        }
        ignored
    }

    /// Adds what `directory` says, which is absolute. A file that is not there
    /// or cannot be read says nothing.
    pub(super) fn enter(&mut self, directory: &Path) -> Mark {
        let mark = Mark(self.search.patterns.len());
        for name in FILES {
            let path = directory.join(name);
            let Ok(read) = super::read_found(&path) else {
                continue;
            };
            let added = self.search.add_patterns_buffer(
                &read.source.bytes,
                path,
                Some(Path::new("/")),
                Ignore::default(),
            );
            debug_assert!(added.is_ok(), "every file has a parent");
        }
        mark
    }

    /// Forgets what was added since.
    pub(super) fn leave(&mut self, mark: Mark) {
        self.search.patterns.truncate(mark.0);
    }

    /// Whether the file or directory is left out.
    pub(super) fn has(&self, path: &Path, is_directory: bool) -> bool {
        leaves_out(
            &self.search,
            path.strip_prefix("/").unwrap_or(path),
            is_directory,
        )
    }
}

/// One pattern as in a `.gitignore` of a folder.
#[derive(Debug)]
pub struct Pattern {
    folder: PathBuf,
    search: Search,
}

impl Pattern {
    /// `None`: the text is no pattern, but empty or a comment.
    pub fn new(folder: &Path, text: &str) -> Option<Self> {
        let search = Search::from_overrides([text], Ignore::default());
        let is_one = search.patterns.iter().any(|it| !it.patterns.is_empty());
        is_one.then(|| Self {
            folder: folder.to_owned(),
            search,
        })
    }

    /// Whether a file, or a directory above it, fits. Both the folder and the
    /// path are absolute.
    pub fn fits(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(&self.folder) else {
            return false;
        };
        let mut paths = relative.ancestors().enumerate();
        paths.any(|(above, it)| leaves_out(&self.search, it, above > 0))
    }
}

fn leaves_out(search: &Search, relative: &Path, is_directory: bool) -> bool {
    let path = relative.as_os_str().as_bytes();
    search
        .pattern_matching_relative_path(path.into(), Some(is_directory), Case::Sensitive)
        .is_some_and(|it| !it.pattern.is_negative())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: `gitignore(5)`, and what `git check-ignore` says.
    #[test]
    fn a_pattern_is_one_of_git() {
        for (pattern, path, fits) in [
            ("*.yaml", "a/b.yaml", true),
            ("/*.yaml", "a/b.yaml", false),
            ("/*.yaml", "b.yaml", true),
            ("a/", "a/b.yaml", true),
            ("a/", "a", false),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("a/**/c.yaml", "a/b/c.yaml", true),
            ("!b.yaml", "b.yaml", false),
            ("[ab].yaml", "b.yaml", true),
            ("\\#x", "#x", true),
        ] {
            let read = Pattern::new(Path::new("/srv"), pattern).unwrap();
            let path = Path::new("/srv").join(path);
            assert_eq!(read.fits(&path), fits, "{pattern} {}", path.display());
            assert!(!read.fits(Path::new("/other/b.yaml")));
        }
        for none in ["", "  ", "# a comment"] {
            assert!(Pattern::new(Path::new("/srv"), none).is_none(), "{none:?}");
        }
    }
}
