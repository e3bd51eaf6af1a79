//! What is said between kdns and its worker: lengths first, numbers as the
//! machine has them, as both are one program.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use crate::host::root::Link;
use crate::host::{FileRead, KINDS, MAX_BYTES, ReadError};
use crate::text::Source;

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
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
    /// How long it is.
    Length,
    /// So many bytes from this place on.
    Part(u64, u64),
}

/// A question about a file of the process whose directory of `/proc` goes with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::host) struct Request {
    /// What is wanted.
    pub(in crate::host) what: What,
    /// Whether the path is one below the process's root, not below its
    /// directory of `/proc`.
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
    /// Whether the memory of the process is read, and no file of it.
    pub(super) fn is_of_memory(&self) -> bool {
        !self.is_below_root && self.path != Path::new(PROGRAM)
    }

    /// The bytes; `None`: no system takes such a path.
    pub(super) fn encoded(&self) -> Option<Vec<u8>> {
        let path = self.path.as_os_str().as_bytes();
        if path.len() > MAX_PATH {
            return None;
        }
        let (code, from, length) = match self.what {
            What::Read => (0, 0, 0),
            What::End => (1, 0, 0),
            What::Names => (2, 0, 0),
            What::Link => (3, 0, 0),
            What::Links => (4, 0, 0),
            What::IsDirectory => (5, 0, 0),
            What::Times => (6, 0, 0),
            What::Length => (7, 0, 0),
            What::Part(from, length) => (8, from, length),
        };
        let numbers = [code, u64::from(self.is_below_root), from, length];
        let mut bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_ne_bytes()).collect();
        bytes.extend(path);
        Some(bytes)
    }

    /// What [`Self::encoded`] made; `None`: it did not.
    pub(super) fn decoded(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut number = || {
            let (first, others) = rest.split_first_chunk()?;
            rest = others;
            Some(u64::from_ne_bytes(*first))
        };
        let (code, is_below_root) = (number()?, number()? == 1);
        let (from, length) = (number()?, number()?);
        let what = match code {
            0 => What::Read,
            1 => What::End,
            2 => What::Names,
            3 => What::Link,
            4 => What::Links,
            5 => What::IsDirectory,
            6 => What::Times,
            7 => What::Length,
            8 => What::Part(from, length.min(MAX_BYTES as u64)),
            _ => return None,
        };
        Some(Self {
            what,
            is_below_root,
            path: PathBuf::from(OsStr::from_bytes(rest)),
        })
    }
}

/// Longest request.
pub(super) const MAX_REQUEST: usize = MAX_PATH + 4 * size_of::<u64>();

/// Writes an answer.
pub(super) fn write_answer(answer: &Answer, to: &mut impl Write) -> io::Result<()> {
    let (code, number, texts) = match answer {
        Ok(texts) => (0, texts.len(), texts.as_slice()),
        Err(Failure::System(errno)) => (1, usize::try_from(*errno as i32).unwrap_or(0), &[][..]),
        Err(Failure::NotRegular(kind)) => {
            let at = KINDS.iter().position(|it| it == kind);
            (2, at.unwrap_or(KINDS.len() - 1), &[][..])
        }
    };
    let mut bytes = Vec::new();
    let mut put = |number: usize| bytes.extend((number as u64).to_ne_bytes());
    put(code);
    put(number);
    for text in texts {
        put(text.len());
    }
    for text in texts {
        bytes.extend(text);
    }
    to.write_all(&bytes)
}

/// Reads what [`write_answer`] wrote.
pub(super) fn read_answer(from: &mut impl Read) -> io::Result<Answer> {
    let code = number(from)?;
    let count = number(from)?;
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    match code {
        0 => {
            let mut lengths = Vec::new();
            for _ in 0..count {
                lengths.push(number(from)?);
            }
            let text = |length: &usize| {
                let mut bytes = Vec::new();
                from.take(*length as u64).read_to_end(&mut bytes)?;
                if bytes.len() == *length {
                    Ok(bytes)
                } else {
                    Err(io::Error::from(io::ErrorKind::UnexpectedEof))
                }
            };
            Ok(Ok(lengths.iter().map(text).collect::<io::Result<_>>()?))
        }
        1 => {
            let errno = i32::try_from(count).map_err(|_| broken())?;
            Ok(Err(Failure::System(Errno::from_raw(errno))))
        }
        2 => {
            let kind = KINDS.get(count).ok_or_else(broken)?;
            Ok(Err(Failure::NotRegular(kind)))
        }
        _ => Err(broken()),
    }
}

fn number(from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; size_of::<u64>()];
    from.read_exact(&mut bytes)?;
    let broken = |_| io::Error::from(io::ErrorKind::InvalidData);
    usize::try_from(u64::from_ne_bytes(bytes)).map_err(broken)
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
        source: Source { name, bytes },
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
            assert_eq!(Request::decoded(&bytes[..20]), None);
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
