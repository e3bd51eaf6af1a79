//! Enters the network namespaces of others, and holds what is entered.
//!
//! A process is held by its directory of `/proc`, a namespace by a descriptor:
//! neither can turn into another one between the first look and the last.

mod aim;
pub mod askers;
mod error;
pub mod packets;
mod process;
mod room;

pub use aim::{Aim, TargetFiles, aim};
pub use error::EnterError;
pub use process::hold;
pub use room::{aliases, furnish};

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::Duration;

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::{Mode, fstat};
use nix::sys::statfs::{NSFS_MAGIC, fstatfs};

use crate::host::errno_of;
use crate::host::node::processes::Directory;
use crate::host::root::Root;
use crate::text::escaped;

/// A network namespace that is held by a descriptor.
#[derive(Debug)]
pub struct Namespace {
    descriptor: OwnedFd,
    /// The user namespace of the process that it was taken from.
    user: Option<OwnedFd>,
    number: u64,
    name: String,
}

/// The network namespace of this thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// What is still needed inside: a socket of port 53 and the like.
const KEPT: Capability = Capability::CAP_NET_BIND_SERVICE;

/// What reading rules and connections takes: netfilter's netlink and the raw
/// socket of `iptables-save`.
const TO_READ: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

impl Namespace {
    /// The network namespace of a process.
    ///
    /// # Errors
    ///
    /// The process has ended, or the caller may not look into it.
    pub fn of_process(process: &Directory) -> Result<Self, EnterError> {
        let opened = process.open_link("ns/net");
        let descriptor = opened.map_err(|errno| process::explain(process, "ns/net", errno))?;
        let name = format!("/proc/{}/ns/net", process.pid());
        let mut namespace = Self::held(descriptor, name)?;
        // Of use only where the caller is not root.
        namespace.user = process.open_link("ns/user").ok();
        Ok(namespace)
    }

    /// The namespace that a file keeps, a path of the caller's own.
    ///
    /// # Errors
    ///
    /// It is not there, cannot be opened, or is something else.
    pub fn of_path(path: &Path) -> Result<Self, EnterError> {
        let name = escaped(path.as_os_str().as_encoded_bytes());
        let open = |flags| openat(AT_FDCWD, path, flags | OFlag::O_CLOEXEC, Mode::empty());
        Self::opened(name, open)
    }

    /// The namespace that a file of a node keeps. With `number` it must be
    /// that one: a path may be another one's by now.
    ///
    /// # Errors
    ///
    /// It is not there, cannot be opened, is something else or another one.
    pub fn of_node_file(root: &Root, path: &str, number: Option<u64>) -> Result<Self, EnterError> {
        let open = |flags| root.open_file(Path::new(path), flags);
        let namespace = Self::opened(escaped(path.as_bytes()), open)?;
        if number.is_some_and(|it| it != namespace.number) {
            let file = namespace.name;
            return Err(EnterError::Replaced(file));
        }
        Ok(namespace)
    }

    /// Looks before it opens: what is no namespace may be a device or a FIFO.
    fn opened(
        name: String,
        open: impl Fn(OFlag) -> nix::Result<OwnedFd>,
    ) -> Result<Self, EnterError> {
        let may_trace = || caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE);
        let failed = |errno| {
            let file = name.clone();
            match errno {
                Errno::EACCES | Errno::EPERM if !may_trace().unwrap_or(false) => {
                    EnterError::Closed(file)
                }
                errno => EnterError::Open { file, errno },
            }
        };
        let looked = open(OFlag::O_PATH).map_err(failed)?;
        expect_namespace(&name, &looked)?;
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let namespace = Self::held(open(flags).map_err(failed)?, name)?;
        namespace.expect_network()?;
        Ok(namespace)
    }

    /// The kind of a namespace is told only by entering it, which needs no
    /// privilege to fail for this reason: that is looked at first.
    ///
    /// Source: Linux `kernel/nsproxy.c` `setns`.
    fn expect_network(&self) -> Result<(), EnterError> {
        match on_a_thread(|| self.set()) {
            Err(error @ EnterError::NoNetwork(_)) => Err(error),
            _ => Ok(()),
        }
    }

    fn held(descriptor: OwnedFd, name: String) -> Result<Self, EnterError> {
        let number = expect_namespace(&name, &descriptor)?;
        Ok(Self {
            descriptor,
            user: None,
            number,
            name,
        })
    }

    /// Its number, as in `net:[4026531840]`.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The path that it was opened by, safe to print.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves this thread there, for good. Where that needs a user namespace it
    /// is entered first, which only a program of one thread can do.
    ///
    /// # Errors
    ///
    /// The system says no.
    pub fn enter(&self) -> Result<(), EnterError> {
        match (self.set(), &self.user) {
            (Err(refused @ EnterError::NeedsAdmin(_)), Some(user)) => {
                enter_user(user).map_err(|_| refused)?;
                self.set()
            }
            (entered, _) => entered,
        }
    }

    /// Makes sure that threads of this program can enter the namespace. To be
    /// called by the first thread before there is another one, and after
    /// everything of the host's was read: a user namespace that had to be
    /// entered is not left again.
    ///
    /// # Errors
    ///
    /// The system says no.
    pub fn admit(&self) -> Result<(), EnterError> {
        let own = Self::of_path(Path::new(OWN));
        self.enter()?;
        if let Ok(own) = own {
            // Without a way back this is where the threads are, too.
            let _ = setns(&own.descriptor, CloneFlags::CLONE_NEWNET);
        }
        Ok(())
    }

    /// Moves this thread there, for good, and gives up its capabilities, as who
    /// parses what strangers send should have none. To be called by the first
    /// thread before there is another one, after all files were opened.
    ///
    /// # Errors
    ///
    /// The system says no.
    pub fn move_in(&self) -> Result<(), EnterError> {
        if self.is_elsewhere() {
            self.enter()?;
        }
        give_up_capabilities(&[KEPT])
    }

    /// Whether this thread is in another one: where it is already, it needs no privilege.
    fn is_elsewhere(&self) -> bool {
        let own = Self::of_path(Path::new(OWN));
        own.is_ok_and(|own| own.number != self.number)
    }

    /// What it is held by.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Runs `work` in the namespace, on a thread of its own that has given up
    /// its capabilities.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered: nothing was run.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        on_a_thread(|| {
            self.set()?;
            give_up_capabilities(&[KEPT])?;
            Ok(work())
        })
    }

    /// Runs `open` in the namespace, on a thread of its own: sockets stay where they
    /// were opened. This thread stays where it is.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered: nothing was run.
    pub fn open_within<T: Send>(&self, open: impl FnOnce() -> T + Send) -> Result<T, EnterError> {
        on_a_thread(|| {
            if self.is_elsewhere() {
                self.enter()?;
            }
            Ok(open())
        })
    }

    /// Runs `work` in the namespace, on a thread of its own that keeps what it
    /// takes to ask the kernel for its rules and connections, and to let a tool
    /// of the node do that: no program that it starts has more.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered: nothing was run.
    pub fn within_to_read<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, EnterError> {
        on_a_thread(|| {
            if self.is_elsewhere() {
                self.set()?;
            }
            keep_capabilities(&TO_READ)?;
            Ok(work())
        })
    }

    /// Moves this thread there, where no user namespace has to be entered for it.
    fn set(&self) -> Result<(), EnterError> {
        setns(&self.descriptor, CloneFlags::CLONE_NEWNET).map_err(|errno| self.failed(errno))
    }

    fn failed(&self, errno: Errno) -> EnterError {
        let file = self.name.clone();
        match errno {
            Errno::EPERM => EnterError::NeedsAdmin(file),
            // The descriptor is one of another kind of namespace.
            Errno::EINVAL => EnterError::NoNetwork(file),
            errno => EnterError::Enter { file, errno },
        }
    }
}

