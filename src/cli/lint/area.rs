//! Where links among the arguments may lead.
//!
//! A repository can be a stranger's. What the caller names there is read where
//! it stands, but a link in it that leads elsewhere is the stranger's wish, not
//! the caller's. An absolute path outside of the working directory's checkout,
//! such as `/etc/resolv.conf`, is the caller's own and taken as it is.

use std::path::{Path, PathBuf};

use super::wanted::absolute;
use crate::host::shown;

/// Why `path` is not read, if a link leads from it to a place outside of what
/// the caller works in: `root` if it lies there, else the git checkout around
/// the working directory, else the working directory.
pub(super) fn refusal(path: &Path, root: Option<&Path>) -> Option<String> {
    let area = area(path, root)?;
    let leads_to = way_out(path, &area)?;
    Some(format!(
        "cannot read {}: through a link it leads out of {}, to {}; --follow allows it",
        shown(path),
        shown(area),
        shown(leads_to)
    ))
}

/// Where `path` leads, if that is not inside of `area`.
pub(super) fn way_out(path: &Path, area: &Path) -> Option<PathBuf> {
    // What is not there is said by whoever reads it.
    let real = path.canonicalize().ok()?;
    let area = area.canonicalize().ok()?;
    (!real.starts_with(area)).then_some(real)
}

/// The git checkout that a directory lies in.
pub(super) fn checkout(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|it| it.join(".git").exists())
}

fn area(path: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let place = absolute(path);
    if let Some(root) = root.map(absolute).filter(|it| place.starts_with(it)) {
        return Some(root);
    }
    let here = std::env::current_dir().ok()?;
    if let Some(top) = checkout(&here).filter(|it| place.starts_with(it)) {
        return Some(top.to_owned());
    }
    if path.is_absolute() {
        return None;
    }
    if place.starts_with(&here) {
        return Some(here);
    }
    place.parent().map(Path::to_owned)
}
