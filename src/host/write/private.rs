//! A file that grows while others may already read it, as a capture does.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{Mode, SFlag};

use super::exchange::Draft;
use super::place::{Place, link_on};
use super::target::special;
use super::{Others, WriteError};
use crate::host::file_type;

/// Makes an empty file at `path` that only its owner can read, in the place of a
/// file that may be replaced ([`open`](super::open)). A FIFO or device is written
/// to as it is.
///
/// # Errors
///
/// It cannot be made, or something is there that may not be replaced.
pub fn private(path: &Path, others: Others) -> Result<File, WriteError> {
    let place = Place::at(path)?;
    let create = |name: &OsStr| {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL;
        place.open(name, flags, Mode::S_IRUSR | Mode::S_IWUSR)
    };
    let status = match place.status(&place.name) {
        Err(Errno::ENOENT) => return Ok(File::from(create(&place.name)?)),
        status => status.map_err(io::Error::from)?,
    };
    match file_type(status.st_mode) {
        SFlag::S_IFREG => {
            Draft::begin(path, others, true)?;
            let (name, file) = Place::at_free_name(create)?;
            place.rename_over(&name).inspect_err(|_| {
                let _ = place.remove(&name);
            })?;
            Ok(File::from(file))
        }
        SFlag::S_IFLNK => Err(link_on(path).unwrap_or(WriteError::Changed)),
        SFlag::S_IFDIR => Err(Errno::EISDIR.into()),
        _ => special(&place),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn only_the_owner_reads_it() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("a.pcapng");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        for before in [None, Some("old"), Some("older")] {
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            }
            let mut file = private(&path, Others::Refused).unwrap();
            assert_eq!((fs::read(&path).unwrap(), mode()), (Vec::new(), 0o600));
            file.write_all(b"new").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(matches!(
            private(&link, Others::Refused),
            Err(WriteError::Link { .. })
        ));
        assert!(private(folder.path(), Others::Refused).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
