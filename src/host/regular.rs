//! Regular files, and what can be in their place.

use std::os::fd::OwnedFd;

use nix::sys::stat::{SFlag, fstat};

use super::{ReadError, file_type, system};

/// Fails unless a file is a regular one: its bytes come to an end.
pub(super) fn expect_regular(
    name: &impl Fn() -> String,
    descriptor: &OwnedFd,
) -> Result<(), ReadError> {
    let status = fstat(descriptor).map_err(|errno| system(name(), errno))?;
    let [directory, fifo, socket, link, device] = KINDS;
    let kind = match file_type(status.st_mode) {
        SFlag::S_IFREG => return Ok(()),
        SFlag::S_IFDIR => directory,
        SFlag::S_IFIFO => fifo,
        SFlag::S_IFSOCK => socket,
        SFlag::S_IFLNK => link,
        _ => device,
    };
    Err(not_regular(name(), kind))
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
pub(super) fn not_regular(file: String, kind: &'static str) -> ReadError {
    ReadError::NotRegular { file, kind }
}
