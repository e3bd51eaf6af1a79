//! What there is below a root: names, links, times.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, readlinkat};
use nix::sys::stat::fstat;

use super::{Link, Resolution, Root};
use crate::host::worker::{What, to_links};
use crate::host::{ReadError, system, walk};

impl Root {
    /// The names in a directory, sorted.
    ///
    /// # Errors
    ///
    /// It is not there, not readable, or no directory.
    pub fn list(&self, path: &Path) -> Result<Vec<OsString>, ReadError> {
        let names = self.list_unrecorded(path);
        let names = names.map_err(|error| self.of_snapshot(error))?;
        self.record_directory(path, &names);
        Ok(names)
    }

    fn list_unrecorded(&self, path: &Path) -> Result<Vec<OsString>, ReadError> {
        if let Some(names) = self.ask(path, What::Names)? {
            return Ok(names.into_iter().map(OsString::from_vec).collect());
        }
        let failed = |errno| system(self.named(path), errno);
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NONBLOCK;
        let descriptor = self.open_file(path, flags).map_err(failed)?;
        let mut names = Vec::new();
        for entry in Dir::from_fd(descriptor).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The names in a directory that are texts, sorted; none if it cannot be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let names = self.list(Path::new(path)).unwrap_or_default();
        let texts = names.into_iter().filter_map(|it| it.into_string().ok());
        texts.collect()
    }

    /// What a symbolic link says; `None`: it is none, or not there.
    pub fn read_link(&self, path: &Path) -> Option<PathBuf> {
        let target = self.read_link_unrecorded(path)?;
        self.record_link(path, &target);
        Some(target)
    }

    fn read_link_unrecorded(&self, path: &Path) -> Option<PathBuf> {
        if let Some(mut link) = self.ask(path, What::Link).ok()? {
            return link.pop().map(|it| OsString::from_vec(it).into());
        }
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW;
        let descriptor = self.open_file(path, flags).ok()?;
        readlinkat(&descriptor, "").ok().map(PathBuf::from)
    }

    /// Whether there is a directory; a link to one is none.
    pub fn is_directory(&self, path: &Path) -> bool {
        let is_directory = self.has_directory(path);
        if is_directory {
            self.record_directory(path, &[]);
        }
        is_directory
    }

    pub(super) fn has_directory(&self, path: &Path) -> bool {
        match self.ask(path, What::IsDirectory) {
            Ok(None) => {}
            asked => return asked.is_ok_and(|it| it.is_some_and(|it| it == [b"1"])),
        }
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        self.open_file(path, flags).is_ok()
    }

    /// What tells this directory from all others of the machine: the numbers of
    /// its file system and its own.
    pub fn identity(&self) -> Option<(u64, u64)> {
        let stat = fstat(&self.directory).ok()?;
        Some((stat.st_dev, stat.st_ino))
    }

    /// When a file was last written, in seconds since 1970, links followed.
    pub fn modified(&self, path: &Path) -> Option<i64> {
        Some(self.times(path)?.0)
    }

    /// The same, and when its inode was changed, which nobody can set.
    pub fn times(&self, path: &Path) -> Option<(i64, i64)> {
        let times = self.times_unrecorded(path)?;
        if self.recording.is_some() {
            // A time is one of a file.
            let _ = self.read(path);
        }
        Some(times)
    }

    pub(super) fn times_unrecorded(&self, path: &Path) -> Option<(i64, i64)> {
        if let Some(texts) = self.ask(path, What::Times).ok()? {
            let seconds = |text: &[u8]| str::from_utf8(text).ok()?.parse().ok();
            let [modified, changed] = texts.as_slice() else {
                return None;
            };
            return seconds(modified).zip(seconds(changed));
        }
        let descriptor = self.open_file(path, OFlag::O_PATH).ok()?;
        let stat = fstat(descriptor).ok()?;
        Some((stat.st_mtime, stat.st_ctime))
    }

    /// Whether there is anything at `path`, links followed. A snapshot does not keep it.
    pub fn is_there(&self, path: &Path) -> bool {
        self.times_unrecorded(path).is_some()
    }

    /// When a link itself was made, in seconds since 1970.
    pub fn link_made(&self, path: &Path) -> Option<i64> {
        let descriptor = self.open_file(path, OFlag::O_PATH | OFlag::O_NOFOLLOW);
        let descriptor = descriptor.ok()?;
        Some(fstat(descriptor).ok()?.st_mtime)
    }

    /// The links on the way to `path`, in the order in which they are
    /// followed. The last one can lead nowhere.
    ///
    /// # Errors
    ///
    /// There are too many, or a directory on the way cannot be searched.
    pub fn links(&self, path: &Path) -> Result<Vec<Link>, ReadError> {
        let links = self.links_unrecorded(path)?;
        for link in &links {
            self.record_link(&link.path, &link.target);
        }
        Ok(links)
    }

    pub(super) fn links_unrecorded(&self, path: &Path) -> Result<Vec<Link>, ReadError> {
        if let Some(texts) = self.ask(path, What::Links)? {
            return Ok(to_links(&texts));
        }
        let is_kernel = self.resolution == Resolution::Kernel;
        if is_kernel && walk::is_without_links(&self.directory, path) {
            return Ok(Vec::new());
        }
        let mut links = Vec::new();
        match walk::find(&self.directory, path, &mut links) {
            Ok(_) | Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(links),
            Err(errno) => Err(system(self.named(path), errno)),
        }
    }
}
