//! What an output's path leads to: a file, a device, or one of the caller's
//! own descriptors.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, FcntlArg, OFlag, fcntl, openat};
use nix::sys::stat::{Mode, SFlag, fstat};

use super::exchange::Draft;
use super::place::Place;
use super::{Others, WriteError};
use crate::host::file_type;

/// Where an output goes.
#[derive(Debug)]
pub enum Output {
    /// What cannot be replaced: a device, a FIFO, a descriptor of the caller's.
    Stream(BufWriter<File>),
    /// A file, which is whole or not there.
    File(Box<Draft>),
}

/// Opens what is at `path`, or will be there.
///
/// # Errors
///
/// It cannot be written, or may not.
pub fn open(path: &Path, others: Others) -> Result<Output, WriteError> {
    if let Some(number) = descriptor(path) {
        return Ok(Output::Stream(BufWriter::new(own(number)?)));
    }
    let place = Place::at(path)?;
    let file = || Draft::begin(path, others, false).map(|it| Output::File(Box::new(it)));
    let Ok(status) = place.status(&place.name) else {
        return file();
    };
    match file_type(status.st_mode) {
        SFlag::S_IFREG | SFlag::S_IFLNK => file(),
        SFlag::S_IFDIR => Err(Errno::EISDIR.into()),
        _ => Ok(Output::Stream(BufWriter::new(special(&place)?))),
    }
}

/// The number of the caller's descriptor that this path names. These paths are
/// the kernel's own links, and no stranger's.
fn descriptor(path: &Path) -> Option<u32> {
    let path = path.as_os_str().as_bytes();
    match path {
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        _ => {}
    }
    let number = [&b"/dev/fd/"[..], b"/proc/self/fd/"]
        .into_iter()
        .find_map(|folder| path.strip_prefix(folder))?;
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    let number = is_number.then(|| std::str::from_utf8(number).ok())??;
    number.parse().ok()
}

/// The caller's descriptor of this number, to write to its end.
fn own(number: u32) -> Result<File, WriteError> {
    let standard = match number {
        1 => io::stdout().as_fd().try_clone_to_owned()?,
        2 => io::stderr().as_fd().try_clone_to_owned()?,
        _ => {
            let path = format!("/proc/self/fd/{number}");
            let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
            openat(AT_FDCWD, path.as_str(), flags, Mode::empty())?
        }
    };
    Ok(File::from(standard))
}

/// Opens without waiting: a FIFO that nobody reads is an error.
pub(super) fn special(place: &Place) -> Result<File, WriteError> {
    let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK;
    let file = File::from(place.open(&place.name, flags, Mode::empty())?);
    if file_type(fstat(&file)?.st_mode) == SFlag::S_IFREG {
        return Err(WriteError::Changed);
    }
    let flags =
        OFlag::from_bits_truncate(fcntl(&file, FcntlArg::F_GETFL).map_err(WriteError::from)?);
    fcntl(&file, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    Ok(file)
}

impl Output {
    /// Ends: a file is there now, whole.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn finish(self) -> Result<(), WriteError> {
        match self {
            Self::Stream(mut out) => Ok(out.flush()?),
            Self::File(draft) => draft.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(out) => out.write(bytes),
            Self::File(draft) => draft.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.flush(),
            Self::File(draft) => draft.flush(),
        }
    }
}
