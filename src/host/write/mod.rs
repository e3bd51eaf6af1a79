//! Writes files: each is whole or not there, and nothing is written over but
//! what was looked at.
//!
//! The directory of a file can be a stranger's, who changes it meanwhile. So it
//! is opened without following a link, and held; what is new is written beside
//! the file, gets its owner, mode and attributes, and changes places with it in
//! one step. What came out must then be the file that was judged: else it goes
//! back, and is left as it is.

mod exchange;
mod keep;
mod place;
mod private;
mod target;
mod watch;

use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::libc::nlink_t;

use self::exchange::Draft;
use crate::host::io_reason;

pub use self::private::private;
pub use self::target::{Output, open};

/// Whether root may also write files of other users.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Others {
    /// It may not: a mistake there is theirs to pay for.
    #[default]
    Refused,
    /// The caller wants it (`--force`).
    Allowed,
}

/// Why a file is not written. The sentence goes behind `cannot write FILE: `.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system said no.
    #[error("{}", io_reason(_0))]
    System(#[from] io::Error),
    /// The path goes through a link.
    #[error(
        "{link} is a link, and nothing is written through one{}",
        leads_to(target)
    )]
    Link {
        /// Its path, safe to print.
        link: String,
        /// Where it leads, safe to print; empty: nobody can tell.
        target: String,
    },
    /// A file with one of these bits is run with other rights than its caller's.
    #[error("it is setuid or setgid; chmod ug-s takes that away")]
    SetId,
    /// Only one of its names would change.
    #[error("it is one of {0} hard links to a file, and would no longer be")]
    HardLinks(nlink_t),
    /// It is another user's.
    #[error("it belongs to user {user}{}", who_may())]
    OtherUser {
        /// The user's number.
        user: u32,
    },
    /// Its mode lets nobody write.
    #[error("it is read-only; chmod u+w allows it")]
    ReadOnly,
    /// The flags of `chattr(1)`.
    #[error("it is immutable, append-only or sealed; chattr -i -a allows the first two")]
    Immutable,
    /// Something is mounted on it.
    #[error("something is mounted on it; write the file that is mounted there")]
    Mounted,
    /// An extended attribute cannot be kept.
    #[error("its attribute {0} cannot be kept")]
    Attribute(String),
    /// Its group cannot be kept.
    #[error("its group {0} cannot be kept")]
    Group(u32),
    /// Somebody else changed, replaced or removed it.
    #[error("it was changed meanwhile, and was left as it is")]
    Changed,
    /// Another program has opened it since it was looked at.
    #[error("another program has it open, which may write to it, and it was left as it is")]
    IsOpen,
    /// There was nothing, and now there is.
    #[error("something else was put there meanwhile, and was left as it is")]
    Appeared,
    /// Two files cannot change places there.
    #[error("its file system cannot exchange files, so a change made meanwhile could be lost")]
    NoExchange,
    /// What was there cannot be removed.
    #[error("it is written, and what was there is left beside it as {0}: {1}")]
    Beside(String, &'static str),
    /// Somebody changes it again and again.
    #[error("it is changed again and again; a version of it is kept as {0}")]
    Restless(String),
}

impl WriteError {
    /// Whether who read the output has gone.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::System(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<Errno> for WriteError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::EBUSY => Self::Mounted,
            errno => Self::System(errno.into()),
        }
    }
}

fn leads_to(target: &str) -> String {
    if target.is_empty() {
        return String::new();
    }
    format!("; it leads to {target}")
}

fn who_may() -> &'static str {
    if nix::unistd::geteuid().is_root() {
        "; run kdns as that user, or with --force"
    } else {
        "; run kdns as that user"
    }
}

/// Whether the file at `path` could be written over, as far as that can be
/// said before.
///
/// # Errors
///
/// The reason why not.
pub fn check(path: &Path, others: Others) -> Result<(), WriteError> {
    Draft::begin(path, others, true).map(drop)
}

/// Replaces the file at `path`, which holds `old`, by `new`.
///
/// # Errors
///
/// It may not be written, or holds something else by now; then it is as it was.
pub fn replace(path: &Path, old: &[u8], new: &[u8], others: Others) -> Result<(), WriteError> {
    let mut draft = Draft::begin(path, others, true)?;
    draft.expect(old)?;
    io::Write::write_all(&mut draft, new)?;
    draft.finish()
}
