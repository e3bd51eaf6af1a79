//! A place for a program of the node in which only the network and the names
//! are the target's.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, FcntlArg, OFlag, SealFlag, fcntl, openat};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;
use nix::unistd::sethostname;

use super::{Aim, EnterError, TargetFiles};
use crate::config::resolv_conf::ResolvConf;
use crate::host::root::Root;
use crate::host::{FileRead, errno_of};
use crate::resolver::glibc::borrowed::{LeftOut, hosts_borrowed};
use crate::text::escaped;

const NSSWITCH: &str = "/etc/nsswitch.conf";

/// Through these glibc would ask daemons of the node instead.
///
/// Sources: glibc `nscd/nscd-client.h`; systemd `src/nss-resolve/nss-resolve.c`,
/// `src/nss-mymachines/nss-mymachines.c`; nss-mdns `src/avahi.c`.
const SOCKETS: [&str; 5] = [
    "/run/nscd/socket",
    "/var/run/nscd/socket",
    "/run/systemd/resolve/io.systemd.Resolve",
    "/run/systemd/machine/io.systemd.Machine",
    "/run/avahi-daemon/socket",
];

/// Where programs find the modules of glibc, and below the first two also in
/// directories of the machine's kind, as `x86_64-linux-gnu`.
const LIBRARIES: [&str; 4] = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"];

/// What is laid over a file of the node; `None`: the target has no such file,
/// which is as good as an empty one.
type Laid<'a> = (&'static str, Option<Cow<'a, [u8]>>);

/// Where the copies are written, out of everybody's sight, until they are in
/// their places: first where no network file system is that hangs.
const BENCHES: [&str; 4] = ["/run", "/tmp", "/var/tmp", "/mnt"];

/// Moves this program, for good, into the target's network namespace, and into
/// namespaces of its own for mounts and the host name, in which resolv.conf,
/// hosts, the hosts line of nsswitch.conf and the host name are the target's.
/// Nobody else sees these mounts, and they end with the program. Gives what of
/// the target's was left out, as sentences without a full stop.
///
/// To be called by the first thread while there is no other one.
///
/// # Errors
///
/// The system says no, or the node has no file to lay one of the target's over.
pub fn furnish(aim: &Aim) -> Result<Vec<LeftOut>, EnterError> {
    let mut left_out = Vec::new();
    let laid = files(&aim.seen, &mut left_out)?;
    let entered = aim.namespace.as_ref().map_err(Clone::clone)?;
    entered.enter()?;
    aim.expect_alive()?;
    let alone = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS;
    unshare(alone).map_err(|errno| match errno {
        Errno::EPERM => EnterError::NeedsAdmin(entered.name().to_owned()),
        errno => failed("make a namespace for mounts")(errno),
    })?;
    let nobody: Option<&str> = None;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(nobody, "/", nobody, private, nobody).map_err(failed("make mounts private"))?;
    // Not before: what was opened outside cannot be mounted over here.
    let mut wanted = Vec::new();
    for (path, copy) in laid {
        match open_place(path) {
            Ok(place) => wanted.push((place, Path::new(path), copy.unwrap_or_default())),
            Err(Errno::ENOENT) if copy.is_none() => {}
            Err(errno) => {
                let what = format!("lay the target's file over {path}");
                return Err(failed(what)(errno));
            }
        }
    }
    for path in SOCKETS {
        let place = open_place(path).ok();
        wanted.extend(place.map(|it| (it, Path::new(path), Cow::default())));
    }
    lay(&wanted)?;
    match aim.seen.situation.hostname.as_deref() {
        Some(name) if is_plain(name) => {
            sethostname(name).map_err(failed("set the host name"))?;
        }
        Some(name) => left_out.push(LeftOut::HostName(escaped(name.as_bytes()))),
        None => {}
    }
    Ok(left_out)
}

/// Whether it is as host names are. Shells write theirs into the prompt, and
/// bash before 4.4 runs what stands there between `$(` and `)` (CVE-2016-0634).
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    name.bytes().all(is_plain)
}

/// What is laid over the node's files. resolv.conf and hosts are data; what
/// nsswitch.conf names is code.
fn files<'a>(
    seen: &'a TargetFiles,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Laid<'a>>, EnterError> {
    let copy = |file: &'a Option<FileRead>| Some(Cow::from(&file.as_ref()?.source.bytes));
    let mut laid = vec![("/etc/resolv.conf", copy(&seen.situation.resolv_conf))];
    if !seen.is_whole {
        return Ok(laid);
    }
    laid.push(("/etc/hosts", copy(&seen.situation.hosts)));
    let parsed = |file: FileRead| ResolvConf::parse(file.source);
    let node = Root::live()?
        .read_if_there(Path::new(NSSWITCH))?
        .map(parsed);
    let target = seen.situation.nsswitch.clone().map(parsed);
    match (&node, &target) {
        (None, None) => {}
        (None, Some(_)) => left_out.push(LeftOut::NoNodeFile),
        (Some(node), Some(target)) if node.source.bytes == target.source.bytes => {}
        (Some(_), _) => {
            let made = hosts_borrowed(node.as_ref(), target.as_ref(), has_library);
            left_out.extend(made.left_out);
            laid.push((NSSWITCH, Some(Cow::from(made.bytes))));
        }
    }
    Ok(laid)
}

/// Whether the node has a module of glibc for this service.
fn has_library(service: &str) -> bool {
    let file = format!("libnss_{service}.so.2");
    let kinds = LIBRARIES.iter().take(2).flat_map(fs::read_dir).flatten();
    let kinds = kinds.flatten().map(|it| it.path());
    let kinds = kinds.filter(|it| it.as_os_str().as_encoded_bytes().ends_with(b"-gnu"));
    let own = LIBRARIES.iter().map(PathBuf::from);
    own.chain(kinds).any(|it| it.join(&file).is_file())
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
    let what = "copy the target's file of HOSTALIASES";
    made().map(Some).map_err(failed(what))
}

/// Writes the copies and binds each to its place.
fn lay(wanted: &[(OwnedFd, &Path, Cow<'_, [u8]>)]) -> Result<(), EnterError> {
    let nobody: Option<&str> = None;
    let bench = BENCHES
        .iter()
        .find(|it| Path::new(it).is_dir())
        .copied()
        .unwrap_or("/");
    let quiet = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("kdns"), bench, Some("tmpfs"), quiet, Some("mode=0755"))
        .map_err(failed(format!("mount a place for files at {bench}")))?;
    for (number, (place, path, bytes)) in wanted.iter().enumerate() {
        let what = || format!("lay the target's file over {}", path.display());
        let source = Path::new(bench).join(number.to_string());
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
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
    openat(AT_FDCWD, path, flags, Mode::empty())
}

fn write(path: &Path, bytes: &[u8]) -> nix::Result<()> {
    let mut file = File::create_new(path).map_err(|error| errno_of(&error))?;
    file.write_all(bytes).map_err(|error| errno_of(&error))
}

fn failed(what: impl Into<String>) -> impl FnOnce(Errno) -> EnterError {
    let what = what.into();
    |errno| EnterError::Room { what, errno }
}
