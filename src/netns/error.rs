//! Why a target cannot be entered: one sentence each.

use nix::errno::Errno;

use crate::host::{ReadError, reason};
use crate::target::{PlanError, WordError};

/// Why a target cannot be looked at or entered. The sentence says all of it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The word is no target.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The target leads nowhere on this node.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Nothing fits, but not all of the node could be read.
    #[error("{plan}; but not all could be read: {reason}")]
    Unseen {
        /// What does not fit.
        plan: PlanError,
        /// The first thing that could not be read, a sentence without a full stop.
        reason: String,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is no process of this id.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// Processes cannot be seen at all.
    #[error(
        "cannot look for process {0}: /proc is not mounted here; mount it (mount -t proc proc /proc)"
    )]
    NoProc(u32),
    /// The caller does not see those of others.
    #[error(
        "there is no process {0} that this user may see: /proc is mounted with hidepid; run kdns as root"
    )]
    Hidden(u32),
    /// It was there, and is not any more.
    #[error("process {0} has ended meanwhile; a process with its number now is another one")]
    Vanished(u32),
    /// It has ended, and its parent has not asked how.
    #[error(
        "process {pid} ({comm}) has ended: it is a zombie, which has no namespaces and no files"
    )]
    Zombie {
        /// Its id.
        pid: u32,
        /// Its name, safe to print.
        comm: String,
    },
    /// It is the kernel's own.
    #[error("process {pid} ({comm}) is a thread of the kernel: it has no files and asks no names")]
    KernelThread {
        /// Its id.
        pid: u32,
        /// Its name, safe to print.
        comm: String,
    },
    /// The caller may not look into it.
    #[error(
        "cannot look into process {0}, which has more capabilities than kdns or is another user's: that needs \
         the capability CAP_SYS_PTRACE; run kdns as root, in a pod with hostPID and a privileged container \
         (kubectl debug --profile=sysadmin)"
    )]
    NeedsPtrace(u32),
    /// The caller may not enter.
    #[error(
        "cannot enter the network namespace {0}: that needs the capability CAP_SYS_ADMIN, \
         also in the user namespace that owns it; run kdns as root, in a pod in a privileged container"
    )]
    NeedsAdmin(String),
    /// The file is something else.
    #[error("{0} is no network namespace")]
    NoNetwork(String),
    /// The process has no link to one: the kernel was built without.
    #[error("process {0} has no network namespace of its own: this kernel has none")]
    NoNamespaces(u32),
    /// The process is only a directory.
    #[error("cannot enter process {0}: its directory is not one of a live /proc")]
    NotLive(u32),
    /// The file keeps another namespace than it did.
    #[error("{0} keeps another network namespace by now")]
    Replaced(String),
    /// The file cannot be opened.
    #[error("cannot open the network namespace {file}: {}", reason(*errno))]
    Open {
        /// Its path, safe to print.
        file: String,
        /// What the system said.
        errno: Errno,
    },
    /// The file is that of a process that the caller may not look into.
    #[error(
        "cannot open the network namespace {0}: that of a process with more capabilities than kdns, \
         or of another user's, needs the capability CAP_SYS_PTRACE"
    )]
    Closed(String),
    /// It cannot be entered, for a reason that is none of the above.
    #[error("cannot enter the network namespace {file}: {}", reason(*errno))]
    Enter {
        /// Its path, safe to print.
        file: String,
        /// What the system said.
        errno: Errno,
    },
    /// The place for a program could not be made.
    #[error("cannot {what}: {}", reason(*errno))]
    Room {
        /// What was attempted.
        what: String,
        /// What the system said.
        errno: Errno,
    },
    /// There is no thread to enter with.
    #[error("cannot start a thread to enter a namespace with: {}", reason(*.0))]
    Thread(Errno),
    /// The privileges could not be given up, so nothing was done.
    #[error("cannot give up capabilities before reading from the network: {0}")]
    Capabilities(String),
}

impl EnterError {
    /// Whether nothing is there that the word could mean.
    pub fn is_no_target(&self) -> bool {
        match self {
            Self::Plan(why) => !matches!(why, PlanError::Gone(_)),
            it => matches!(
                it,
                Self::Word(_) | Self::NoProcess(_) | Self::NoNetwork(_) | Self::Open { .. }
            ),
        }
    }

    /// A thread that could not be started, as the system says.
    pub fn no_thread(error: &std::io::Error) -> Self {
        Self::Thread(Errno::from_raw(error.raw_os_error().unwrap_or_default()))
    }
}
