//! What kdns and its worker send each other: a line of JSON, and behind it bytes
//! of any kind.

use std::ffi::OsStr;
use std::io::{self, BufRead, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::host::root::Link;
use crate::host::{FileRead, KINDS, ReadError};
use crate::text::Source;

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(in crate::host) enum What {
    /// [`crate::host::root::Root::read_once`].
    Read,
    /// [`crate::host::root::Root::read_end`].
    End,
    /// The names in a directory.
    Names,
    /// What a symbolic link says.
    Link,
    /// The links on the way to it.
    Links,
    /// Whether it is a directory.
    IsDirectory,
    /// When it was written.
    Times,
    /// The length of the file in bytes.
    Length,
    /// A part of the file: its first byte, and how many bytes.
    Part(u64, u64),
}

/// A question about a file below a directory that goes with it: a root, or the
/// directory of a process in `/proc`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::host) struct Request {
    /// What is wanted.
    pub(in crate::host) what: What,
    /// Whether the path is one below the process's root, not below the directory.
    pub(in crate::host) is_below_root: bool,
    /// The path.
    pub(in crate::host) path: PathBuf,
}

/// The answer: texts, whose number and order is known from the question, or
/// what went wrong.
pub(in crate::host) type Answer = Result<Vec<Vec<u8>>, Failure>;

/// What went wrong; the asking side knows the path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::host) enum Failure {
    System(Errno),
    NotRegular(&'static str),
}

/// The program of a process, in its directory of `/proc`.
pub(super) const PROGRAM: &str = "exe";

/// A longer path is none (`PATH_MAX`).
const MAX_PATH: usize = 4096;

impl Request {
    /// The bytes: a line of JSON, then the path. `None`: no system takes such a
    /// path.
    pub(super) fn encoded(&self) -> Option<Vec<u8>> {
        let path = self.path.as_os_str().as_bytes();
        let mut bytes = serde_json::to_vec(&(self.what, self.is_below_root)).ok()?;
        bytes.push(b'\n');
        bytes.extend(path);
        (path.len() <= MAX_PATH).then_some(bytes)
    }

    /// What [`Self::encoded`] made; `None`: it did not.
    pub(super) fn decoded(bytes: &[u8]) -> Option<Self> {
        let (line, path) = bytes.split_at_checked(memchr::memchr(b'\n', bytes)?)?;
        let (what, is_below_root) = serde_json::from_slice(line).ok()?;
        Some(Self {
            what,
            is_below_root,
            path: PathBuf::from(OsStr::from_bytes(path.get(1..)?)),
        })
    }
}

/// Longest request: a line of JSON has two numbers at most.
pub(super) const MAX_REQUEST: usize = MAX_PATH + 128;

/// The first line of an answer.
#[derive(Deserialize, Serialize)]
enum Head {
    /// The lengths of the texts that follow.
    Texts(Vec<usize>),
    /// The number of [`Failure::System`].
    System(i32),
    /// The kind of [`Failure::NotRegular`].
    NotRegular(String),
}

/// Writes an answer: a line of JSON, then the texts.
pub(super) fn write_answer(answer: &Answer, to: &mut impl Write) -> io::Result<()> {
    let head = match answer {
        Ok(texts) => Head::Texts(texts.iter().map(Vec::len).collect()),
        Err(Failure::System(errno)) => Head::System(*errno as i32),
        Err(Failure::NotRegular(kind)) => Head::NotRegular((*kind).to_owned()),
    };
    let mut bytes = serde_json::to_vec(&head)?;
    bytes.push(b'\n');
    for text in answer.iter().flatten() {
        bytes.extend(text);
    }
    to.write_all(&bytes)
}

/// Reads what [`write_answer`] wrote.
pub(super) fn read_answer(from: &mut impl BufRead) -> io::Result<Answer> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    let line = line.strip_suffix(b"\n").ok_or(ErrorKind::UnexpectedEof)?;
    Ok(match serde_json::from_slice(line)? {
        Head::Texts(lengths) => {
            let text = |length: usize| {
                let mut bytes = vec![0; length];
                from.read_exact(&mut bytes).map(|()| bytes)
            };
            Ok(lengths.into_iter().map(text).collect::<io::Result<_>>()?)
        }
        Head::System(errno) => Err(Failure::System(Errno::from_raw(errno))),
        Head::NotRegular(kind) => {
            let kind = KINDS.into_iter().find(|it| *it == kind);
            Err(Failure::NotRegular(kind.ok_or(ErrorKind::InvalidData)?))
        }
    })
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::System { errno, .. } | ReadError::Root { errno, .. } => Self::System(errno),
            ReadError::NotRegular { kind, .. } => Self::NotRegular(kind),
            _ => Self::System(Errno::EIO),
        }
    }
}

/// A file as texts.
pub(super) fn of_file(file: FileRead) -> Vec<Vec<u8>> {
    let is_cut = if file.is_cut { &b"cut"[..] } else { b"" };
    vec![
        file.source.name.into_bytes(),
        is_cut.to_vec(),
        file.source.bytes,
    ]
}

/// A file of texts.
pub(in crate::host) fn to_file(texts: Vec<Vec<u8>>) -> FileRead {
    let mut texts = texts.into_iter();
    let mut next = || texts.next().unwrap_or_default();
    let (name, is_cut) = (next(), !next().is_empty());
    let name = String::from_utf8_lossy(&name).into_owned();
    let bytes = next();
    FileRead {
        source: Source::new(name, bytes),
        is_cut,
    }
}

/// Links as texts, three of each.
pub(super) fn of_links(links: &[Link]) -> Vec<Vec<u8>> {
    let paths = links
        .iter()
        .flat_map(|it| [&it.path, &it.target, &it.leads_to]);
    paths.map(|it| it.as_os_str().as_bytes().to_vec()).collect()
}

/// Links of texts.
pub(in crate::host) fn to_links(texts: &[Vec<u8>]) -> Vec<Link> {
    let path = |text: &[u8]| Path::new(OsStr::from_bytes(text)).to_owned();
    let link = |texts: &[Vec<u8>; 3]| {
        let [path, target, leads_to] = texts.each_ref().map(|it| path(it));
        Link {
            path,
            target,
            leads_to,
        }
    };
    texts.as_chunks().0.iter().map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_were_written() {
        for what in [What::Read, What::Links, What::Part(7, 9)] {
            let request = Request {
                what,
                is_below_root: what == What::Read,
                path: PathBuf::from("/etc/resolv.conf"),
            };
            let bytes = request.encoded().unwrap();
            assert_eq!(Request::decoded(&bytes).as_ref(), Some(&request));
            assert_eq!(Request::decoded(&bytes[..5]), None);
        }
        let request = Request {
            what: What::Read,
            is_below_root: true,
            path: PathBuf::from("x".repeat(MAX_PATH + 1)),
        };
        assert_eq!(request.encoded(), None);
    }

    #[test]
    fn answers_are_read_as_they_were_written() {
        let answers = [
            Ok(vec![b"a".to_vec(), Vec::new(), vec![b'x'; 100_000]]),
            Err(Failure::System(Errno::EACCES)),
            Err(Failure::NotRegular("a FIFO")),
        ];
        for answer in answers {
            let mut bytes = Vec::new();
            write_answer(&answer, &mut bytes).unwrap();
            assert_eq!(read_answer(&mut bytes.as_slice()).unwrap(), answer);
            bytes.pop();
            assert!(read_answer(&mut bytes.as_slice()).is_err());
        }
    }
}
