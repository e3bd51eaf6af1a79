//! A place for a program of the node in which only the network and the names
//! are the target's.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, FcntlArg, OFlag, SealFlag, fcntl, openat};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;
use nix::unistd::sethostname;

use super::{Aim, EnterError};
use crate::host::FileRead;

/// The node's files over which the target's are laid; a missing one of the
/// target's is as good as an empty one.
const FILES: [&str; 3] = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"];

/// Through these glibc would ask daemons of the node instead.
///
/// Source: glibc `nscd/nscd-client.h`; systemd `src/nss-resolve/nss-resolve.c`.
const SOCKETS: [&str; 3] = [
    "/run/nscd/socket",
    "/var/run/nscd/socket",
    "/run/systemd/resolve/io.systemd.Resolve",
];

/// Where the copies are written, out of everybody's sight, until they are in
/// their places.
const BENCHES: [&str; 4] = ["/mnt", "/tmp", "/run", "/var/tmp"];

/// Moves this program, for good, into the target's network namespace, and into
/// namespaces of its own for mounts and the host name, in which resolv.conf,
/// hosts, nsswitch.conf and the host name are the target's. Nobody else sees
/// these mounts, and they end with the program.
///
/// To be called by the first thread while there is no other one.
///
/// # Errors
///
/// The system says no, or the node has no file to lay one of the target's over.
pub fn furnish(aim: &Aim) -> Result<(), EnterError> {
    let seen = &aim.seen;
    let copies = [&seen.resolv_conf, &seen.hosts, &seen.nsswitch];
    let places = FILES.iter().zip(copies);
    let places = places.filter(|(path, _)| seen.is_whole || **path == "/etc/resolv.conf");
    let entered = aim.namespace.as_ref().map_err(Clone::clone)?;
    entered.enter()?;
    aim.expect_alive()?;
    let alone = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS;
    unshare(alone).map_err(|errno| match errno {
        Errno::EPERM => EnterError::NeedsAdmin {
            file: entered.name().to_owned(),
        },
        errno => failed("make a namespace for mounts".to_owned())(errno),
    })?;
    let nobody: Option<&str> = None;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(nobody, "/", nobody, private, nobody)
        .map_err(failed("make mounts private".to_owned()))?;
    // Not before: what was opened outside cannot be mounted over here.
    let mut wanted = Vec::new();
    for (path, copy) in places {
        match open_place(path) {
            Ok(place) => wanted.push((place, Path::new(path), copy.as_ref())),
            Err(Errno::ENOENT) if copy.is_none() => {}
            Err(errno) => {
                let what = format!("lay the target's file over {path}");
                return Err(failed(what)(errno));
            }
        }
    }
    for path in SOCKETS {
        let place = open_place(path).ok();
        wanted.extend(place.map(|it| (it, Path::new(path), None)));
    }
    lay(&wanted)?;
    if let Some(hostname) = &seen.hostname {
        sethostname(hostname).map_err(failed("set the host name".to_owned()))?;
    }
    Ok(())
}

/// A copy of the target's file of aliases for a program of the node, which finds
/// it at `/proc/self/fd/NUMBER`; `None`: the target has none. It is laid over no
/// path: the target chose that, and could have chosen one of the node's programs.
///
/// # Errors
///
/// The system says no.
pub fn aliases(aim: &Aim) -> Result<Option<OwnedFd>, EnterError> {
    let Some(file) = &aim.seen.aliases else {
        return Ok(None);
    };
    let made = || {
        // Open in what this program becomes.
        let fd = memfd_create("host.aliases", MFdFlags::MFD_ALLOW_SEALING)?;
        let mut copy = File::from(fd);
        copy.write_all(&file.source.bytes)
            .map_err(|error| errno_of(&error))?;
        let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK;
        fcntl(&copy, FcntlArg::F_ADD_SEALS(seals | SealFlag::F_SEAL_SEAL))?;
        Ok(OwnedFd::from(copy))
    };
    let what = "copy the target's file of HOSTALIASES".to_owned();
    made().map(Some).map_err(failed(what))
}

/// Writes the copies and binds each to its place.
fn lay(wanted: &[(OwnedFd, &Path, Option<&FileRead>)]) -> Result<(), EnterError> {
    let nobody: Option<&str> = None;
    let bench = BENCHES
        .iter()
        .find(|it| Path::new(it).is_dir())
        .copied()
        .unwrap_or("/");
    let quiet = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("kdns"), bench, Some("tmpfs"), quiet, Some("mode=0755"))
        .map_err(failed(format!("mount a place for files at {bench}")))?;
    for (number, (place, path, copy)) in wanted.iter().enumerate() {
        let what = || format!("lay the target's file over {}", path.display());
        let source = Path::new(bench).join(number.to_string());
        let bytes = copy.map_or(&b""[..], |it| &it.source.bytes);
        write(&source, bytes).map_err(failed(what()))?;
        // By descriptor: the bench may hide what a link leads to.
        let place = PathBuf::from(format!("/proc/self/fd/{}", place.as_raw_fd()));
        mount(Some(&source), &place, nobody, MsFlags::MS_BIND, nobody).map_err(failed(what()))?;
    }
    umount2(bench, MntFlags::MNT_DETACH).map_err(failed(format!("clear {bench}")))?;
    for (_, path, _) in wanted {
        let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | quiet;
        let what = failed(format!("protect {}", path.display()));
        mount(nobody, *path, nobody, flags, nobody).map_err(what)?;
    }
    Ok(())
}

/// What a mount is laid over, wherever links lead to it.
fn open_place(path: &str) -> nix::Result<OwnedFd> {
    openat(
        AT_FDCWD,
        path,
        OFlag::O_PATH | OFlag::O_CLOEXEC,
        Mode::empty(),
    )
}

fn write(path: &Path, bytes: &[u8]) -> nix::Result<()> {
    let mut file = File::create_new(path).map_err(|error| errno_of(&error))?;
    file.write_all(bytes).map_err(|error| errno_of(&error))
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or_default())
}

fn failed(what: String) -> impl Fn(Errno) -> EnterError {
    move |errno| EnterError::Room {
        what: what.clone(),
        errno,
    }
}
