//! Regular files, and what can be in their place.

use std::os::fd::OwnedFd;

use nix::sys::stat::{SFlag, fstat};

use super::{ReadError, file_type, system};

/// Whether a file is one of bytes that end.
pub(super) fn expect_regular(file: &str, descriptor: &OwnedFd) -> Result<(), ReadError> {
    let status = fstat(descriptor).map_err(|errno| system(file, errno))?;
    let [directory, fifo, socket, link, device] = KINDS;
    let kind = match file_type(status.st_mode) {
        SFlag::S_IFREG => return Ok(()),
        SFlag::S_IFDIR => directory,
        SFlag::S_IFIFO => fifo,
        SFlag::S_IFSOCK => socket,
        SFlag::S_IFLNK => link,
        _ => device,
    };
    Err(not_regular(file, kind))
}

/// What can be in the place of a regular file.
pub(super) const KINDS: [&str; 5] = [
    "a directory",
    "a FIFO",
    "a socket",
    "a symbolic link",
    "a device",
];

/// The error about what is there instead.
pub(super) fn not_regular(file: &str, kind: &'static str) -> ReadError {
    ReadError::NotRegular {
        file: file.to_owned(),
        kind,
    }
}
