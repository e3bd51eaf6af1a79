//! Reads many short files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{FileStat, SFlag, fstatat};

use super::root::Root;
use super::{errno_of, file_type};

impl Root {
    /// Reads a regular file that fits into the buffer; a longer one is an error
    /// (`EFBIG`). Saves system calls where thousands of files are read.
    pub(super) fn read_short<'b>(
        &self,
        path: &Path,
        buffer: &'b mut [u8],
    ) -> nix::Result<&'b [u8]> {
        // On a procfs nothing is dangerous to open, and it does not know how
        // long its files are. Elsewhere the look is enough: what takes the place
        // of the file meanwhile is not outside of the root, and keeps nobody
        // waiting.
        let mut known = 0;
        if !self.is_procfs() {
            let flags = AtFlags::AT_SYMLINK_NOFOLLOW;
            let status = fstatat(self.directory(), path, flags)?;
            expect_regular(&status)?;
            known = usize::try_from(status.st_size).unwrap_or_default();
        }
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_NOFOLLOW;
        let opened = self.open_file(path, flags)?;
        let mut file = File::from(opened);
        let mut length = 0;
        while let Some(rest) = buffer.get_mut(length..).filter(|it| !it.is_empty()) {
            let count = file.read(rest).map_err(|error| errno_of(&error))?;
            length += count;
            if count == 0 || (known > 0 && length == known) {
                let bytes = buffer.get(..length).unwrap_or_default();
                self.record_file(path, bytes);
                return Ok(bytes);
            }
        }
        Err(Errno::EFBIG)
    }
}

fn expect_regular(status: &FileStat) -> nix::Result<()> {
    if file_type(status.st_mode) == SFlag::S_IFREG {
        return Ok(());
    }
    Err(Errno::EINVAL)
}
