//! Roots that are made for a test.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::{Resolution, Root};

/// A root with these files; a text that begins with `->` is a link.
pub(in crate::host) fn root_with<P: AsRef<str>, T: AsRef<[u8]>>(
    files: &[(P, T)],
) -> (TempDir, Root) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = path.as_ref().trim_start_matches('/');
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.as_ref().strip_prefix(b"->") {
            Some(target) => symlink(str::from_utf8(target).unwrap(), path).unwrap(),
            None => fs::write(path, text).unwrap(),
        }
    }
    let root = Root::below(directory.path(), Resolution::default()).unwrap();
    (directory, root)
}
