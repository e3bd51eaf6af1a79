//! Holds a process, and says what is wrong with it.

use std::path::Path;

use caps::{CapSet, Capability};
use nix::errno::Errno;

use super::EnterError;
use crate::host::ReadError;
use crate::host::node::processes::{Directory, ProcessSeen};
use crate::host::root::Root;

/// Holds the process with this id, which lives and is a program's.
///
/// # Errors
///
/// There is none, it is a zombie or a thread of the kernel.
pub fn hold(root: &Root, pid: u32) -> Result<(Directory, ProcessSeen), EnterError> {
    let directory = Directory::open(root, pid).map_err(|error| {
        if error.is_missing() {
            missing(root, pid)
        } else {
            error.into()
        }
    })?;
    let seen = directory.look().map_err(|error| gone(&error, pid))?;
    if directory.is_live() && seen.started.is_none() {
        return Err(match missing(root, pid) {
            EnterError::NoProcess(pid) => EnterError::Vanished(pid),
            hidden => hidden,
        });
    }
    expect_program(&directory, &seen)?;
    Ok((directory, seen))
}

/// There is none, or none for this user's eyes.
fn missing(root: &Root, pid: u32) -> EnterError {
    if is_hiding(root) {
        return EnterError::Hidden(pid);
    }
    // It is a link, and no directory.
    if root.is_live() && root.read_link(Path::new("/proc/self")).is_none() {
        return EnterError::NoProc(pid);
    }
    EnterError::NoProcess(pid)
}

/// Whether those of others look as if they were not there.
///
/// Source: `proc(5)`, mount option `hidepid`.
fn is_hiding(root: &Root) -> bool {
    let may_trace = caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_PTRACE);
    if !root.is_live() || may_trace.unwrap_or(false) {
        return false;
    }
    let mounts = root.read_once(Path::new("/proc/self/mounts"));
    let text = mounts.map(|it| it.source.bytes).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .any(|it| it.contains(" /proc proc ") && it.contains("hidepid="))
}

/// Holds a process that a scan saw.
///
/// # Errors
///
/// As [`hold`]; that process is gone.
pub(super) fn hold_seen(root: &Root, seen: &ProcessSeen) -> Result<Directory, EnterError> {
    let pid = seen.pid;
    let directory = Directory::of_seen(root, seen).ok_or(EnterError::Vanished(pid))?;
    expect_program(&directory, seen)?;
    Ok(directory)
}

/// An error of a file below the root of the process that says that the process
/// is gone.
pub(super) fn ended(error: EnterError, pid: u32) -> EnterError {
    match error {
        EnterError::Read(read) if read.errno() == Some(Errno::ESRCH) => EnterError::Vanished(pid),
        error => error,
    }
}

/// What an error of a file of the process says about the process.
pub(super) fn gone(error: &ReadError, pid: u32) -> EnterError {
    match error.errno() {
        Some(Errno::ESRCH | Errno::ENOENT) => EnterError::Vanished(pid),
        Some(Errno::EACCES | Errno::EPERM) => EnterError::NeedsPtrace(pid),
        _ => error.clone().into(),
    }
}

fn expect_program(directory: &Directory, seen: &ProcessSeen) -> Result<(), EnterError> {
    const KTHREADD: u32 = 2;
    let (pid, comm) = (seen.pid, seen.comm.clone());
    if seen.is_zombie {
        return Err(EnterError::Zombie { pid, comm });
    }
    // In a pid namespace of its own an ordinary process can be number 2.
    let is_kernels = pid == KTHREADD || seen.parent == Some(KTHREADD);
    if is_kernels && directory.is_live() && directory.arguments().is_empty() {
        let is_without_program = directory.link("exe").is_none();
        if is_without_program {
            return Err(EnterError::KernelThread { pid, comm });
        }
    }
    Ok(())
}

/// Why a link of the kernel's could not be opened.
pub(super) fn explain(directory: &Directory, name: &str, errno: Errno) -> EnterError {
    let pid = directory.pid();
    match errno {
        Errno::ENOTSUP => EnterError::NotLive(pid),
        Errno::ESRCH => EnterError::Vanished(pid),
        Errno::EACCES | Errno::EPERM | Errno::ENOENT => match directory.look() {
            // A zombie has nothing left that one might look into.
            Ok(seen) if seen.is_zombie => EnterError::Zombie {
                pid,
                comm: seen.comm,
            },
            Ok(_) if errno != Errno::ENOENT => EnterError::NeedsPtrace(pid),
            Err(error) if errno != Errno::ENOENT => gone(&error, pid),
            // The namespaces of one that ends go before it does.
            _ if Path::new("/proc/self/ns/net").exists() => EnterError::Vanished(pid),
            _ => EnterError::NoNamespaces(pid),
        },
        errno => EnterError::Read(ReadError::System {
            file: format!("/proc/{pid}/{name}"),
            errno,
        }),
    }
}
