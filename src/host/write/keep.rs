//! What a file has beside its bytes, and what takes its place must have, too:
//! owner, group, mode, access control list, extended attributes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;

use nix::errno::Errno;
use nix::libc::{mode_t, nlink_t};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::{Gid, Uid, fchown, geteuid};
use rustix::fs::{
    AtFlags, StatxAttributes, StatxFlags, XattrFlags, fgetxattr, flistxattr, fremovexattr,
    fsetxattr, statx,
};
use rustix::io::Errno as CallErrno;

use super::{Others, WriteError};
use crate::text::escaped;

const SET_ID: mode_t = 0o6000;
const ANYBODY_WRITES: mode_t = 0o222;
const PERMISSIONS: mode_t = 0o7777;

/// Attributes that say something of the bytes, or of whoever runs them: they
/// would be wrong, or dangerous, for others.
const OF_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// The owner, mode and attributes of a file, which one that replaces it must have.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Kept {
    mode: mode_t,
    user: u32,
    group: u32,
    links: nlink_t,
    attributes: Attributes,
}

type Attributes = BTreeMap<CString, Vec<u8>>;

impl Kept {
    /// Reads them from a file.
    pub(super) fn from_file(file: &File) -> Result<Self, WriteError> {
        let status = fstat(file)?;
        Ok(Self {
            mode: status.st_mode & PERMISSIONS,
            user: status.st_uid,
            group: status.st_gid,
            links: status.st_nlink,
            attributes: attributes(file)?,
        })
    }

    /// Whether a file with it may be replaced.
    pub(super) fn check(&self, file: &File, others: Others) -> Result<(), WriteError> {
        if self.mode & SET_ID != 0 {
            return Err(WriteError::SetId);
        }
        if self.links > 1 {
            return Err(WriteError::HardLinks(self.links));
        }
        let caller = geteuid();
        let is_allowed = caller.is_root() && others == Others::Allowed;
        if self.user != caller.as_raw() && !is_allowed {
            return Err(WriteError::OtherUser { user: self.user });
        }
        let flags = flags(file);
        if flags.intersects(SEALING) {
            return Err(WriteError::Immutable);
        }
        if flags.contains(StatxAttributes::MOUNT_ROOT) {
            return Err(WriteError::Mounted);
        }
        if self.mode & ANYBODY_WRITES == 0 {
            return Err(WriteError::ReadOnly);
        }
        let is_of_content = |it: &&CString| OF_CONTENT.contains(&it.as_bytes());
        match self.attributes.keys().find(is_of_content) {
            Some(name) => Err(attribute(name)),
            None => Ok(()),
        }
    }

    /// Gives it to `file`, which is new and the caller's own.
    pub(super) fn give(&self, file: &File) -> Result<(), WriteError> {
        let now = fstat(file)?;
        let user = (now.st_uid != self.user).then(|| Uid::from_raw(self.user));
        let group = (now.st_gid != self.group).then(|| Gid::from_raw(self.group));
        if user.is_some() || group.is_some() {
            fchown(file, user, group).map_err(|errno| match (errno, user) {
                (Errno::EPERM | Errno::EINVAL, None) => WriteError::Group(self.group),
                (Errno::EPERM | Errno::EINVAL, Some(user)) => WriteError::OtherUser {
                    user: user.as_raw(),
                },
                (errno, _) => errno.into(),
            })?;
        }
        let given = attributes(file)?;
        for name in given.keys().filter(|it| !self.attributes.contains_key(*it)) {
            fremovexattr(file, name).map_err(|_| attribute(name))?;
        }
        for (name, value) in &self.attributes {
            if given.get(name) != Some(value) {
                fsetxattr(file, name, value, XattrFlags::empty()).map_err(|_| attribute(name))?;
            }
        }
        // Last: a list of access rights changes the mode, and so does a new owner.
        fchmod(file, Mode::from_bits_truncate(self.mode))?;
        Ok(())
    }
}

fn attribute(name: &CString) -> WriteError {
    WriteError::Attribute(escaped(name.as_bytes()))
}

/// The kernel lets nobody change a file with one of these.
const SEALING: StatxAttributes = StatxAttributes::IMMUTABLE
    .union(StatxAttributes::APPEND)
    .union(StatxAttributes::VERITY);

/// What the kernel says of a file beside its status. Before Linux 4.11 it says
/// nothing, and the exchange fails.
fn flags(file: &File) -> StatxAttributes {
    let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::empty());
    status.map_or(StatxAttributes::empty(), |it| it.stx_attributes)
}

/// The extended attributes that the caller can see.
fn attributes(file: &File) -> Result<Attributes, WriteError> {
    let names = match all(|buffer| flistxattr(file, buffer)) {
        Ok(names) => names,
        Err(CallErrno::NOTSUP | CallErrno::NOSYS) => return Ok(Attributes::new()),
        Err(errno) => return Err(WriteError::System(errno.into())),
    };
    let mut attributes = Attributes::new();
    for name in names.split(|&byte| byte == 0).filter(|it| !it.is_empty()) {
        let Ok(name) = CString::new(name) else {
            continue;
        };
        match all(|buffer| fgetxattr(file, &name, buffer)) {
            Ok(value) => attributes.insert(name, value),
            // Removed meanwhile.
            Err(CallErrno::NODATA) => None,
            Err(_) => return Err(attribute(&name)),
        };
    }
    Ok(attributes)
}

/// What `read` gives, which fills a buffer; the kernel's limit is 64 KiB.
fn all(mut read: impl FnMut(&mut [u8]) -> Result<usize, CallErrno>) -> Result<Vec<u8>, CallErrno> {
    const MOST: usize = 64 << 10;
    let mut length = 256;
    loop {
        let mut buffer = vec![0; length];
        match read(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(CallErrno::RANGE) if length < MOST => length = MOST,
            Err(errno) => return Err(errno),
        }
    }
}
