//! What the worker does: it reads what it is asked for, until nobody asks.

use std::ffi::OsString;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

use nix::errno::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use super::NAME;
use super::message::{self, Answer, Failure, Request, What};
use crate::host::root::Root;
use crate::host::{MAX_BYTES, errno_of};

/// What a program does first that may be its own worker: with the arguments of
/// one it serves until nobody asks any more, and then shall end.
pub fn run_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.into_iter().next()?;
    (first == NAME).then(|| {
        // Whoever asked sees the end; nobody else listens.
        let _ = serve();
        ExitCode::SUCCESS
    })
}

fn serve() -> io::Result<()> {
    close_all_but_standard_ones()?;
    std::env::set_current_dir("/")?;
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket.write_all(&[0])?;
    while let Some((process, request)) = receive(&socket)? {
        let answer = answer(process, &request);
        message::write_answer(&answer, &mut socket)?;
    }
    Ok(())
}

/// What the caller of kdns left open is open here, too.
pub(crate) fn close_all_but_standard_ones() -> io::Result<()> {
    const STANDARD: RawFd = 3;
    let names = std::fs::read_dir("/proc/self/fd")?.flatten();
    let numbers: Vec<RawFd> = names
        .filter_map(|it| it.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|it| *it >= STANDARD) {
        // The list's own is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// `None`: nobody will ask any more.
fn receive(socket: &UnixStream) -> io::Result<Option<(OwnedFd, Request)>> {
    let mut bytes = [0; message::MAX_REQUEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let count = recvmsg(socket.as_fd(), &mut slices, &mut control, flags)?.bytes;
    let process = control.drain().find_map(|it| match it {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    // A question is shorter than what a socket takes at once.
    let request = bytes.get(..count).and_then(Request::decoded);
    Ok(process.zip(request))
}

fn answer(process: OwnedFd, request: &Request) -> Answer {
    let process = Root::of_descriptor(process);
    let path = request.path.as_path();
    if !request.is_below_root {
        return look(&process, path, request.what);
    }
    let root = process.enter_process_root().map_err(|error| {
        // Without a root it has ended, which is not the same as a missing file.
        if error.is_missing() {
            Failure::System(Errno::ESRCH)
        } else {
            error.into()
        }
    })?;
    look(&root, path, request.what)
}

fn look(root: &Root, path: &Path, what: What) -> Answer {
    let number = |it: i64| vec![it.to_string().into_bytes()];
    let open = || match path.to_str() {
        Some(message::PROGRAM) => root
            .open_magic(path)
            .map(Into::into)
            .map_err(Failure::System),
        _ => root.open_long(path).map_err(Failure::from),
    };
    let system = |error: io::Error| Failure::System(errno_of(&error));
    Ok(match what {
        What::Read => message::of_file(root.read_once(path)?),
        What::End => message::of_file(root.read_end(path)?),
        What::Names => {
            let names = root.list(path)?;
            names.iter().map(|it| it.as_bytes().to_vec()).collect()
        }
        What::Link => {
            let link = root.read_link(path);
            link.iter()
                .map(|it| it.as_os_str().as_bytes().to_vec())
                .collect()
        }
        What::Links => message::of_links(&root.links(path)?),
        What::IsDirectory => number(i64::from(root.is_directory(path))),
        What::Times => {
            let times = root
                .times(path)
                .map(|(modified, changed)| [modified, changed]);
            times.into_iter().flatten().flat_map(number).collect()
        }
        What::Length => {
            let length = open()?.metadata().map_err(system)?.len();
            number(i64::try_from(length).unwrap_or(i64::MAX))
        }
        What::Part(from, length) => {
            let length = usize::try_from(length).unwrap_or_default();
            let mut bytes = vec![0; length.min(MAX_BYTES)];
            let count = open()?.read_at(&mut bytes, from).map_err(system)?;
            bytes.truncate(count);
            vec![bytes]
        }
    })
}