/// Only a program of one thread can do that. One that was joined is still there
/// for a moment: the kernel wakes who waits before it takes the thread away.
///
/// Source: Linux `kernel/user_namespace.c` `userns_install`; `kernel/fork.c`
/// `mm_release`.
fn enter_user(user: &OwnedFd) -> nix::Result<()> {
    const TRIES: usize = 20;
    let own = nix::sys::stat::stat("/proc/self/ns/user")?.st_ino;
    // One's own cannot be entered once more: it was not the reason.
    let tries = if own == fstat(user)?.st_ino { 1 } else { TRIES };
    for _ in 1..tries {
        match setns(user, CloneFlags::CLONE_NEWUSER) {
            Err(Errno::EINVAL) => thread::sleep(Duration::from_millis(5)),
            ended => return ended,
        }
    }
    setns(user, CloneFlags::CLONE_NEWUSER)
}

/// The host name in the UTS namespace of a process; `None`: it cannot be entered.
pub fn hostname(process: &Directory) -> Option<String> {
    let descriptor = process.open_link("ns/uts").ok()?;
    let name = on_a_thread(|| {
        let failed = |errno| EnterError::Enter {
            file: "ns/uts".to_owned(),
            errno,
        };
        setns(&descriptor, CloneFlags::CLONE_NEWUTS).map_err(failed)?;
        nix::unistd::gethostname().map_err(failed)
    });
    Some(name.ok()?.to_string_lossy().into_owned())
}

/// Namespaces are a thread's own: this one keeps its.
fn on_a_thread<T: Send>(
    work: impl FnOnce() -> Result<T, EnterError> + Send,
) -> Result<T, EnterError> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().spawn_scoped(scope, work);
        let thread = spawned.map_err(|error| EnterError::Thread(errno_of(&error)))?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Keeps these, also for programs that this thread starts: root's own get all
/// that is not taken out of the bounding set.
fn keep_capabilities(wanted: &[Capability]) -> Result<(), EnterError> {
    let held = caps::read(None, CapSet::Bounding).unwrap_or_default();
    for one in held.into_iter().filter(|it| !wanted.contains(it)) {
        // Who may not take it out has no more to pass on than before.
        let _ = caps::drop(None, CapSet::Bounding, one);
    }
    give_up_capabilities(wanted)
}

/// Gives up the capabilities of this thread but for those of `wanted` that it has:
/// whoever parses what strangers send should have nothing to give away.
///
/// # Errors
///
/// The system says no.
pub fn give_up_capabilities(wanted: &[Capability]) -> Result<(), EnterError> {
    let failed = |error: caps::errors::CapsError| EnterError::Capabilities(error.to_string());
    let held = caps::read(None, CapSet::Permitted).map_err(failed)?;
    let kept = held.into_iter().filter(|it| wanted.contains(it)).collect();
    // The effective ones must not exceed the permitted ones at any time.
    for set in [CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &kept).map_err(failed)?;
    }
    Ok(())
}

/// Its number, if it is a namespace.
fn expect_namespace(name: &str, descriptor: &OwnedFd) -> Result<u64, EnterError> {
    let failed = |errno| {
        let file = name.to_owned();
        EnterError::Open { file, errno }
    };
    let system = fstatfs(descriptor).map_err(failed)?.filesystem_type();
    if system != NSFS_MAGIC {
        return Err(EnterError::NoNetwork(name.to_owned()));
    }
    Ok(fstat(descriptor).map_err(failed)?.st_ino)
}
