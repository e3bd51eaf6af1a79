//! Why a file could not be read.

use nix::errno::Errno;

use super::{reason, worker};

/// Why a file could not be read. The sentence says all of it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system said no.
    #[error("cannot read {file}: {}", reason(*errno))]
    System {
        /// Path, safe to print, with the directory below which it was looked for.
        file: String,
        /// What the system said.
        errno: Errno,
    },
    /// It is there, but no regular file.
    #[error("cannot read {file}: it is {kind}, not a regular file")]
    NotRegular {
        /// Path, safe to print, with the directory below which it was looked for.
        file: String,
        /// `a directory`, `a FIFO`…
        kind: &'static str,
    },
    /// There is more of it than is read, and a part of it would not do.
    #[error("cannot read {file}: it is longer than {} MiB", most >> 20)]
    TooLong {
        /// Path, safe to print.
        file: String,
        /// How many bytes it can have.
        most: usize,
    },
    /// Standard input has been read already.
    #[error("cannot read standard input twice: - can stand for one file only")]
    Twice,
    /// The directory for `--root` cannot be opened.
    #[error("cannot open the directory {directory}: {}", reason(*errno))]
    Root {
        /// Its path, safe to print.
        directory: String,
        /// What the system said.
        errno: Errno,
    },
    /// A node cannot be read with so few descriptors.
    #[error(
        "cannot read a node: too few files may be open at a time; raise the limit (ulimit -n 64)"
    )]
    Descriptors,
    /// It lies on a stranger's file system, and nobody answered.
    #[error("cannot read {file}: {silence}")]
    Unanswered {
        /// Path, safe to print, with the directory below which it was looked for.
        file: String,
        /// The mount of the machine on which it lies, safe to print; `None`: a
        /// container's file.
        mount: Option<String>,
        /// Why there is no answer.
        silence: worker::Silence,
    },
    /// A snapshot of a node cannot be read.
    #[error("cannot read the snapshot {file}: {reason}")]
    Snapshot {
        /// Its path, safe to print.
        file: String,
        /// Why.
        reason: String,
    },
    /// A snapshot of a node does not hold a file.
    #[error("cannot read {file}: the snapshot does not hold it")]
    NotInSnapshot {
        /// Path, safe to print, with the snapshot in which it was looked for.
        file: String,
    },
    /// The machine does not tell its host name or interfaces.
    #[error("cannot ask the system for {what}: {}", reason(*errno))]
    Machine {
        /// `the host name`…
        what: &'static str,
        /// What the system said.
        errno: Errno,
    },
}

impl ReadError {
    /// What the system said about a file.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::System { errno, .. } => Some(*errno),
            _ => None,
        }
    }

    /// Whether something else is in the place of a file: no permission could
    /// make one of it.
    pub fn is_no_file(&self) -> bool {
        matches!(self, Self::NotRegular { .. })
            || matches!(self.errno(), Some(Errno::ELOOP | Errno::ENOTDIR))
    }

    /// Whether there is simply no such file.
    pub fn is_missing(&self) -> bool {
        self.errno() == Some(Errno::ENOENT)
    }
}
