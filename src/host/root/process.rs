//! The roots of processes, which only the kernel's own links lead to.

use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs};
use nix::sys::statvfs::fstatvfs;

use super::Root;
use crate::host::node::processes::Directory;
use crate::host::{ReadError, system};
use crate::node::kernel::Room;

impl Root {
    /// The root directory of the process whose directory of `/proc` this is.
    /// On a real procfs that is behind a link that only the kernel can follow.
    ///
    /// # Errors
    ///
    /// The process is gone, or the caller may not look into it.
    pub fn enter_process_root(&self) -> Result<Self, ReadError> {
        let path = Path::new("root");
        if !self.is_procfs() {
            return self.enter(path);
        }
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        if self.workers.is_some() {
            // What the link leads to is not touched here, only asked whether
            // it may be.
            readlinkat(&self.directory, path).map_err(|errno| system(self.named(path), errno))?;
            return self.behind();
        }
        let opened = openat(&self.directory, path, flags, Mode::empty());
        self.entered(path, opened)
    }

    /// The root of the process whose directory of `/proc` this is, as a worker
    /// will find it, or find that it may not look into it.
    fn behind(&self) -> Result<Self, ReadError> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let own = openat(&self.directory, ".", flags, Mode::empty());
        let mut root = self.entered(Path::new("root"), own)?;
        root.is_behind = true;
        Ok(root)
    }

    /// Whether the directory is one of a real procfs: no file there can be
    /// anybody's trap.
    pub(in crate::host) fn is_procfs(&self) -> bool {
        let ask =
            || fstatfs(&self.directory).is_ok_and(|it| it.filesystem_type() == PROC_SUPER_MAGIC);
        *self.is_procfs.get_or_init(ask)
    }

    /// How full its file system is, in bytes, without what only root may write.
    pub(in crate::host) fn room(&self) -> Option<Room> {
        let found = fstatvfs(&self.directory).ok()?;
        let used = found.blocks().checked_sub(found.blocks_free())?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
        Some(Room {
            count: bytes(used),
            max: bytes(used + found.blocks_available()),
        })
    }

    /// The process whose directory of `/proc` or whose root this is.
    pub(in crate::host) fn process(&self) -> &Path {
        let given = self.given.as_deref().unwrap_or(Path::new("/"));
        let behind = given.parent().filter(|_| self.is_behind);
        behind.unwrap_or(given)
    }

    /// The root that a process of this machine sees, whether it may be looked
    /// into or not. `None`: it has none here.
    pub fn of_process(&self, process: &Directory) -> Option<Self> {
        let process = process.itself();
        if self.workers.is_some() && process.is_procfs() {
            return process.behind().ok();
        }
        let mut root = process.enter_process_root().ok()?;
        // Its files are named as those of the node.
        root.given.clone_from(&self.given);
        Some(root)
    }

    /// Opens what a link of the kernel's in this directory of `/proc` leads to.
    pub(in crate::host) fn open_magic(&self, path: &Path) -> nix::Result<OwnedFd> {
        if !self.is_procfs() {
            return Err(Errno::ENOTSUP);
        }
        openat(
            &self.directory,
            path,
            OFlag::O_RDONLY | OFlag::O_CLOEXEC,
            Mode::empty(),
        )
    }
}
